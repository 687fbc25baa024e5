"""Measures the embedded model: loading, and scoring a state of given size."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from jitrl.bench.speed.timing import Clock
from jitrl.models.embedded import EmbeddedEndpoint


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds over all states: ``cpu`` of this process, and ``wall`` of the clock."""

    cpu_median: float
    cpu_most: float
    wall_median: float
    wall_most: float


@dataclass(frozen=True, slots=True)
class ScoringReport:
    """What was measured.

    Attributes:
        load: Model file to ready, with the hash tables of the tokenizer.
        fresh: A state of which nothing is remembered.
        again: The same prompt with other actions: its keys and values are remembered.
    """

    schema: str
    model: str
    settings: dict[str, Any]
    weights_mb: float
    load: Times
    fresh: Times
    again: Times


def bench_scoring(
    states: int = 10,
    *,
    prompt_tokens: int = 150,
    candidates: int = 8,
    candidate_tokens: int = 4,
    threads: int = 1,
    seed: int = 0,
) -> ScoringReport:
    """Time the embedded model on random tokens; what the text says makes no difference to it.

    Raises:
        ModelError: If the model is not installed.
    """
    rng = np.random.default_rng(seed)
    endpoint = EmbeddedEndpoint(threads=threads)
    load, fresh, again = (Clock(time.process_time_ns) for _ in range(3))
    load.time(endpoint.load)
    scorer, words = endpoint.load().continuations, len(endpoint.load().tokenizer.tokens)

    def draw(*shape: int) -> Any:
        return rng.integers(words // 2, words, shape).tolist()

    for _ in range(states + 1):
        prompt = draw(prompt_tokens)
        for clock in (fresh, again):
            clock.time(partial(scorer.score, prompt, draw(candidates, candidate_tokens)))
    return ScoringReport(
        schema="jitrl.bench.scoring/1",
        model=endpoint.model,
        settings={
            "states": states,
            "prompt_tokens": prompt_tokens,
            "candidates": candidates,
            "candidate_tokens": candidate_tokens,
            "threads": threads,
            "seed": seed,
        },
        weights_mb=endpoint.load().network.size / 1e6,
        load=_times(load),
        fresh=_times(fresh, 1),  # the first one touches all weights for the first time
        again=_times(again, 1),
    )


def _times(clock: Clock, warmup: int = 0) -> Times:
    cpu, wall = np.array([clock.cpu, clock.wall])[:, warmup:] / 1e3
    return Times(*(float(f(of)) for of in (cpu, wall) for f in (np.median, np.max)))
