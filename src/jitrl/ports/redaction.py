"""The border between texts that are about to be written and who finds secrets in them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol, TypeVar

T = TypeVar("T")


class Secret(NamedTuple):
    """What must not be written.

    Attributes:
        start, end: Where it is in the text.
        value: What makes two of them the same one: a mail address in small letters, the digits of a
            card number. Equal values get equal placeholders.
    """

    start: int
    end: int
    value: str


class Redactor(Protocol):
    """Finds secrets of one kind. Safe for threads.

    Entry points of ``jitrl.redactors`` are called without arguments and give one.

    Attributes:
        name: Its kind, in ASCII letters; it stands in the placeholders.
    """

    name: str

    def find(self, text: str) -> Iterable[Secret]:
        """The secrets in ``text``, which has no full-width forms of ASCII characters.

        A placeholder, ``{name:0123456789ab}``, is none.
        """
        ...


class Redaction(Protocol):
    """Puts placeholders in the place of secrets. The same twice changes nothing more."""

    def text(self, text: str) -> str:
        """``text`` without its secrets."""
        ...

    def record(self, value: T) -> T:
        """``value`` (an episode, a row, a rule, a list of such) without secrets in any text."""
        ...
