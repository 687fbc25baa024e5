"""A call to decide, and what it is answered with: in time, whatever the memory does."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass

from jitrl import given
from jitrl.errors import InputError, JitRLError
from jitrl.given import Candidates
from jitrl.service.lived import ServedEpisode
from jitrl.types import Decision, State

_log = logging.getLogger(__name__)

LONGEST_SEEN = 500_000
"""Characters of what an agent saw that are taken; fewer are kept."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a caller is told to do.

    Attributes:
        step: Number of the step in its episode, from 0.
        action: What to do.
        degraded: Why the memory was not heard (``deadline``, ``error``); "" if it was.
        decision: All numbers of the choice; ``None`` where it is degraded.
        notes: The rules told at this step, for a prompt; "" if there are none.
    """

    step: int
    action: str
    degraded: str = ""
    decision: Decision | None = None
    notes: str = ""


@dataclass(frozen=True, slots=True)
class Noted:
    """What a prompt is to say at a step.

    Attributes:
        step: Its number in its episode, from 0.
        notes: The rules told at this step, in sentences; "" if there are none.
        rules: Their ids.
        degraded: ``error`` where they could not be found out; else "".
    """

    step: int
    notes: str = ""
    rules: tuple[str, ...] = ()
    degraded: str = ""


class Call:
    """One ``decide`` on its way: checked, queued, answered once.

    Args:
        step: Which step the caller takes it for; ``None`` for the next one.
        allowed: Actions that may be taken; ``None``: the candidates alone.
        notes: Whether the answer is to say the rules told at this step.
        seen: What the agent sees there, for people and judges.

    Attributes:
        number: Of the step, given when it is queued.

    Raises:
        InputError: If a value cannot be used.
    """

    def __init__(
        self,
        state: str | State,
        candidates: Candidates,
        *,
        allowed: Collection[str] | None = None,
        step: int | None = None,
        scorer: str = "caller",
        notes: bool = False,
        seen: str = "",
    ) -> None:
        self.notes, self.seen = notes, given.text(seen, "seen", LONGEST_SEEN)
        self.state, self.scorer = given.state(state), given.text(scorer, "scorer")
        self.allowed = None if allowed is None else given.allowed(allowed)
        self.candidates = given.candidates(candidates, self.allowed)
        self.step, self.number = checked_step(step), 0
        self.future: Future[Answer] = Future()
        self._mark, self._is_over = threading.Lock(), False

    @property
    def own(self) -> str:
        """The model's own choice: the first of those with the highest logit."""
        return max(self.candidates, key=lambda c: c.logit).action

    def result(self, timeout: float | None) -> Answer:
        """The answer, at the latest after ``timeout`` seconds.

        Raises:
            Conflict: If the call does not fit its episode.
        """
        with suppress(TimeoutError):
            return self.future.result(timeout)
        return self.give_up()

    def give_up(self) -> Answer:
        """The model's own choice, unless there is an answer by now; what comes later is dropped.

        Raises:
            Conflict: As ``result``.
        """
        self.answer(Answer(self.number, self.own, "deadline"))
        return self.future.result()

    def answer(self, answer: Answer) -> bool:
        """Give the answer; False if another one was given before."""
        with self._mark:
            if self._is_over:
                return False
            self._is_over = True
        self.future.set_result(answer)
        return True

    def refuse(self, error: JitRLError) -> None:
        """There is no answer: the call does not fit."""
        with self._mark:
            if self._is_over:
                return
            self._is_over = True
        self.future.set_exception(error)

    def run(self, episode: ServedEpisode, keep: Callable[[int], None], notes: str = "") -> None:
        """Decide, and write the step down as it is answered, before it is.

        Args:
            keep: Keeps the step of a number.
            notes: The rules that the answer says.

        Raises:
            JitRLError: If the step could not be written down; the call is answered.
        """
        step = len(episode.steps)
        if not self._is_over:
            decision = self._decided(episode)
            if decision is not None:
                keep(step)
                answer = Answer(step, decision.action, decision=decision, notes=notes)
                if self.answer(answer):
                    return
        written = len(episode.steps) > step
        try:
            episode.unaided(
                self.state, self.candidates, self.own, scorer=self.scorer, instead=written
            )
            keep(step)
        finally:
            self.answer(Answer(step, self.own, "error"))

    def _decided(self, episode: ServedEpisode) -> Decision | None:
        """The decision; ``None`` where something failed, which is logged."""
        try:
            return episode.decide(
                self.state, self.candidates, allowed=self.allowed, scorer=self.scorer
            )
        except Exception:  # noqa: BLE001 - whatever it is, the agent goes on
            _log.exception("decide failed key=%s", episode.key)
            return None


def checked_step(step: int | None) -> int | None:
    """``step``, if it can be the number of one.

    Raises:
        InputError: If it is negative.
    """
    if step is not None and step < 0:
        raise InputError(f"step is {step}; steps are counted from 0")
    return step
