"""Rules by a model, which reads good and bad attempts side by side."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence

import msgspec

from jitrl.agents.past import PastEpisode
from jitrl.agents.rulebook.asking import questions
from jitrl.agents.rulebook.cases import seen
from jitrl.agents.rulebook.contrasts import Contrast
from jitrl.agents.rulebook.partings import Parting
from jitrl.agents.words import Words, steps, words
from jitrl.core.sentences import cleaned, faults
from jitrl.errors import UnreadableAnswer
from jitrl.ports import Writer
from jitrl.types import Writing

_log = logging.getLogger(__name__)
_SHOWN = 6000  # characters of all attempts together


class _Answer(msgspec.Struct, forbid_unknown_fields=True):
    rules: list[str]


def written(
    writer: Writer,
    contrast: Contrast,
    most: int,
    told: Sequence[str],
    decisive: Sequence[Parting] = (),
) -> list[str]:
    """At most so many rules; those that are none are sent back once, then dropped.

    Args:
        told: Rules that the attempts were told already.
        decisive: Steps that are known to have made the difference.

    Raises:
        BudgetExceeded: If a call would pass a limit.
        ModelError: If the provider failed after all retries.
    """
    ask = questions(contrast.goal)
    shown = _shown(contrast)
    if decisive:
        parted = "\n".join(f"- {seen(step.state)}: {step.action}" for step in decisive)
        shown = f"{shown}\n\n{ask.decisive.format(steps=parted)}"
    known = "\n".join(f"- {rule}" for rule in told)
    text = ask.distil.format(attempts=shown, told=known or ask.none, most=most)
    first = _asked(writer, ask.coach, text, most, 0)
    kept = [rule for rule in first if not faults(rule)]
    spoiled = [rule for rule in first if faults(rule)]
    if spoiled:
        why = "\n".join(
            ask.fault.format(rule=rule, why=", ".join(ask.faults[f.fault] for f in faults(rule)))
            for rule in spoiled
        )
        again = _asked(writer, ask.coach, f"{text}\n\n{ask.mend.format(faults=why)}", most, 1)
        kept += [rule for rule in again if not faults(rule)]
    return list(dict.fromkeys(map(cleaned, kept)))[:most]


def _asked(writer: Writer, system: str, text: str, most: int, sample: int) -> list[str]:
    """What was written; nothing if it could not be read."""
    schema = {
        "type": "object",
        "properties": {"rules": {"type": "array", "items": {"type": "string"}, "maxItems": most}},
        "required": ["rules"],
        "additionalProperties": False,
    }
    writing = Writing(system, text, json.dumps(schema), sample=sample)
    try:
        return writer.write(writing, lambda said: msgspec.json.decode(said, type=_Answer).rules)
    except UnreadableAnswer as error:
        _log.warning("no rule written by=%s: %s", writer.name, error)
        return []


def _shown(contrast: Contrast) -> str:
    """The attempts, bad before good, each cut to its share of the room."""
    ask, said = questions(contrast.goal), words(contrast.goal)
    listed = [*((ask.bad, a) for a in contrast.bad), *((ask.good, a) for a in contrast.good)]
    room = _SHOWN // len(listed)
    return "\n\n".join(
        f"{title.format(score=attempt.score)}\n{_cut(attempt, room, said)}"
        for title, attempt in listed
    )


def _cut(attempt: PastEpisode, room: int, said: Words) -> str:
    text = steps(attempt.rows, said)
    return text if len(text) <= room else f"{text[: room - 1]}…"
