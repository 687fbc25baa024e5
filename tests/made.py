"""Results out of thin air, for tests of what is said about them."""

from __future__ import annotations

import msgspec
import numpy as np

from jitrl import config
from jitrl.analysis.results import Result
from jitrl.run.folder import Record, Session
from jitrl.run.ledger import Total

COST = Total("act", "tiny-1", 120, 0, 30, 4000, 0, 0.25)


def result(label, scores, *, agent="jitrl", tasks=None, seeds=None, told=False, **changed):
    """A finished run with ``scores`` [T, S, K]; ``group__name=value`` changes a setting."""
    scores = np.asarray(scores, dtype=float)
    values = msgspec.to_builtins(config.Settings())
    values["run"] |= {
        "agent": agent,
        "tasks": tasks or [f"t{i}" for i in range(scores.shape[0])],
        "seeds": seeds or list(range(scores.shape[1])),
        "attempts": scores.shape[2],
    }
    model = changed.pop("model", "tiny-1")
    for place, value in changed.items():
        group, _, name = place.partition("__")
        values[group][name] = value
    session = Session(0.0, "0.1.0", "abc1234", "3.11", "2.0", "Linux")
    record = Record(
        digest=f"digest-{label}",
        settings=values,
        families={},
        told=told,
        sessions=[session],
    )
    return Result(label, record, scores, model, ("sequence",), (COST,), 0, 0)


def learned(tasks=8, seeds=2, attempts=6, start=0.2, end=0.9, seed=0):
    """Scores of 0 and 1 that rise from one rate to another."""
    rates = np.linspace(start, end, attempts)
    return (np.random.default_rng(seed).random((tasks, seeds, attempts)) < rates).astype(float)
