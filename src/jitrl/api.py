"""The library: open a memory, decide with it, tell it how things ended."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Collection, Mapping
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from jitrl import config, given, registry, rulebook
from jitrl.agents.admitting import check_assertion
from jitrl.agents.corrected import Corrected
from jitrl.config import Memory, Settings
from jitrl.core import features
from jitrl.episode import Episode
from jitrl.errors import MixedMemory, RepeatedKey, StoreError
from jitrl.evaluators.checks import Function
from jitrl.memory.explain import Explanation, Journal, explain, journal_of
from jitrl.memory.replay import Turned, compared, replay
from jitrl.models.vectors import Remembered
from jitrl.ports import Evaluator, Receipt
from jitrl.purging import PurgeReceipt, purged
from jitrl.redaction.named import placeholders
from jitrl.run.derivation import remember
from jitrl.run.embedding import remembered
from jitrl.run.judging import evaluator_named, handed, lent
from jitrl.stores.redacting import redacting
from jitrl.stores.selection import Selection
from jitrl.stores.sqlite import SQLiteStore
from jitrl.stores.versions import Moved, Snapshot, Versions
from jitrl.telemetry import Tracing
from jitrl.types import Basis, Outcome


def open(
    path: str | os.PathLike[str],
    *,
    memory: str = "default",
    evaluator: str | Evaluator | Function | None = None,
    store: str = "sqlite",
    rules: bool | Mapping[str, Any] | None = None,
    **settings: Any,
) -> JitRL:
    """Open a memory file, or make one.

    Args:
        path: The file; ``:memory:`` keeps nothing.
        memory: Name of the memory in the file.
        evaluator: Who scores finished episodes: a name, an object that judges, or a function of the
            episode that returns a share in [0, 1], a mapping of names to such, or ``None``.
        store: Entry point of ``jitrl.stores`` that keeps the memory.
        rules: Whether ``Episode.notes`` tells rules in sentences beside the scores, and episodes
            teach some: options of the agent ``rulebook``; with ``{"scores": False}`` rules alone.
            ``None``: as ``[rules]`` of docs/settings.md says, and it has none unless it is told to.
        settings: ``[memory]`` of docs/settings.md; what is not given comes from ``JITRL_MEMORY_*``
            variables, then from ``jitrl.toml``.

    Raises:
        InputError: If the path or a name is no text, or one that cannot be used.
        ConfigError: If a setting is unknown or has an impossible value, or there is no such store.
        MissingExtra: If telemetry is asked for, and OpenTelemetry is not installed.
        ModelError: If states are to be embedded, and the model for it is missing.
        StoreError: If the file cannot be used.
    """
    own: Evaluator | None = None
    if evaluator is not None:
        own = None if isinstance(evaluator, str) else handed(evaluator)
        settings["evaluator"] = own.name if own else evaluator
    loaded = config.load({"memory": settings}, caller="jitrl.open")
    return JitRL(
        path,
        loaded.memory,
        memory=memory,
        model=loaded,
        evaluator=own,
        store=store,
        rules=rules,
    )


class JitRL:
    """A memory that corrects decisions. Safe for threads; any number of processes may share it.

    Attributes:
        book: Its rules in sentences; ``None`` if it has none.
        teaching: Is handed what makes rules of an episode, and its key, once that is stored; a
            service has it done later.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        settings: Memory | None = None,
        *,
        memory: str = "default",
        model: Settings | None = None,
        evaluator: Evaluator | None = None,
        store: str = "sqlite",
        rules: bool | Mapping[str, Any] | None = None,
    ) -> None:
        path, memory = given.path(path), given.name(memory, "memory")
        opened = registry.load("stores", given.name(store, "store"))
        self.settings = config.checked(Memory() if settings is None else settings)
        with ExitStack() as undo:
            named = model or Settings()
            judge, author = (partial(lent, named, path, to, undo) for to in ("judge", "learn"))
            chosen = self.settings.evaluator, self.settings.evaluator_options
            evaluator = evaluator or evaluator_named(*chosen, judge)
            self.redaction = placeholders(self.settings.redact, path)
            if self.redaction:
                opened = redacting(opened, self.redaction)
            self.store: Journal = undo.enter_context(closing(opened(path, memory=memory)))
            embedder = partial(remembered, path)
            parts = self.store, evaluator, self.settings
            told = rulebook.chosen(rules, named.rules)
            self.book = rulebook.opened(told, *parts, author, embedder)
            self.agent = self.book.memory if self.book else Corrected(*parts, embedder)
            self.tracing: Tracing | None = None
            if self.settings.telemetry != "off":
                self.tracing = Tracing(memory, self.settings.telemetry == "content")
                self.agent.traced = self.tracing.retrieve
            self._opened = undo.pop_all()
        self.memory, self.teaching = memory, rulebook.at_once
        self._lock, self._is_remembered, self._mixed = threading.Lock(), False, ""
        self._has_repeated = False

    def episode(
        self,
        task: str,
        *,
        scope: str = "",
        key: str | None = None,
        goal: str | None = None,
        family: str = "",
    ) -> Episode:
        """One run at ``task``, as a context manager.

        Args:
            scope: Episodes of one scope learn from each other, and from no others.
            goal: The task in words, where ``task`` is an id; the same as ``task`` if ``None``.
            family: Type of task; what a rule says of one type is told to no other.
            key: Makes it idempotent: an episode is stored and learned once per key, also one that
                an exception ended; trying it again takes another key. Made up if ``None``.

        Raises:
            InputError: If one of them is no text, or the task, the key or the goal is empty.
            ModelError, BudgetExceeded: If rules that another process left to be distilled could
                not be.
        """
        return Episode(self, task, scope, key, goal, family)

    def outcome(
        self,
        key: str,
        value: float | bool | None,
        *,
        basis: Basis = "test",
        evaluator: str = "outcome",
        told: bool = False,
        principal: str = "",
    ) -> Receipt:
        """Tell, correct or (``None``) withdraw the outcome of an episode, and judge it again.

        Raises:
            ModelError, BudgetExceeded: If a model that judges could not be asked; nothing changes.
            StoreError: If there is no episode of that key.
            InputError: If the value is not finite, the basis is not known, or a text is none.
            NotAllowed: If the principal may not assert that basis.
        """
        key, who = given.name(key, "key"), self._who(principal)
        said = given.outcome(value, basis, evaluator, told, who)
        check_assertion(self.agent, said)
        if self.tracing is None:
            receipt = self._rederive(key, said, who)
        else:
            with self.tracing.outcome(key, said) as learned:
                receipt = self._rederive(key, said, who)
                learned(receipt)
        self._tell()
        return receipt

    def _rederive(self, key: str, said: Outcome | None, who: str) -> Receipt:
        """Judge a stored episode anew, with another outcome."""
        before = self.store.episode(key)
        if said is not None and before.steps:
            given.total(before.steps[-1].reward, said.value, "the last reward and the outcome")
        episode = replace(before, outcome=said)
        judgment, rows, why = self.agent.judged(episode, is_new=False)
        if rows:
            self._remember()
        receipt = self.store.rederive(key, said, judgment, rows, principal=who)
        if self.book is not None and not receipt.duplicate:
            self.teaching(key, partial(self.book.again, key))
        return receipt if receipt.duplicate else replace(receipt, objection=why)

    def _remember(self) -> None:
        """Have the memory remember what rows are derived with, unless it holds some already."""
        with self._lock:
            if not self._is_remembered:
                self._mixed = remember(self.store, self.agent.derivation)
            self._is_remembered = True

    def _repeated(self, key: str) -> None:
        """Say once that an episode was there before: a task's id in place of a key teaches once."""
        said, self._has_repeated = self._has_repeated, True
        if not said:
            text = (
                f"an episode with key {key!r} is stored already, so nothing of this one was kept; "
                "a key names one run, not a task: give each run its own, or none"
            )
            warnings.warn(text, RepeatedKey, stacklevel=5)

    def _tell(self) -> None:
        """Say once that rows were derived otherwise; they are stored by then."""
        said, self._mixed = self._mixed, ""
        if said:
            warnings.warn(said, MixedMemory, stacklevel=3)

    def explain(self, decision: str, *, most: int = 20) -> Explanation:
        """Why a journaled decision (``EPISODE_KEY#STEP``) fell as it did; no model call.

        Of the near episodes, the ``most`` that weigh most are left out, one after another.

        Raises:
            InputError: If ``decision`` is no id of a decision, or ``most`` is below 0.
            StoreError: If there is no such decision.
            ConfigError: If it was made under another rule than this memory was opened with.
        """
        return explain(self.agent, journal_of(self.store), given.decision_id(decision), most=most)

    def replay(self, *, without: Collection[int]) -> list[str]:
        """Ids of the stored decisions that fall differently without these rows; no model call.

        Raises:
            InputError: If ``without`` is no collection of whole numbers.
            StoreError: If there is no such row.
            ConfigError: If a decision was made under another rule than this memory's.
        """
        rows = given.row_ids(without, "without")
        found = replay(self.agent, journal_of(self.store), rows, strict=True)
        return [one.id for one in found.turned]

    def quarantine(
        self,
        *,
        rows: Collection[int] = (),
        episodes: Collection[str] = (),
        where: Selection | None = None,
        reason: str = "",
        principal: str = "",
    ) -> int:
        """Keep rows out of everything until they are restored; returns how many changed.

        Args:
            where: Rows by source, evaluator, basis, principal, scope or time.

        Raises:
            InputError: If an argument is of another kind than it should be.
            StoreError: If a row or episode does not exist; nothing changes then.
        """
        chosen = {*given.row_ids(rows, "rows"), *self._selected(where)}
        return self._mark("quarantined", chosen, episodes, reason, principal)

    def restore(
        self,
        *,
        rows: Collection[int] = (),
        episodes: Collection[str] = (),
        where: Selection | None = None,
        reason: str = "",
        principal: str = "",
    ) -> int:
        """Let quarantined rows take part again; returns how many changed. Errors as above."""
        chosen = {*given.row_ids(rows, "rows"), *self._selected(where)}
        return self._mark("active", chosen, episodes, reason, principal)

    def _selected(self, where: Selection | None) -> Collection[int]:
        return () if where is None else self._versions().select(where)

    def _versions(self) -> Versions:
        """The store's versions, if it has any."""
        if not hasattr(self.store, "versions"):
            raise StoreError(
                f"store {type(self.store).__name__} has no 'versions': name rows or episodes, or "
                "keep the memory in the store 'sqlite'"
            )
        versions: Versions = self.store.versions
        return versions

    def snapshot(self, name: str, *, reason: str = "", principal: str = "") -> Snapshot:
        """Give the memory as it is now a name, to compare it with, read it, or go back to it.

        Raises:
            InputError: If the name is empty, a number, or taken.
        """
        name, reason = given.name(name, "name"), given.text(reason, "reason")
        return self._versions().name(name, reason=reason, principal=self._who(principal))

    def diff(self, first: str | int, second: str | int) -> tuple[Turned, ...]:
        """Stored decisions that would fall otherwise on one version than on another.

        Args:
            first, second: Snapshots or version numbers.

        Raises:
            InputError: If there is no such version.
            StoreError: If there is no such snapshot.
        """
        one, other = (self._versions().number(given.version(v)) for v in (first, second))
        return compared(self.agent, journal_of(self.store), one, other).turned

    def rollback(self, to: str | int, *, reason: str = "", principal: str = "") -> Moved:
        """Make the memory what it was: all that came after ``to`` is set aside.

        Decisions are bit for bit those of that time. ``undo`` takes it back.

        Args:
            to: A snapshot or a version number.

        Raises:
            InputError: If there is no such version.
            StoreError: If there is no such snapshot.
        """
        version = self._versions().number(given.version(to))
        reason = given.text(reason, "reason")
        return self._versions().rollback(version, reason=reason, principal=self._who(principal))

    def undo(
        self, first: int, last: int | None = None, *, reason: str = "", principal: str = ""
    ) -> Moved:
        """Take quarantines, restores or a rollback back: the entries ``first`` to ``last``.

        Raises:
            InputError: If there are no such entries, or one of them brought rows.
        """
        reason, end = given.text(reason, "reason"), first if last is None else last
        return self._versions().undo(first, end, reason=reason, principal=self._who(principal))

    def _who(self, principal: str) -> str:
        """Who is named, else whom the settings name."""
        return given.text(principal, "principal") or self.settings.principal

    def _mark(
        self,
        status: Literal["active", "quarantined"],
        rows: Collection[int],
        episodes: Collection[str],
        reason: str,
        principal: str,
    ) -> int:
        return self.store.set_status(
            status,
            rows=given.row_ids(rows, "rows"),
            episodes=given.names(episodes, "episodes"),
            reason=given.text(reason, "reason"),
            principal=self._who(principal),
        )

    def purge(
        self,
        *subjects: str,
        principal: str = "",
        answers: Collection[str | os.PathLike[str]] = (),
        delete_exports: bool = False,
    ) -> PurgeReceipt:
        """Remove all of a subject for good, from the whole file and its known copies.

        Args:
            subjects: ``principal=…``, ``episode=KEY``, ``task=…`` or ``text=…``.
            principal: Who has it done, if not the settings' own; kept in the version stream.
            answers: Files of answers of models that lie in another folder than the memory.
            delete_exports: Delete the exports that were made; else they count as left.

        Raises:
            InputError: If a subject is none, or holds who has it done.
            StoreError: If the file cannot be written, or is of another store than ``sqlite``.
        """
        if not isinstance(self.store, SQLiteStore):
            raise StoreError(f"store {type(self.store).__name__} cannot purge; 'sqlite' can")
        who, store, drop = self._who(principal), self.store, delete_exports
        receipt = purged(store, subjects, principal=who, answers=answers, delete_exports=drop)
        self.redaction.forget()
        features.forget()
        return receipt

    def close(self) -> None:
        """Release the file, and that of vectors if there is one; may be called twice."""
        self._opened.close()
        if isinstance(self.agent.embedder, Remembered):
            self.agent.embedder.close()

    def __enter__(self) -> JitRL:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
