"""Where output goes: data to stdout, words and progress for people to stderr."""

from __future__ import annotations

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
    """Print ``data``, whose first key is ``schema``, as JSON on stdout."""
    import msgspec

    text = msgspec.json.format(msgspec.json.encode(data), indent=2)
    sys.stdout.write(text.decode() + "\n")
