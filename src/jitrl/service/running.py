"""A running episode: its calls in the order they came, and an answer for each in time.

A call that fails, or is not answered by its deadline, is answered with the model's own choice; the
step is written down as it was answered, whatever the memory says later.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from jitrl import given
from jitrl.errors import JitRLError
from jitrl.ports import Receipt
from jitrl.service.calls import Answer, Call, Noted
from jitrl.service.errors import Conflict, NotAllowed, Reused, ended
from jitrl.service.lived import ServedEpisode
from jitrl.service.seats import Seat
from jitrl.stores.running import Kept, RunningJournal
from jitrl.types import DEGRADED, Basis, Episode, EpisodeStatus, Outcome, State

_log = logging.getLogger(__name__)

_PATIENCE = 1.0  # seconds that an end waits for another one of the same episode

SELF: Basis = "agent_self_report"
"""The basis of all that an agent says of itself."""


class Running:
    """One episode that is not over. Safe for threads.

    Attributes:
        principal: Who started it.
        touched: When somebody last asked, seconds of the monotonic clock.
    """

    def __init__(
        self, episode: ServedEpisode, principal: str, journal: RunningJournal | None = None
    ) -> None:
        self.episode, self.principal, self._journal = episode, principal, journal
        self.touched = time.monotonic()
        self.lock, self._ending = threading.Lock(), threading.Lock()
        self.said = 0.0  # sum of rewards that count as the agent's own report
        self.is_said = self.is_rewarded = False
        self._queue: deque[Call] = deque()
        self._next, self._mark = len(episode.steps), threading.Lock()
        self._is_lossy = self._is_resumed = self._is_noted = False
        self._notes: dict[int, str] = {}  # step → rules as they were told
        self._once: dict[str, tuple[int | None, float]] = {}  # idempotency key → reward

    def resume(self, kept: Kept) -> None:
        """Go on where a process that is gone was; if rules spoke in it, none does any more.

        What was drawn for them is not known, and is not drawn again: once told, always told, and
        held out likewise.
        """
        if kept.is_noted:
            self.episode.hush()
        for number, step in enumerate(kept.steps):
            self.episode.retrace(step.state, step.decision, step.action)
            for value in (v for n, v in kept.rewards if n == number):
                self.episode.reward(value)
            self.episode.saw(number, kept.seen.get(number, ""))
        self.is_rewarded, self.is_said = bool(kept.rewards), bool(kept.said)
        self.said, self._next, self._once = sum(kept.said), len(kept.steps), kept.once
        self._is_lossy, self._is_resumed, self._is_noted = kept.is_torn, True, kept.is_noted

    def seat(self, *, is_new: bool = False) -> Seat:
        """The episode, as whoever starts it is told."""
        of = self.episode
        about = of.key, of.task, of.scope, "running", of.holdout, len(of.steps)
        return Seat(*about, self.principal, is_new, self.said)  # type: ignore[arg-type]

    @property
    def is_ending(self) -> bool:
        """Whether it is being judged and stored."""
        return self._ending.locked()

    def is_settled(self, seconds: float) -> bool:
        """Whether nobody judges it any more, at the latest after so many seconds."""
        if not self._ending.acquire(timeout=seconds):
            return False
        self._ending.release()
        return True

    @property
    def is_lossy(self) -> bool:
        """Whether a step could not be written down, so that nothing can be learned of it."""
        return self._is_lossy

    def noted(self, state: State, actions: Collection[str], step: int | None) -> Noted:
        """The rules told at the step to come; the lock must be held.

        Raises:
            Conflict: If the episode is over, or the step is not the one to come.
        """
        key, taken = self.episode.key, len(self.episode.steps)
        if self.episode.is_over:
            raise ended(key)
        if step is not None and step != taken:
            raise Conflict(f"step {step} of {key!r} is not the next one, {taken}")
        notes = self._rules(state, actions)
        if notes is None:
            return Noted(taken, degraded="error")
        return Noted(taken, notes, self.episode.told if notes else ())

    def _rules(self, state: State, actions: Collection[str]) -> str | None:
        """The rules told here; ``None`` where something failed, which is logged."""
        try:
            notes = self.episode.notes(state, actions) if self.episode.has_rules else ""
        except Exception:  # noqa: BLE001 - whatever it is, the agent goes on
            _log.exception("notes failed key=%s", self.episode.key)
            return None
        if self.episode.has_spoken and not self._is_noted:  # of those held out, too
            self._is_noted = True
            if self._journal is not None:
                self._journal.noted(self.episode.key)
        self._notes[len(self.episode.steps)] = notes
        return notes

    def put(self, call: Call) -> None:
        """Queue a call; ``work`` is to be called once for each."""
        with self._mark:
            call.number = self._next if call.step is None else call.step
            self._next += call.number == self._next
            self._queue.append(call)

    def work(self, before: Iterable[Callable[[], None]] = ()) -> None:
        """Run the oldest call that waits; another thread may have done so.

        Args:
            before: What is to be done ahead of it; it is run even if that fails.
        """
        try:
            for ahead in before:
                ahead()
        finally:
            with self.lock:
                if self._queue:
                    self._run(self._queue.popleft())

    def drain(self) -> None:
        """Run all that wait; the lock must be held."""
        while self._queue:
            self._run(self._queue.popleft())

    def _run(self, call: Call) -> None:
        taken = self.episode.steps
        if self.episode.is_over:
            call.refuse(ended(self.episode.key))
            return
        if call.step is not None and call.step != len(taken):
            self._again(call, len(taken))
            return
        notes = None
        if call.notes:
            actions = call.allowed or [c.action for c in call.candidates]
            notes = self._rules(call.state, actions)
        try:
            call.run(self.episode, self._keep, notes or "")
        except JitRLError:
            self._lose()
            _log.exception("step lost key=%s step=%d", self.episode.key, len(taken))
        self._note_seen(len(taken), call.seen)
        is_heard = call.future.done() and call.future.result().decision is not None
        if not is_heard:  # its answer says no rules
            self._notes.pop(len(taken), None)
            if notes is not None:
                self.episode.unheard()

    def _note_seen(self, number: int, seen: str) -> None:
        """Keep what was seen at a step that was taken; it is answered by now, so nobody waits."""
        if seen and len(self.episode.steps) > number:
            kept = self.episode.saw(number, seen)
            if self._journal is not None:
                self._journal.seen(self.episode.key, number, kept)

    def _lose(self) -> None:
        """A step is missing from now on, for later processes, too."""
        if self._journal is not None and not self._is_lossy:
            self._journal.lost(self.episode.key)
        self._is_lossy = True

    def _keep(self, number: int, *, must: bool = False) -> None:
        if self._journal is not None:
            key, step = self.episode.key, self.episode.steps[number]
            if step.decision is not None:
                about = number, step.state, step.action, step.decision
                self._journal.step(key, *about, must=must)

    def catch_up(self) -> None:
        """Write down what could not be when it happened, as the disk was full."""
        if self._journal is not None and self._journal.owes(self.episode.key):
            with self.lock:
                self._journal.catch_up(self.episode.key)

    def took(self, action: str, step: int | None = None) -> None:
        """Something else was done than was decided last; the lock must be held.

        Raises:
            InputError: If it cannot be used.
            Conflict: If nothing was decided yet, or ``step`` is not the last one.
            StoreError: If it cannot be kept; then nothing changed.
        """
        self._check_last(step, f"took({action!r})")
        with self.episode.kept():
            self.episode.took(action)
            self._keep(len(self.episode.steps) - 1, must=True)

    def _check_last(self, step: int | None, what: str) -> None:
        """Refuse what is said of another step than the last.

        Raises:
            Conflict: If nothing was decided yet, or ``step`` is another one.
        """
        key, taken = self.episode.key, len(self.episode.steps)
        if self.episode.is_over:
            raise ended(key)
        if taken == 0:
            raise Conflict(f"{what} came before the first decision of {key!r}")
        if step is not None and step != taken - 1:
            raise Conflict(f"step {step} of {key!r} is not the last one, {taken - 1}")

    def summed(self, outcome: Outcome | None) -> Outcome:
        """The outcome, with what the agent said of itself before if it is its own, too.

        Raises:
            InputError: If the sum is too large.
        """
        if outcome is None:
            return Outcome(self.said, SELF, principal=self.principal)
        if outcome.basis != SELF:
            return outcome
        value = given.total(self.said, outcome.value, "rewards and outcome of this episode")
        return replace(outcome, value=value)

    def finish(self, outcome: Outcome | None, status: EpisodeStatus, is_trusted: bool) -> Receipt:
        """Judge and store the episode; what is stored already stays.

        While it is judged, nobody waits for the lock.

        Raises:
            NotAllowed: If somebody trusted rewarded its steps, and the caller is not.
            Conflict: If another caller ended it just now, and it is being judged.
            InputError, StoreError, ModelError, BudgetExceeded: As ``Episode.finish``.
        """
        if not self._ending.acquire(timeout=_PATIENCE):
            raise Conflict(f"the end of {self.episode.key!r} is being judged; wait for it")
        try:
            if (before := self._end(outcome, status, is_trusted)) is not None:
                return before
            return self.episode.store()
        finally:
            self._ending.release()

    def _end(
        self, outcome: Outcome | None, status: EpisodeStatus, is_trusted: bool
    ) -> Receipt | None:
        """Decide no more; returns the receipt if it was stored before."""
        with self.lock:
            self.drain()
            episode = self.episode
            if self.is_rewarded and outcome is not None and not is_trusted:
                raise NotAllowed(
                    f"the steps of {episode.key!r} were rewarded by somebody trusted; this caller "
                    "may not report over them"
                )
            if episode.receipt is not None:
                return Receipt(episode.key, episode.receipt.version, 0, duplicate=True)
            if self.is_lossy:
                status, outcome = "aborted", None
            elif self.is_said and not self.is_rewarded:
                outcome = self.summed(outcome)
            episode.end(outcome, status, self.principal)
            return None

    def reward(
        self, value: float, is_trusted: bool, step: int | None = None, once: str = ""
    ) -> None:
        """Reward the last step, or add to what the agent says of itself; the lock must be held.

        Done once for each idempotency key ``once``, as long as the episode runs.

        Raises:
            InputError: If the sum is too large.
            Reused: If something else was said under that key.
            Conflict, StoreError: As ``took``.
        """
        if once in self._once:
            if self._once[once] != (step, value):
                raise Reused(once)
            return
        self._check_last(step, f"reward({value!r})")
        key, last = self.episode.key, len(self.episode.steps) - 1
        if is_trusted:
            with self.episode.kept():
                self.episode.reward(value)
                if self._journal is not None:
                    self._journal.reward(key, last, value, once, step)
            self.is_rewarded = True
        else:
            said = given.total(self.said, value, "rewards of this episode")
            if self._journal is not None:
                self._journal.said(key, value, once, step)
            self.said, self.is_said = said, True
        if once:
            self._once[once] = step, value

    def _again(self, call: Call, taken: int) -> None:
        """Answer a call for a step that was taken if it asks the same, else refuse it."""
        number, key = call.step or 0, self.episode.key
        if number > taken and (self._is_lossy or self._is_resumed):
            self._lose()  # a power cut took the last steps
            call.give_up()
            return
        if number > taken:
            call.refuse(
                Conflict(f"step {number} of {key!r} comes after step {taken}, not yet taken")
            )
            return
        decision = self.episode.answered(number, call.state, call.candidates)
        if decision is None:
            call.refuse(
                Conflict(f"step {number} of {key!r} was decided in another state or among others")
            )
            return
        degraded = decision.reason if decision.reason == DEGRADED else ""
        notes = self._notes.get(number, "") if call.notes and not degraded else ""
        call.answer(Answer(number, decision.action, degraded, decision, notes))


def check_own(before: Episode, principal: str) -> None:
    """Refuse that one who is not trusted overwrites what somebody else said of an episode.

    Raises:
        NotAllowed: If it was somebody else.
    """
    now = before.outcome
    rewarded = any(step.reward is not None for step in before.steps)
    if rewarded or (now is not None and (now.basis, now.principal) != (SELF, principal)):
        raise NotAllowed(
            f"the outcome of {before.key!r} was told by somebody else; this caller may "
            "correct its own reports only"
        )
