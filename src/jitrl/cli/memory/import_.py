"""`jitrl memory import`: lines, logs or traces, all or none, into a file that may be new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from jitrl import config, given
from jitrl.cli.memory.forms import Form, lines_of
from jitrl.cli.memory.options import FILE, GAMMA, NAME, RETURNS, TRUSTED, deriving
from jitrl.cli.memory.source import NothingNewError, filled, opened
from jitrl.cli.shared.answerable import logged_in
from jitrl.cli.shared.output import JSON, emit, tell
from jitrl.core.credit import derive_rows
from jitrl.language import counted
from jitrl.ports import Evaluator, Writer
from jitrl.run.folder import ledger
from jitrl.run.judging import evaluator_named, written
from jitrl.stores import jsonl
from jitrl.stores.lines import Skipped
from jitrl.stores.sqlite import SQLiteStore


def import_(
    file: FILE,
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="JSONL file, log or traces, or - for stdin.")
    ],
    form: Annotated[
        Form | None, typer.Option(help="Of the source; default: what it looks like.")
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Keep basis, principals, quarantine, status of rules.")
    ] = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave bad lines out, and list them.")
    ] = False,
    principal: Annotated[
        str | None,
        typer.Option(
            help="Who is answerable for what comes in, and imports it; default: `import`, and who "
            "is logged in."
        ),
    ] = None,
    scope: Annotated[
        str | None, typer.Option(help="Scope of the runs of a log or of traces.")
    ] = None,
    score: Annotated[
        str, typer.Option(help="Name of the score that is their outcome; default: the first.")
    ] = "",
    gamma: GAMMA = None,
    returns: RETURNS = None,
    trusted: TRUSTED = None,
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """Add episodes, recorded runs and rules: all or none, in quarantine unless trusted.

    Reads JSON lines, logs of Inspect and OTLP traces. Runs are scored by the evaluator of the
    settings. A new file is derived by the settings in force, and appears only if something was
    imported.
    """
    if principal is not None:
        given.name(principal, "--principal")
    left_out = list[Skipped]()

    def read(store: SQLiteStore, judge: Evaluator, lines: Iterable[bytes]) -> jsonl.Imported:
        with store.batch():
            settings = deriving(store, gamma, returns, trusted)
            done = jsonl.read(
                store,
                lines,
                partial(derive_rows, **settings),
                judge=judge.judge,
                name=source,
                trust=trust,
                skip_bad=skip_bad,
                principal=principal or "import",
                by=principal or logged_in(),
            )
            if not (done.episodes or done.rules or done.contrasts):
                raise NothingNewError(done)
            if not store.settings():
                store.configure(settings)
        return done

    with _judging(file) as judge, opened(source) as raw:
        lines = lines_of(
            raw, form, left_out, name=source, scope=scope, score=score, skip_bad=skip_bad
        )
        done = filled(file, name, lambda store: read(store, judge, lines))
    done = replace(done, skipped=(*left_out, *done.skipped))
    for bad in done.skipped:
        tell(f"{source}:{bad.line} left out: {bad.reason}", style="yellow")
    book = f"{counted(done.rules, 'rule')} and {counted(done.contrasts, 'contrast')} added, "
    tell(
        f"{counted(done.episodes, 'episode')} added with {counted(done.rows, 'row')} "
        f"({done.quarantined} in quarantine), "
        f"{book if done.rules or done.contrasts else ''}"
        f"{done.duplicates} there already, {counted(len(done.skipped), 'line')} left out"
    )
    if done.unscored:
        tell(
            f"{done.unscored} of them have neither a reward nor an outcome that counts: nothing is "
            "learned from them until they are told one",
            style="yellow",
        )
    if json:
        emit({"schema": "jitrl.memory.import/1", **msgspec.to_builtins(done)})


@contextmanager
def _judging(file: str) -> Iterator[Evaluator]:
    """The evaluator of the settings; what a model costs counts in the memory's folder."""
    settings = config.load()
    with ExitStack() as stack:

        def asked() -> Writer:
            folder = None if file == ":memory:" else Path(file).parent
            counted = stack.enter_context(closing(ledger(folder, settings.budget)))
            return written(settings, counted.meter("judge"))

        memory = settings.memory
        yield evaluator_named(memory.evaluator, memory.evaluator_options, asked)
