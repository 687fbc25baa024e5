"""What a comparison may cost before it is run: calls and tokens, times prices.

An agent that has played already is taken at what its ledger says. Else a pilot asks the model for
the first decision of a few tasks; without a pilot, tokens are guessed from the length of prompts.
Episodes are taken to be as long as they may be, so the estimate is on the high side.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Literal, cast

import numpy as np

from jitrl import registry
from jitrl.config import Settings
from jitrl.ports import Environment, Writer
from jitrl.run import folder as folders
from jitrl.run import schedule
from jitrl.run.compose import compose
from jitrl.run.embedding import remembered
from jitrl.run.judging import evaluator_named, written
from jitrl.run.ledger import Ledger
from jitrl.run.loop import Trial
from jitrl.run.replaying import Replayer
from jitrl.stores.sqlite import SQLiteStore
from jitrl.study.purse import spent
from jitrl.types import Prompt

Basis = Literal["ledger", "pilot", "prompt length"]

STEPS = 15
"""Steps of an episode where no limit is set."""
_WRITTEN = 512  # tokens of such a text
_FRAME = 600  # characters of a prompt around the observation
_ACTION_OUT = 12  # tokens a stated score of one action takes


@dataclass(frozen=True, slots=True)
class Ask:
    """What one decision takes.

    Attributes:
        dollars: ``None`` where no price is known.
    """

    calls: float
    tokens: float
    dollars: float | None
    basis: Basis


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is left to play of one agent."""

    label: str
    episodes: int
    calls: float
    tokens: float
    dollars: float | None
    basis: Basis


def estimate(label: str, settings: Settings, folder: Path, ask: Ask) -> Estimate:
    """What the missing episodes of a run in ``folder`` may take."""
    run = settings.run
    whole = _tasks(settings) * run.attempts * len(schedule.seeds_of(run))
    played = folders.played(folder)
    missing = max(whole - played, 0)
    if played:
        more = missing / played
        calls, tokens, dollars = spent([folder])
        return Estimate(label, missing, more * calls, more * tokens, more * dollars, "ledger")
    steps = run.max_steps or STEPS
    texts = _writers(settings)
    written = texts * (steps * ask.tokens / max(ask.calls, 1) + _WRITTEN)
    tokens_each = steps * ask.tokens + written
    dollars_each = None if ask.dollars is None else steps * ask.dollars
    if dollars_each is not None and ask.tokens:
        dollars_each *= tokens_each / (steps * ask.tokens)
    return Estimate(
        label,
        missing,
        missing * (steps * ask.calls + texts),
        missing * tokens_each,
        None if dollars_each is None else missing * dollars_each,
        ask.basis,
    )


def total(estimates: Sequence[Estimate]) -> float | None:
    """Dollars of all; ``None`` if one of them is not known."""
    dollars = [one.dollars for one in estimates]
    return None if None in dollars else sum(d for d in dollars if d is not None)


def pilot(settings: Settings, folder: Path, decisions: int) -> Ask:
    """What one decision takes: asked for real ``decisions`` times, or guessed if that is 0.

    Calls are counted in ``folder``, once; the same call again reads them.

    Raises:
        BudgetExceeded: If the budget does not allow it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with closing(folders.ledger(folder, settings.budget)) as ledger:
        known = _asked(ledger, settings)
        if known is not None or not decisions:
            return known or _guessed(settings)
        proposer = compose(settings).proposer(ledger.meter("act"))
        with closing(_environment(settings)) as environment:
            for index, prompt in enumerate(islice(_prompts(environment, settings), decisions)):
                proposer.propose(prompt, np.random.default_rng([index, 0]))
                ledger.took("act", 0.0)
        return _asked(ledger, settings) or _guessed(settings)


def _asked(ledger: Ledger, settings: Settings) -> Ask | None:
    """What the pilot took a decision; ``None`` if it made no call."""
    decisions = sum(spell.times for spell in ledger.spells())
    totals = [t for t in ledger.totals() if t.phase == "act"]
    calls = sum(t.calls for t in totals)
    if not decisions or not calls:
        return None
    tokens = sum(t.tokens_in + t.tokens_out for t in totals)
    dollars = sum(t.dollars for t in totals)
    is_known = bool(dollars) or not _has_price_to_pay(settings)
    return Ask(
        calls / decisions, tokens / decisions, dollars / decisions if is_known else None, "pilot"
    )


def _guessed(settings: Settings) -> Ask:
    """From the prompts of a few first decisions: three bytes a token, one call a decision."""
    with closing(_environment(settings)) as environment:
        prompts = list(islice(_prompts(environment, settings), 5))
    read = float(np.mean([_length(prompt) for prompt in prompts]))
    wrote = float(np.mean([_ACTION_OUT * len(prompt.actions) for prompt in prompts]))
    prices = list(settings.budget.prices.values())
    name = str(settings.model.options.get("model", ""))
    price = settings.budget.prices.get(name) or (prices[0] if len(prices) == 1 else None)
    if not _has_price_to_pay(settings):
        return Ask(1.0, read + wrote, 0.0, "prompt length")
    dollars = None if price is None else (price[0] * read + price[1] * wrote) / 1e6
    return Ask(1.0, read + wrote, dollars, "prompt length")


def _has_price_to_pay(settings: Settings) -> bool:
    return settings.model.name not in ("embedded", "scripted")


def _length(prompt: Prompt) -> float:
    text = f"{prompt.goal}{prompt.observation}{''.join(prompt.actions)}"
    return (len(text.encode()) + _FRAME) / 3


def _prompts(environment: Environment, settings: Settings) -> Iterator[Prompt]:
    """The prompt of the first decision of each task."""
    for index, task in enumerate(schedule.select(list(environment.tasks()), settings.run)):
        now = environment.reset(task, seed=Trial(task, index, 0, 0).world_seed)
        yield Prompt(
            goal=now.observation.goal,
            observation=environment.codec.text(now.observation),
            actions=environment.codec.actions(now.observation),
        )


def _writers(settings: Settings) -> int:
    """How many of the agent and the evaluator have a model write, as they do once an episode."""
    asked = 0

    def writer() -> Writer:
        nonlocal asked
        asked += 1
        return written(settings)

    memory, run = settings.memory, settings.run
    evaluator = evaluator_named(memory.evaluator, memory.evaluator_options, writer)
    kind = registry.load("environments", settings.environment.name)
    if "writer" in inspect.signature(registry.load("agents", run.agent)).parameters:
        with closing(SQLiteStore(":memory:")) as store:
            lent = {"store": store, "evaluator": evaluator, "settings": memory, "writer": writer}
            lent["replays"] = Replayer(
                settings.environment.name,
                partial(_environment, settings),
                run,
                pages=False,
                is_replayable=getattr(kind, "is_replayable", False),
            )
            embedder = partial(remembered, ":memory:")
            registry.create("agents", run.agent, run.options, **lent, embedder=embedder)
    return asked


def _tasks(settings: Settings) -> int:
    """How many tasks are selected."""
    with closing(_environment(settings)) as environment:
        return len(schedule.select(list(environment.tasks()), settings.run))


def _environment(settings: Settings) -> Environment:
    named = settings.environment
    return cast(Environment, registry.create("environments", named.name, named.options))
