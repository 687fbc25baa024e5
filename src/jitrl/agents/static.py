"""The frozen model by itself: acts from its prior, learns nothing, is journaled all the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jitrl.agents.prior import own_choice, prior_of
from jitrl.core.rule import Choose, UpdateRule
from jitrl.ports import Evaluator, Receipt, Store
from jitrl.types import Decision, Episode, Prompt, Proposal, State, Task


class Static:
    """What every other agent is measured against.

    Args:
        store: Where its episodes are journaled.
        evaluator: Who scores them; the scores are kept, no rows are made of them.
        temperature: The prior is ``softmax(z / temperature)``.
        choose: ``sample`` from the prior, or its ``argmax`` (ties: at random).
    """

    def __init__(
        self,
        store: Store,
        evaluator: Evaluator,
        *,
        temperature: float = 1.0,
        choose: Choose = "sample",
    ) -> None:
        self._store, self._evaluator = store, evaluator
        self._prior = prior_of("static", temperature, choose)

    def episode(self, *, exclude: frozenset[str] = frozenset(), until: int | None = None) -> Frozen:
        """An agent for one episode; what it must not see of the memory makes no difference."""
        return Frozen(self._store, self._evaluator, self._prior)


class Frozen:
    """The frozen model in one episode."""

    name = "static"

    def __init__(self, store: Store, evaluator: Evaluator, prior: UpdateRule) -> None:
        self._store, self._evaluator, self._prior = store, evaluator, prior
        self._rng = np.random.default_rng(0)

    def begin(self, task: Task, *, key: str, rng: np.random.Generator) -> None:
        """Draw from ``rng`` from now on."""
        self._rng = rng

    def advise(self, state: State, prompt: Prompt) -> Prompt:
        """The prompt as it is."""
        return prompt

    def act(self, state: State, prompt: Prompt, proposal: Proposal) -> Decision:
        """What the prior chooses.

        Raises:
            InputError: If there are no candidates, one occurs twice, or a logit is not finite.
        """
        decision = own_choice(proposal, self._prior, self._rng)
        return replace(decision, mode="off", reason="static")

    def observe(self, reward: float | None, next_state: State | None) -> None:
        """Nothing follows from it."""

    def learn(self, episode: Episode) -> Receipt:
        """Journal the episode with its judgment; no rows."""
        return self._store.commit(episode, self._evaluator.judge(episode), ())
