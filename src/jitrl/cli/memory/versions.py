"""`jitrl memory snapshot`, `snapshots`, `rollback`, `undo`, `canary`: versions, and going back."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Annotated, Any

import msgspec
import typer

from jitrl.analysis.canary import canaries
from jitrl.cli.memory.changing import PRINCIPAL, REASON
from jitrl.cli.memory.options import FILE, NAME, SCOPE, existing, reading
from jitrl.cli.shared.answerable import answerable
from jitrl.cli.shared.listing import Listing
from jitrl.cli.shared.output import JSON, emit, people, tell
from jitrl.language import counted
from jitrl.stores.versions import Moved


def snapshot(
    file: FILE,
    title: Annotated[str, typer.Argument(metavar="NAME", help="Name of the snapshot.")],
    reason: REASON = "",
    principal: PRINCIPAL = "",
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """Give the memory as it is now a name. Nothing is copied."""
    with existing(file, name) as store:
        made = store.versions.name(title, reason=reason, principal=answerable(principal))
    tell(f"snapshot {made.name}: version {made.version}")
    if json:
        emit({"schema": "jitrl.memory.snapshot/1", **msgspec.to_builtins(made)})


def snapshots(file: FILE, name: NAME = "default", json: JSON = False) -> None:
    """List snapshots, oldest first."""
    with reading(file, name) as store:
        found, head = store.versions.snapshots(), store.head()
    if json:
        listed = msgspec.to_builtins(found)
        emit({"schema": "jitrl.memory.snapshots/1", "head": head, "snapshots": listed})
        return
    heads = ("snapshot", "version", "named at", "answerable", "reason")
    shown = Listing(heads, texts=frozenset({0, 4}))
    for one in found:
        at = datetime.fromtimestamp(one.at).isoformat(sep=" ", timespec="seconds")
        shown.add(one.name, str(one.version), at, one.principal or "-", one.reason)
    people().print(shown)
    tell(f"the memory is at version {head}")


def rollback(
    file: FILE,
    to: Annotated[str, typer.Argument(metavar="TO", help="A snapshot, or a version.")],
    reason: REASON = "",
    principal: PRINCIPAL = "",
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """Make the memory what it was: all that came after TO is set aside, nothing is deleted.

    `jitrl memory diff` with TO and the newest version lists beforehand what that changes.
    """
    with existing(file, name) as store:
        version = store.versions.number(to)
        moved = store.versions.rollback(version, reason=reason, principal=answerable(principal))
    _told(f"as of version {version}", moved, file, name)
    if json:
        facts = {"to": version, **msgspec.to_builtins(moved)}
        emit({"schema": "jitrl.memory.rollback/1", **facts})


def undo(
    file: FILE,
    first: Annotated[int, typer.Argument(metavar="FIRST", help="Entry of the version stream.")],
    last: Annotated[
        int | None, typer.Argument(metavar="LAST", help="Last one; only FIRST if not given.")
    ] = None,
    reason: REASON = "",
    principal: PRINCIPAL = "",
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """Take quarantines, restores or a rollback back: what they changed is as it was before.

    What changed again since stays as it is now.
    """
    with existing(file, name) as store:
        moved = store.versions.undo(
            first, first if last is None else last, reason=reason, principal=answerable(principal)
        )
    _told("taken back", moved, file, name)
    if json:
        emit({"schema": "jitrl.memory.undo/1", **msgspec.to_builtins(moved)})


def canary(file: FILE, scope: SCOPE = None, name: NAME = "default", json: JSON = False) -> None:
    """Compare the episodes that read a snapshot on trial with those that did not."""
    with reading(file, name) as store:
        found = canaries(store.records(), scope)
    if json:
        emit({"schema": "jitrl.memory.canary/1", "canaries": [_plain(c) for c in found]})
        return
    heads = ("snapshot", "read it", "score", "others", "score", "effect, 95 % at every look")
    shown = Listing(heads, texts=frozenset({0}))
    for one in found:
        of = one.effect
        shown.add(
            one.name,
            str(of.given),
            _number(one.canary),
            str(of.held),
            _number(one.main),
            f"{of.shown:+.3f} [{of.low:+.3f}, {of.high:+.3f}]" if of.uses else "-",
        )
    people().print(shown)
    for one in found:
        if one.unscored:
            tell(f"{one.name}: {counted(one.unscored, 'episode')} could not be judged")
    if not found:
        tell("no episode was drawn for a canary; set memory.canary and memory.canary_share")


def _told(what: str, moved: Moved, file: str, name: str) -> None:
    rules = f", {counted(moved.rules, 'rule')} changed" if moved.rules else ""
    tell(
        f"{what}: {counted(moved.set_aside, 'row')} set aside, {moved.brought_back} brought back"
        f"{rules}; version {moved.last}"
    )
    if moved.first <= moved.last:
        entries = f"{moved.first} {moved.last}" if moved.first < moved.last else f"{moved.first}"
        of = "" if name == "default" else f" --memory {name}"
        tell(f"to take it back: jitrl memory undo {file} {entries}{of}", style="dim")


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def _plain(of: Any) -> dict[str, Any]:
    """JSON has no NaN."""
    plain: dict[str, Any] = msgspec.to_builtins(of)
    for part in (plain, plain["effect"]):
        part.update({k: None for k, v in part.items() if isinstance(v, float) and math.isnan(v)})
    return plain
