"""A session: one running episode's reading of a memory, with what the episode has shown on top."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jitrl.core.graph import Cell
from jitrl.core.overlay import Overlay
from jitrl.core.similarity import Bags, alike, bags
from jitrl.memory.view import View
from jitrl.types import Decision, Neighbor, Neighborhood, Row, State

_CELLS = 256  # nearest cells a decision is given
_ROWS = 8


class Session:
    """Neighborhoods for one episode; ``step`` adds to the overlay, nothing is written.

    Args:
        until: Newest version of the memory to see; ``None`` sees each commit at once.
    """

    def __init__(self, view: View, until: int | None = None) -> None:
        self._view, self._until = view, until
        self._graph = view.graph
        self._overlay = Overlay(view.graph)
        self._states: dict[State, int] = {}
        self._bags: dict[State, Bags] = {}

    def neighborhood(self, state: State, *, floor: float | None = None) -> Neighborhood:
        """What the memory and this episode hold about states like ``state``.

        Args:
            floor: Least similarity; the retrieval settings' if ``None``.
        """
        view = self._view
        view.refresh(self._until)
        with view.lock:
            if self._graph is not view.graph:
                self._rebase()
            found = view.index.search(state, floor)
            places = list(zip(found.ids.tolist(), found.similarities.tolist(), strict=True))
            excluded = sum(view.left_out.get(at, 0) for at, _ in places)
            if view.lens.rule.unit == "rows":
                near = self._rows(places)
            else:
                near = [*self._episode(state), *self._cells(places), *self._voices(places)]
                near.sort(key=lambda n: -n.similarity)
            return Neighborhood(
                tuple(near), view.version, view.graph.reach, excluded, dict(self._overlay.repeats)
            )

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
        with self._view.lock:
            after = None if following is None else self._id(following)
            shown = None if reward is None else reward - self._view.center
            self._overlay.step(self._id(state), decision.action, after, left, shown)
        return left

    def _rebase(self) -> None:
        """The view was rebuilt: its ids are new, so the overlay is told the episode again."""
        taken = self._overlay.history
        names = {i: s for s, i in self._states.items()}
        self._graph, self._states = self._view.graph, {}
        self._overlay = Overlay(self._graph)
        for before, action, after, novelty, reward in taken:
            following = None if after is None else self._id(names[after])
            self._overlay.step(self._id(names[before]), action, following, novelty, reward)

    def _id(self, state: State) -> int:
        """The memory's id of a state, or a negative one of this session's own."""
        known = self._states.get(state)
        if known is None:
            found = self._view.index.find(state)
            known = self._states[state] = -2 - len(self._states) if found is None else found
        return known

    def _cells(self, places: Sequence[tuple[int, float]]) -> Iterator[Neighbor]:
        left = _CELLS
        for at, similarity in places:
            for cell in self._graph.cells(at):
                yield self._cell(at, similarity, cell)
                left -= 1
            if left <= 0:
                return

    def _cell(self, at: int, similarity: float, cell: Cell) -> Neighbor:
        taken = self._overlay.times(at, cell.action)
        value = self._overlay.q(at, cell.action)
        return Neighbor(
            action=cell.action,
            similarity=similarity,
            ret=value if taken else cell.ret.mean,
            visits=float(cell.visits),
            sources=float(cell.sources),
            value=value,
            reward=cell.reward.mean,
            terminal=cell.ends / cell.visits,
            onward=self._overlay.onward(at, cell.action) if similarity == 1.0 else 0.0,
            taken=taken,
            rows=cell.rows,
            state=at,
        )

    def _episode(self, state: State) -> Iterator[Neighbor]:
        """What this episode did in states like this one."""
        retrieval, names = self._view.lens.retrieval, {i: s for s, i in self._states.items()}
        near: dict[int, float] = {}
        for taken in self._overlay.taken():
            similarity = near.get(taken.state)
            if similarity is None:
                similarity = self._similarity(state, names[taken.state])
                near[taken.state] = similarity
            if similarity < retrieval.threshold:
                continue
            value = self._overlay.q(taken.state, taken.action)
            onward = self._overlay.onward(taken.state, taken.action) if similarity == 1.0 else 0.0
            yield Neighbor(
                action=taken.action,
                similarity=similarity,
                ret=value,
                visits=float(taken.times),
                value=value,
                reward=taken.reward,
                onward=onward,
                taken=taken.times,
                state=taken.state,
            )

    def _similarity(self, a: State, b: State) -> float:
        retrieval = self._view.lens.retrieval
        for state in (a, b):
            if state not in self._bags:
                self._bags[state] = bags(state, retrieval)
        return alike(a, b, self._bags[a], self._bags[b], retrieval)

    def _voices(self, places: Sequence[tuple[int, float]]) -> Iterator[Neighbor]:
        for at, similarity in places:
            for (action, _), voice in self._view.voices.get(at, {}).items():
                yield Neighbor(
                    action=action,
                    similarity=similarity,
                    ret=voice.total / voice.visits,
                    visits=float(voice.visits),
                    trusted=False,
                    rows=tuple(voice.rows[-_ROWS:]),
                    state=at,
                )

    def _rows(self, places: Sequence[tuple[int, float]]) -> list[Neighbor]:
        """The k nearest rows; among equally similar ones, the newest first."""
        k, found = self._view.lens.retrieval.k, list[Neighbor]()
        for at, similarity in places:
            rows: list[Row] = self._view.rows.get(at, [])
            for row in reversed(rows):
                if k is not None and len(found) == k:
                    return found
                found.append(Neighbor(row.action, similarity, row.ret, rows=(row.id,), state=at))
        return found
