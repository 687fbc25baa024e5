"""`jitrl memory import`: what JSON lines hold, all or none, into a file that may be new."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Annotated

import msgspec
import typer

from jitrl import given
from jitrl.cli.memory.options import FILE, GAMMA, NAME, RETURNS, TRUSTED, deriving
from jitrl.cli.memory.source import NothingNewError, filled, opened
from jitrl.cli.shared.output import JSON, emit, tell
from jitrl.core.credit import derive_rows
from jitrl.stores import jsonl
from jitrl.stores.sqlite import SQLiteStore


def import_(
    file: FILE,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="JSONL file, or - for stdin.")],
    trust: Annotated[
        bool, typer.Option("--trust", help="Keep basis, principals, quarantine, status of rules.")
    ] = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave bad lines out, and list them.")
    ] = False,
    principal: Annotated[str, typer.Option(help="Who is answerable for what comes in.")] = "import",
    gamma: GAMMA = None,
    returns: RETURNS = None,
    trusted: TRUSTED = None,
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """Add episodes and rules from JSON lines: all or none, in quarantine unless trusted.

    A new file is derived by the settings in force, and appears only if something was imported.
    """
    given.text(principal, "--principal")

    def read(store: SQLiteStore, lines: Iterable[bytes]) -> jsonl.Imported:
        with store.batch():
            settings = deriving(store, gamma, returns, trusted)
            done = jsonl.read(
                store,
                lines,
                partial(derive_rows, **settings),
                name=source,
                trust=trust,
                skip_bad=skip_bad,
                principal=principal,
            )
            if not (done.episodes or done.rules or done.contrasts):
                raise NothingNewError(done)
            if not store.settings():
                store.configure(settings)
        return done

    with opened(source) as lines:
        done = filled(file, name, lambda store: read(store, lines))
    for bad in done.skipped:
        tell(f"{source}:{bad.line} left out: {bad.reason}", style="yellow")
    book = f"{done.rules} rules and {done.contrasts} contrasts added, "
    tell(
        f"{done.episodes} episodes added with {done.rows} rows ({done.quarantined} in quarantine), "
        f"{book if done.rules or done.contrasts else ''}"
        f"{done.duplicates} were there already, {len(done.skipped)} lines left out"
    )
    if json:
        emit({"schema": "jitrl.memory.import/1", **msgspec.to_builtins(done)})
