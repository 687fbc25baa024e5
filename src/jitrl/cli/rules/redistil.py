"""`jitrl rules redistil`: rules made again of the evidence that the memory keeps."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Annotated, Any

import msgspec
import typer

from jitrl import config
from jitrl.agents.asked import Author
from jitrl.agents.rulebook.distilling import Distiller
from jitrl.agents.rulebook.redistil import Redone
from jitrl.agents.rulebook.redistil import redistil as redone
from jitrl.cli.memory.options import FILE, NAME, existing, few
from jitrl.cli.rules.options import SCOPE
from jitrl.cli.shared.listing import Listing
from jitrl.cli.shared.output import JSON, emit, people, tell
from jitrl.cli.shared.progress import counting
from jitrl.cli.shared.settings import OPTIONS, Flags, with_settings
from jitrl.errors import InputError, brief
from jitrl.language import counted
from jitrl.run import folder as folders
from jitrl.run.judging import written
from jitrl.stores.sqlite import SQLiteStore

_TAKEN = {"--model", "--model-options", "--max-calls", "--max-tokens", "--max-dollars"}


@with_settings(but=frozenset(OPTIONS) - _TAKEN)
def redistil(
    file: FILE,
    flags: Flags,
    author: Annotated[
        Author,
        typer.Option(help="`rules` compares the attempts, `model` is the one that writes."),
    ] = "rules",
    scope: SCOPE = None,
    task: Annotated[str | None, typer.Option(help="Only contrasts of this task.")] = None,
    since: Annotated[
        int, typer.Option(min=0, help="Only contrasts that this version brought, or a later one.")
    ] = 0,
    most: Annotated[int, typer.Option(min=1, help="Rules of one contrast at most.")] = 2,
    principal: Annotated[
        list[str] | None,
        typer.Option(help="Take contrasts of this principal, too; may be repeated."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would come in; a model is asked.")
    ] = False,
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """Make rules again of the stored contrasts: good attempts at a task against bad ones.

    Attempts are compared as they are, whatever `credit` the agent had: nothing is played again.
    New rules are candidates. Those that are there already keep all they have, whatever became of
    them, and gain the evidence. Left out, and said, are contrasts with an episode in quarantine or
    without a score, and those that came in under somebody's name (--principal). What others write
    meanwhile stays: each contrast is looked at again when its rules are written.
    """
    settings = config.load(flags)
    done: list[Redone] = []
    with (
        existing(file, name) as store,
        closing(folders.ledger(None, settings.budget)) as ledger,
        counting("distilling") as count,
    ):
        kept = [c for c in store.contrasts(scope=scope, task=task) if c.version >= since]
        _check_chosen(store, scope, task, principal or ())
        if since > store.head():
            raise InputError(f"--since is {since}; the memory is at version {store.head()}")
        writer = written(settings, ledger.meter("learn")) if author == "model" else None
        named = frozenset(principal or ())
        distiller = Distiller(store, writer, most, named=named)
        for one in redone(distiller, kept, writes=not dry_run):
            done.append(one)
            count(len(done), len(kept))
    if json:
        emit(_data(done, dry_run))
    else:
        _show(done, dry_run)


def _check_chosen(
    store: SQLiteStore, scope: str | None, task: str | None, principals: Sequence[str]
) -> None:
    """Refuse a choice that no contrast of the memory can meet.

    Raises:
        InputError: With what there is.
    """
    kept = store.contrasts()
    for option, given, known in (
        ("--scope", scope, {c.scope for c in kept}),
        ("--task", task, {c.task for c in kept}),
    ):
        if given is not None and given not in known:
            raise InputError(
                f"{option} {brief(given)}: no contrast is of it; there are those of {few(known)}"
            )
    named = {c.principal for c in kept} - {""}
    if unknown := sorted(set(principals) - named):
        raise InputError(
            f"--principal {unknown[0]!r}: no contrast came in under that name; there are "
            f"{few(named)}"
        )


def _data(done: list[Redone], is_dry: bool) -> dict[str, Any]:
    return {
        "schema": "jitrl.rules.redistil/1",
        "written": not is_dry,
        "contrasts": len(done),
        "new": len({f.id for one in done for f in one.found if f.fate == "new"}),
        "rules": [
            {"contrast": one.contrast.id, **msgspec.to_builtins(f)}
            for one in done
            for f in one.found
        ],
        "left_out": [
            {
                "contrast": one.contrast.id,
                "task": one.contrast.task,
                "round": one.contrast.round,
                "reason": one.left_out,
            }
            for one in done
            if one.left_out
        ],
    }


_SAID = {"new": "new", "evidence": "gains evidence"}


def _show(done: list[Redone], is_dry: bool) -> None:
    listed = Listing(["rule", "id", "it is", "contrast"], left=frozenset({1, 2, 3}))
    told = [(one, found) for one in done for found in one.found if found.fate in _SAID]
    for one, found in told:
        where = f"round {one.contrast.round} of {one.contrast.task}"
        listed.add(found.text, found.id, _SAID[found.fate], where)
    if told:
        people().print(listed)
    for one in done:
        if one.left_out:
            tell(
                f"round {one.contrast.round} of {one.contrast.task} is left out: {one.left_out}",
                style="yellow",
            )
    new = len({found.id for one in done for found in one.found if found.fate == "new"})
    looked = sum(not one.left_out for one in done)
    verb = "would come in" if is_dry else "came in"
    known = len({found.id for one in done for found in one.found} - {f.id for _, f in told})
    tell(
        f"{looked} of {counted(len(done), 'contrast')} distilled; new rules that {verb}: {new}; "
        f"there already, with nothing new: {known}"
    )
