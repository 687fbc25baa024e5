"""A view: one scope of a memory as decisions see it, following the store's version stream.

A view is a function of the stream and of what is left out of it (tasks, rows, everything after a
version). So transfer runs, explanations and replays are views too, and a quarantine gives exactly
the numbers of a memory that never held the row.
"""

from __future__ import annotations

import threading
import warnings
from array import array
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from jitrl.core.admission import AS_PUBLISHED, Admission
from jitrl.core.graph import Graph, Step
from jitrl.core.returns import discount_mass
from jitrl.core.rule import UpdateRule
from jitrl.core.similarity import Retrieval
from jitrl.errors import ConfigError, MixedMemory
from jitrl.memory.index import Index, Kernel, Similar, StateIndex
from jitrl.memory.index_vectors import VectorIndex
from jitrl.memory.lessons import Lessons
from jitrl.memory.measure import Cosine, Measure, Overlap
from jitrl.memory.stream import changes, newest
from jitrl.ports import Embedder, Store
from jitrl.types import TRUSTED_BASES, Row, State

_GROWTH = 1.25  # the center is looked at again when so many times as many rewards are known


@dataclass(frozen=True, slots=True)
class Lens:
    """How a memory is looked at.

    Attributes:
        rule: The update rule the neighbors are for.
        retrieval: Which states count as similar.
        gamma: Discount of values.
        trusted: Bases whose rows count by episode; the others may only nudge.
        exclude: Tasks whose rows take part in nothing.
        without: Rows that take part in nothing.
        kernel: What scans the index; the states found are the same.
        embedder: What makes vectors of texts, where retrieval is by embedding.
        admission: Limits on what one source, and what the memory, may do.
        snapshot: Version whose rows are seen; those that were put in quarantine since are not.
            ``None``: all there are.

    Raises:
        ConfigError: If retrieval is by embedding and there is no embedder.
    """

    rule: UpdateRule = field(default_factory=UpdateRule)
    retrieval: Retrieval = field(default_factory=Retrieval)
    gamma: float = 0.6
    trusted: Collection[str] = TRUSTED_BASES
    exclude: frozenset[str] = frozenset()
    without: frozenset[int] = frozenset()
    kernel: Kernel = "numpy"
    embedder: Embedder | None = None
    admission: Admission = AS_PUBLISHED
    snapshot: int | None = None

    def __post_init__(self) -> None:
        """Refuse an embedding without an embedder."""
        if self.retrieval.kind == "embedding" and self.embedder is None:
            raise ConfigError(
                "retrieval.kind is 'embedding', but no embedder was handed in; give Lens, or the "
                "agent, one"
            )

    def index(self) -> Index:
        """An empty index of states."""
        if self.embedder is not None and self.retrieval.kind == "embedding":
            return VectorIndex(self.retrieval, self.embedder)
        return StateIndex(self.retrieval, self.kernel)

    def measure(self) -> Measure:
        """The same similarity, for one pair of states at a time."""
        if self.embedder is not None and self.retrieval.kind == "embedding":
            return Cosine(self.retrieval, self.embedder)
        return Overlap(self.retrieval)


@dataclass(slots=True)
class Voice:
    """What one principal's untrusted rows say of one action in one state."""

    total: float = 0.0
    visits: int = 0
    rows: list[int] = field(default_factory=list)


class View:
    """One scope of ``store`` through ``lens``. Safe for threads: take ``lock`` around reads.

    Args:
        fits_aside: Whether somebody calls ``fit_on`` between decisions, so that these need not wait
            for lessons: they use those of before, and say so, until the newest are fitted.
    """

    def __init__(self, store: Store, scope: str, lens: Lens, *, fits_aside: bool = False) -> None:
        self.store, self.scope, self.lens, self._fits_aside = store, scope, lens, fits_aside
        self.lock = threading.RLock()
        self.version = 0
        self._inactive: set[int] = set()
        self._set_aside: set[tuple[str, int]] = set()
        self._center = self._neutral = 0.0
        self._made: dict[str, dict[str, None]] = {"scorer": {}, "evaluator": {}, "outcome": {}}
        self._warned: set[str] = set()
        self._forget()

    def _forget(self) -> None:
        """Back to an empty memory, but for what is known to be inactive and the center."""
        self.index = self.lens.index()
        self.graph = Graph(self.lens.gamma, self.lens.rule.onward)
        self.rows: dict[int, list[Row]] = {}
        self.voices: dict[int, dict[tuple[str, str], Voice]] = {}
        self.left_out: dict[int, int] = {}
        self._tasks: dict[int, str | set[str]] = {}
        rule = self.lens.rule
        self.lessons: Lessons | None = None
        if rule.transfer > 0.0 and rule.unit == "cells":
            self.lessons = Lessons(
                self.store.outline,
                rule.temperature_prior,
                self._neutral,
                is_aside=self._fits_aside,
            )
        self._rewards = array("d")
        self._look_at, self._median = 1, 0.0
        self._largest = [0.0, 0.0]
        self._source_of, self._sources = array("i"), dict[str, int]()

    def anew(self) -> View:
        """Another view of the same, which has seen nothing yet; it warns of nothing twice."""
        other = View(self.store, self.scope, self.lens)
        other._warned = self._warned
        return other

    @property
    def center(self) -> float:
        """Lower median reward of steps before the last, at the last look; rewards count from it."""
        return self._center

    def refresh(self, until: int | None = None) -> None:
        """Take in what was committed since the last call, by any process.

        Args:
            until: Newest version to take in; ``None`` for all.
        """
        head = newest(self.store, until)
        if head <= self.version:
            return
        with self.lock:
            if head > self.version:  # no other thread was faster
                try:
                    if self._follow(self.version, head):
                        self._rebuild(head)
                except BaseException:  # an interrupt, too: what is half applied must go
                    self._inactive.clear()
                    self._set_aside.clear()
                    self._forget()
                    self.version = 0
                    raise
                self.version = head
        self._warn()

    @property
    def is_fit_due(self) -> bool:
        """Whether lessons will be fitted before the next decision."""
        return self.lessons is not None and self.lessons.is_due

    def fit(self) -> None:
        """Fit lessons now, if that is due."""
        with self.lock:
            if self.lessons is not None:
                self.lessons.fit()

    def fit_on(self) -> bool:
        """Do the next piece of a fit that is due; whether there is more to do."""
        with self.lock:
            return self.lessons is not None and self.lessons.fit_on()

    def scored_by(self, scorer: str) -> None:
        """Logits of this scope come from ``scorer``; a second one is warned of."""
        with self.lock:
            scorers = self._made["scorer"]
            if scorer in scorers:
                return
            if not scorers:
                for episode in islice(self.store.episodes(scope=self.scope), 1):
                    scorers.update({s.decision.scorer: None for s in episode.steps if s.decision})
            scorers[scorer] = None
        self._warn()

    def _warn(self) -> None:
        """Say once of each kind that numbers in this scope do not compare."""
        for what in self._made.keys() - self._warned:
            with self.lock:
                made = list(self._made[what])
            if len(made) > 1:
                self._warned.add(what)
                warnings.warn(
                    f"scope {self.scope!r} mixes {what}s: {', '.join(made)}; their numbers do not "
                    "compare, so give each its own scope or memory",
                    MixedMemory,
                    stacklevel=2,
                )

    def _follow(self, after: int, head: int) -> bool:
        """Apply changes up to ``head``; True if all must be applied again from the start.

        That is so when a row changed its status, or when the center moved.
        """
        again, snapshot = False, self.lens.snapshot
        seen = head if snapshot is None else min(head, snapshot)
        for change in changes(self.store, after, seen, self.scope, self._inactive):
            if change.kind == "purge":  # rows that were read are no more in the stream
                again = again or after > 0
            elif change.kind != "append":
                again = again or bool(change.rows)
            elif not again:
                self._append(change.rows)
                again = self._has_moved()
        if snapshot is not None:
            again = self._follow_quarantine(max(after, snapshot), head) or again
        return again

    def _follow_quarantine(self, after: int, head: int) -> bool:
        """Leave out of a snapshot what was set aside or purged since; whether anything changed."""
        before, is_purged = set(self._set_aside), False
        for change in changes(self.store, after, head, self.scope):
            is_purged = is_purged or change.kind == "purge"
            known = [(row.episode, row.step) for row in change.rows]
            if change.kind == "quarantine":
                self._set_aside.update(known)
            elif change.kind == "restore":
                self._set_aside.difference_update(known)
        return is_purged or self._set_aside != before

    def _rebuild(self, head: int) -> None:
        """Start over. What moves depends on the rewards alone, so this takes two rounds at most."""
        while True:
            self._forget()
            seen = head if self.lens.snapshot is None else min(head, self.lens.snapshot)
            for change in changes(self.store, 0, seen, self.scope):
                if change.kind == "append":
                    self._append(change.rows)
            if not self._has_moved():
                return
            self._center = self._median
            if self.lessons is not None:
                self._neutral = self.lessons.observed

    def _has_moved(self) -> bool:
        """Whether rewards were counted from another zero than the one they show now."""
        neutral = self._neutral if self.lessons is None else self.lessons.observed
        return (self._median, neutral) != (self._center, self._neutral)

    def _append(self, rows: Sequence[Row]) -> None:
        """Take in the rows of one episode."""
        kept = [r for r in rows if r.id not in self._inactive and r.id not in self.lens.without]
        if self._set_aside:
            kept = [r for r in kept if (r.episode, r.step) not in self._set_aside]
        for row in kept[:1]:
            self._made["evaluator"][row.evaluator] = None
            self._made["outcome"]["told" if row.told else "blind"] = None
        for row in kept:
            if row.task in self.lens.exclude:
                at = self.index.add(row.state)
                self.left_out[at] = self.left_out.get(at, 0) + 1
        kept = [r for r in kept if r.task not in self.lens.exclude]
        if self.lessons is not None:
            for row in kept:
                self._note(self.index.add(row.state), row.task)
        trusted = [r for r in kept if r.basis in self.lens.trusted]
        self._bear_out(trusted)
        if self.lens.rule.unit == "rows":
            for row in kept:
                self.rows.setdefault(self.index.add(row.state), []).append(row)
            return
        for row in kept:
            if row.basis not in self.lens.trusted:
                voices = self.voices.setdefault(self.index.add(row.state), {})
                voice = voices.setdefault((row.action, row.source), Voice())
                voice.total += row.ret
                voice.visits += 1
                voice.rows.append(row.id)
        if trusted:
            self._learn(trusted)
            if self.lessons is not None and len(trusted) == len(rows):
                self.lessons.take_in(trusted)

    def _bear_out(self, rows: Sequence[Row]) -> None:
        """Trusted rows of one episode: how large rewards are, and whose rows they are."""
        size = max((abs(row.reward) for row in rows), default=0.0)
        self._largest = sorted((*self._largest, size))[-2:]
        for row in rows:
            if row.id >= len(self._source_of):
                self._source_of.extend([-1] * (row.id + 1 - len(self._source_of)))
            self._source_of[row.id] = self._sources.setdefault(row.source, len(self._sources))

    @property
    def borne_out(self) -> float:
        """The size of rewards that two trusted sources have brought; 0 before there are two."""
        return self._largest[0]

    def support(self, rows: Iterable[int]) -> int:
        """How many trusted sources these rows come from."""
        of, known = self._source_of, len(self._source_of)
        return len({of[row] for row in rows if row < known} - {-1})

    def _note(self, state: int, task: str) -> None:
        """A task was in a state."""
        known = self._tasks.setdefault(state, task)
        if known != task:
            if isinstance(known, str):
                self._tasks[state] = {known, task}
            else:
                known.add(task)

    def of_task(self, found: Similar, task: str, as_of: int = 0) -> Similar:
        """Those states that ``task`` has been in; all of them as long as there are no lessons.

        So it is, too, where it is not said whose episode it is (""). ``as_of`` is as for
        ``Lessons.fit``.

        Rows of other tasks mislead more than they help; once lessons can be drawn from them, these
        take their place.
        """
        if not task or self.lessons is None or self.lessons.fit(as_of) is None:
            return found
        known = self._tasks
        own = [_holds(known.get(i, task), task) for i in found.ids.tolist()]
        return found if all(own) else Similar(found.ids[own], found.similarities[own])

    def _learn(self, rows: Sequence[Row]) -> None:
        mass = discount_mass(rows[-1].step + 1, self.lens.gamma).tolist()
        known: dict[int, int] = {}  # a step's next state is the state of the step after it

        def place(state: State) -> int:
            at = known.get(id(state))
            if at is None:
                at = known[id(state)] = self.index.add(state)
            return at

        self.graph.learn(
            [
                Step(
                    place(row.state),
                    row.action,
                    row.reward - self._center,
                    row.ret - self._center * mass[row.step],
                    None if row.next_state is None else place(row.next_state),
                    row.terminal,
                    row.novelty,
                    row.id,
                )
                for row in rows
            ]
        )
        # Of steps in between: the last one's reward is how it ended, and most may well succeed.
        self._rewards.extend(row.reward for row in rows[:-1])
        if len(self._rewards) >= self._look_at:
            self._look_at = int(len(self._rewards) * _GROWTH) + 1
            self._median = float(np.quantile(self._rewards, 0.5, method="lower"))


def _holds(tasks: str | set[str], task: str) -> bool:
    """Whether a task, or one of several, is ``task``."""
    return tasks == task if isinstance(tasks, str) else task in tasks
