"""`jitrl memory quarantine` and `restore`: rows out of every decision, and back."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from jitrl.cli.memory.options import FILE, NAME, counted, existing
from jitrl.cli.shared.output import JSON, emit, tell
from jitrl.errors import InputError

EPISODES = Annotated[
    list[str] | None, typer.Option("--episode", help="Key of an episode; may be repeated.")
]
ROWS = Annotated[list[int] | None, typer.Option("--row", help="Id of a row; may be repeated.")]
REASON = Annotated[str, typer.Option(help="Why; kept in the version stream.")]
PRINCIPAL = Annotated[str, typer.Option(help="Who is answerable; kept in the version stream.")]


def quarantine(
    file: FILE,
    reason: REASON,
    episodes: EPISODES = None,
    rows: ROWS = None,
    principal: PRINCIPAL = "",
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """Take rows or whole episodes out of every decision, until they are restored."""
    _set_status("quarantined", file, name, episodes, rows, reason, principal, json)


def restore(
    file: FILE,
    episodes: EPISODES = None,
    rows: ROWS = None,
    reason: REASON = "",
    principal: PRINCIPAL = "",
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """Let quarantined rows or episodes take part again. Retired rows stay retired."""
    _set_status("active", file, name, episodes, rows, reason, principal, json)


def _set_status(
    status: Literal["active", "quarantined"],
    file: str,
    name: str,
    episodes: list[str] | None,
    rows: list[int] | None,
    reason: str,
    principal: str,
    json: bool,
) -> None:
    if not episodes and not rows:
        raise InputError("nothing is named; give --episode KEY or --row ID")
    with existing(file, name) as store:
        changed = store.set_status(
            status, rows=rows or (), episodes=episodes or (), reason=reason, principal=principal
        )
        version = store.head()
    verb = "is" if changed == 1 else "are"
    tell(f"{counted(changed, 'row')} {verb} {status} now; version {version}")
    if json:
        facts = {"status": status, "changed": changed, "version": version}
        emit({"schema": "jitrl.memory.status/1", **facts})
