"""Placeholders for secrets: equal for equal ones, and of no use to whoever guesses.

A placeholder is ``{mail:3f9a1c2b7d5e}``: the kind, and 48 bits of a keyed digest. So an address is
the same words of a state wherever it stands, and what was learned of it is found again. Without the
key nobody can try addresses or card numbers until one fits.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from jitrl.ports.redaction import Redactor, Secret
from jitrl.redaction.walk import walked

T = TypeVar("T")

_WIDE = re.compile("[\uff01-\uff5e\u3000]")
_NARROW = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
_PLACEHOLDER = re.compile(r"\{[A-Za-z][A-Za-z0-9_-]{0,15}:[0-9a-f]{12}\}")
_SHORT = 300  # characters; such texts are remembered apart, or actions would push out pages


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and what stood where.

    Attributes:
        secrets: Placeholder → what it stands for, as it was written first.
    """

    text: str
    secrets: Mapping[str, str]


class Placeholders:
    """Finds secrets and puts placeholders there. Safe for threads.

    Args:
        redactors: Who finds them; where two overlap, the one that begins first counts.
        key: Gives the key of the digests; asked when the first secret is found. ``None``: no
            digest, so that secrets of a kind are all the same.
    """

    def __init__(self, redactors: Sequence[Redactor], key: Callable[[], bytes] | None) -> None:
        self._redactors, self._key = tuple(redactors), key
        self._page = lru_cache(256)(self._found)
        self._short = lru_cache(8192)(self._found)

    def __bool__(self) -> bool:
        return bool(self._redactors)

    def forget(self) -> None:
        """Drop the texts that were seen lately."""
        self._page.cache_clear()
        self._short.cache_clear()

    def found(self, text: str) -> Redacted:
        """``text`` without its secrets, and which those were."""
        return self._short(text) if len(text) < _SHORT else self._page(text)

    def text(self, text: str) -> str:
        """``text`` without its secrets."""
        return self.found(text).text if self._redactors else text

    def record(self, value: T) -> T:
        """``value`` without secrets in any text of it; the same object if it has none."""
        return walked(value, self.text) if self._redactors else value

    def _found(self, text: str) -> Redacted:
        narrow = text
        if not text.isascii() and _WIDE.search(text):
            narrow = text.translate(_NARROW)  # one character each, so places stay
        spans: list[tuple[Secret, str]] = []
        for redactor in self._redactors:
            spans += [(secret, redactor.name) for secret in redactor.find(narrow)]
        if not spans:
            return Redacted(text, {})
        spans.sort(key=lambda found: (found[0].start, -found[0].end))
        made = [found.span() for found in _PLACEHOLDER.finditer(text)] if "{" in text else []
        parts, secrets, done = list[str](), dict[str, str](), 0
        for secret, name in spans:
            if secret.start < done or any(s < secret.end and secret.start < e for s, e in made):
                continue
            placeholder = self._placeholder(name, secret.value)
            secrets.setdefault(placeholder, text[secret.start : secret.end])
            parts += (text[done : secret.start], placeholder)
            done = secret.end
        return Redacted("".join((*parts, text[done:])), secrets)

    def _placeholder(self, name: str, value: str) -> str:
        if self._key is None:
            return f"{{{name}}}"
        made = hashlib.blake2b(
            value.encode("utf-8", "surrogatepass"),
            digest_size=6,
            key=self._key(),
            person=name.encode()[:16],
        )
        return f"{{{name}:{made.hexdigest()}}}"
