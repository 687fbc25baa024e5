"""What an import reads: lines of this project, logs of Inspect, or traces in OTLP."""

from __future__ import annotations

from collections.abc import Iterable
from io import BufferedReader
from typing import BinaryIO, Literal

from jitrl.recorded import inspect_logs, otlp
from jitrl.stores.lines import Skipped

Form = Literal["lines", "inspect", "otlp"]
_LOOKED_AT = 4096  # bytes at the beginning of a file


def form_of(source: BinaryIO, name: str) -> Form:
    """The form of what is named and begins like this."""
    if name.endswith(".eval"):
        return "inspect"
    head = source.peek(_LOOKED_AT) if isinstance(source, BufferedReader) else b""
    return "otlp" if b'"resourceSpans"' in head[:_LOOKED_AT] else "lines"


def lines_of(
    source: BinaryIO,
    form: Form | None,
    left_out: list[Skipped],
    *,
    name: str,
    scope: str | None,
    score: str,
    skip_bad: bool,
) -> Iterable[bytes]:
    """The lines to be imported; other forms become lines of recorded runs, one by one."""
    match form or form_of(source, name):
        case "inspect":
            return inspect_logs.runs(name, left_out, scope=scope, score=score)
        case "otlp":
            return otlp.runs(
                source, left_out, name=name, scope=scope, score=score, skip_bad=skip_bad
            )
        case _:
            return source
