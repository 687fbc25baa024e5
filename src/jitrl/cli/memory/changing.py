"""`jitrl memory quarantine` and `restore`: rows out of every decision, and back."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from jitrl.cli.memory.options import FILE, NAME, SCOPE, existing
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
from jitrl.cli.shared.answerable import answerable
from jitrl.cli.shared.output import JSON, emit, tell
from jitrl.errors import InputError
from jitrl.language import counted
from jitrl.stores.selection import Selection

REASON = Annotated[str, typer.Option(help="Why; kept in the version stream.")]
PRINCIPAL = Annotated[
    str,
    typer.Option(
        help="Who is answerable, for the version stream; default: who is logged in.",
        show_default=False,
    ),
]


def quarantine(
    file: FILE,
    reason: REASON,
    episodes: EPISODES = None,
    rows: ROWS = None,
    sources: SOURCES = None,
    evaluators: EVALUATORS = None,
    bases: ANY_BASIS = None,
    owners: FROM = None,
    scope: SCOPE = None,
    since: SINCE = "",
    until: UNTIL = "",
    principal: PRINCIPAL = "",
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """Take rows or whole episodes out of every decision, until they are restored.

    Options of different kinds narrow each other down. `jitrl memory replay` with the same options
    lists beforehand which decisions would have been others.
    """
    chosen = selection(rows, episodes, sources, evaluators, bases, owners, scope, since, until)
    _set_status("quarantined", file, name, chosen, reason, principal, json)


def restore(
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
    reason: REASON = "",
    principal: PRINCIPAL = "",
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """Let quarantined rows or episodes take part again. Retired rows stay retired."""
    chosen = selection(rows, episodes, sources, evaluators, bases, owners, scope, since, until)
    _set_status("active", file, name, chosen, reason, principal, json)


def _set_status(
    status: Literal["active", "quarantined"],
    file: str,
    name: str,
    chosen: Selection,
    reason: str,
    principal: str,
    json: bool,
) -> None:
    if chosen.is_empty:
        raise InputError("nothing is named; give --episode KEY, --row ID, --source NAME or others")
    principal = answerable(principal)
    with existing(file, name) as store:
        rows, episodes = chosen.rows, chosen.episodes
        if not chosen.is_plain:
            rows, episodes = store.versions.select(chosen), ()
        changed = store.set_status(
            status, rows=rows, episodes=episodes, reason=reason, principal=principal
        )
        version = store.head()
        tainted = store.tainted()
    verb = "is" if changed == 1 else "are"
    tell(f"{counted(changed, 'row')} {verb} {status} now; version {version}")
    if tainted:
        tell(
            f"{counted(len(tainted), 'rule')} on what is in quarantine: {', '.join(tainted)}",
            style="yellow",
        )
    if json:
        facts = {"status": status, "changed": changed, "version": version}
        said = {rule: list(keys) for rule, keys in tainted.items()}
        emit({"schema": "jitrl.memory.status/1", **facts, "tainted": said})
