"""An episode as a service has it: steps without the memory, asked again, and after a restart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from jitrl import given
from jitrl.agents.rulebook.episode import RulebookEpisode
from jitrl.episode import Episode
from jitrl.errors import InputError, StoreError
from jitrl.given import Candidates
from jitrl.ports import Receipt
from jitrl.types import (
    DEGRADED,
    Candidate,
    Decision,
    EpisodeStatus,
    Outcome,
    Proposal,
    State,
    Transition,
)


class ServedEpisode(Episode):
    """An episode whose caller is elsewhere.

    It is a subclass because it writes down steps that the library's own callers never have.
    """

    @property
    def is_over(self) -> bool:
        """Whether its end was told, though it may not be stored yet."""
        return self._lived is not None

    @property
    def has_rules(self) -> bool:
        """Whether the memory has a rulebook, so that ``notes`` may be asked for."""
        return self._jitrl.book is not None

    @property
    def has_spoken(self) -> bool:
        """Whether the condition of a rule held at a step so far, be it told or held out."""
        ruled = self._agent
        return isinstance(ruled, RulebookEpisode) and ruled._begun().has_spoken

    def unheard(self) -> None:
        """The notes just made did not arrive, so they were not told."""
        if isinstance(self._agent, RulebookEpisode):
            self._agent.take_back()

    def unaided(
        self,
        state: str | State,
        candidates: Candidates,
        action: str,
        *,
        scorer: str = "caller",
        reason: str = DEGRADED,
        instead: bool = False,
    ) -> Decision:
        """Write down a step that was taken without the memory, because it could not be asked.

        Args:
            action: What was taken; one of the candidates.
            reason: Why the memory was not asked.
            instead: It takes the place of the step just decided, whose answer came too late.

        Raises:
            InputError: If a value cannot be used; nothing is written down.
        """
        self._running()
        here, scorer = self._hidden.state(given.state(state)), given.text(scorer, "scorer")
        plain = given.candidates(candidates, None)
        if action not in {c.action for c in plain}:
            raise InputError(f"action {action!r} is none of the candidates")
        choice, action = self._hidden.candidates(plain), self._hidden.name(action)
        if instead:
            self._steps.pop()
        self._arrive(here)
        proposal = Proposal(choice, scorer, "caller")
        decision = self._agent.unasked(here, proposal, action, reason)
        self._steps.append(Transition(here, action, decision))
        return self._hidden.shown(decision)

    def answered(
        self, number: int, state: State, candidates: Sequence[Candidate]
    ) -> Decision | None:
        """The decision of an earlier step as it was answered.

        Args:
            number: Of the step, from 0.

        Returns:
            ``None`` if it was made in another state or among other candidates.
        """
        here, choice = self._hidden.state(state), self._hidden.candidates(candidates)
        step = self._steps[number]
        made = step.decision
        if step.state != here or made is None:
            return None
        asked = [(c.action, c.logit) for c in made.candidates if c.source != "memory"]
        if asked != [(c.action, c.logit) for c in choice]:
            return None
        return self._hidden.shown(made)

    def retrace(self, state: State, decision: Decision, action: str) -> None:
        """Take a step that was decided before, by a process that is gone.

        Raises:
            InputError: If the episode is over.
        """
        self._running()
        self._arrive(state)
        self._agent.retrace(state, decision)
        if action != decision.action:
            self._agent.took(action)
        self._steps.append(Transition(state, action, decision))

    @contextmanager
    def kept(self) -> Iterator[None]:
        """What the block says of the last step counts for nothing if it cannot be kept.

        Raises:
            StoreError: If the block does.
        """
        rewards, before = dict(self._rewards), self._steps[-1:]
        try:
            yield
        except StoreError:
            self._rewards = rewards
            if before:
                self._agent.took(before[0].action)
                self._steps[-1:] = before
            raise

    def saw(self, number: int, seen: str) -> str:
        """What the agent saw at a step, for people and judges; returns what is kept of it."""
        return self._observed.note(number, seen)

    def end(self, outcome: Outcome | None, status: EpisodeStatus, principal: str) -> None:
        """Decide no more, and know how it ended; ``store`` writes it.

        Raises:
            InputError, NotAllowed: As ``finish``; it goes on then.
        """
        of = Outcome(0.0) if outcome is None else outcome
        value = None if outcome is None else of.value
        self._end(value, of.basis, of.evaluator, of.told, of.principal or principal, status)

    def store(self) -> Receipt:
        """Judge what ended, which may take long, and write it. Errors as ``finish``."""
        receipt = self._store()
        self._jitrl._tell()
        return receipt

    def hush(self) -> None:
        """Tell it no rule from now on, and log none: what it was told before is not known."""
        if isinstance(self._agent, RulebookEpisode):
            self._agent.hush()
