"""Episodes of one memory, as callers start, decide, reward and end them."""

from __future__ import annotations

import time
from collections.abc import Collection
from functools import partial

from jitrl import given
from jitrl.errors import InputError
from jitrl.given import Candidates
from jitrl.ports import Receipt
from jitrl.service import ahead
from jitrl.service.calls import Answer, Call, Noted
from jitrl.service.errors import Conflict, NotAllowed, Unknown, ended
from jitrl.service.ids import LONGEST
from jitrl.service.roster import Roster
from jitrl.service.running import SELF, Running, check_own
from jitrl.service.seats import Seat
from jitrl.stores.lookup import Lookup
from jitrl.types import Basis, Decision, EpisodeStatus, State


class Episodes:
    """The episodes of a memory, for callers in threads.

    Args:
        lookup: Finds those that are stored.
        roster: Those that run.
    """

    def __init__(self, lookup: Lookup, roster: Roster) -> None:
        self._memory, self._limits = roster.memory, roster.limits
        self._lookup, self._roster, self._lane = lookup, roster, roster.lane
        self._clean = self._memory.redaction.text

    def start(
        self,
        task: str,
        *,
        scope: str = "",
        key: str | None = None,
        principal: str = "",
        goal: str | None = None,
        family: str = "",
    ) -> Seat:
        """Start an episode, or find the one that was started under this key.

        Args:
            goal: The task in words; the same as ``task`` if ``None``.
            family: Type of task.

        Raises:
            InputError: If one of the texts cannot be used.
            Conflict: If the key was given to another task or scope.
            Full: If too many episodes run.
            StoreError: If the file cannot be read.
        """
        given.name(task, "task")
        given.text(scope, "scope")
        principal = given.text(principal, "principal")
        if key is not None and len(given.name(key, "key")) > LONGEST:
            raise InputError(f"key has {len(key)} characters; at most {LONGEST}")
        task, scope = self._clean(task), self._clean(scope)
        goal = None if goal is None else self._clean(given.name(goal, "goal"))
        family = self._clean(given.text(family, "family"))
        key = None if key is None else self._clean(key)
        if key is not None and (known := self._known(key)) is not None:
            return known.checked(task, scope)
        return self._roster.begin(task, scope, key, principal, goal, family)

    def find(self, key: str) -> Seat:
        """The episode of a key, running or stored.

        Raises:
            Unknown: If there is none.
        """
        found = self._known(key)
        if found is None:
            raise Unknown(f"there is no episode {key!r}; it may have been lost with a process")
        return found

    def notes(
        self,
        key: str,
        state: str | State,
        actions: Collection[str] = (),
        *,
        step: int | None = None,
    ) -> Noted:
        """The rules told in ``state``, for the prompt of the step to come.

        Args:
            actions: Names of all that can be done there, if they are known by now.
            step: Number of the step to come, to make sure that both sides mean the same.

        Raises:
            InputError: If a value cannot be used.
            Unknown, Conflict: As ``decide``.
        """
        running = self._must_run(key)
        here, names = given.state(state), given.names(actions, "actions")
        with running.lock:
            running.drain()
            return running.noted(here, names, step)

    def ask(
        self,
        key: str,
        state: str | State,
        candidates: Candidates,
        *,
        allowed: Collection[str] | None = None,
        step: int | None = None,
        scorer: str = "caller",
        notes: bool = False,
        seen: str = "",
    ) -> Call:
        """Begin a decision; ``result`` of the call waits for it. See ``decide``.

        Args:
            notes: Whether the answer says the rules told there, too.
            seen: What the agent sees there, for people and judges.
        """
        running = self._must_run(key)
        call = Call(
            state,
            candidates,
            allowed=allowed,
            step=step,
            scorer=scorer,
            notes=notes,
            seen=seen,
        )
        running.put(call)
        self._lane.submit(partial(ahead.work, self._memory.agent, running), running.episode.scope)
        return call

    def decide(
        self,
        key: str,
        state: str | State,
        candidates: Candidates,
        *,
        allowed: Collection[str] | None = None,
        step: int | None = None,
        scorer: str = "caller",
    ) -> Answer:
        """The choice at the next step; the model's own where the memory fails, or is late.

        Args:
            step: Number of the step; a call that is made again for a step that was taken is
                answered as before. ``None``: the next one, whatever its number.
            scorer: How the logits were made, for the record.

        Raises:
            InputError: If a value cannot be used.
            Unknown: If there is no such episode.
            Conflict: If it is over, or the step does not fit.
        """
        call = self.ask(key, state, candidates, allowed=allowed, step=step, scorer=scorer)
        return call.result(self._limits.deadline)

    def reward(
        self,
        key: str,
        value: float,
        *,
        step: int | None = None,
        is_trusted: bool = False,
        once: str = "",
    ) -> Seat:
        """Reward the step just decided.

        What is not trusted is no reward of the step: such values are added up, and are the
        episode's outcome on the agent's own word, with what it says at the end.

        Args:
            step: Number of the step just decided, to make sure that both sides mean the same.
            once: Idempotency key: the same reward with the same key is counted once.

        Raises:
            InputError: If the value cannot be used, or nothing was decided yet.
            Reused: If another reward came with that key.
            Unknown, Conflict: As ``decide``.
        """
        running = self._must_run(key)
        value = given.number(value, "reward")
        with running.lock:
            running.drain()
            running.reward(value, is_trusted, step, once)
        return running.seat()

    def took(self, key: str, action: str, *, step: int | None = None) -> Seat:
        """``action`` was done in place of what was decided last; it is what is learned from.

        Args:
            step: Number of the step just decided, to make sure that both sides mean the same.

        Raises:
            InputError: If it cannot be used.
            Unknown, Conflict: As ``decide``.
        """
        running = self._must_run(key)
        with running.lock:
            running.drain()
            running.took(action, step)
        return running.seat()

    def close(self, key: str, *, status: EpisodeStatus = "terminated") -> Receipt:
        """The episode is over; it is on disk when this returns. Its outcome may come later.

        Closing it again changes nothing (``duplicate``).

        Raises:
            Unknown: If there is no such episode.
            Conflict: If another caller ended it just now, and it is being judged.
            StoreError: If it could not be written; it goes on running.
            ModelError, BudgetExceeded: If a model that judges could not be asked; the episode is
                stored unscored.
        """
        status = given.status(status)
        running = self._roster.get(self._clean(key))
        if running is None:
            self.find(key)
            return Receipt(key, self._lookup.head(), 0, duplicate=True)
        return self._roster.finish(running, None, status)

    def outcome(
        self,
        key: str,
        value: float | bool | None,
        *,
        basis: Basis = SELF,
        evaluator: str = "outcome",
        told: bool = False,
        principal: str = "",
        is_trusted: bool = False,
        status: EpisodeStatus = "terminated",
    ) -> Receipt:
        """Tell, correct or (``None``) withdraw the outcome of an episode; one that runs is closed.

        What an agent says of itself is added to its rewards on its own word.

        Args:
            status: How an episode ended that runs.
            is_trusted: Whether the caller may say more than what an agent says of itself, and
                correct or withdraw what others said.

        Raises:
            NotAllowed: If the basis, or what was said before, is not the caller's to assert.
            InputError: If a value cannot be used.
            Conflict: If there is nothing to withdraw, as the episode runs; or as ``close``.
            Unknown, StoreError, ModelError, BudgetExceeded: As ``close``.
        """
        said = given.outcome(value, basis, evaluator, told, principal)
        if not is_trusted and basis != SELF:
            raise NotAllowed(f"this caller may report {SELF!r} only, not {basis!r}")
        running = self._roster.get(self._clean(key))
        if running is not None:
            if said is None:
                raise Conflict(f"episode {key!r} runs, so there is no outcome to withdraw")
            return self._roster.finish(running, said, given.status(status), is_trusted)
        self.find(key)
        if not is_trusted:
            check_own(self._memory.store.episode(key), principal)
        with self._lane.hold():
            return self._memory.outcome(
                key, value, basis=basis, evaluator=evaluator, told=told, principal=principal
            )

    def step(self, key: str, step: int) -> tuple[State, str, Decision] | None:
        """Where a running episode stood, what it did and why; ``None`` where that is not known."""
        running = self._roster.get(self._clean(key))
        steps = () if running is None else running.episode.steps
        if step >= len(steps) or (made := steps[step].decision) is None:
            return None
        return steps[step].state, steps[step].action, made

    def _known(self, key: str) -> Seat | None:
        if (running := self._roster.get(self._clean(key))) is not None:
            return running.seat()
        stored = self._lookup.episode(self._clean(key))
        return None if stored is None else Seat.of(key, stored)

    def _must_run(self, key: str) -> Running:
        running = self._roster.get(self._clean(key))
        if running is None:
            self.find(key)
            raise ended(key)
        running.touched = time.monotonic()
        return running
