"""Puts a run together from its settings: every part by name, made before the first episode."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import cast

from jitrl import registry
from jitrl.config import Memory, Settings
from jitrl.errors import ConfigError, MixedMemory
from jitrl.models.calls import Meter
from jitrl.ports import Agent, Evaluator, Proposer, Store
from jitrl.redaction.agent import Redacted
from jitrl.redaction.named import placeholders
from jitrl.redaction.placeholders import Placeholders
from jitrl.run.books import book_of
from jitrl.run.derivation import remember
from jitrl.run.embedding import identity, remembered
from jitrl.run.experiment import Parts
from jitrl.run.judging import evaluator_of, written
from jitrl.run.oracle import Oracle
from jitrl.run.replaying import Replayer
from jitrl.run.weights import Weights
from jitrl.stores.redacting import RedactingStore
from jitrl.stores.sqlite import SQLiteStore


def compose(settings: Settings) -> Parts:
    """The parts that ``settings`` name.

    Raises:
        ConfigError: If one of them does not exist, cannot be loaded or does not take its options,
            or nothing could be scored.
        RecordError: If a line of the book that it begins with is bad.
        MissingExtra: If one needs an optional package.
        ModelError: If the embedder's model file is missing.
    """
    environment, model, run = settings.environment, settings.model, settings.run
    if settings.memory.evaluator == "outcome" and run.rewards != "outcome":
        raise ConfigError(
            f"evaluator 'outcome' needs an outcome, and with rewards {run.rewards!r} none is told, "
            "so nothing would be learned; give --rewards outcome"
        )
    kind = registry.load("environments", environment.name)
    registry.load("models", model.name)
    registry.load("agents", run.agent)
    another = partial(registry.create, "environments", environment.name, environment.options)
    oracle = Oracle(environment.name, another)

    def proposed(meter: Meter) -> Proposer:
        made = registry.create("models", model.name, model.options, meter=meter)
        if hasattr(made, "probe"):  # ours all have one; a plugin need not
            made.probe()
        return cast(Proposer, made)

    weights = Weights(model)

    def opened(store: Store, evaluator: Evaluator, memory: Memory, meter: Meter) -> Agent:
        lent = {
            "store": store,
            "evaluator": evaluator,
            "settings": memory,
            "writer": partial(written, settings, meter),
            "hint": oracle.hint,
            "embedder": partial(remembered, getattr(store, "path", ":memory:")),
            "trainable": partial(weights, store),
            "replays": Replayer(
                environment.name,
                another,
                run,
                pages=run.pages or getattr(evaluator, "reads_pages", False),
                is_replayable=getattr(kind, "is_replayable", False),
            ),
        }
        agent = registry.create("agents", run.agent, run.options, **lent)
        derivation = getattr(agent, "derivation", None)  # ours that make rows all have one
        if derivation is not None:
            said = remember(store, derivation)
            if said:
                warnings.warn(said, MixedMemory, stacklevel=2)
        return Redacted(agent, redaction(store)) if memory.redact else cast(Agent, agent)

    def kept(path: Path) -> Store:
        hidden = placeholders(settings.memory.redact, str(path))
        return RedactingStore(path, redaction=hidden) if hidden else SQLiteStore(path)

    def redaction(store: Store) -> Placeholders:
        if isinstance(store, RedactingStore):
            return cast(Placeholders, store.redaction)
        return placeholders(settings.memory.redact, ":memory:")  # nothing of it is kept

    placeholders(settings.memory.redact, ":memory:")
    evaluator = partial(evaluator_of, settings)
    evaluator(None)
    return Parts(
        environment=oracle.environment,
        proposer=proposed,
        agent=opened,
        evaluator=evaluator,
        store=kept,
        embedder=identity(settings.memory),
        book=book_of(run.book, run.agent),
    )
