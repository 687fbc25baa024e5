"""A desk: one memory, served to callers elsewhere. It knows no transport and no keys.

The HTTP service and the MCP server decide at it. An episode runs in ``desk.episodes``, from
``start`` to ``close`` or its outcome; from then on the memory file has it. The proxy has the
library's own episodes, as the adapters of frameworks have: what a turn needs of the turns before it
(what was shown, called and said) is known to the guide alone, and ends with its process anyway.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack, closing
from functools import partial
from typing import Literal, cast

import msgspec

from jitrl import given
from jitrl.analysis.notes import Heard, heard
from jitrl.analysis.rulebook import Shown, shown
from jitrl.api import JitRL
from jitrl.config import Memory, Settings
from jitrl.errors import InputError
from jitrl.ports import DecisionRecord, Receipt
from jitrl.ports.rules import RuleStore
from jitrl.service.episodes import Episodes
from jitrl.service.errors import Conflict, Unknown
from jitrl.service.lane import Lane
from jitrl.service.once import Once, Said
from jitrl.service.roster import Roster
from jitrl.service.running import SELF
from jitrl.service.seats import Limits
from jitrl.stores.lookup import Lookup
from jitrl.stores.records import decision_id
from jitrl.stores.running import RunningJournal, folder_beside
from jitrl.stores.said import file_beside
from jitrl.types import Basis, EpisodeStatus, Row, RowStatus, Rule, RuleStatus

_PATIENCE = 5.0  # seconds that the end waits for rules being written; else they stay owed


class Desk:
    """One memory file, for any number of callers in threads.

    Args:
        path: The memory file; made if it does not exist.
        settings: Of the memory; the defaults if ``None``.
        memory: Name of the memory in the file.
        model: Where a model judges: settings that name it, and its budget.
        is_kept: Whether running episodes go on after a restart; one process at a time may do so.

    Raises:
        ConfigError: If a setting has an impossible value.
        StoreError: If the file cannot be used.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        settings: Memory | None = None,
        *,
        memory: str = "default",
        model: Settings | None = None,
        limits: Limits | None = None,
        is_kept: bool = False,
    ) -> None:
        self.limits = limits or Limits()
        if os.fspath(path) == ":memory:":
            raise InputError("a desk keeps its memory in a file; ':memory:' is none")
        with ExitStack() as undo:
            self.memory = undo.enter_context(JitRL(path, settings, memory=memory, model=model))
            self.lookup = undo.enter_context(closing(Lookup(path, memory=memory)))
            self.once = undo.enter_context(closing(Once(file_beside(path))))
            journal = None
            if is_kept:
                journal = undo.enter_context(closing(RunningJournal(folder_beside(path))))
            self.roster = Roster(self.memory, self.limits, journal)
            self.episodes = Episodes(self.lookup, self.roster)
            self._teacher = Lane("jitrl-teach", 1)
            undo.callback(self._teacher.close, _PATIENCE)
            self.memory.teaching = self._teach
            if (book := self.memory.book) is not None:  # what was owed is learned meanwhile
                book.waits = False
                self._teach("", book.resume)
            self.roster.resume(self.lookup)
            self._opened = undo.pop_all()

    def _teach(self, key: str, teach: Callable[[], None]) -> None:
        """Have rules made of a stored episode; who asks for decisions does not wait for it."""
        self._teacher.submit(teach)

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
        once: str = "",
    ) -> Receipt:
        """As ``episodes.outcome``, and done once for each idempotency key ``once``.

        Raises:
            Reused: If something else was said under that key.
        """
        tell = partial(
            self.episodes.outcome,
            key,
            value=value,
            basis=basis,
            evaluator=evaluator,
            told=told,
            principal=principal,
            is_trusted=is_trusted,
            status=status,
        )
        if not once:
            return tell()
        what = msgspec.json.encode((key, value, basis, evaluator, told, principal))
        with self.once.saying(once, what) as said:
            if said.receipt is None:
                said.receipt = self._told(key, value, basis, tell, said)
            return said.receipt

    def _told(
        self,
        key: str,
        value: float | bool | None,
        basis: Basis,
        tell: Callable[..., Receipt],
        said: Said,
    ) -> Receipt:
        """Tell an outcome under an idempotency key.

        What an agent says at the end is added to what it said before, which only a running episode
        knows: where an earlier try was stored but not answered, it would pass for a correction.
        """
        if basis != SELF or value is None:
            return tell()
        seat = self.episodes.find(key)
        if seat.status == "running":
            said.bring(seat.said)
            return tell()
        return tell(value=given.total(said.brought, value, "rewards and outcome"))

    # --- looking -------------------------------------------------------------------------------

    def decision(self, key: str, step: int) -> DecisionRecord:
        """A decision with all its numbers, of a running episode, too.

        Raises:
            Unknown: If there is none.
        """
        seat, id = self.episodes.find(key), decision_id(key, step)
        if step >= seat.steps:
            raise Unknown(f"episode {key!r} has no decision {step}; it has {seat.steps}")
        taken = self.episodes.step(key, step)
        if taken is not None:
            state, action, made = taken
            return DecisionRecord(id, key, step, seat.task, seat.scope, state, action, made)
        found: DecisionRecord = self.memory.store.decision(id)
        return found

    def heard(self, of: DecisionRecord) -> tuple[Heard, ...]:
        """The rules that spoke at a decision."""
        return heard(self.memory.store, of, self._success)

    @property
    def _success(self) -> float:
        """Least score of an episode that counts as a win of its rules."""
        book = self.memory.book
        return 1.0 if book is None else book.telling.success

    def rows(
        self,
        *,
        before: int | None = None,
        limit: int = 100,
        scope: str | None = None,
        status: RowStatus | None = None,
        episode: str | None = None,
    ) -> list[Row]:
        """Rows of the memory, the newest first; see ``Lookup.rows``."""
        return self.lookup.rows(
            before=before, limit=limit, scope=scope, status=status, episode=episode
        )

    def rules(
        self, *, scope: str | None = None, status: RuleStatus | None = None
    ) -> list[tuple[Rule, Shown]]:
        """Rules of the memory with what each has shown, in the order they came."""
        store = cast(RuleStore, self.memory.store)
        found = store.rules(scope=scope, status=status)
        ids = [rule.id for rule in found]
        uses, counts = store.rule_uses(ids), store.rule_counts(self._success, ids)
        return [(rule, shown(uses.get(rule.id, ()), counts.get(rule.id))) for rule in found]

    # --- undoing -------------------------------------------------------------------------------

    def mark(
        self,
        status: Literal["active", "quarantined"],
        *,
        row: int | None = None,
        episode: str | None = None,
        reason: str = "",
        principal: str = "",
    ) -> int:
        """Quarantine or restore a row or a whole episode; returns how many rows changed.

        Raises:
            Unknown: If there is no such row or episode.
            Conflict: If the episode runs.
            StoreError: If the file cannot be written.
        """
        if row is not None and self.lookup.row(row) is None:
            raise Unknown(f"there is no row {row}")
        if episode is not None and self.episodes.find(episode).status == "running":
            raise Conflict(f"episode {episode!r} runs, so it has no rows yet; close it first")
        change = self.memory.quarantine if status == "quarantined" else self.memory.restore
        return change(
            rows=() if row is None else (row,),
            episodes=() if episode is None else (episode,),
            reason=reason,
            principal=principal,
        )

    # --- itself --------------------------------------------------------------------------------

    def warm(self) -> int:
        """Read all scopes, so that the first decisions need not; returns how many."""
        scopes = self.lookup.scopes()
        for scope in scopes:
            view = self.memory.agent.view(scope)
            view.refresh()
            view.fit()
        return len(scopes)

    def close(self) -> None:
        """Release the file; what runs is kept for a later process, or as truncated.

        May be called twice.
        """
        try:
            self.roster.end()
        finally:
            self._opened.close()

    def __enter__(self) -> Desk:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
