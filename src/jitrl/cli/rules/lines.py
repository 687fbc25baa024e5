"""`jitrl rules export` and `import`: the book as JSON lines; what comes in is told nobody yet."""

from __future__ import annotations

from collections.abc import Iterable
from shlex import quote
from typing import Annotated

import msgspec
import typer

from jitrl import given
from jitrl.cli.memory.options import FILE, NAME, check_scope, reading
from jitrl.cli.memory.source import NothingNewError, filled, opened
from jitrl.cli.memory.target import said_of, written
from jitrl.cli.rules.options import SCOPE, STATUS
from jitrl.cli.shared.answerable import logged_in
from jitrl.cli.shared.output import JSON, emit, tell
from jitrl.errors import InputError
from jitrl.language import counted
from jitrl.stores import jsonl_rules, line_rules
from jitrl.stores.sqlite import SQLiteStore


def export(
    file: FILE,
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="JSONL file, or - for stdout.")
    ] = "-",
    scope: SCOPE = None,
    status: STATUS = None,
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """Write rules as JSON lines, each with its history and after the contrasts it rests on."""
    if json and target == "-":
        raise InputError("--json and the export would share stdout; name a target file")
    counts = {line_rules.RULE: 0, line_rules.CONTRAST: 0}
    with reading(file, name) as store, written(target, file) as out:
        for text in jsonl_rules.export(store, scope=scope, status=status):
            out.write(text)
            counts[line_rules.schema_of(text)] += 1
        if not any(counts.values()):
            check_scope(store, scope)
    rules, contrasts = counts.values()
    tell(f"{counted(rules, 'rule')}, {counted(contrasts, 'contrast')} written to {said_of(target)}")
    if json:
        facts = {"rules": rules, "contrasts": contrasts, "target": target}
        emit({"schema": "jitrl.rules.export/1", **facts})


def import_(
    file: FILE,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="JSONL file, or - for stdin.")],
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave bad lines out, and list them.")
    ] = False,
    principal: Annotated[
        str | None,
        typer.Option(help="Who is answerable for what comes in; else who is logged in."),
    ] = None,
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """Add rules from JSON lines: all or none, and all in quarantine.

    Whatever status they had, they are told nobody until `jitrl rules restore` makes candidates of
    them, which are tested like any other. A sentence that is no rule is a bad line.
    """
    answerable = logged_in() or "import" if principal is None else principal
    given.text(answerable, "--principal")
    if not answerable:
        raise InputError("--principal is empty; name who is answerable for what comes in")

    def read(store: SQLiteStore, lines: Iterable[bytes]) -> jsonl_rules.ImportedRules:
        with store.batch():
            done = jsonl_rules.read(
                store, lines, name=source, skip_bad=skip_bad, principal=answerable
            )
            if not (done.rules or done.contrasts):
                raise NothingNewError(done)
        return done

    with opened(source) as lines:
        done = filled(file, name, lambda store: read(store, lines))
    for bad in done.skipped:
        tell(f"{source}:{bad.line} left out: {bad.reason}", style="yellow")
    tell(
        f"{counted(done.rules, 'rule')} in quarantine and {counted(done.contrasts, 'contrast')} "
        f"added, {done.duplicates} there already, {counted(len(done.skipped), 'line')} left out"
    )
    if done.rules:
        tell(
            f"jitrl rules restore {quote(file)} RULE… lets them be told, as candidates", style="dim"
        )
    if json:
        emit({"schema": "jitrl.rules.import/1", **msgspec.to_builtins(done)})
