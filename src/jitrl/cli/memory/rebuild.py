"""`jitrl memory rebuild`: all rows derived again from the journal."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import msgspec
import typer

from jitrl.cli.memory.changing import PRINCIPAL
from jitrl.cli.memory.options import (
    FILE,
    GAMMA,
    NAME,
    RETURNS,
    TRUSTED,
    deriving,
    existing,
    reading,
)
from jitrl.cli.shared.answerable import answerable
from jitrl.cli.shared.listing import Listing
from jitrl.cli.shared.output import JSON, emit, people, tell
from jitrl.core.credit import derive_rows
from jitrl.language import counted
from jitrl.stores import rebuild as rebuilding

_LISTED = 20  # episodes that are shown


def rebuild(
    file: FILE,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what differs; exit 1 if anything does.")
    ] = False,
    gamma: GAMMA = None,
    returns: RETURNS = None,
    trusted: TRUSTED = None,
    principal: PRINCIPAL = "",
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """Derive all rows again from the journal, and replace those that differ."""
    with (reading if dry_run else existing)(file, name) as store:
        settings = deriving(store, gamma, returns, trusted)
        done = rebuilding.rebuild(
            store,
            partial(derive_rows, **settings),
            apply=not dry_run,
            principal="" if dry_run else answerable(principal),
        )
        if not dry_run:
            store.configure(settings | {"trusted": sorted(settings["trusted"])})
    shown = Listing(("episode", "steps", "rows were", "rows now"), left=frozenset({1}))
    for d in done.differences[:_LISTED]:
        shown.add(d.episode, _steps(d), str(d.was), str(d.now))
    shown.cut(len(done.differences) - _LISTED, "… {0} more (--json lists all)")
    if done.differences:
        tell("what differs:")
        people().print(shown)
    verb = "replaced" if done.is_applied else "would be replaced"
    tell(
        f"{counted(done.episodes, 'episode')}, {counted(done.rows, 'row')} derived; "
        f"rows of {counted(len(done.differences), 'episode')} {verb}"
    )
    if json:
        emit({"schema": "jitrl.memory.rebuild/1", **msgspec.to_builtins(done)})
    if dry_run and done.differences:
        raise typer.Exit(1)


def _steps(of: rebuilding.Difference) -> str:
    return "all" if len(of.steps) >= max(of.was, of.now) else " ".join(map(str, of.steps))
