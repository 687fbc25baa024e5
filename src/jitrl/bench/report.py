"""What a bench says: numbers with intervals, in a document with what they rest on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np

from jitrl.bench import machine
from jitrl.core.stats import Interval, NoInterval, bootstrap

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Generic[Result]):
    """All arms of a run."""

    schema: str
    what: str
    machine: dict[str, Any] = field(default_factory=machine.facts)
    protocol: dict[str, Any]
    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class Number:
    """A mean with its interval, clusters (games, tasks, templates) resampled."""

    mean: float
    interval: Interval | NoInterval


def mean_of(cells: np.ndarray) -> Number:
    """Mean of ``cells``, shape [clusters, seeds or tests]."""
    return Number(float(cells.mean()), bootstrap(cells))
