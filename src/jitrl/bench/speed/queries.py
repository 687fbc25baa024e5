"""Times of search and of search with decision, beside the linear scan, which must agree."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from jitrl.bench.pool import Tell
from jitrl.bench.speed.linear import scan
from jitrl.bench.speed.memories import Memory
from jitrl.bench.speed.records import Records, World
from jitrl.bench.speed.timing import Clock, Quantiles, Spread, quantiles, times_faster
from jitrl.core.similarity import bags
from jitrl.core.update import decide
from jitrl.memory.index import Similar
from jitrl.memory.session import Session
from jitrl.memory.view import View
from jitrl.types import Candidate, Decision, State

_CANDIDATES = 8
_STEPS = 25  # after so many queries to a site, the next one begins an episode


@dataclass(frozen=True, slots=True)
class Linear:
    """The linear scan over the first of the same queries, in turn with the search; CPU time.

    Attributes:
        queries: How many of them; each was answered once by the scan.
        mismatches: Queries for which the scan found other rows or similarities than the search.
        scan_us: The scan alone, without a decision.
        search_times_faster_p50, search_times_faster_p99: Search against scan, p50 against p50 and
            p99 against p99, with a 95 % bootstrap interval over queries.
        decision_times_faster_p99: Search and decision together against the scan alone.
    """

    queries: int
    mismatches: int
    scan_us: Quantiles
    search_times_faster_p50: Spread
    search_times_faster_p99: Spread
    decision_times_faster_p99: Spread


@dataclass(frozen=True, slots=True)
class Answered:
    """Queries to one memory at one threshold, from the text of a state on; microseconds.

    Attributes:
        memory: "scopes" or "one scope".
        states: Distinct states in the largest scope.
        found_p50, found_p99: States found by a query.
        neighbors_p50, neighbors_p99: Neighbors that the decision was given.
        search_cpu, search_wall: The states.
        decision_cpu, decision_wall: The states, what is known of them, and the choice: the first
            decision of an episode.
        later_cpu: The same in the course of an episode, after 12 steps in this scope on average,
            taking in the last of them included.
        largest_scope_decision_cpu: The same, for the queries to the largest scope alone.
        linear: ``None`` where the scan was not run.
    """

    memory: str
    threshold: float
    states: int
    found_p50: float
    found_p99: float
    neighbors_p50: float
    neighbors_p99: float
    search_cpu: Quantiles
    search_wall: Quantiles
    decision_cpu: Quantiles
    decision_wall: Quantiles
    later_cpu: Quantiles
    largest_scope_decision_cpu: Quantiles
    linear: Linear | None


@dataclass(frozen=True, slots=True)
class _Query:
    """A state to be asked about, and the model's candidates there."""

    site: int
    state: State
    proposed: list[Candidate]


@dataclass(slots=True)
class _Running:
    """An episode that takes one step with each query to its site."""

    session: Session
    last: tuple[State, Decision] | None = None
    steps: int = 0


@dataclass(slots=True)
class _Subject:
    """One memory at one threshold, with its clocks."""

    memory: Memory
    threshold: float
    rng: np.random.Generator
    search: Clock = field(default_factory=Clock)
    decision: Clock = field(default_factory=Clock)
    later: Clock = field(default_factory=Clock)
    scan: Clock = field(default_factory=Clock)
    found: list[int] = field(default_factory=list)
    neighbors: list[int] = field(default_factory=list)
    mismatches: int = 0
    running: dict[int, _Running] = field(default_factory=dict)

    def ask(self, query: _Query, *, beside_scan: bool) -> None:
        """Answer one query, by the scan too if asked."""
        view, least = self.memory.of(query.site), self.threshold
        session = self._running(query, view)
        self.decision.time(lambda: self._decide(Session(view), query))
        decision = self.later.time(lambda: self._decide(session, query))
        similar = self.search.time(lambda: view.index.search(query.state, least))
        running = self.running[query.site]
        running.last, running.steps = (query.state, decision), running.steps + 1
        self.found.append(len(similar.ids))
        self.neighbors.append(len(decision.neighbors))
        if beside_scan:
            features = bags(query.state, self.memory.lens.retrieval).text
            scope = self.memory.scope(query.site)
            rows = self.scan.time(lambda: scan(self.memory.rows, scope, features, least))
            self.mismatches += not self._agree(rows, similar, view, query.state)

    def _decide(self, session: Session, query: _Query) -> Decision:
        near = session.neighborhood(query.state, floor=self.threshold)
        return decide(query.proposed, near, self.memory.lens.rule, self.rng)

    def _running(self, query: _Query, view: View) -> Session:
        """The session of an episode whose last step led to this query."""
        running = self.running.get(query.site)
        if running is None or running.steps == _STEPS:
            running = self.running[query.site] = _Running(Session(view))
        if running.last is not None:
            running.session.step(*running.last, query.state)
        return running.session

    def _agree(
        self, rows: list[tuple[float, int]], similar: Similar, view: View, state: State
    ) -> bool:
        """Whether the states of the scan's rows, and their similarities, are those found."""
        cap, same = self.memory.lens.retrieval.cap, view.index.find(state)
        of = {self.memory.rows[row].state: min(value, cap) for value, row in rows}
        if same is not None:
            of[same] = 1.0
        return of == dict(zip(similar.ids.tolist(), similar.similarities.tolist(), strict=True))


def ask(
    world: World,
    asked: Records,
    memories: list[Memory],
    thresholds: list[float],
    *,
    repeats: int,
    linear: int,
    tell: Tell,
) -> list[Answered]:
    """Ask each memory the same queries in turn, ``repeats`` times.

    Args:
        linear: Queries that the scan answers, too, in the first repeat; 0 for none.
        tell: Is told the share that is done.
    """
    rng = np.random.default_rng(5)
    queries = [
        _Query(
            int(asked.site[i]),
            world.state(asked, i),
            [
                Candidate(action, float(rng.normal()))
                for action in world.choices(asked, i)[:_CANDIDATES]
            ],
        )
        for i in range(len(asked))
    ]
    subjects = [_Subject(memory, least, rng) for memory in memories for least in thresholds]
    for repeat in range(repeats):
        for number, query in enumerate(queries):
            for subject in subjects:
                subject.ask(query, beside_scan=repeat == 0 and number < linear)
            tell((repeat + (number + 1) / len(queries)) / repeats)
    return [_answered(subject, queries, repeats, linear) for subject in subjects]


def _answered(subject: _Subject, queries: list[_Query], repeats: int, linear: int) -> Answered:
    """What the clocks of a subject say."""
    memory, search, decision = subject.memory, subject.search, subject.decision
    inside = [memory.of(query.site) is memory.largest for query in queries] * repeats
    found, neighbors = np.percentile([subject.found, subject.neighbors], (50, 99), axis=1).T
    return Answered(
        memory=memory.name,
        threshold=subject.threshold,
        states=len(memory.largest.index),
        found_p50=float(found[0]),
        found_p99=float(found[1]),
        neighbors_p50=float(neighbors[0]),
        neighbors_p99=float(neighbors[1]),
        search_cpu=quantiles(search.cpu, repeats),
        search_wall=quantiles(search.wall, repeats),
        decision_cpu=quantiles(decision.cpu, repeats),
        decision_wall=quantiles(decision.wall, repeats),
        later_cpu=quantiles(subject.later.cpu, repeats),
        largest_scope_decision_cpu=quantiles(np.array(decision.cpu)[inside].tolist(), repeats),
        linear=_linear(subject, linear) if linear else None,
    )


def _linear(subject: _Subject, queries: int) -> Linear:
    """The scan beside the search."""
    slow = subject.scan.cpu
    search, decision = subject.search.cpu[:queries], subject.decision.cpu[:queries]
    return Linear(
        queries,
        subject.mismatches,
        quantiles(slow),
        times_faster(slow, search, 50),
        times_faster(slow, search, 99),
        times_faster(slow, decision, 99),
    )
