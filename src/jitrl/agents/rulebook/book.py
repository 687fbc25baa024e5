"""Agent ``rulebook``: what to do in sentences, drawn from attempts, told in later ones, and tested.

One episode: the rules that fit its task are fetched, and those whose condition holds at a step
speak there; by a logged draw where it first speaks, each is told in the prompt or held out. When a
round of attempts at a task is over, its best are compared with its worst and rules are distilled of
them; the gates decide which come in and which go. With ``scores`` the choice is that of the agent
``jitrl`` too, and where that one acts without its memory, nothing is told either.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from jitrl.agents.asked import Author
from jitrl.agents.corrected import Corrected, CorrectedEpisode, MemorySettings
from jitrl.agents.prior import own_choice, prior_of
from jitrl.agents.prompted import learner
from jitrl.agents.rulebook.counts import check_counts
from jitrl.agents.rulebook.credit import Strategy, strategy
from jitrl.agents.rulebook.distilling import Distiller
from jitrl.agents.rulebook.fetching import fetched
from jitrl.agents.rulebook.learning import ROUND, Learning
from jitrl.agents.rulebook.meaning import Meaning
from jitrl.agents.rulebook.telling import MOST_TOLD, ROOM, Telling
from jitrl.agents.rulebook.told import Told
from jitrl.agents.shown import Shown
from jitrl.core.gates import gates_of
from jitrl.core.rule import Choose, UpdateRule, check_number
from jitrl.errors import ConfigError, InputError
from jitrl.ports import Embedder, Evaluator, Receipt, Writer
from jitrl.ports.replay import Replays
from jitrl.ports.rules import RuleStore
from jitrl.types import (
    Decision,
    Episode,
    Prompt,
    Proposal,
    RuleStatus,
    RuleUse,
    Spoken,
    State,
    Task,
)

NAME = "rulebook"
_LEAST_HELD = 0.01  # share of uses without which no effect is ever known
_MOST_EXPLORE = 1e6


def rulebook(
    store: RuleStore,
    evaluator: Evaluator,
    settings: MemorySettings,
    writer: Callable[[], Writer],
    embedder: Callable[[str], Embedder] | None = None,
    replays: Replays | None = None,
    *,
    author: Author = "rules",
    credit: Strategy = "contrast",
    credit_budget: int = 12,
    scores: bool = False,
    attempts: int = 8,
    gap: float = 0.25,
    threshold: float = 0.75,
    distil: int = 2,
    told: int = MOST_TOLD,
    tokens: int = ROOM,
    overlap: float = 0.5,
    meaning: str = "",
    alike: float = 0.4,
    explore: float = 0.3,
    holdout: float = 0.2,
    success: float = 1.0,
    gates: Mapping[str, Any] | bool | None = None,
    temperature: float = 1.0,
    choose: Choose = "sample",
) -> Rulebook:
    """Rules distilled from good and bad attempts in the prompt.

    Args:
        author: Who distils: ``rules`` (where attempts parted), or the ``model`` of ``[writer]``.
        credit: Which steps rules are made of: where attempts parted (``contrast``); where the
            scores of steps part, given by the evaluator, or with ``author = "model"`` by that model
            (``steps``); what costs most when a bad attempt's step is put into the best one and that
            is played again (``substitution``); or a comparison first, and only where the gap is
            large and not all bad attempts parted at one and the same step, substitution (``mixed``)
            or step scores (``mixed-steps``).
        credit_budget: Episodes played again, or attempts whose steps the model scores, for one
            round at most; 2 or more, one of them for the best attempt.
        scores: Whether the memory corrects the scores, too, as the agent ``jitrl`` does; then
            ``temperature`` and ``choose`` have no say.
        attempts: Scored attempts at a task that make a round, 2 or more; with 0 nothing is
            distilled.
        gap: Least difference between the best and the worst of a round that teaches.
        threshold: Least score of the best.
        distil: New rules of one round at most, of all kinds together.
        told: Rules that a prompt holds at most; with 0 they are learned only.
        tokens: Room for them there, in tokens, about.
        overlap: Share of a rule's key words that a goal must name.
        meaning: Embedder (``wordllama``, ``package.module:name``) that finds rules whose condition
            says the goal in other words; "": key words alone.
        alike: With ``meaning``, how similar the two must be.
        explore: c of the bound by which rules are chosen.
        holdout: Share of the first uses of an active rule in which it is held out; half of it after
            50 uses, a third after 100, and so on.
        success: Least score of an episode that is a win.
        gates: Settings of the gates that differ: alpha, tasks, trial, grace, bottom, idle, most.
            ``True`` is the default ones; with ``False`` every rule comes in and none goes, to see
            what gates are worth.
        temperature: The prior is ``softmax(z / temperature)``.
        choose: ``sample`` from the prior, or its ``argmax`` (ties: at random).

    Raises:
        ConfigError: If a value is impossible, or nothing can be played again here.
    """
    name = f"{NAME}-{author}"
    check_counts(name, attempts, distil, told, tokens, credit_budget)
    for what, value, low, high in (
        ("gap", gap, 0.0, 1.0),
        ("threshold", threshold, 0.0, 1.0),
        ("overlap", overlap, 0.0, 1.0),
        ("alike", alike, 0.0, 1.0),
        ("success", success, 0.0, 1.0),
        ("explore", explore, 0.0, _MOST_EXPLORE),
        ("holdout", holdout, _LEAST_HELD, 1.0 - _LEAST_HELD),
    ):
        try:
            check_number(what, value, low, high)
        except ValueError as error:
            why = "; a rule that is never held out has no known effect" * (what == "holdout")
            raise ConfigError(f"agent {name}: {error}{why}") from error
    if credit != "contrast" and credit_budget < 2:
        raise ConfigError(
            f"agent {name}: credit_budget is {credit_budget}; with credit = {credit!r} it must be "
            "at least 2, one for the best attempt and one for a bad one, or no rule is ever made"
        )
    try:
        limits = gates_of(gates)
    except ValueError as error:
        raise ConfigError(f"agent {name}: gates: {error}") from error
    made = Corrected if scores else partial(learner, name)
    memory = made(store, evaluator, settings, embedder)
    if meaning and embedder is None:
        raise ConfigError(f"agent {name}: meaning is {meaning!r}, and nothing here opens embedders")
    finder = Meaning(embedder(meaning), alike) if meaning and embedder else None
    status: RuleStatus = "active" if limits is None else "candidate"
    author_model = writer() if author == "model" else None
    named = strategy(
        credit, writer=author_model, evaluator=evaluator, replays=replays, budget=credit_budget
    )
    distiller = Distiller(store, author_model, distil, status, named=(), credit=named)
    return Rulebook(
        name,
        memory,
        store,
        prior_of(name, temperature, choose),
        Telling(told, tokens, overlap, explore, holdout, success, finder),
        Learning(store, distiller, limits, attempts, gap=gap, threshold=threshold, success=success),
        scores,
    )


class Rulebook:
    """Tells rules, and learns them. Safe for threads.

    Args:
        memory: Whose evaluator and rows it uses; it corrects scores only where ``scores`` says so.

    Attributes:
        tells: Whether episodes are told rules; they are learned in any case.
        waits: Whether an episode begins only once all that was owed is learned.
    """

    def __init__(
        self,
        name: str,
        memory: Corrected,
        store: RuleStore,
        prior: UpdateRule,
        telling: Telling,
        learning: Learning,
        scores: bool,
    ) -> None:
        self.name, self.memory, self.store, self.prior = name, memory, store, prior
        self.telling, self.learning, self.scores = telling, learning, scores
        self.tells, self.waits = memory.mode == "act", True

    @property
    def derivation(self) -> dict[str, Any]:
        """What rows are derived with; the agent ``jitrl`` can take such a memory over."""
        return self.memory.derivation

    def resume(self) -> None:
        """Learn what processes that were killed, or whose model failed, left to be learned.

        Raises:
            ConfigError, BudgetExceeded, ModelError: If a round could not be distilled.
        """
        self.learning.resume()

    def again(self, key: str) -> None:
        """Learn of a stored episode that was judged once more, as after a late outcome.

        Raises:
            ConfigError, BudgetExceeded, ModelError: If a round could not be distilled.
        """
        self.learning.resume()
        self.learning.again(key)

    def episode(
        self, *, exclude: frozenset[str] = frozenset(), until: int | None = None
    ) -> RulebookEpisode:
        """An agent for one episode; before the first one, ``resume``.

        Args:
            exclude: Tasks whose rows, and whose rules, it must not use.
            until: Newest version of the memory it may see; ``None``: all there is when it begins.
        """
        if self.waits:
            self.resume()
        return RulebookEpisode(self, exclude, until)


class RulebookEpisode:
    """One episode of an agent with a rulebook."""

    def __init__(self, agent: Rulebook, exclude: frozenset[str], until: int | None) -> None:
        self.name = agent.name
        self._agent, self._exclude, self._until = agent, exclude, until
        self._corrected = CorrectedEpisode(agent.memory, exclude, until) if agent.scores else None
        self._task = Task("", "")
        self._rng = np.random.default_rng(0)
        self._told: Told | None = None
        self._done: tuple[str, tuple[str, ...]] | None = None
        self._is_ahead = False  # whether notes were asked for the step to come
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
        )

    def advise(self, state: State, prompt: Prompt) -> Prompt:
        """The prompt with the told rules whose condition holds here."""
        if self._done is not None:  # what came of the step before is not told yet
            self._count()
        self._is_ahead = True
        return replace(prompt, notes=self._shown.show(self._begun().notes(state, prompt)))

    @property
    def told(self) -> tuple[str, ...]:
        """Ids of the rules in the notes that were asked for last."""
        return self._begun().here

    def hush(self) -> None:
        """Tell no rule from now on, and log none."""
        self._told = Told((), self._agent.telling, lambda _: {})

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
        told, self._is_ahead = self._begun(), False
        if self._corrected is None:
            decision = own_choice(proposal, self._agent.prior, self._rng)
            decision = replace(decision, mode="off", reason="off", excluded=told.excluded)
        else:
            decision = self._corrected.act(state, prompt, proposal, allowed)
        self._done = decision.action, tuple(c.action for c in proposal.candidates)
        self._shown.over()
        return replace(decision, notes=self.spoken)

    @property
    def spoken(self) -> tuple[Spoken, ...]:
        """The rules that spoke at the step just taken, and whether what was done is as they say."""
        return () if self._done is None else self._begun().spoken(*self._done)

    def unasked(self, state: State, proposal: Proposal, action: str, reason: str) -> Decision:
        """A step that was taken without asking: the rules had no part in it."""
        assert self._corrected is not None, "an episode without scores decides each step"
        self._begun().passed()
        if self._done is None:  # else it takes the place of the step just decided
            self._shown.over()
        self._done, self._is_ahead = None, False
        return self._corrected.unasked(state, proposal, action, reason)

    def took(self, action: str) -> None:
        """``action`` was done in place of what was decided last."""
        if self._corrected is not None:
            self._corrected.took(action)
        if self._done is not None:
            self._done = action, self._done[1]

    def observe(self, reward: float | None, next_state: State | None) -> None:
        """What the last action brought; it counts at once where scores are corrected."""
        if self._corrected is not None:
            self._corrected.observe(reward, next_state)
        if not self._is_ahead:
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
        uses = self._uses(told, episode.key)
        receipt = agent.store.commit(episode, judgment, rows, uses)
        self._taught = self._task if rows and not (why or receipt.duplicate) else None
        self._used = [use.rule for use in uses]
        return receipt if receipt.duplicate else replace(receipt, objection=why)

    def _uses(self, told: Told, key: str) -> tuple[RuleUse, ...]:
        """What is logged; nothing of rules that were purged since."""
        uses = told.uses(key)
        known = self._agent.store.rules(scope=self._task.scope) if uses else ()
        there = {rule.id for rule in known}
        return tuple(use for use in uses if use.rule in there)

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
        """Count what was done at the last step for the rules that spoke there."""
        done, self._done = self._done, None
        if done is None:
            self._begun().passed()
        else:
            self._begun().took(*done)

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
