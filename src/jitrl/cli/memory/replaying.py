"""`jitrl memory replay` and `diff`: which stored decisions fall otherwise, without a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from jitrl.cli.memory.options import FILE, NAME, SCOPE, reading
from jitrl.cli.memory.selecting import (
    ANY_BASIS,
    EPISODES,
    EVALUATORS,
    FROM,
    ROWS,
    SINCE,
    SOURCES,
    UNTIL,
    selection,
)
from jitrl.cli.shared.listing import Listing
from jitrl.cli.shared.output import JSON, emit, people, tell
from jitrl.cli.shared.recorded import recorded, sight
from jitrl.errors import InputError
from jitrl.language import counted
from jitrl.memory.replay import Replayed, Turned, compared, rows_of
from jitrl.memory.replay import replay as replayed

SETTINGS = Annotated[
    list[str],
    typer.Option("--set", help="A setting of that time, as memory.preset=paper-web."),
]
LIMIT = Annotated[int, typer.Option(min=0, help="Changed decisions to list; --json has all.")]


def replay(
    file: FILE,
    episodes: EPISODES = None,
    rows: ROWS = None,
    sources: SOURCES = None,
    evaluators: EVALUATORS = None,
    bases: ANY_BASIS = None,
    owners: FROM = None,
    scope: SCOPE = None,
    since: SINCE = "",
    until: UNTIL = "",
    limit: LIMIT = 20,
    setting: SETTINGS = [],  # noqa: B006 - typer reads it
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """List the stored decisions that would have been others without some rows.

    Every decision that could have seen one of them is made again, with the same draws and without a
    model; nothing is changed. Rules that rest on their episodes are listed, too.
    """
    chosen = selection(rows, episodes, sources, evaluators, bases, owners, scope, since, until)
    if chosen.is_empty:
        raise InputError("nothing is named; give --episode KEY, --row ID, --source NAME or others")
    with reading(file, name) as store:
        _, settings = recorded(Path(file), None, setting)
        if chosen.is_plain:
            gone = {*chosen.rows}
            for key in chosen.episodes:
                gone |= {row.id for row in store.rows(key)}
        else:
            gone = {*store.versions.select(chosen)}
        found = replayed(sight(store, settings, setting), store, gone)
        owners_of = {row.episode for row in rows_of(store, gone).values()}
        tainted = store.versions.tainted_with(owners_of)
    rested = {rule: keys for rule, keys in tainted.items() if owners_of.intersection(keys)}
    tell(
        f"{counted(len(gone), 'row')} of {counted(len(owners_of), 'episode')}: "
        f"{_said(found)} would have been others"
    )
    _show(found.turned, limit, "was", "without them")
    if rested:
        tell(f"rules that rest on these episodes: {', '.join(rested)}", style="yellow")
    if json:
        facts = {"rows": sorted(gone), **msgspec.to_builtins(found)}
        said = {rule: list(keys) for rule, keys in rested.items()}
        emit({"schema": "jitrl.memory.replay/1", **facts, "tainted": said})


def diff(
    file: FILE,
    first: Annotated[str, typer.Argument(metavar="A", help="A snapshot, or a version.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    newest: Annotated[
        int | None, typer.Option(min=1, help="Ask only so many decisions, the last ones.")
    ] = None,
    limit: LIMIT = 20,
    setting: SETTINGS = [],  # noqa: B006 - typer reads it
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """List the stored decisions that would fall otherwise on snapshot B than on A.

    Each decision of the journal is asked again on both: same state, candidates and draws, under the
    settings in force, without a model.
    """
    with reading(file, name) as store:
        _, settings = recorded(Path(file), None, setting)
        one, other = store.versions.number(first), store.versions.number(second)
        agent = sight(store, settings, setting)
        found = compared(agent, store, one, other, newest=newest)
    tell(f"versions {one} and {other}: {_said(found)} fall otherwise")
    _show(found.turned, limit, first, second)
    if json:
        versions = {"first": one, "second": other}
        emit({"schema": "jitrl.memory.diff/1", **versions, **msgspec.to_builtins(found)})


def _said(found: Replayed) -> str:
    others = f" ({found.others} of another rule were left out)" if found.others else ""
    return f"{len(found.turned)} of {counted(found.looked, 'decision')}{others}"


def _show(found: tuple[Turned, ...], limit: int, was: str, now: str) -> None:
    if not found[:limit]:
        return
    shown = Listing(("decision", was, now, "chance of the first"), texts=frozenset({0, 1, 2}))
    for one in found[:limit]:
        chances = f"{one.chance_was:.1%} → {one.chance_now:.1%}"
        shown.add(one.id, one.was, one.now, chances + ("" if one.exact else " (not exact)"))
    shown.cut(len(found) - limit, "and {} more")
    people().print(shown)
