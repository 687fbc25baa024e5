"""Agents that change the prompt alone: notes in front of it, and the frozen model's own choice.

What tells one from another is its method, which makes a guide for each episode. The rest is
shared: what of the journal may be known, how the choice is drawn, and how an episode is learned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from jitrl.agents.corrected import Corrected
from jitrl.agents.past import Journal, Past, PastEpisode
from jitrl.agents.prior import own_choice
from jitrl.agents.settings import MemorySettings
from jitrl.agents.shown import Shown
from jitrl.core.rule import UpdateRule
from jitrl.errors import ConfigError, InputError
from jitrl.ports import Embedder, Evaluator, Receipt, Store
from jitrl.types import Decision, Episode, Prompt, Proposal, State, Task


class Guide(Protocol):
    """What one episode is told, and what is written down of it for later ones."""

    @property
    def temperature(self) -> float:
        """The agent's prior temperature is multiplied by it."""
        ...

    def notes(self, state: State, prompt: Prompt) -> str:
        """What the model is told before this step; "" for nothing."""
        ...

    def lesson(self, lived: PastEpisode) -> Mapping[str, Any]:
        """What is added to ``Episode.info`` of the episode that was lived through and scored."""
        ...


Method = Callable[[Task, Past], Guide]


class Prompted:
    """A frozen model whose prompts are given notes. Safe for threads.

    Args:
        memory: Whose journal, evaluator and rows it uses; it makes no decision.
        prior: How the choice is drawn from the model's logits.
    """

    def __init__(self, name: str, memory: Corrected, method: Method, prior: UpdateRule) -> None:
        self.name, self.memory, self.method, self.prior = name, memory, method, prior
        self.journal = Journal(memory.store)

    @property
    def derivation(self) -> dict[str, Any]:
        """What rows are derived with; the agent ``jitrl`` can take such a memory over."""
        return self.memory.derivation

    def episode(
        self, *, exclude: frozenset[str] = frozenset(), until: int | None = None
    ) -> PromptedEpisode:
        """An agent for one episode.

        Args:
            exclude: Tasks whose episodes it must not use; each decision counts their rows.
            until: Newest version of the memory it may see; ``None``: all there is when it begins.
        """
        return PromptedEpisode(self, exclude, until)


class PromptedEpisode:
    """One episode of an agent that writes notes."""

    def __init__(self, agent: Prompted, exclude: frozenset[str], until: int | None) -> None:
        self.name = agent.name
        self._agent, self._exclude, self._until = agent, exclude, until
        self._guide: Guide | None = None
        self._past, self._goal = Past(), ""
        self._rng = np.random.default_rng(0)
        self._shown = Shown()

    def begin(self, task: Task, *, key: str, rng: np.random.Generator) -> None:
        """The episode starts: what it may know of earlier ones is settled here."""
        self._rng, self._goal, self._shown = rng, task.goal, Shown()
        self._past = self._agent.journal.past(task.scope, exclude=self._exclude, until=self._until)
        self._guide = self._agent.method(task, self._past)

    def advise(self, state: State, prompt: Prompt) -> Prompt:
        """The prompt with the notes that the method has for this step."""
        return replace(prompt, notes=self._shown.show(self._begun().notes(state, prompt)))

    def act(self, state: State, prompt: Prompt, proposal: Proposal) -> Decision:
        """What the prior chooses under these notes.

        Raises:
            InputError: If there are no candidates, one occurs twice, or a logit is not finite.
        """
        prior = self._agent.prior
        warmth = prior.temperature_prior * self._begun().temperature
        decision = own_choice(proposal, replace(prior, temperature_prior=warmth), self._rng)
        self._shown.over()
        return replace(
            decision,
            mode="off",
            reason="off",
            version=self._past.version,
            excluded=self._past.excluded,
        )

    def observe(self, reward: float | None, next_state: State | None) -> None:
        """Nothing follows from it before the episode is learned."""

    def learn(self, episode: Episode) -> Receipt:
        """Judge, write down what the method makes of it, derive, and commit.

        Nothing but the journal entry is left of an episode that could not be judged.

        Raises:
            BudgetExceeded: If a call of the model that writes would pass a limit; nothing is
                written then.
        """
        guide, memory = self._begun(), self._agent.memory
        info = {**episode.info, "goal": self._goal, **self._shown.plain()}
        if self._exclude:
            info["exclude"] = sorted(self._exclude)
        judgment, rows, why = memory.judged(episode)
        if rows and not why:
            info |= guide.lesson(PastEpisode(rows, self._goal, info))
        return memory.store.commit(replace(episode, info=info), judgment, rows)

    def _begun(self) -> Guide:
        if self._guide is None:
            raise InputError("the episode was not begun; begin() comes first")
        return self._guide


def learner(
    agent: str,
    store: Store,
    evaluator: Evaluator,
    settings: MemorySettings,
    embedder: Callable[[str], Embedder] | None = None,
) -> Corrected:
    """Who judges and learns for an agent that leaves the scores alone.

    Args:
        embedder: Makes the embedder of a name; for an agent that looks for similar states.

    Raises:
        ConfigError: If the settings ask for episodes without memory, which only ``jitrl`` has.
    """
    if settings.mode != "act" or settings.holdout:
        raise ConfigError(
            f"agent {agent}: memory.mode is {settings.mode!r} and memory.holdout "
            f"{settings.holdout:g}; it needs 'act' and 0 (the agent static has no memory)"
        )
    return Corrected(store, evaluator, settings, embedder)


def check_counts(agent: str, **counts: int) -> None:
    """Refuse negative counts.

    Raises:
        ConfigError: If one is below 0.
    """
    for what, value in counts.items():
        if value < 0:
            raise ConfigError(f"agent {agent}: {what} must be at least 0, got {value}")


def fitting(items: Sequence[str], budget: int, gap: int = 2) -> tuple[str, ...]:
    """As many of ``items`` as fit, whole ones, the first ones first; in their order.

    Args:
        budget: Characters of all together.
        gap: Characters between two of them.
    """
    kept: list[str] = []
    for item in items:
        if len(item) <= budget:
            kept.append(item)
            budget -= len(item) + gap
    return tuple(kept)
