"""`jitrl memory`: list, show, count, quarantine, restore, export, import, rebuild and check."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

import msgspec
import typer
from rich.table import Table
from rich.text import Text

from jitrl.cli.memory.import_ import import_
from jitrl.cli.memory.options import FILE, GAMMA, NAME, RETURNS, TRUSTED, deriving, reading
from jitrl.cli.memory.target import written
from jitrl.cli.shared.listing import Listing
from jitrl.cli.shared.output import JSON, emit, people, table, tell
from jitrl.core.credit import derive_rows
from jitrl.errors import InputError
from jitrl.stores import jsonl, line, line_rules
from jitrl.stores import rebuild as rebuilding
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Scored

app = typer.Typer(no_args_is_help=True)

SCOPE = Annotated[str | None, typer.Option(help="Only this scope.")]
EPISODES = Annotated[
    list[str] | None, typer.Option("--episode", help="Key of an episode; may be repeated.")
]
ROWS = Annotated[list[int] | None, typer.Option("--row", help="Id of a row; may be repeated.")]
_LISTED = 20  # episodes that a rebuild shows
REASON = Annotated[str, typer.Option(help="Why; kept in the version stream.")]
PRINCIPAL = Annotated[str, typer.Option(help="Who is answerable; kept in the version stream.")]


@app.callback()
def memory() -> None:
    """List, show, quarantine, restore, export, import, rebuild and check a memory."""


@app.command()
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
        found = store.summaries(scope=scope, task=task, limit=limit)
    if json:
        emit({"schema": "jitrl.memory.ls/1", "episodes": msgspec.to_builtins(found)})
        return
    heads, texts = ["episode", "task", "scope", "steps", "outcome", "basis", "rows", "learned"], {0}
    if any(e.unscored for e in found):
        heads, texts = [*heads, "why not"], {0, len(heads)}
    shown = Listing(heads, texts=frozenset(texts), left=frozenset({1, 2, 5, 6, 7}))
    for e in found:
        rows = f"{e.active} active"
        rows += f", {e.quarantined} quarantined" if e.quarantined else ""
        rows += f", {e.retired} retired" if e.retired else ""
        outcome = "" if e.outcome is None else f"{e.outcome:g}"
        learned = ("no", e.unscored) if e.unscored else ("yes",)
        cells = (e.key, e.task, e.scope, e.steps, outcome, e.basis, rows, *learned)
        shown.add(*(str(cell) for cell in cells))
    people().print(shown)


@app.command()
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
            f"obeyed {use.obeyed} of {_counted(use.occasions, 'time')}"
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


@app.command()
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
            number = ", ".join(f"{k or '-'} {n}" for k, n in number.items())
        if what != "mixed":
            _add(shown, what.replace("_", " "), number)
    people().print(shown)
    for mix in found.mixed:
        values = ", ".join(f"{value} {n}" for value, n in mix.values.items())
        tell(
            f"warning: scope {mix.scope or '-'} mixes {mix.what}: {values} episodes; "
            "their returns are not on one scale",
            style="yellow",
        )


@app.command()
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


@app.command()
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


@app.command()
def export(
    file: FILE,
    target: Annotated[str, typer.Argument(metavar="TARGET", help="JSONL file, or - for stdout.")],
    name: NAME = "default",
    scope: SCOPE = None,
    json: JSON = False,
) -> None:
    """Write the memory as JSON lines: one episode, rule or contrast a line."""
    if json and target == "-":
        raise InputError("--json and the export would share stdout; name a target file")
    counts = dict.fromkeys((line.SCHEMA, line_rules.RULE, line_rules.CONTRAST), 0)
    with reading(file, name) as store, written(target, file) as out:
        for text in jsonl.export(store, scope=scope):
            out.write(text)
            counts[line_rules.schema_of(text)] += 1
    episodes, rules, contrasts = counts.values()
    book = f", {_counted(rules, 'rule')}, {_counted(contrasts, 'contrast')}"
    tell(f"{_counted(episodes, 'episode')}{book if rules or contrasts else ''} written to {target}")
    if json:
        facts = {"episodes": episodes, "rules": rules, "contrasts": contrasts, "target": target}
        emit({"schema": "jitrl.memory.export/1", **facts})


app.command("import")(import_)


@app.command()
def rebuild(
    file: FILE,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what differs; exit 1 if anything does.")
    ] = False,
    gamma: GAMMA = None,
    returns: RETURNS = None,
    trusted: TRUSTED = None,
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """Derive all rows again from the journal, and replace those that differ."""
    with (_reading if dry_run else _existing)(file, name) as store:
        settings = deriving(store, gamma, returns, trusted)
        done = rebuilding.rebuild(store, partial(derive_rows, **settings), apply=not dry_run)
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
        f"{_counted(done.episodes, 'episode')}, {_counted(done.rows, 'row')} derived; "
        f"rows of {_counted(len(done.differences), 'episode')} {verb}"
    )
    if json:
        emit({"schema": "jitrl.memory.rebuild/1", **msgspec.to_builtins(done)})
    if dry_run and done.differences:
        raise typer.Exit(1)


@app.command()
def check(file: FILE, name: NAME = "default", json: JSON = False) -> None:
    """Check the whole file: pages, versions, digests, rows, rules; exit 1 if anything is wrong."""
    with reading(file, name) as store:
        found = store.check()
    for problem in found:
        tell(f"{problem.rule}: {problem.found}", style="red")
    tell(f"{file}: {_counted(len(found), 'problem')}" if found else f"{file} is whole")
    if json:
        problems = msgspec.to_builtins(found)
        emit({"schema": "jitrl.memory.check/1", "is_whole": not found, "problems": problems})
    if found:
        raise typer.Exit(1)


# --- stores and files -------------------------------------------------------------------------


def _existing(file: str, name: str) -> SQLiteStore:
    """Open for writing, but never make a file or a memory because of a typing error."""
    reading(file, name).close()
    return SQLiteStore(file, memory=name)


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
    with _existing(file, name) as store:
        changed = store.set_status(
            status, rows=rows or (), episodes=episodes or (), reason=reason, principal=principal
        )
        version = store.head()
    verb = "is" if changed == 1 else "are"
    tell(f"{_counted(changed, 'row')} {verb} {status} now; version {version}")
    if json:
        facts = {"status": status, "changed": changed, "version": version}
        emit({"schema": "jitrl.memory.status/1", **facts})


# --- words for people -------------------------------------------------------------------------


def _steps(of: rebuilding.Difference) -> str:
    return "all" if len(of.steps) >= max(of.was, of.now) else " ".join(map(str, of.steps))


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _add(shown: Table, *cells: Any) -> None:
    shown.add_row(*(Text(str(cell)) for cell in cells))
