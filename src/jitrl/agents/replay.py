"""Agent ``replay-best``: what did best at the same task once more, and the prior beyond it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from jitrl.agents.corrected import Corrected
from jitrl.agents.past import Journal, Past, PastEpisode
from jitrl.agents.prior import chosen_from, own_choice, prior_of
from jitrl.agents.prompted import learner
from jitrl.agents.settings import MemorySettings
from jitrl.core.rule import Choose, UpdateRule
from jitrl.ports import Evaluator, Receipt, Store
from jitrl.types import Decision, Episode, Prompt, Proposal, Row, State, Task

NAME = "replay-best"


def replay_best(
    store: Store,
    evaluator: Evaluator,
    settings: MemorySettings,
    *,
    least: float = 0.0,
    temperature: float = 1.0,
    choose: Choose = "sample",
) -> ReplayBest:
    """Repeats the best episode of the same task, step by step, as far as it can be followed.

    Args:
        least: Only an episode with a score above it is repeated.
        temperature: Of the prior, ``softmax(z / temperature)``, which chooses where nothing is
            repeated.
        choose: ``sample`` from the prior, or its ``argmax`` (ties: at random).
    """
    base = learner(NAME, store, evaluator, settings)
    return ReplayBest(base, prior_of(NAME, temperature, choose), least)


def best_path(episodes: Sequence[PastEpisode], least: float) -> tuple[Row, ...]:
    """The steps worth repeating: of the best episode, up to its last step that paid.

    Of equally good episodes the shortest path counts, then the oldest. What came after the last
    reward (running out of steps, or failing) brought nothing and is not repeated.
    """
    paths = [(episode.score, _paid(episode)) for episode in episodes if episode.score > least]
    if not paths:
        return ()
    return max(paths, key=lambda path: (path[0], -len(path[1])))[1]


def _paid(episode: PastEpisode) -> tuple[Row, ...]:
    last = max((i for i, row in enumerate(episode.rows) if row.reward > 0), default=-1)
    return episode.rows[: last + 1]


class ReplayBest:
    """Repeats the best episode in the journal. Safe for threads.

    Args:
        memory: Whose journal, evaluator and rows it uses; it makes no decision.
        prior: Draws where nothing is repeated.
    """

    def __init__(self, memory: Corrected, prior: UpdateRule, least: float) -> None:
        self.memory, self.prior, self.least = memory, prior, least
        self.journal = Journal(memory.store)

    @property
    def derivation(self) -> dict[str, Any]:
        """What rows are derived with; the agent ``jitrl`` can take such a memory over."""
        return self.memory.derivation

    def episode(
        self, *, exclude: frozenset[str] = frozenset(), until: int | None = None
    ) -> ReplayEpisode:
        """An agent for one episode.

        Args:
            exclude: Tasks whose episodes it must not use; each decision counts their rows.
            until: Newest version of the memory it may see; ``None``: all there is when it begins.
        """
        return ReplayEpisode(self, exclude, until)


class ReplayEpisode:
    """One episode along the best path."""

    name = NAME

    def __init__(self, agent: ReplayBest, exclude: frozenset[str], until: int | None) -> None:
        self._agent, self._exclude, self._until = agent, exclude, until
        self._past, self._path, self._at = Past(), tuple[Row, ...](), 0
        self._latest: Mapping[State, int] = {}
        self._rng = np.random.default_rng(0)
        self._goal = ""

    def begin(self, task: Task, *, key: str, rng: np.random.Generator) -> None:
        """The episode starts: which one it repeats is settled here."""
        self._rng, self._goal, self._at = rng, task.goal, 0
        self._past = self._agent.journal.past(task.scope, exclude=self._exclude, until=self._until)
        self._path = best_path(self._past.of(task.id), self._agent.least)
        self._latest = {row.state: i for i, row in enumerate(self._path)}

    def advise(self, state: State, prompt: Prompt) -> Prompt:
        """The prompt as it is."""
        return prompt

    def act(self, state: State, prompt: Prompt, proposal: Proposal) -> Decision:
        """The path's action in this state if it is a candidate, else the prior's choice.

        Where the state is not the one that comes next on the path, the path is taken up where it
        was last in this state.

        Raises:
            InputError: If there are no candidates, one occurs twice, or a logit is not finite.
        """
        decision = own_choice(proposal, self._agent.prior, self._rng)
        action = self._next(state)
        if any(c.action == action for c in proposal.candidates):
            self._at += 1
            decision = _repeating(decision, action)
        return replace(decision, version=self._past.version, excluded=self._past.excluded)

    def _next(self, state: State) -> str:
        """The path's action here; "" off the path."""
        if self._at >= len(self._path) or self._path[self._at].state != state:
            self._at = self._latest.get(state, len(self._path))
        return self._path[self._at].action if self._at < len(self._path) else ""

    def observe(self, reward: float | None, next_state: State | None) -> None:
        """Nothing follows from it before the episode is learned."""

    def learn(self, episode: Episode) -> Receipt:
        """The episode is over: judge it, derive its rows, and commit them."""
        info = {**episode.info, "goal": self._goal}
        if self._exclude:
            info["exclude"] = sorted(self._exclude)
        return self._agent.memory.learn(replace(episode, info=info))


def _repeating(decision: Decision, action: str) -> Decision:
    """The decision that takes ``action`` for certain."""
    chances = ((c, float(c.action == action)) for c in decision.candidates)
    decision = chosen_from(
        decision, (replace(c, visits=p, probability=p, propensity=p) for c, p in chances)
    )
    return replace(decision, reason="")
