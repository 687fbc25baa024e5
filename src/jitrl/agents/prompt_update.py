"""Agent ``prompt-update``: what ``jitrl`` knows, said in the prompt instead of added to scores.

The decisive ablation: neighbors, returns, advantages and visits are those that the agent ``jitrl``
would decide by, made by the same functions. They reach the choice through words alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from jitrl.agents.attended import Attended
from jitrl.agents.corrected import Corrected
from jitrl.agents.prior import own_choice, prior_of
from jitrl.agents.prompted import check_counts, fitting, learner
from jitrl.agents.settings import MemorySettings
from jitrl.agents.shown import Shown
from jitrl.agents.words import Words, words
from jitrl.core.rule import Choose, UpdateRule
from jitrl.core.update import decide
from jitrl.errors import InputError
from jitrl.memory.session import Session
from jitrl.ports import Embedder, Evaluator, Receipt, Store
from jitrl.types import (
    Candidate,
    Decision,
    Episode,
    Neighborhood,
    Prompt,
    Proposal,
    State,
    Task,
    Weighed,
)

NAME = "prompt-update"
Say = Literal["all", "best"]


def prompt_update(
    store: Store,
    evaluator: Evaluator,
    settings: MemorySettings,
    embedder: Callable[[str], Embedder] | None = None,
    *,
    budget: int = 2000,
    say: Say = "all",
    untried: bool = False,
    temperature: float = 1.0,
    choose: Choose = "sample",
) -> PromptUpdate:
    """Returns, advantages and visits of each action in the prompt; scores are left alone.

    Args:
        say: ``all`` actions that were tried, with their numbers, or only the ``best`` one, by name,
            where ``jitrl`` would raise its score: a small model takes what is named, and reads no
            numbers.
        budget: Characters of all notes; an action that does not fit is left out whole.
        untried: Whether actions without visits are named, too; ``jitrl`` knows of them, but no row.
        temperature: The prior is ``softmax(z / temperature)``.
        choose: ``sample`` from the prior, or its ``argmax`` (ties: at random).
    """
    check_counts(NAME, budget=budget)
    base = learner(NAME, store, evaluator, settings, embedder)
    return PromptUpdate(base, prior_of(NAME, temperature, choose), budget, say, untried)


class PromptUpdate:
    """Tells the model what the memory holds. Safe for threads.

    Args:
        memory: Whose neighborhoods and rows it uses; it makes no decision.
        prior: How the choice is drawn from the model's logits.
    """

    def __init__(
        self, memory: Corrected, prior: UpdateRule, budget: int, say: Say, untried: bool
    ) -> None:
        self.memory, self.prior, self.budget = memory, prior, budget
        self.say, self.untried = say, untried

    @property
    def derivation(self) -> dict[str, object]:
        """What rows are derived with; the agent ``jitrl`` can take such a memory over."""
        return self.memory.derivation

    def episode(
        self, *, exclude: frozenset[str] = frozenset(), until: int | None = None
    ) -> PromptUpdateEpisode:
        """An agent for one episode.

        Args:
            exclude: Tasks whose rows it must not use; each decision counts them.
            until: Newest version of the memory it may see; ``None``: all.
        """
        return PromptUpdateEpisode(self, exclude, until)


class PromptUpdateEpisode:
    """One episode: the memory is read as ``jitrl`` reads it, and written as ``jitrl`` writes it."""

    name = NAME

    def __init__(self, agent: PromptUpdate, exclude: frozenset[str], until: int | None) -> None:
        self._agent, self._exclude, self._until = agent, exclude, until
        self._attended: Attended | None = None
        self._rng = np.random.default_rng(0)
        self._near, self._shown = Neighborhood(), Shown()
        self._arm: Mapping[str, Any] = {}

    def begin(self, task: Task, *, key: str, rng: np.random.Generator) -> None:
        """The episode starts."""
        self._rng, self._shown = rng, Shown()
        snapshot, self._arm = self._agent.memory.reading.drawn(rng)
        view = self._agent.memory.view(task.scope, self._exclude, snapshot)
        self._attended = Attended(Session(view, self._until, task.id), self._exclude)

    def advise(self, state: State, prompt: Prompt) -> Prompt:
        """The prompt with what is known of each action in states like this one."""
        self._near = self._begun("advise").session.neighborhood(state)
        listed = prompt.actions or dict.fromkeys(n.action for n in self._near.neighbors)
        candidates = tuple(Candidate(action, 0.0) for action in listed)
        if not candidates:
            return prompt
        weighed = self._weighed(candidates).candidates[: len(candidates)]
        return replace(prompt, notes=self._shown.show(self._notes(weighed, prompt)))

    def act(self, state: State, prompt: Prompt, proposal: Proposal) -> Decision:
        """The prior under these notes, beside the numbers that the notes say.

        Raises:
            InputError: If there are no candidates, one occurs twice, or a logit is not finite.
        """
        attended = self._begun("act")
        attended.session.view.scored_by(proposal.scorer)
        decision = own_choice(proposal, self._agent.prior, self._rng)
        known = self._weighed(proposal.candidates)
        told = {c.action: c for c in known.candidates}
        decision = replace(
            decision,
            candidates=tuple(_beside(c, told[c.action]) for c in decision.candidates),
            neighbors=known.neighbors,
            value=known.value,
            version=self._near.version,
            excluded=self._near.excluded,
            mode="off",
            reason="off",
        )
        attended.decided(state, decision)
        self._shown.over()
        return decision

    def observe(self, reward: float | None, next_state: State | None) -> None:
        """What the last action brought; it is told at once, in this episode only."""
        self._begun("observe").observe(reward, next_state)

    def learn(self, episode: Episode) -> Receipt:
        """The episode is over: judge it, derive its rows, and commit them."""
        noted = self._begun("learn").noted(episode)
        return self._agent.memory.learn(
            replace(noted, info={**noted.info, **self._arm, **self._shown.plain()})
        )

    def _begun(self, call: str) -> Attended:
        if self._attended is None:
            raise InputError(f"{call}() came before begin(); an episode must be started first")
        return self._attended

    def _weighed(self, candidates: tuple[Candidate, ...]) -> Decision:
        """What ``jitrl`` makes of the neighborhood; chance plays no part in what is told."""
        rule, rng = self._agent.memory.preset.rule, np.random.default_rng(0)
        return decide(candidates, self._near, rule, rng, allowed=())

    def _notes(self, weighed: tuple[Weighed, ...], prompt: Prompt) -> str:
        """The tried actions, those of the highest advantage first, then the others by name."""
        said = words(prompt.goal)
        tried = sorted((c for c in weighed if c.visits > 0), key=lambda c: -c.advantage)
        if not tried:
            return ""
        if self._agent.say == "best":
            best = max(tried, key=lambda c: c.scaled)
            return said.worked_here.format(action=best.action) if best.scaled > 0.0 else ""
        lines = [self._line(c, said) for c in tried]
        others = [c.action for c in weighed if c.visits == 0]
        if self._agent.untried and others:
            lines.append(said.untried.format(actions="; ".join(others)))
        kept = fitting(lines, self._agent.budget - len(said.known) - 1, gap=1)
        return "\n".join([said.known, *kept]) if kept else ""

    def _line(self, c: Weighed, said: Words) -> str:
        here = (
            n.taken for n in self._near.neighbors if n.similarity == 1.0 and n.action == c.action
        )
        times = max(here, default=0)
        also = said.taken.format(times=times) if times else ""
        return said.known_action.format(
            action=c.action, visits=c.visits, q=c.q, gain=round(c.advantage, 4) + 0.0, also=also
        )


def _beside(chosen: Weighed, told: Weighed) -> Weighed:
    """How a candidate was drawn, with what the model was told of it."""
    return replace(
        chosen,
        visits=told.visits,
        q=told.q,
        advantage=told.advantage,
        scaled=told.scaled,
        novelty=told.novelty,
    )
