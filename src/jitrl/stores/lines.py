"""Files of lines, read one by one: all of them, or all but the bad ones."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from jitrl.errors import RecordError


@dataclass(frozen=True, slots=True)
class Skipped:
    """A line that was left out, and why."""

    line: int
    reason: str


def each_line(
    lines: Iterable[bytes], add: Callable[[bytes], None], *, name: str, skip_bad: bool
) -> tuple[Skipped, ...]:
    """Call ``add`` with each line that holds something; returns the bad ones that were left out.

    Args:
        add: Raises ``RecordError``, ``ValueError`` or ``OverflowError`` if its line is bad.
        name: Of the file, for messages.
        skip_bad: Leave bad lines out.

    Raises:
        RecordError: With the number of the line, from 1 on, if it is bad.
    """
    skipped = list[Skipped]()
    for number, text in enumerate(lines, 1):
        text = text.removeprefix(codecs.BOM_UTF8) if number == 1 else text
        if not text.strip():
            continue
        try:
            _check_encoding(text)
            add(text)
        except (RecordError, ValueError, OverflowError) as error:
            if not skip_bad:
                raise RecordError(f"{name}:{number}: {error}") from error
            skipped.append(Skipped(number, str(error)))
    return tuple(skipped)


def _check_encoding(text: bytes) -> None:
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise RecordError(
            f"byte {error.start} is 0x{text[error.start]:02x}, which is no UTF-8; save the file as "
            "UTF-8"
        ) from error
