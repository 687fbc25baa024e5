"""One episode with a rulebook: notes before each step, what was done after it, its uses at the end.

What was done at a step counts once the next state arrives, or the episode is over. Until then
something else may be said to have been done, whether or not the next notes were asked for by then.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from jitrl.agents.corrected import CorrectedEpisode
from jitrl.agents.prior import own_choice
from jitrl.agents.rulebook.fetching import fetched
from jitrl.agents.rulebook.learning import ROUND
from jitrl.agents.rulebook.told import Said, Told
from jitrl.agents.shown import NOTES, Shown
from jitrl.errors import InputError
from jitrl.ports import Receipt
from jitrl.types import Decision, Episode, Prompt, Proposal, RuleUse, Spoken, State, Task

if TYPE_CHECKING:
    from jitrl.agents.rulebook.book import Rulebook


@dataclass(frozen=True, slots=True)
class _Done:
    """The step just taken: what was done of what could be, and what rules said there."""

    action: str
    actions: tuple[str, ...]
    said: Said


class RulebookEpisode:
    """One episode of an agent with a rulebook."""

    def __init__(self, agent: Rulebook, exclude: frozenset[str], until: int | None) -> None:
        self.name = agent.name
        self._agent, self._exclude, self._until = agent, exclude, until
        self._corrected = CorrectedEpisode(agent.memory, exclude, until) if agent.scores else None
        self._task = Task("", "")
        self._rng = np.random.default_rng(0)
        self._told: Told | None = None
        self._done: _Done | None = None
        self._taught: Task | None = None
        self._used: list[str] = []
        self._shown = Shown()

    def begin(self, task: Task, *, key: str, rng: np.random.Generator) -> None:
        """The episode starts: the rules that may be told are looked up, each with its draw."""
        self._task, self._rng, self._shown = task, rng, Shown()
        seen = [] if self._until is None else [self._until]
        agent, is_alone = self._agent, False
        if self._corrected is not None:
            self._corrected.begin(task, key=key, rng=rng)
            seen += [] if self._corrected.snapshot is None else [self._corrected.snapshot]
            is_alone = self._corrected.held_out
        if is_alone or not agent.tells:
            self.hush()
            return
        self._told = fetched(
            agent.store,
            task,
            agent.telling,
            np.random.default_rng(rng.integers(2**63)),
            exclude=self._exclude,
            until=min(seen, default=None),
            figures=agent.figures,
        )

    def advise(self, state: State, prompt: Prompt) -> Prompt:
        """The prompt with the told rules whose condition holds here.

        It may be asked for before it is said what was done at the step before.
        """
        return replace(prompt, notes=self._shown.show(self._begun().notes(state, prompt)))

    @property
    def told(self) -> tuple[str, ...]:
        """Ids of the rules in the notes that were asked for last."""
        return self._begun().said.told

    def take_back(self) -> None:
        """The notes that were asked for last never reached the agent; nothing is logged of them."""
        self._begun().take_back()
        self._shown.take_back()

    def hush(self) -> None:
        """Tell no rule from now on, and log none."""
        self._told = Told((), self._agent.telling, lambda _: {}, tuple)

    def act(
        self,
        state: State,
        prompt: Prompt,
        proposal: Proposal,
        allowed: Collection[str] | None = None,
    ) -> Decision:
        """What the prior, or the memory, chooses under these rules.

        Args:
            allowed: Which of the memory's actions may join, as ``CorrectedEpisode`` takes it.

        Raises:
            InputError: If there are no candidates, one occurs twice, or a logit is not finite.
        """
        told = self._begun()
        if self._corrected is None:
            decision = own_choice(proposal, self._agent.prior, self._rng)
            decision = replace(decision, mode="off", reason="off", excluded=told.excluded)
        else:
            decision = self._corrected.act(state, prompt, proposal, allowed)
        could = tuple(c.action for c in proposal.candidates)
        self._done = _Done(decision.action, could, told.said)
        self._shown.over()
        return replace(decision, notes=self.spoken)

    @property
    def spoken(self) -> tuple[Spoken, ...]:
        """The rules that spoke at the step just taken, and whether what was done is as they say."""
        done = self._done
        return () if done is None else done.said.spoken(done.action, done.actions)

    def unasked(self, state: State, proposal: Proposal, action: str, reason: str) -> Decision:
        """A step that was taken without asking: the rules had no part in it."""
        assert self._corrected is not None, "an episode without scores decides each step"
        self._begun().passed()
        if self._done is None:  # else it takes the place of the step just decided
            self._shown.over()
        self._done = None
        return self._corrected.unasked(state, proposal, action, reason)

    def took(self, action: str) -> None:
        """``action`` was done in place of what was decided last."""
        if self._corrected is not None:
            self._corrected.took(action)
        if self._done is not None:
            self._done = replace(self._done, action=action)

    def observe(self, reward: float | None, next_state: State | None) -> None:
        """What the last action brought; it counts at once where scores are corrected."""
        if self._corrected is not None:
            self._corrected.observe(reward, next_state)
        self._count()

    def learn(self, episode: Episode) -> Receipt:
        """``commit``, then ``teach``."""
        receipt = self.commit(episode)
        self.teach()
        return receipt

    def commit(self, episode: Episode) -> Receipt:
        """Judge, derive, and commit with the uses of its rules.

        Raises:
            BudgetExceeded, ModelError: If a model that judges could not be asked; nothing is
                written then.
        """
        self._count()
        told, agent = self._begun(), self._agent
        if self._corrected is None:
            episode = replace(episode, info={**episode.info, "goal": self._task.goal})
        else:
            episode = self._corrected.noted(episode)
        more = {ROUND: agent.learning.attempts, **self._shown.plain()}
        episode = replace(episode, info={**episode.info, **more})
        judgment, rows, why = agent.memory.judged(episode)
        lived = episode
        episode, uses = self._left(told, lived)
        while True:
            try:
                receipt = agent.store.commit(episode, judgment, rows, uses)
                break
            except InputError:
                left = self._left(told, lived)
                if left == (episode, uses):
                    raise
                episode, uses = left  # a rule was purged meanwhile
        self._taught = self._task if rows and not (why or receipt.duplicate) else None
        self._used = [use.rule for use in uses]
        return receipt if receipt.duplicate else replace(receipt, objection=why)

    def _left(self, told: Told, episode: Episode) -> tuple[Episode, tuple[RuleUse, ...]]:
        """What is stored, and logged; nothing of rules that were purged since."""
        told_ids = {line.rule.id for line in told.lines if line.told}
        known = self._agent.store.rules(scope=self._task.scope) if told.has_spoken else ()
        there = {rule.id for rule in known}
        if not told_ids <= there:
            info = {what: said for what, said in episode.info.items() if what != NOTES}
            episode = replace(episode, info=info)
        return episode, tuple(use for use in told.uses(episode.key) if use.rule in there)

    def teach(self) -> None:
        """Let the book learn of the episode that was committed, if it can be learned from.

        Raises:
            ConfigError, BudgetExceeded, ModelError: If a round could not be distilled; the episode
                is stored, and the round stays owed.
        """
        task, self._taught = self._taught, None
        if task is not None:
            self._agent.learning.after(task, self._used)

    def _count(self) -> None:
        """The step just taken is over: what was done there counts for the rules that spoke."""
        done, self._done = self._done, None
        if done is not None:
            done.said.took(done.action, done.actions)
            self._begun().over(done.said)

    def __getattr__(self, name: str) -> Any:
        """What else an episode that corrects scores has: ``view``, ``held_out``, ``retrace`` …"""
        corrected = self.__dict__.get("_corrected")
        if corrected is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(corrected, name)

    def _begun(self) -> Told:
        if self._told is None:
            raise InputError("the episode was not begun; call begin() first")
        return self._told
