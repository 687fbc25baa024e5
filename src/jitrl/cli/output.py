"""Where output goes: data to stdout, words and progress for people to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


@cache
def people() -> Console:
    """The console on stderr."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def emit(data: Mapping[str, Any]) -> None:
    """Print ``data``, whose first key is ``schema``, as JSON on stdout.

    JSON is UTF-8; where stdout is something else, it is written in ASCII.
    """
    import msgspec

    raw = msgspec.json.encode(data)
    text = msgspec.json.format(raw, indent=2).decode()
    if (sys.stdout.encoding or "").lower().replace("-", "") != "utf8":
        text = json.dumps(json.loads(raw), indent=2)
    sys.stdout.write(text + "\n")


def tell(text: str, style: str = "") -> None:
    """Print a line for people, in which markup and control characters do nothing."""
    from rich.text import Text

    people().print(Text(printable(text), style=style), soft_wrap=True)


def printable(text: str) -> str:
    """Without control characters: what a page said must not steer the terminal."""
    return "".join(c if c.isprintable() else "�" for c in text)
