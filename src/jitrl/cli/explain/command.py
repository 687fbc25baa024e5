"""`jitrl explain`: why a decision fell as it did, and what would have changed it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from jitrl import given, presets
from jitrl.analysis import explain as views
from jitrl.analysis.notes import heard
from jitrl.cli.explain import tables
from jitrl.cli.explain.words import LANGUAGES
from jitrl.cli.memory.options import NAME
from jitrl.cli.shared.output import JSON, emit, people
from jitrl.cli.shared.progress import counting
from jitrl.cli.shared.recorded import recorded, sight
from jitrl.core.rule import UpdateRule
from jitrl.errors import ConfigError, InputError
from jitrl.memory import explain as explaining
from jitrl.report.words import Language
from jitrl.service.errors import Unknown
from jitrl.service.ids import decision_place
from jitrl.stores.records import decision_id
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Decision


def explain(
    place: Annotated[
        Path, typer.Argument(metavar="PLACE", help="A memory file, or the folder of a run.")
    ],
    decision: Annotated[
        str,
        typer.Argument(
            metavar="DECISION",
            help="EPISODE#STEP, or EPISODE:STEP as the service has it; not with --changed.",
        ),
    ] = "",
    changed: Annotated[
        bool, typer.Option("--changed", help="List the decisions that the memory changed.")
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
    counted, what the choice would have been without each of those that weigh most, and the rules
    that were told there or held out.

    Exact and without a model: all numbers are in the journal.
    """
    if bool(decision) == changed:
        raise InputError("name a DECISION (EPISODE#STEP), or give --changed to list some")
    file, settings = recorded(place, seed, setting)
    words = LANGUAGES[lang]
    with closing(SQLiteStore(file, memory=memory, readonly=True)) as store:
        if changed:
            preset = presets.load(settings.preset)
            rule = preset.changed(settings.rule, admission=settings.admission).rule
            found = list(views.turned(store.decisions(), rule))[-limit:]
            if json:
                emit(views.listed(found))
            else:
                people().print(tables.changes(found, words))
            return
        agent = sight(store, settings, setting)
        named = given.decision_id(_journaled(decision))
        record = store.decision(named)
        if record.decision.reason == "weights":
            explanation = views.of_weights(record)
        elif record.decision.reason == "off" and record.decision.rule != agent.preset.rule.digest:
            explanation = views.of_itself(record)  # of an agent that chooses otherwise
        else:
            _same_rule(record.decision, agent.preset.rule)
            with counting(words.without) as moved:
                explanation = explaining.explain(agent, store, named, most=most, progress=moved)
        spoke = heard(store, record)
    rule = agent.preset.rule
    if json:
        emit(views.data(explanation, rule, spoke))
    else:
        people().print(tables.explained(explanation, rule, words, spoke))


def _journaled(id: str) -> str:
    """The id of a decision as the journal has it, where the service's is given."""
    if id.rpartition("#")[2].isdecimal():
        return id
    try:
        return decision_id(*decision_place(id))
    except Unknown:
        return id  # for the journal to refuse


def _same_rule(decision: Decision, rule: UpdateRule) -> None:
    """Refuse what cannot be explained, with what to do about it on this command line."""
    if decision.rule != rule.digest:
        raise ConfigError(
            f"the decision was made under update rule {decision.rule}, the settings in force give "
            f"{rule.digest}; give those of that time: --set memory.preset=NAME, and "
            "--set memory.rule=NAME=VALUE,… for what was changed in it"
        )
