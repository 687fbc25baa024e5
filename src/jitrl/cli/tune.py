"""`jitrl tune`: settings for one's own tasks, within a budget, judged on held-out tasks."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.text import Text

from jitrl import config, registry
from jitrl.analysis.bill import bill
from jitrl.cli.shared.arms import listed, play_one
from jitrl.cli.shared.listing import Listing
from jitrl.cli.shared.output import JSON, emit, people, tell, writing
from jitrl.cli.shared.planned import shorter, terms
from jitrl.cli.shared.settings import Flags, with_settings
from jitrl.cli.shared.table import show
from jitrl.errors import ConfigError, StoreError
from jitrl.language import counted
from jitrl.report.data import data
from jitrl.run import folder, schedule
from jitrl.run.compose import compose
from jitrl.study import tune as tuning

SCHEMA = "jitrl.tune/1"


@with_settings(but=frozenset({"--agent", "--agent-options", "--book", "--until-plateau"}))
def tune(
    flags: Flags,
    episodes: Annotated[
        int, typer.Option(min=1, help="Most episodes in all, those on held-out tasks included.")
    ] = 2000,
    seconds: Annotated[
        float | None, typer.Option(min=1, help="About so many seconds in all.")
    ] = None,
    held_out: Annotated[
        str, typer.Option(help="Share of the tasks, or patterns, that nothing is chosen by.")
    ] = "0.5",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the split and the candidates.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the search; the same again resumes it.")
    ] = None,
    json: JSON = False,
) -> None:
    """Search settings of the memory for your tasks: gamma, beta, threshold, k and exploration.

    Candidates are drawn at random and play the search tasks, each with a fresh memory; the better
    half goes on, round by round. The best one then meets the settings in force on held-out tasks.
    Only these are reported as a result. Where the 95 % interval of the difference lies above 0, the
    new settings are written into the folder as jitrl.toml; else those in force are kept.

    The limits on calls, tokens and dollars are those of the whole search. Answers of the model are
    kept in the folder and used again, so that candidates cost few calls.
    """
    settings = config.load(flags)
    where = out or folder.default(settings, "tune")
    settings = _cached(_for_jitrl(settings), where)
    tasks = schedule.select(listed(settings), settings.run)

    def planned() -> tuning.Plan:
        search, held = tuning.split(tasks, held_out, seed)
        tuning.affordable(episodes, settings, len(search), len(held))  # before anything is played
        most = _pace(settings, where, search, seconds, episodes)
        count = tuning.affordable(most, settings, len(search), len(held))
        return tuning.Plan(search, held, count, seed)

    asked = {"episodes": episodes, "seconds": seconds, "held-out": held_out, "seed": seed}
    plan = tuning.planned(where, {**asked, "tasks": settings.run.tasks}, planned)
    most = tuning.episodes(plan.candidates, settings, len(plan.search), len(plan.held))
    tell(
        f"{counted(plan.candidates, 'candidate')} on {counted(len(plan.search), 'task')} of "
        f"{settings.environment.name}, {counted(len(plan.held), 'task')} held out: at most "
        f"{counted(most, 'episode')}; {terms([settings], where)}" + shorter(most, "--episodes N")
    )
    found = tuning.tune(settings, where, plan, _play)
    _show(found)
    written = _write(where / "jitrl.toml", found, settings)
    if json:
        emit(_data(found, where, written))


def _for_jitrl(settings: config.Settings) -> config.Settings:
    if settings.memory.mode != "act":
        raise ConfigError(
            f"memory.mode is {settings.memory.mode!r}, so that no memory is followed and all "
            "settings of it play alike; leave it at 'act'"
        )
    run = msgspec.structs.replace(settings.run, agent="jitrl", options={})
    return msgspec.structs.replace(settings, run=run)


def _cached(settings: config.Settings, where: Path) -> config.Settings:
    """Have the model keep its answers, if it can and nothing else was said."""
    model = settings.model
    takes = "cache" in inspect.signature(registry.load("models", model.name)).parameters
    if not takes or {"cache", "replay"} & set(model.options):
        return settings
    options = {**model.options, "cache": str(where / "answers.db")}
    return msgspec.structs.replace(settings, model=msgspec.structs.replace(model, options=options))


def _pace(
    settings: config.Settings,
    where: Path,
    search: Sequence[str],
    seconds: float | None,
    episodes: int,
) -> float:
    """Episodes that the budget allows, at the pace and price of the first run."""
    dollars = settings.budget.max_dollars
    if seconds is None and dollars is None:
        return episodes
    people().print("The first run shows at which pace and price episodes are played.")
    first = tuning.first_run(settings, where, search, partial(_play, is_alone=True))
    took, most = bill(first), float(episodes)
    played = first.scores.size
    if seconds is not None and took.wall_s:
        most = min(most, seconds * played / took.wall_s)
    if dollars is not None and took.dollars > 0:
        most = min(most, dollars * played / took.dollars)
    return most


def _play(settings: config.Settings, where: Path, label: str, *, is_alone: bool = False) -> None:
    play_one(label, settings, compose(settings), where, is_alone=is_alone)


def _write(path: Path, found: tuning.Tuned, settings: config.Settings) -> Path | None:
    """The new settings, if there is evidence for them: all that make them what was judged."""
    if not found.is_better:
        return None
    text = tuning.toml(found.best.applied(settings).memory)
    people().print(f"Better on held-out tasks; {path}:")
    people().print(Text(text))
    if path.exists() and path.read_bytes() != text.encode():
        raise StoreError(f"{path} holds other settings and is left as it is; move it away first")
    with writing(path):
        path.write_bytes(text.encode())
    return path


def _show(found: tuning.Tuned) -> None:
    tried = Listing(("changes", "rounds", "score in the search"), is_numbered=True)
    for one in found.tried[:10]:
        changes = ", ".join(f"{name}={value}" for name, value in one.candidate.changes.items())
        tried.add(changes or "none: as it is", f"{one.rounds}", f"{one.score:.3f}")
    people().print(tried)
    people().print(
        Text("Scores in the search chose the best and are no result; held-out tasks are.", "dim")
    )
    if found.held is None:
        people().print(
            "No candidate was better in the search, so held-out tasks were not played: the "
            "settings in force are kept."
        )
        return
    people().print()
    show(found.held)
    people().print()
    if not found.is_better:
        people().print(
            "On held-out tasks there is no evidence that the best candidate is better: the "
            "settings in force are kept."
        )


def _data(found: tuning.Tuned, where: Path, written: Path | None) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "folder": str(where),
        "is_better": found.is_better,
        "settings": dict(found.best.changes) if found.is_better else {},
        "written": None if written is None else str(written),
        "best": {"label": found.best.label, "changes": dict(found.best.changes)},
        "plan": msgspec.to_builtins(found.plan),
        "tried": [asdict(one) for one in found.tried],
        "held_out": found.held and data(found.held, "jitrl.compare/1"),
    }
