"""What the client raises, and reads from an answer that gives nothing."""

from __future__ import annotations

from typing import Any

import msgspec

from jitrl.errors import JitRLError


class Refused(JitRLError):
    """The service answered that the caller got something wrong.

    Attributes:
        status: Of HTTP.
    """

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(f"{detail} ({status})")
        self.status = status


class Unreachable(JitRLError):
    """The service gave no answer, failed, is busy, or answered what cannot be read."""


def wait_of(answer: Any) -> int:
    """Seconds after which the service may be asked again; 0 if it does not say."""
    said = answer.headers.get("Retry-After", "")
    return int(said) if said.isascii() and said.isdigit() else 0


def detail_of(answer: Any) -> str:
    """What it says is wrong."""
    try:
        return str(msgspec.json.decode(answer.content)["detail"])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError, TypeError):
        return f"{answer.text[:200]}"
