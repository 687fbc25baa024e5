"""What an agent saw at its steps, as the journal keeps it for people and judges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jitrl import given
from jitrl.redaction.named import masking
from jitrl.types import Transition

MOST = 2_000
"""Characters that are kept of one step; of a longer text its beginning and its end."""

_LONGEST = 1_000_000
_masked = masking().text
_CUT = " … {n} characters left out … "


class Observed:
    """Of one episode.

    Args:
        clean: Takes out of a text what must not be written down.
    """

    def __init__(self, clean: Callable[[str], str]) -> None:
        self._clean = clean
        self._seen: dict[int, str] = {}

    def note(self, step: int, seen: str) -> str:
        """What was seen at ``step``, as it is kept; "" for nothing beside the state.

        Nothing is compared by it, so all that a built-in redactor finds is taken out, whatever the
        memory's setting; and before it is cut, so that no half of a secret is left.

        Raises:
            InputError: If it is no text.
        """
        if isinstance(seen, str):  # no text that is read by people alone may cost a decision
            seen = seen.encode("utf-8", "replace").decode()
            seen = seen if len(seen) <= _LONGEST else seen[: _LONGEST // 2] + seen[-_LONGEST // 2 :]
        text = _masked(self._clean(given.text(seen, "seen", _LONGEST)))
        self._seen.pop(step, None)
        if text:
            half = MOST // 2
            long = len(text) > MOST
            cut = text[:half] + _CUT.format(n=len(text) - MOST) + text[-half:] if long else text
            self._seen[step] = cut
        return self._seen.get(step, "")

    def pages(self, steps: Sequence[Transition]) -> dict[str, Any]:
        """For ``Episode.info``, shape [T + 1]; nothing where nothing was noted."""
        if not self._seen:
            return {}
        states = [step.state for step in steps]
        plain = ["\n".join(filter(None, (s.place, s.text, s.context))) for s in states]
        return {"pages": [self._seen.get(t, page) for t, page in enumerate(plain)] + [""]}
