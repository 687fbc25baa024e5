"""Two or more runs side by side: paired by task and seed, on equal terms or not at all."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from jitrl.analysis.results import Result
from jitrl.core.stats import (
    Cluster,
    Curve,
    Difference,
    Interval,
    NoInterval,
    Summary,
    bootstrap,
    curve,
    paired_difference,
    summary,
)
from jitrl.errors import ConfigError, InputError
from jitrl.run.folder import asked_of

Demand = Literal["better", "not-worse"]

TERMS: dict[str, Callable[[Result], Any]] = {
    "environment": lambda r: r.record.settings["environment"],
    "tasks": lambda r: r.record.tasks,
    "attempts": lambda r: r.record.attempts,
    "seeds": lambda r: r.record.seeds,
    "model": lambda r: (r.model, r.scorers, asked_of(r.setting("model", "options"))),
    "writer": lambda r: (r.setting("writer", "name"), asked_of(r.setting("writer", "options"))),
    "evaluator": lambda r: (r.setting("memory", "evaluator"), "told" if r.record.told else "blind"),
    "book": lambda r: r.record.book or r.record.begins_with,  # no digest: a run of before
    "rewards": lambda r: r.setting("run", "rewards"),
    "schedule": lambda r: (r.setting("run", "schedule"), r.setting("run", "order")),
    "protocol": lambda r: r.setting("run", "protocol"),
    "max_steps": lambda r: r.setting("run", "max_steps"),
}
"""What must be equal for a comparison to mean anything."""

_SAID: dict[str, Callable[[Result], Any]] = {"book": lambda r: r.record.begins_with or "none"}
"""What people are told of a term, where that is more than what must be equal."""

ORACLE = "oracle-hint"
"""The agent that puts the solution into the prompt: a bound, and no competitor."""

PROMPT_AGENTS = frozenset({"memory", "reflexion", "awm", "evotest", "prompt-update"})
"""Agents that act on the model through its prompt alone."""


@dataclass(frozen=True, slots=True)
class Rival:
    """The best of the other runs, by Avg, and the difference from it; ours minus it."""

    label: str
    difference: Difference


@dataclass(frozen=True, slots=True)
class Line:
    """One run in a comparison.

    Attributes:
        summary: Its numbers on the tasks, seeds and attempts that all runs share.
        avg: Interval of its Avg.
        difference: Against the base; ``None`` for the base itself.
        rival: ``None`` where there are less than three runs.
        beyond: Its last attempt minus the base's best of all attempts.
        differs: The terms that are not those of the base, in words.
    """

    result: Result
    summary: Summary
    avg: Interval | NoInterval
    curve: Curve
    difference: Difference | None
    rival: Rival | None
    beyond: Difference
    differs: tuple[str, ...]

    @property
    def agent(self) -> str:
        """Entry point of the agent."""
        return str(self.result.setting("run", "agent"))

    @property
    def works_by_prompt(self) -> bool:
        """Whether the agent has nothing but the prompt to act through."""
        return self.agent in PROMPT_AGENTS


@dataclass(frozen=True, slots=True)
class Comparison:
    """Runs against one of them.

    Attributes:
        base: Label of the run that the others are compared with.
        by: What was resampled for the intervals.
        shape: Tasks, seeds and attempts that were compared.
        chances: Base's best of the first 1 … k attempts, shape [K].
        passed: Interval of the base's best of all attempts.
        hint: What the solution in the prompt adds to the static agent; ``None`` if not both of
            the agents ``oracle-hint`` and ``static`` are there.
    """

    base: str
    by: Cluster
    shape: tuple[int, int, int]
    lines: tuple[Line, ...]
    chances: tuple[float, ...]
    passed: Interval | NoInterval
    hint: Difference | None

    @property
    def first(self) -> Line:
        """The base."""
        return next(line for line in self.lines if line.result.label == self.base)

    @property
    def cannot_test_prompts(self) -> bool:
        """Whether even the solution in the prompt does not show in this model's scores."""
        if self.hint is None or self.has_too_few_for_hint:
            return False
        return self.hint.verdict != "better"

    @property
    def has_too_few_for_hint(self) -> bool:
        """Whether there are too few clusters to say what the solution in the prompt does."""
        match self.hint:
            case Difference(interval=NoInterval(is_constant=False)):
                return True
            case _:
                return False

    def meets(self, demand: Demand) -> bool:
        """Whether each run is better than the base, or is not worse."""
        verdicts = [line.difference.verdict for line in self.lines if line.difference]
        if demand == "better":
            return all(verdict == "better" for verdict in verdicts)
        return "worse" not in verdicts


def compare(
    results: Sequence[Result],
    *,
    base: str = "",
    allow: Collection[str] = (),
    by: Cluster = "task",
) -> Comparison:
    """Compare ``results`` with one of them.

    Args:
        base: Its label; if not given, the run of the agent ``static``, else the first.
        allow: Terms that may differ; a row then says that they do.
        by: What the interval is about: other ``task`` s, or other ``seed`` s on these tasks.

    Raises:
        InputError: If a term or the base is not known, or labels repeat.
        ConfigError: If terms differ that are not allowed to, or nothing is shared.
    """
    labels = [result.label for result in results]
    check_names(labels, base, allow)
    first = _base(results, base)
    differs = {result.label: _differences(result, first, allow) for result in results}
    tasks = [t for t in first.record.tasks if all(t in r.record.tasks for r in results)]
    seeds = [s for s in first.record.seeds if all(s in r.record.seeds for r in results)]
    attempts = min(result.scores.shape[2] for result in results)
    if not (tasks and seeds):
        raise ConfigError(f"{' and '.join(labels)} share no task and seed, so nothing is paired")
    scores = {result.label: _shared(result, tasks, seeds, attempts) for result in results}
    own = scores[first.label]
    best = own.max(axis=2, keepdims=True)
    lines = tuple(
        Line(
            result=result,
            summary=summary(scores[result.label]),
            avg=_interval(scores[result.label].mean(axis=2), by),
            curve=curve(scores[result.label], by=by),
            difference=None
            if result is first
            else paired_difference(scores[result.label], own, by=by),
            rival=_rival(result, results, scores, by),
            beyond=paired_difference(scores[result.label][:, :, -1:], best, by=by),
            differs=differs[result.label],
        )
        for result in results
    )
    return Comparison(
        base=first.label,
        by=by,
        shape=(len(tasks), len(seeds), attempts),
        lines=lines,
        chances=tuple(np.maximum.accumulate(own, axis=2).mean(axis=(0, 1)).tolist()),
        passed=_interval(best[:, :, 0], by),
        hint=_hint(results, scores, by),
    )


def _rival(
    result: Result, results: Sequence[Result], scores: Mapping[str, np.ndarray], by: Cluster
) -> Rival | None:
    """The best other run that was not given the solution."""
    others = [r.label for r in results if r is not result and r.setting("run", "agent") != ORACLE]
    if len(results) < 3 or not others:
        return None
    best = max(others, key=lambda label: float(scores[label].mean()))
    return Rival(best, paired_difference(scores[result.label], scores[best], by=by))


def _hint(
    results: Sequence[Result], scores: Mapping[str, np.ndarray], by: Cluster
) -> Difference | None:
    """The run with the solution in its prompt minus the static one."""
    found = {result.setting("run", "agent"): scores[result.label] for result in reversed(results)}
    if not {ORACLE, "static"} <= set(found):
        return None
    return paired_difference(found[ORACLE], found["static"], by=by)


def _interval(cells: np.ndarray, by: Cluster) -> Interval | NoInterval:
    """Of the mean of ``cells`` [T, S]."""
    return bootstrap(cells if by == "task" else cells.T)


def check_names(labels: Sequence[str], base: str, allow: Collection[str]) -> None:
    """Refuse a comparison whose labels, base or terms cannot be, before anything is run.

    Raises:
        InputError: If a label is there twice, or a name is not known.
    """
    for term in allow:
        if term not in TERMS:
            raise InputError(f"{term!r} is no term of comparison; terms are {', '.join(TERMS)}")
    if len(set(labels)) < len(labels) or "" in labels:
        raise InputError(
            f"labels must differ and not be empty, got {list(labels)}; name them with LABEL=…"
        )
    if base and base not in labels:
        raise InputError(f"no run is labelled {base!r}; there are {list(labels)}")


def _base(results: Sequence[Result], label: str) -> Result:
    for result in results:
        if result.label == label or (not label and result.setting("run", "agent") == "static"):
            return result
    return results[0]


def _differences(result: Result, base: Result, allow: Collection[str]) -> tuple[str, ...]:
    said = []
    for term, value in TERMS.items():
        mine, theirs = value(result), value(base)
        if mine == theirs:
            continue
        said_of = _SAID.get(term, value)
        ours, others = _brief(said_of(result)), _brief(said_of(base))
        if term not in allow:
            raise ConfigError(
                f"{result.label} and {base.label} differ in {term} "
                f"({ours} and {others}), so their scores cannot be compared; "
                f"run both alike, or pass --differ {term}, and the row will say so"
            )
        said.append(f"{term}: {ours}")
    return tuple(said)


def _brief(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _shared(
    result: Result, tasks: Sequence[str], seeds: Sequence[int], attempts: int
) -> np.ndarray:
    rows = [result.record.tasks.index(task) for task in tasks]
    columns = [result.record.seeds.index(seed) for seed in seeds]
    return result.scores[np.ix_(rows, columns)][:, :, :attempts]
