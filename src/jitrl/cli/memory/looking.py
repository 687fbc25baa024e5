"""`jitrl memory ls`, `show`, `stats` and `check`: what a memory holds, and whether it is whole."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
import typer
from rich.table import Table
from rich.text import Text

from jitrl.cli.memory.options import FILE, NAME, SCOPE, check_scope, few, reading
from jitrl.cli.shared.listing import Listing
from jitrl.cli.shared.output import JSON, emit, people, table, tell
from jitrl.errors import InputError
from jitrl.language import counted
from jitrl.stores import line
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Scored


def ls(
    file: FILE,
    name: NAME = "default",
    scope: SCOPE = None,
    task: Annotated[str | None, typer.Option(help="Only this task.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Newest episodes to list.")] = 50,
    json: JSON = False,
) -> None:
    """List episodes, newest first."""
    with reading(file, name) as store:
        found = store.summaries(scope=scope, task=task, limit=limit + 1)
        if not found:
            check_scope(store, scope)
            _check_task(store, scope, task)
    is_cut, found = len(found) > limit, found[:limit]
    if json:
        emit({"schema": "jitrl.memory.ls/1", "episodes": msgspec.to_builtins(found)})
        return
    if not found:
        tell("no episodes")
        return
    heads = ["episode", "task", "scope", "steps", "outcome", "basis", "rows", "learned"]
    if any(e.unscored for e in found):
        heads.append("why not")
    texts = frozenset({0, 1, *range(8, len(heads))})
    shown = Listing(heads, texts=texts, left=frozenset({2, 5, 6, 7}))
    for e in found:
        rows = f"{e.active} active"
        rows += f", {e.quarantined} quarantined" if e.quarantined else ""
        rows += f", {e.retired} retired" if e.retired else ""
        outcome = "" if e.outcome is None else f"{e.outcome:g}"
        learned = ("no", e.unscored) if e.unscored else ("yes",)
        cells = (e.key, e.task, e.scope, e.steps, outcome, e.basis, rows, *learned)
        shown.add(*(str(cell) for cell in cells))
    if is_cut:
        shown.notes.append("… older ones are not listed: --limit")
    people().print(shown)


def _check_task(store: SQLiteStore, scope: str | None, task: str | None) -> None:
    tasks = {episode.task for episode in store.summaries(scope=scope)}
    if task is not None and task not in tasks:
        of = "" if scope is None else f" of scope {scope!r}"
        raise InputError(f"--task {task!r}: no episode{of} is of it; there are {few(tasks)}")


def show(
    file: FILE,
    key: Annotated[str, typer.Argument(metavar="EPISODE", help="Key of the episode.")],
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """Show an episode: its steps, outcome history, judgment and rows."""
    with reading(file, name) as store:
        record, rows = store.record(key), store.rows(key)
    if json:
        episode = msgspec.json.decode(line.dump(record))  # as in an export
        emit(
            {"schema": "jitrl.memory.show/1", "episode": episode, "rows": msgspec.to_builtins(rows)}
        )
        return
    e, judgment = record.episode, record.judgment
    said = (
        f"scored by {judgment.evaluator} ({judgment.basis}, {'told' if judgment.told else 'blind'})"
        if isinstance(judgment, Scored)
        else f"nothing is learned: {judgment.reason}"
    )
    tell(f"{e.key}: task {e.task}, scope {e.scope or '-'}, agent {e.agent}, {e.status}; {said}")
    for what, value in judgment.info.items():
        tell(f"{what}: {value}", style="dim")
    for entry in record.outcomes:
        o = entry.outcome
        tell(
            f"outcome {o.value:g} ({o.basis}, by {o.evaluator}, answerable: {o.principal or '-'})"
            if o
            else "outcome withdrawn"
        )
    for use in record.uses:
        how = "told" if use.told else "held out"
        tell(
            f"rule {use.rule} {how} (chance {use.chance:g}), "
            f"obeyed {use.obeyed} of {counted(use.occasions - use.unknown, 'time')}"
            + (f", {use.unknown} unknown" if use.unknown else "")
        )
    live = {row.step: row for row in rows if row.status != "retired"}
    shown = table("step", "place", "action", "reward", "return", "row", "status")
    for t, step in enumerate(e.steps):
        row = live.get(t)
        given = "" if step.reward is None else f"{step.reward:g}"
        numbers = (f"{row.reward:g}", f"{row.ret:.3f}", row.id, row.status) if row else (given,)
        _add(shown, t, step.state.place or step.state.text[:40], step.action, *numbers)
    people().print(shown)
    tell(f"retired rows of earlier judgments: {sum(row.status == 'retired' for row in rows)}")


def stats(file: FILE, name: NAME = "default", json: JSON = False) -> None:
    """Count episodes, rows, outcomes, rules and who they come from."""
    with reading(file, name) as store:
        found = store.stats()
    if json:
        emit({"schema": "jitrl.memory.stats/1", **msgspec.to_builtins(found)})
        return
    shown = table("what", "number")
    for what, number in msgspec.to_builtins(found).items():
        if isinstance(number, dict):
            number = ", ".join(f"{k or '-'} {n}" for k, n in number.items()) or 0
        if what != "mixed":
            _add(shown, what.replace("_", " "), number)
    people().print(shown)
    for mix in found.mixed:
        values = ", ".join(f"{value} {counted(n, 'episode')}" for value, n in mix.values.items())
        tell(
            f"warning: scope {mix.scope or '-'} mixes {mix.what}: {values}; "
            "their returns are not on one scale",
            style="yellow",
        )


def check(file: FILE, name: NAME = "default", json: JSON = False) -> None:
    """Check the whole file: pages, versions, digests, rows, rules; exit 1 if anything is wrong."""
    with reading(file, name) as store:
        found = store.check()
    for problem in found:
        tell(f"{problem.rule}: {problem.found}", style="red")
    tell(f"{file}: {counted(len(found), 'problem')}" if found else f"{file} is whole")
    if json:
        problems = msgspec.to_builtins(found)
        emit({"schema": "jitrl.memory.check/1", "is_whole": not found, "problems": problems})
    if found:
        raise typer.Exit(1)


def _add(shown: Table, *cells: Any) -> None:
    shown.add_row(*(Text(str(cell)) for cell in cells))
