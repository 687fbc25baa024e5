"""``SQLiteStore``: journal, outcomes, derived rows and version stream in one file."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import msgspec

from jitrl.errors import ConfigError, StoreError
from jitrl.ports import Change, DecisionRecord, Outline, Receipt
from jitrl.stores import checks, journal, outlines, reads, stats, stream
from jitrl.stores.checks import Problem
from jitrl.stores.connection import Connection
from jitrl.stores.records import (
    EpisodeRecord,
    EpisodeSummary,
    OutcomeEntry,
    check_json,
    parse_decision_id,
)
from jitrl.stores.sqlite_rules import SQLiteRules
from jitrl.stores.stats import Stats
from jitrl.stores.versions import Versions
from jitrl.types import (
    Episode,
    Judgment,
    Outcome,
    Row,
    RuleUse,
)

_PAGE, _EPISODE_PAGE = 256, 16  # changes or decisions read at once; episodes, which may be large


class SQLiteStore(SQLiteRules):
    """A memory in an SQLite file. Safe for any number of threads and processes.

    Args:
        path: The file; made if it does not exist. ``:memory:`` keeps nothing.
        memory: Name of the memory in the file; made if it does not exist.
        create: Make it at once. Else the first ``batch`` makes it, and only if it ends well; all
            is written and read inside it until then.
        readonly: Refuse every write, and never create anything.
        timeout: Seconds to wait for another writer.

    Raises:
        StoreVersionError: If a newer version of this package wrote the file.
        StoreError: If the path cannot be used, or is not a memory file.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        memory: str = "default",
        create: bool = True,
        readonly: bool = False,
        timeout: float = 60.0,
    ) -> None:
        self.path = os.fspath(path)
        self.memory = memory
        if not self.path or not memory:
            raise ConfigError("a store needs a path (or ':memory:') and a name for its memory")
        self._db = Connection(self.path, readonly=readonly, timeout=timeout)
        try:
            self._id = self._found(readonly)
            if not self._id and create:
                with self._db.writing() as db:
                    self._id = self._made(db)
        except BaseException:
            self._db.close()
            raise

    def _found(self, readonly: bool) -> int:
        """Id of the memory in the file; 0 if there is none."""
        with self._db.reading() as db:
            ids = dict(db.execute("SELECT name, id FROM memory ORDER BY id"))
        if self.memory not in ids and readonly:
            raise StoreError(f"{self.path} has no memory {self.memory!r}; it has {list(ids)}")
        return int(ids.get(self.memory, 0))

    def _made(self, db: sqlite3.Connection) -> int:
        db.execute("INSERT OR IGNORE INTO memory(name) VALUES (?)", (self.memory,))
        return self._found(readonly=False)

    def __enter__(self) -> SQLiteStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the file; may be called twice."""
        self._db.close()

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Make all writes of the block one transaction: everything or nothing.

        Nothing inside is acknowledged before the block ends; other writers wait meanwhile.
        """
        before = self._id
        try:
            with self._db.writing() as db:
                self._id = before or self._made(db)
                yield
        except BaseException:
            self._id = before
            raise

    def commit(
        self,
        episode: Episode,
        judgment: Judgment,
        rows: Sequence[Row],
        uses: Sequence[RuleUse] = (),
    ) -> Receipt:
        """Write an episode, its judgment, rows and uses in one transaction, once per key.

        An ``Unscored`` episode is journaled and counted, and must come without rows.

        Raises:
            InputError: If a value cannot be stored, rows or uses do not belong to the episode, or
                a rule is not there.
            StoreError: If the file cannot be written; nothing was.
        """
        outcomes = (OutcomeEntry(episode.outcome, time.time()),) if episode.outcome else ()
        record = EpisodeRecord(episode, judgment, outcomes, uses=tuple(uses))
        return self.commit_record(record, rows)

    def commit_record(self, record: EpisodeRecord, rows: Sequence[Row]) -> Receipt:
        """As ``commit``, with the outcome history and quarantine of an episode from elsewhere."""
        prepared = journal.prepare(record, rows)
        with self._db.writing() as db:
            return journal.commit(db, self._id, prepared)

    def rederive(
        self,
        key: str,
        outcome: Outcome | None,
        judgment: Judgment,
        rows: Sequence[Row],
        *,
        principal: str = "",
    ) -> Receipt:
        """Add an outcome entry (``None`` withdraws), retire the episode's rows, append ``rows``.

        New rows of steps that are in quarantine start there too. Saying the same again
        (outcome, judgment and rows are the present ones) writes nothing: ``duplicate``.

        ``principal`` is who withdraws, for the version stream; an outcome names its own.

        Raises:
            InputError: As ``commit``.
            StoreError: If there is no such episode, or the file cannot be written.
        """
        with self._db.writing() as db:
            return journal.rederive(db, self._id, key, outcome, judgment, rows, principal)

    def replace(
        self, key: str, judgment: Judgment, rows: Sequence[Row], reason: str, principal: str = ""
    ) -> Receipt:
        """Retire the episode's rows and append ``rows``; the outcome stays as it is."""
        with self._db.writing() as db:
            return journal.replace(db, self._id, key, judgment, rows, reason, principal)

    def set_status(
        self,
        status: Literal["active", "quarantined"],
        *,
        rows: Collection[int] = (),
        episodes: Collection[str] = (),
        reason: str = "",
        principal: str = "",
    ) -> int:
        """Quarantine or restore rows; returns how many changed. Retired rows stay retired.

        For whole episodes the mark stays: rows that are derived later start in quarantine.

        Raises:
            InputError: If ``status`` is neither ``active`` nor ``quarantined``.
            StoreError: If a row or episode does not exist; nothing changes then.
        """
        with self._db.writing() as db:
            return journal.set_status(db, self._id, status, rows, episodes, reason, principal)

    def configure(self, settings: Mapping[str, Any]) -> None:
        """Remember the settings that derive rows (``gamma`` …), for a later rebuild or import."""
        check_json(settings, "settings")
        values = msgspec.json.encode(settings).decode(), self._id
        with self._db.writing() as db:
            db.execute("UPDATE memory SET config = ? WHERE id = ?", values)

    @property
    def versions(self) -> Versions:
        """Its versions: names for them, going back to one, and which rows came from whom."""
        return Versions(self._db.reading, self._db.writing, self._id)

    def settings(self) -> dict[str, Any]:
        """What ``configure`` remembered; empty if nothing."""
        with self._db.reading() as db:
            (text,) = db.execute("SELECT config FROM memory WHERE id = ?", (self._id,)).fetchone()
        return msgspec.json.decode(text, type=dict[str, Any])

    def head(self) -> int:
        """Newest version; a commit by any process counts at the next call."""
        return self._db.head(self._id)

    def changes(self, after: int, *, scope: str | None = None) -> Iterator[Change]:
        """Entries of the version stream later than ``after``, in order.

        Rows of an ``append`` have the status they were stored with, others the one they were given:
        replayed up to v, they are the memory as of v. Equal states are one object within a call.
        """
        reader = stream.RowReader()
        while True:
            with self._db.reading() as db:
                page, last = stream.changes(db, reader, self._id, after, scope, _PAGE)
            if not last:
                return
            yield from page
            after = last

    def episode(self, key: str) -> Episode:
        """The journaled episode with its present outcome.

        Raises:
            StoreError: If there is none of that key.
        """
        return self.record(key).episode

    def outline(self, key: str) -> Outline:
        """States, actions and candidates of an episode; ``StoreError`` if there is none."""
        with self._db.reading() as db:
            return outlines.read_outline(db, stream.RowReader(), reads.must_find(db, self._id, key))

    def record(self, key: str) -> EpisodeRecord:
        """An episode with its judgment, outcome history and quarantine; errors as above."""
        with self._db.reading() as db:
            return reads.read_record(db, stream.RowReader(), reads.must_find(db, self._id, key))

    def rows(self, key: str) -> tuple[Row, ...]:
        """All it ever had, oldest first, with their present status; errors as above."""
        with self._db.reading() as db:
            (id, *_) = reads.must_find(db, self._id, key)
            return stream.episode_rows(stream.RowReader(), db, id)

    def episodes(self, *, scope: str | None = None, task: str | None = None) -> Iterator[Episode]:
        """Journaled episodes in the order they were committed."""
        return (record.episode for record in self.records(scope=scope, task=task))

    def records(
        self, *, scope: str | None = None, task: str | None = None, decided: bool = False
    ) -> Iterator[EpisodeRecord]:
        """Everything about each episode, in the order they were committed.

        Args:
            decided: Of the steps only those that a decision is kept of, which is faster.
        """
        after = 0
        while True:
            reader = stream.RowReader()
            with self._db.reading() as db:
                page = reads.page_of_episodes(db, self._id, after, scope, task, _EPISODE_PAGE)
                records = [reads.read_record(db, reader, raw, decided=decided) for raw in page]
            if not page:
                return
            yield from records
            after = page[-1][0]

    def decision(self, id: str) -> DecisionRecord:
        """The journaled decision ``EPISODE_KEY#STEP``.

        Raises:
            InputError: If ``id`` is not of that form.
            StoreError: If there is no such episode or step, or it was decided elsewhere.
        """
        key, step = parse_decision_id(id)
        with self._db.reading() as db:
            return reads.must_find_decision(db, self._id, key, step)

    def decisions(self, *, scope: str | None = None) -> Iterator[DecisionRecord]:
        """Journaled decisions by the memory version they read, then in commit order."""
        after = (-1, 0, 0)
        while True:
            with self._db.reading() as db:
                page = reads.page_of_decisions(db, self._id, after, scope, _PAGE)
                records = reads.read_decision_records(db, [(e, t) for _, e, t in page])
            if not page:
                return
            yield from records
            after = page[-1]

    def summaries(
        self, *, scope: str | None = None, task: str | None = None, limit: int = -1
    ) -> list[EpisodeSummary]:
        """The newest ``limit`` episodes (-1: all), newest first."""
        with self._db.reading() as db:
            return stats.summaries(db, self._id, scope=scope, task=task, limit=limit)

    def stats(self) -> Stats:
        """Counts over the memory, and what is mixed in it that should not be."""
        with self._db.reading() as db:
            return stats.collect(db, self._id, self.memory, self._db.size())

    def check(self) -> list[Problem]:
        """All that is wrong with the file, every memory in it; empty if it is whole."""
        with self._db.reading() as db:
            return list(checks.problems(db))
