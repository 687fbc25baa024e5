"""Options that say which rows are meant: by row, episode, source, evaluator, basis or time."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from jitrl.errors import InputError, brief
from jitrl.stores.selection import Selection
from jitrl.types import BASES

EPISODES = Annotated[
    list[str] | None, typer.Option("--episode", help="Key of an episode; may be repeated.")
]
ROWS = Annotated[list[int] | None, typer.Option("--row", help="Id of a row; may be repeated.")]
SOURCES = Annotated[
    list[str] | None,
    typer.Option(
        "--source", help="Source as rows have it, `principal:NAME` or an episode; may be repeated."
    ),
]
EVALUATORS = Annotated[
    list[str] | None, typer.Option("--evaluator", help="Who scored; may be repeated.")
]
ANY_BASIS = Annotated[
    list[str] | None, typer.Option("--basis", help="What outcomes rest on; may be repeated.")
]
FROM = Annotated[
    list[str] | None,
    typer.Option("--from", help="Principal who is answerable for the rows; may be repeated."),
]
SINCE = Annotated[
    str, typer.Option(help="Learned at this time or later: `2026-12-01`, `2026-12-01T14:30`.")
]
UNTIL = Annotated[str, typer.Option(help="Learned before this time.")]


def selection(
    rows: list[int] | None,
    episodes: list[str] | None,
    sources: list[str] | None,
    evaluators: list[str] | None,
    bases: list[str] | None,
    principals: list[str] | None,
    scope: str | None,
    since: str,
    until: str,
) -> Selection:
    """What the options say together.

    Raises:
        InputError: If a basis does not exist, or a time cannot be read.
    """
    if unknown := sorted(set(bases or ()).difference(BASES)):
        raise InputError(f"--basis {unknown[0]!r} is no basis; there are {', '.join(BASES)}")
    return Selection(
        rows or (),
        episodes or (),
        sources or (),
        evaluators or (),
        bases or (),
        principals or (),
        () if scope is None else (scope,),
        _time(since, "--since"),
        _time(until, "--until"),
    )


def _time(text: str, option: str) -> float | None:
    """Seconds since 1970 of a date or time; local where it names no zone."""
    if not text:
        return None
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError) as error:
        raise InputError(
            f"{option} {brief(text)} is no time; write it as 2026-12-01 or 2026-12-01T14:30+01:00"
        ) from error
