"""One run against a memory: decide at each step, reward where there is one, finish at the end."""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Collection, Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from jitrl import given, rulebook
from jitrl.agents.admitting import check_assertion
from jitrl.agents.rulebook.episode import RulebookEpisode
from jitrl.errors import BudgetExceeded, InputError, JitRLError, ModelError
from jitrl.given import Candidates
from jitrl.observed import Observed
from jitrl.ports import Receipt
from jitrl.redaction.hidden import Hidden
from jitrl.types import (
    Basis,
    Candidate,
    Decision,
    EpisodeStatus,
    Prompt,
    Proposal,
    Risk,
    State,
    Task,
    Transition,
    Unscored,
)
from jitrl.types import Episode as EpisodeRecord

if TYPE_CHECKING:
    from jitrl.api import JitRL


class Episode:
    """One run: ``decide`` at each step, ``reward`` where there is one, ``finish`` at the end.

    Leaving the ``with`` block without ``finish`` stores the episode all the same: as truncated,
    to be judged when its outcome comes, or as aborted if an exception ended it.
    """

    def __init__(
        self,
        jitrl: JitRL,
        task: str,
        scope: str,
        key: str | None,
        goal: str | None = None,
        family: str = "",
    ) -> None:
        self._jitrl, clean = jitrl, jitrl.redaction.text
        self.task = clean(given.name(task, "task"))
        self.scope = clean(given.text(scope, "scope"))
        made_up = f"{self.task[:100]}/{time.time_ns():x}-{os.urandom(3).hex()}"
        self.key = made_up if key is None else clean(given.name(key, "key"))
        seed = np.random.SeedSequence([jitrl.settings.seed, zlib.crc32(self.key.encode())])
        aim = task if goal is None else given.name(goal, "goal")
        self.goal, self.family = clean(aim), clean(given.text(family, "family"))
        is_named = goal is not None or jitrl.book is not None
        self._info = {"goal": self.goal, "family": self.family} if is_named else {}
        self._agent = jitrl.agent.episode() if jitrl.book is None else jitrl.book.episode()
        task_of = Task(self.task, self.goal, self.scope, self.family)
        self._agent.begin(task_of, key=self.key, rng=np.random.default_rng(seed))
        self._hidden, self._observed = Hidden(jitrl.redaction, [task, aim]), Observed(clean)
        self._steps: list[Transition] = []
        self._rewards: dict[int, float] = {}
        self._arrived: tuple[int, State | None] = 0, None  # steps that the agent was told of
        self._is_torn = self._was_tried = False
        self._started = time.time()
        watch = jitrl.tracing
        self._span = None if watch is None else watch.begin(self.task, self.scope, key)
        self._lived: EpisodeRecord | None = None
        self.receipt: Receipt | None = None

    @property
    def holdout(self) -> bool:
        """Whether this episode acts without memory, so that the gain can be measured."""
        return self._agent.held_out

    def notes(self, state: str | State, candidates: Collection[str] | None = None) -> str:
        """Rules for the prompt of this step, in the language of the goal; "" if none is told.

        Those are said whose condition holds here; whether one is told or held out is settled where
        it first speaks. Ask before the model is asked, and then ``decide`` in the same state.

        Args:
            candidates: Names of all actions that can be taken here, if they are known by now.

        Raises:
            InputError, ConfigError: If a value cannot be used, or the memory has no rules.
        """
        self._running()
        ruled, here = rulebook.asked(self._agent), self._hidden.state(given.state(state))
        names = sorted(given.names(() if candidates is None else candidates, "candidates"))
        known = self._hidden.candidates([Candidate(name, 0.0) for name in names])
        prompt = Prompt(self.goal, here.text, (), tuple(c.action for c in known))
        return self._hidden.said(ruled.advise(here, prompt).notes)

    @property
    def told(self) -> tuple[str, ...]:
        """Ids of the rules in the notes that were asked for last."""
        return self._agent.told if isinstance(self._agent, RulebookEpisode) else ()

    def decide(
        self,
        state: str | State,
        candidates: Candidates,
        *,
        allowed: Collection[str] | Mapping[str, Risk] | None = None,
        scorer: str = "caller",
        seen: str = "",
    ) -> Decision:
        """Choose among ``candidates``; ``.action`` of the result is the choice.

        A call that raises has decided nothing; it may be made again.

        Args:
            state: Where the agent stands: a text, or a ``State``.
            candidates: Action → logit, or ``Candidate``s. Logits are natural-log scores.
            allowed: All actions that can be executed here. Candidates outside are dropped, and
                actions that only the memory knows may join if they are named here. A mapping of
                actions to ``read``, ``write`` or ``irreversible`` says what each may do, too: the
                more that is, the less the memory may say for it.
            scorer: How the logits were made, for the record.
            seen: What the agent saw, for people and judges; 2,000 characters of it are kept.

        Raises:
            InputError: If there is nothing to choose from, or a value cannot be used.
            StoreError: If the memory cannot be read.
        """
        self._running()
        here, scorer = self._hidden.state(given.state(state)), given.text(scorer, "scorer")
        self._observed.note(len(self._steps), seen)
        allowed = None if allowed is None else given.allowed(allowed)
        choice = self._hidden.candidates(given.candidates(candidates, allowed))
        allowed = None if allowed is None else self._hidden.names(allowed)
        with nullcontext() if self._span is None else self._span.decide(here) as decided:
            decision = self._decide(here, choice, allowed, scorer)
            if decided is not None:
                decided(decision)
        return self._hidden.shown(decision)

    def _decide(
        self,
        here: State,
        choice: tuple[Candidate, ...],
        allowed: Collection[str] | None,
        scorer: str,
    ) -> Decision:
        self._look(scorer)
        self._arrive(here)
        proposal = Proposal(choice, scorer, "caller")
        decision = self._agent.act(here, Prompt(self.goal, here.text), proposal, allowed)
        self._steps.append(Transition(here, decision.action, decision))
        return decision

    def took(self, action: str) -> None:
        """The step just decided could not be carried out; ``action`` was done in its place.

        The decision is kept as it fell, but for whether it obeyed rules. What is learned counts for
        what was done.

        Raises:
            InputError: If nothing was decided yet, or the step is over already.
        """
        self._running()
        done = self._hidden.name(given.name(action, "an action"))
        if self._arrived[0] >= len(self._steps):
            raise InputError(f"took({action!r}) came at no time between a decision and the next")
        self._agent.took(done)
        step = self._steps[-1]
        decision = step.decision
        spoken = self._agent.spoken if isinstance(self._agent, RulebookEpisode) else ()
        if decision is not None and not spoken and done != step.action:
            # A process that is gone told them, so nobody can tell whether this is as they say.
            spoken = tuple(one._replace(obeyed=None) for one in decision.notes)
        if decision is not None and spoken:
            decision = replace(decision, notes=spoken)
        self._steps[-1] = replace(step, action=done, decision=decision)

    @property
    def steps(self) -> tuple[Transition, ...]:
        """The steps so far, shape [T]; their rewards and next states are known at the end."""
        return tuple(self._steps)

    def reward(self, value: float) -> None:
        """Reward of the step just decided; several add up.

        Raises:
            InputError: If nothing was decided yet, or the value or the sum cannot be used.
        """
        self._running()
        if not self._steps:
            raise InputError(f"reward({value!r}) came before the first decision")
        number, last = given.number(value, "reward"), len(self._steps) - 1
        self._rewards[last] = given.total(self._rewards.get(last), number, "rewards of this step")

    def finish(
        self,
        outcome: float | bool | None = None,
        *,
        basis: Basis = "test",
        evaluator: str = "outcome",
        told: bool = False,
        principal: str = "",
        status: EpisodeStatus = "terminated",
    ) -> Receipt:
        """The episode is over; it is on disk when this returns.

        Args:
            outcome: Added to the last step's reward: True 1, False 0, a number as it is. ``None``
                if it is not known yet; ``JitRL.outcome`` tells it later.
            basis: What the outcome rests on.
            evaluator: Who said so.
            told: Whether they had seen the gold outcome.
            status: ``truncated`` if it was cut off before its end.

        Raises:
            InputError: If the episode is over already, or a value cannot be used.
            NotAllowed: If the principal may not assert that basis; ``finish`` may be called again.
            StoreError: If it could not be written; ``finish`` may be called again.
            ModelError, BudgetExceeded: If a model that judges could not be asked. The episode is
                stored unscored; ``JitRL.outcome(key, None)`` has it judged again. Or one that
                writes rules could not be: the episode is stored and judged, see ``receipt``.
        """
        self._end(outcome, basis, evaluator, told, principal, status)
        receipt = self._store()
        self._jitrl._tell()
        return receipt

    def _end(
        self,
        outcome: float | bool | None,
        basis: Basis,
        evaluator: str,
        told: bool,
        principal: str,
        status: EpisodeStatus,
    ) -> None:
        """Nothing can be decided any more; nothing is judged, or on disk, yet."""
        self._open()
        who = given.text(principal, "principal") or self._jitrl.settings.principal
        said = given.outcome(outcome, basis, evaluator, told, who)
        check_assertion(self._jitrl.agent, said)
        status = given.status(status)
        if said is not None:
            last = self._rewards.get(len(self._steps) - 1)
            given.total(last, said.value, "the last reward and the outcome")
        if self._lived is None and not self._is_torn:
            self._arrive(None)
        following = [*(s.state for s in self._steps[1:]), None]
        self._lived = EpisodeRecord(
            key=self.key,
            task=self.task,
            scope=self.scope,
            steps=tuple(
                replace(step, reward=self._rewards.get(t), next_state=after)
                for t, (step, after) in enumerate(zip(self._steps, following, strict=False))
            ),
            status=status,
            outcome=said,
            principal=who,
            started=self._started,
            finished=time.time(),
            info=self._info | self._observed.pages(self._steps),
        )

    def _store(self) -> Receipt:
        """Judge what ended, and write it."""
        assert self._lived is not None
        try:
            return (self._learn if self._span is None else self._watched)(self._lived)
        except InputError:  # no fault of the file, so the same again would not help
            self._lived = None
            raise

    def _watched(self, lived: EpisodeRecord) -> Receipt:
        """Learn within a span."""
        assert self._span is not None
        with self._span.learn(lived.status, self.holdout, lived.outcome) as learned:
            receipt = self._learn(lived)
            learned(receipt)
        self._span.over()
        return receipt

    def _learn(self, lived: EpisodeRecord) -> Receipt:
        self._jitrl._remember()
        # What its agent noted of the steps lacks one if it was interrupted while doing so.
        learner = self._jitrl.agent if self._is_torn else self._agent
        ruled = learner if isinstance(learner, RulebookEpisode) else None
        lived = replace(lived, holdout=self.holdout)
        was_tried, self._was_tried = self._was_tried, True
        try:
            self.receipt = receipt = ruled.commit(lived) if ruled else learner.learn(lived)
        except (ModelError, BudgetExceeded) as error:
            judgment = Unscored("the judge could not be asked", self._jitrl.agent.evaluator.name)
            self.receipt = self._jitrl.store.commit(lived, judgment, ())
            error.add_note(
                f"episode {self.key!r} is stored unscored; outcome({self.key!r}, None) has it "
                "judged again"
            )
            raise
        if receipt.duplicate and not was_tried:  # else an interrupt came after it was stored
            self._jitrl._repeated(self.key)
        if ruled is not None:
            self._jitrl.teaching(self.key, ruled.teach)
        return receipt

    def _look(self, scorer: str) -> None:
        """Read the memory before a step is taken, so that what fails here has changed nothing."""
        view = self._agent.view
        view.scored_by(scorer)
        if not (self.holdout or self._jitrl.agent.mode == "off"):
            view.refresh()

    def _arrive(self, state: State | None) -> None:
        """Tell the agent what the last step led to, and brought; once for each step."""
        taken = len(self._steps)
        if self._is_torn or (
            self._arrived[0] == taken > 0 and state not in (None, self._arrived[1])
        ):
            raise InputError(
                f"episode {self.key!r} was interrupted on its way from step {taken - 1} to another "
                "state; decide there, or finish it"
            )
        if self._arrived[0] < taken:
            self._is_torn = True
            self._agent.observe(self._rewards.get(taken - 1), state)
            self._arrived = taken, state
            self._is_torn = False

    def _open(self) -> None:
        if self.receipt is not None:
            raise InputError(f"episode {self.key!r} is over; start another one")

    def _running(self) -> None:
        self._open()
        if self._lived is not None:
            raise InputError(f"episode {self.key!r} ended but is not stored; call finish() again")

    def __enter__(self) -> Episode:
        if self._span is not None:
            self._span.enter()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        try:
            if self._lived is None:
                self.finish(status="truncated" if error is None else "aborted")
            elif self.receipt is None and error is not None and not isinstance(error, JitRLError):
                with suppress(JitRLError):  # else it could not be stored, and said so
                    self._learn(self._lived)
        finally:
            if self._span is not None:
                self._span.leave(error)
