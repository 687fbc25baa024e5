"""`jitrl memory purge` and `backup`: a subject out of all files, and copies that are whole."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from jitrl import config, purging
from jitrl.cli.memory.options import FILE, NAME, existing, reading
from jitrl.cli.memory.target import spare
from jitrl.cli.shared.answerable import answerable
from jitrl.cli.shared.output import JSON, emit, tell
from jitrl.language import counted
from jitrl.stores import backup as backups


def purge(
    file: FILE,
    subjects: Annotated[
        list[str],
        typer.Option(
            "--subject",
            metavar="KIND=VALUE",
            help="Whose data: principal=, episode=, task= or text=; may be repeated.",
        ),
    ],
    principal: Annotated[
        str,
        typer.Option(
            help="Who has it done, for the version stream and the receipt; default: who is logged "
            "in.",
            show_default=False,
        ),
    ] = "",
    also: Annotated[
        list[str] | None,
        typer.Option("--also", metavar="COPY", help="A copy made by other means; likewise."),
    ] = None,
    answers: Annotated[
        list[str] | None,
        typer.Option(
            "--answers",
            metavar="FILE",
            help="A file of answers that a model keeps (`cache`), if it is neither beside FILE "
            "nor in the settings; may be repeated.",
        ),
    ] = None,
    delete_exports: Annotated[
        bool, typer.Option("--delete-exports", help="Delete the exports that were made of it.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be removed.")
    ] = False,
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """Remove all of a person, principal, task or episode for good: from every memory in the file,
    from rules and decisions that came of it, from the log, free pages and known copies, from what a
    service remembers of reports, and from files of answers.

    --json is the receipt. Exit 1 if something is left.
    """
    answered = [*(answers or ()), *_kept()]
    with (reading if dry_run else existing)(file, name) as store:
        receipt = purging.purged(
            store,
            subjects,
            principal=answerable(principal),
            also=also or (),
            answers=answered,
            delete_exports=delete_exports,
            dry_run=dry_run,
        )
    for cleaned in receipt.files:
        for memory in cleaned.memories:
            if memory.version or memory.episodes or memory.rules:
                verb = "would go" if dry_run else "removed"
                tell(
                    f"{cleaned.path}, memory {memory.memory}: {counted(memory.episodes, 'episode')}"
                    f", {counted(memory.rows, 'row')}, {counted(memory.rules, 'rule')} {verb}; "
                    f"{counted(memory.rewritten, 'decision')} of others rewritten"
                )
        said = f": {cleaned.why}" if cleaned.why else ""
        if cleaned.entries:
            of = "report" if cleaned.kind == "reports" else "call"
            said = f": {counted(cleaned.entries, of)}{said.replace(': ', '; ', 1)}"
        if not dry_run or cleaned.kind != "memory":
            tell(f"{cleaned.kind} {cleaned.path} {cleaned.state}{said}")
    if json:
        emit({"schema": "jitrl.memory.purge/1", **msgspec.to_builtins(receipt)})
    if not (receipt.is_complete or dry_run):
        raise typer.Exit(1)


def _kept() -> list[str]:
    """The files of answers that the settings in force name."""
    settings = config.load()
    options = (settings.model.options, settings.writer.options)
    named = (of.get(name) for of in options for name in ("cache", "replay"))
    return [os.fspath(path) for path in dict.fromkeys(named) if path]


def backup(
    file: FILE,
    target: Annotated[
        str | None,
        typer.Argument(metavar="TARGET", help="The copy; beside FILE, with the time, if not given"),
    ] = None,
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """Copy the whole file while others use it, and check the copy. `purge` reaches it, too."""
    made = target or f"{file}.{time.strftime('%Y%m%dT%H%M%S')}.backup"
    spare(made, file)
    with reading(file, name) as store:
        size = backups.backup(store, made)
    tell(f"{made}: {size} bytes, whole")
    if json:
        path = str(Path(made).absolute())
        emit({"schema": "jitrl.memory.backup/1", "target": path, "bytes": size})
