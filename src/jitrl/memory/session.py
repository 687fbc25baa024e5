"""A session: one running episode's reading of a memory, with what the episode has shown on top.

What a decision is given comes from four places:

    unit cells   _cells     the memory's trusted rows, one neighbor for each action of a near state,
                            with values as this episode leaves them (a coin is picked up once)
                 _episode   what this episode did in near states
                 _voices    the memory's untrusted rows, one neighbor for each principal
    unit rows    _rows      single rows, nothing of this episode

States are told apart by the memory's ids; those that only this episode knows have negative ones.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from jitrl.core.features import Situation
from jitrl.core.joining import keeps_out
from jitrl.core.overlay import Overlay, Taken
from jitrl.memory import votes
from jitrl.memory.index import Similar
from jitrl.memory.view import View
from jitrl.types import ROWS, Decision, Neighbor, Neighborhood, Neighbors, State

_CELLS = 256  # nearest cells a decision is given, and states of the episode that are looked at
_NOWHERE = -1


@dataclass(frozen=True, slots=True)
class _Step:
    """A step of the episode; ``novelty`` is that of the newest action its state still holds."""

    state: State
    action: str
    following: State | None
    novelty: float
    reward: float | None


class Session:
    """Neighborhoods for one episode; ``step`` adds to the overlay, nothing is written.

    What a session gives is a function of the versions it read: steps count from the next query on,
    on top of the memory as that query sees it.

    Args:
        view: What to read; where other sessions take it past ``until``, a new one of its own.
        until: Newest version of the memory to see; ``None`` sees each commit at once.
        task: Whose episode it is; "" if that is not to matter.
    """

    def __init__(self, view: View, until: int | None = None, task: str = "") -> None:
        self.view, self.until, self.task = view, until, task
        self._actions: list[str] = []
        self._steps: list[_Step] = []
        self._measure = view.lens.measure()
        self._start()

    def _start(self) -> None:
        """Begin the overlay on the view's present graph; no step is taken in yet."""
        self._graph = self.view.graph
        self._overlay = Overlay(self._graph)
        self._ids: dict[State, int] = {}
        self._states: dict[int, State] = {}
        self._told = 0

    def neighborhood(
        self,
        state: State,
        *,
        floor: float | None = None,
        goal: str = "",
        features: str = "",
        read: str = "",
        actions: Collection[str] = (),
        allowed: Collection[str] | None = None,
        lessons_of: int = 0,
    ) -> Neighborhood:
        """What the memory and this episode hold about states like ``state``.

        Args:
            floor: Least similarity; the retrieval settings' if ``None``.
            goal: The task in words.
            features: What the codec declares, for transfer.
            read: What the episode has read so far, for transfer.
            actions: What other tasks' solutions are asked about; nothing if empty.
            allowed: Actions of the memory that they are asked about, too, because these may join
                the others; ``None`` leaves it to the rule. Where it maps actions to risks, those
                that may join are looked for support.
            lessons_of: Version of the memory that the lessons were learned from; 0: the newest.
        """
        with self.view.lock:
            view = self._advance()
            least = view.lens.retrieval.threshold if floor is None else floor
            found = view.of_task(view.index.search(state, floor), self.task, lessons_of)
            excluded = 0
            if view.left_out:
                excluded = sum(view.left_out.get(at, 0) for at in found.ids.tolist())
            silenced = 0
            if view.lens.rule.unit == "rows":
                if view.lens.admission.votes:
                    heard, silenced = votes.of_rows(self._near(found), view.lens)
                else:
                    heard = list(self._rows(found))
                near = Neighbors.of(heard)
            else:
                near = self._cells(found)
                voices = list(self._voices(found)) if view.voices else []
                heard = [neighbor for _, neighbor in voices]
                if view.lens.admission.votes and voices:
                    heard, silenced = votes.of_voices(voices)
                other = [*self._episode(state, least), *heard]
                if other:
                    near = near.joined(Neighbors.of(other), _CELLS)
            lesson, taught = None, dict[str, float]()
            if view.lessons is not None and actions:
                more: Sequence[str] = ()
                if not keeps_out(view.lens.rule, allowed):
                    joining = [a for a in near.action if allowed is None or a in allowed]
                    more = [a for a in dict.fromkeys(joining) if a not in actions]
                here = self.situation(state, goal, actions, more, read)
                lesson, taught = view.lessons.teach(here, features, self.task, lessons_of)
            support = {}
            if isinstance(allowed, Mapping):
                support = self._support(near, [a for a in allowed if a not in actions])
            return Neighborhood(
                near,
                view.version,
                view.graph.reach,
                excluded,
                dict(self._overlay.repeats),
                taught,
                lesson,
                support,
                silenced,
            )

    def _support(self, near: Neighbors, actions: Collection[str]) -> dict[str, int]:
        """How many trusted sources took each of ``actions`` in the states near by."""
        found: dict[str, list[int]] = {action: [] for action in actions}
        for neighbor in near if found else ():
            if neighbor.trusted and neighbor.action in found:
                found[neighbor.action] += neighbor.rows
        return {action: self.view.support(rows) for action, rows in found.items()}

    def situation(
        self,
        state: State,
        goal: str,
        actions: Collection[str],
        more: Collection[str] = (),
        read: str = "",
    ) -> Situation:
        """The next step as transfer looks at it; see ``neighborhood``."""
        last = self._actions[-1] if self._actions else ""
        taken = frozenset(self._actions)
        return Situation(goal, state, last, (*actions, *more), taken, len(more), read)

    def step(
        self,
        state: State,
        decision: Decision,
        following: State | None,
        reward: float | None = None,
    ) -> float:
        """The episode took ``decision`` and came to ``following``.

        Returns:
            How new the newest action is that ``state`` still holds, in [0, 1].
        """
        left = max(
            c.novelty / (1.0 + c.novelty) if c.action == decision.action else c.novelty
            for c in decision.candidates
        )
        self._actions.append(decision.action)
        if self.view.lens.rule.episode:
            self._steps.append(_Step(state, decision.action, following, left, reward))
        return left

    def _advance(self) -> View:
        """The memory as it is now, with the steps taken so far on top."""
        self.view.refresh(self.until)
        if self.until is not None and self.view.version > self.until:
            self.view = self.view.anew()
            self.view.refresh(self.until)
        if self._graph is not self.view.graph:
            self._start()  # the view was rebuilt: its ids are new
        try:
            for step in self._steps[self._told :]:
                self._take_in(step)
        except BaseException:  # an interrupt, too: what is half told must be told again
            self._start()
            raise
        self._told = len(self._steps)
        return self.view

    def _take_in(self, step: _Step) -> None:
        after = None if step.following is None else self._id(step.following)
        shown = None if step.reward is None else step.reward - self.view.center
        self._overlay.step(self._id(step.state), step.action, after, step.novelty, shown)

    def _id(self, state: State) -> int:
        """The memory's id of a state, or a negative one that only this episode uses."""
        known = self._ids.get(state)
        if known is None:
            found = self.view.index.find(state)
            known = self._ids[state] = -2 - len(self._ids) if found is None else found
            self._states[known] = state
        return known

    def _cells(self, found: Similar) -> Neighbors:
        """The nearest cells, as the episode leaves their values; k rows or a few more.

        The cells of the state at which k rows are reached count whole.
        """
        graph, cells = self._graph, self._graph.cells
        near: list[int] = []
        counts: list[int] = []
        k = self.view.lens.retrieval.k
        left = math.inf if k is None else float(k)
        for state in found.ids.tolist():
            here = list(graph.at(state).values())
            near.extend(here)
            counts.append(len(here))
            if k is not None:
                left -= float(cells.numbers(np.array(here, np.intp))[0].sum())
            if len(near) >= _CELLS or left <= 0.0:
                break
        at, states = np.array(near, np.intp), found.ids[: len(counts)].repeat(counts)
        visits, sources, ends, _, reward, ret, q, onward = cells.numbers(at)
        neighbors = Neighbors.columns(
            [cells.action[i] for i in near],
            cells.rows(at),
            similarity=found.similarities[: len(counts)].repeat(counts),
            ret=ret,
            visits=visits,
            sources=sources,
            value=q,
            reward=reward,
            terminal=ends / visits,
            onward=onward,
            taken=0.0,
            trusted=1.0,
            state=states,
        )
        if self._steps:
            self._as_the_episode_leaves(neighbors, near, states.tolist())
        return neighbors

    def _as_the_episode_leaves(
        self, near: Neighbors, cells: Sequence[int], states: Sequence[int]
    ) -> None:
        """Write what the episode changed about the memory's ``cells`` into their columns."""
        overlay = self._overlay
        for k in overlay.changed(cells, states):
            cell, action, state = cells[k], near.action[k], states[k]
            near.value[k] = overlay.q(state, action, cell)
            near.onward[k] = overlay.onward(state, action, cell)
            here = overlay.taken_in(state).get(action)
            if here is not None:
                near.taken[k], near.ret[k] = here.times, near.value[k]

    def _episode(self, state: State, least: float) -> Iterator[Neighbor]:
        """What this episode did in states like this one."""
        overlay = self._overlay
        newest = [self._ids.get(state, _NOWHERE), *overlay.states()[-_CELLS:]]
        for at in dict.fromkeys(newest):
            here = overlay.taken_in(at)
            similarity = self._measure(state, self._states[at]) if here else 0.0
            if similarity >= least:
                for taken in here.values():
                    yield self._taken(taken, similarity)

    def _taken(self, taken: Taken, similarity: float) -> Neighbor:
        overlay, at, action = self._overlay, taken.state, taken.action
        cell = self._graph.at(at).get(action)
        value = overlay.q(at, action, cell)
        return Neighbor(
            action,
            similarity,
            ret=value,
            visits=float(taken.times),
            value=value,
            # What has paid in this episode is not expected to pay again; a loss may come again.
            reward=min(taken.reward or 0.0, 0.0),
            onward=overlay.onward(at, action, cell) if similarity == 1.0 else 0.0,
            taken=taken.times,
            state=at,
        )

    def _voices(self, found: Similar) -> Iterator[tuple[str, Neighbor]]:
        """Each source of untrusted rows, with what it says of an action in a state."""
        for at, similarity in zip(found.ids.tolist(), found.similarities.tolist(), strict=True):
            for (action, source), voice in self.view.voices.get(at, {}).items():
                neighbor = Neighbor(
                    action,
                    similarity,
                    ret=voice.total / voice.visits,
                    visits=float(voice.visits),
                    trusted=False,
                    rows=tuple(voice.rows[-ROWS:]),
                    state=at,
                )
                yield source, neighbor

    def _rows(self, found: Similar) -> Iterator[Neighbor]:
        """The k nearest rows; among equally similar ones, the newest first."""
        for row, similarity, at in islice(self._near(found), self.view.lens.retrieval.k):
            yield Neighbor(row.action, similarity, row.ret, rows=(row.id,), state=at)

    def _near(self, found: Similar) -> Iterator[votes.Near]:
        for at, similarity in zip(found.ids.tolist(), found.similarities.tolist(), strict=True):
            for row in reversed(self.view.rows.get(at, [])):
                yield votes.Near(row, similarity, at)
