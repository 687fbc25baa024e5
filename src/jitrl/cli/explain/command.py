"""`jitrl explain`: why a decision fell as it did, and what would have turned it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from jitrl import config, given, presets
from jitrl.agents.corrected import Corrected
from jitrl.analysis import explain as views
from jitrl.cli.explain import tables
from jitrl.cli.explain.words import LANGUAGES
from jitrl.cli.memory.options import NAME
from jitrl.cli.shared.output import JSON, emit, people
from jitrl.cli.shared.progress import counted
from jitrl.cli.shared.settings import Flags, merge
from jitrl.core.rule import UpdateRule
from jitrl.errors import ConfigError, InputError, StoreError
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.memory import explain as explaining
from jitrl.report.words import Language
from jitrl.run import folder as folders
from jitrl.run.embedding import remembered
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Decision


def explain(
    place: Annotated[
        Path, typer.Argument(metavar="PLACE", help="A memory file, or the folder of a run.")
    ],
    decision: Annotated[
        str, typer.Argument(metavar="DECISION", help="EPISODE#STEP; not with --changed.")
    ] = "",
    changed: Annotated[
        bool, typer.Option("--changed", help="List the decisions that the memory turned round.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="Newest decisions that --changed lists.")] = 20,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Of a run folder: whose memory; else the first.")
    ] = None,
    most: Annotated[
        int, typer.Option(min=0, help="Near episodes to leave out, one after another.")
    ] = 20,
    memory: NAME = "default",
    setting: Annotated[
        list[str],
        typer.Option("--set", help="A setting of that time, as memory.preset=paper-web."),
    ] = [],  # noqa: B006 - typer reads it
    lang: Annotated[Language, typer.Option(help="Language of headings and labels.")] = "en",
    json: JSON = False,
) -> None:
    """Show why a decision fell as it did: each candidate before and after, whose experience
    counted, and what the choice would have been without each of those that weigh most.

    Exact and without a model: all numbers are in the journal.
    """
    if bool(decision) == changed:
        raise InputError("name a DECISION (EPISODE#STEP), or give --changed to list some")
    file, settings = _found(place, seed, setting)
    words = LANGUAGES[lang]
    with closing(SQLiteStore(file, memory=memory, readonly=True)) as store:
        if changed:
            rule = presets.load(settings.preset).changed(settings.rule, settings.retrieval).rule
            found = list(views.turned(store.decisions(), rule))[-limit:]
            if json:
                emit(views.listed(found))
            else:
                people().print(tables.changes(found, words))
            return
        trusted = store.settings().get("trusted")
        if trusted and not any(text.startswith("memory.trusted") for text in setting or ()):
            settings = msgspec.structs.replace(settings, trusted=frozenset(trusted))
        # Nothing is judged here, so the evaluator that the memory was used with is not needed.
        agent = Corrected(store, EnvironmentRewards(), settings, partial(remembered, str(file)))
        named = given.decision_id(decision)
        record = store.decision(named)
        if record.decision.reason == "weights":
            explanation = views.of_weights(record)
        else:
            _same_rule(record.decision, agent.preset.rule)
            with counted(words.without) as moved:
                explanation = explaining.explain(agent, store, named, most=most, progress=moved)
    rule = agent.preset.rule
    if json:
        emit(views.data(explanation, rule))
    else:
        people().print(tables.explained(explanation, rule, words))


def _found(place: Path, seed: int | None, given: Sequence[str]) -> tuple[Path, config.Memory]:
    """The memory file, and the settings it was used with: those of its run, else those in force."""
    flags: Flags = {}
    merge(flags, given, "--set")
    if not place.exists():
        raise StoreError(f"there is no run folder or memory file {place}")
    folder = place if place.is_dir() else place.parent
    if not (place.is_dir() or (folder / "run.json").is_file()):
        return place, config.load(flags).memory
    record = folders.read(folder)
    if place.is_dir():
        if seed is not None and seed not in record.seeds:
            raise InputError(f"{folder} has no seed {seed}; it has {list(record.seeds)}")
        place = folders.store_path(folder, record.seeds[0] if seed is None else seed)
    recorded = record.settings["memory"] | flags.get("memory", {})
    return place, msgspec.convert(recorded, config.Memory)


def _same_rule(decision: Decision, rule: UpdateRule) -> None:
    """Refuse what cannot be explained, with what to do about it on this command line."""
    if decision.rule != rule.digest:
        raise ConfigError(
            f"the decision was made under rule {decision.rule}, the settings in force give "
            f"{rule.digest}; give those of that time: --set memory.preset=NAME, and "
            "--set memory.rule=NAME=VALUE,… for what was changed in it"
        )
