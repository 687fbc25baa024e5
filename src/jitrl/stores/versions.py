"""The version stream as something to go back in: snapshots, rollback, and taking entries back."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import msgspec

from jitrl.errors import InputError, StoreError
from jitrl.ports import ChangeKind
from jitrl.stores import rulebook, rulebook_reads, selection, stream, writes
from jitrl.types import Rule, RuleStatus

Opened = Callable[[], AbstractContextManager[sqlite3.Connection]]

_ACTIVE, _QUARANTINED, _RETIRED = (writes.STATUS[s] for s in ("active", "quarantined", "retired"))
_KINDS: dict[int, ChangeKind] = {_ACTIVE: "restore", _QUARANTINED: "quarantine", _RETIRED: "retire"}
_ORDER = (_QUARANTINED, _RETIRED, _ACTIVE)  # what is left out goes before what comes back


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A version with a name.

    Attributes:
        at: When the name was given, seconds since 1970.
        reason, principal: Why, and who is answerable.
    """

    name: str
    version: int
    at: float
    reason: str = ""
    principal: str = ""


@dataclass(frozen=True, slots=True)
class Moved:
    """What a rollback, or taking entries back, did.

    Attributes:
        first, last: The entries it wrote; ``first`` is above ``last`` where nothing had to change.
        set_aside: Rows that take part no more.
        brought_back: Rows that take part again.
        rules: Rules whose status changed.
    """

    first: int
    last: int
    set_aside: int
    brought_back: int
    rules: int


class Versions:
    """The versions of one memory of a file.

    Args:
        reading, writing: Open a transaction.
        memory_id: Of the memory in the file.
        clean: What names, reasons and principals go through before they are written.
    """

    def __init__(
        self, reading: Opened, writing: Opened, memory_id: int, clean: Callable[[str], str] = str
    ) -> None:
        self._reading, self._writing, self._id = reading, writing, memory_id
        self._clean = clean

    def name(self, name: str, *, reason: str = "", principal: str = "") -> Snapshot:
        """Give the newest version a name.

        Raises:
            InputError: If the name is empty, a number, or taken.
        """
        if not name or name.strip() != name or name.isdecimal():
            raise InputError(
                f"snapshot is {name!r}; a name is a text without blanks around it, and no number"
            )
        name, reason, principal = map(self._clean, (name, reason, principal))
        with self._writing() as db:
            (head,) = db.execute("SELECT head FROM memory WHERE id = ?", (self._id,)).fetchone()
            made = Snapshot(name, int(head), time.time(), reason, principal)
            try:
                db.execute(
                    "INSERT INTO snapshot VALUES (?, ?, ?, ?, ?, ?)",
                    (self._id, name, made.version, made.at, reason, principal),
                )
            except sqlite3.IntegrityError as error:
                raise InputError(
                    f"there is a snapshot {name!r} already; snapshots stay as they are, so take "
                    "another name"
                ) from error
        return made

    def snapshots(self) -> tuple[Snapshot, ...]:
        """All of them, in the order they were named."""
        with self._reading() as db:
            found = db.execute(
                """SELECT name, version, at, reason, principal FROM snapshot
                WHERE memory_id = ? ORDER BY version, at, name""",
                (self._id,),
            ).fetchall()
        return tuple(Snapshot(*values) for values in found)

    def snapshot(self, name: str) -> Snapshot:
        """The snapshot of that name.

        Raises:
            StoreError: If there is none.
        """
        name = self._clean(name)
        known = {one.name: one for one in self.snapshots()}
        if name not in known:
            raise StoreError(
                f"there is no snapshot {name!r}; there are {', '.join(known) or 'none'}"
            )
        return known[name]

    def number(self, version: str | int) -> int:
        """The version that a snapshot's name, or a number, stands for.

        Raises:
            InputError: If there is no version of that number.
            StoreError: If there is no snapshot of that name.
        """
        if isinstance(version, str) and not version.isdecimal():
            return self.snapshot(version).version
        with self._reading() as db:
            return self._check(db, int(version))

    def select(self, of: selection.Selection) -> tuple[int, ...]:
        """Ids of the rows that are not retired and that ``of`` names, oldest first.

        Raises:
            StoreError: If it names a row or an episode that does not exist.
        """
        with self._reading() as db:
            return selection.rows(db, self._id, of)

    def tainted_with(self, episodes: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Rules that would rest on quarantined episodes if these were, and on which."""
        with self._reading() as db:
            return rulebook_reads.tainted(db, self._id, None, episodes)

    def learned(self, principal: str, after: float, most: int) -> int:
        """Episodes of a principal that were learned from since ``after``; counts to ``most``."""
        with self._reading() as db:
            return selection.learned(db, self._id, principal, after, most)

    def rollback(self, version: int, *, reason: str = "", principal: str = "") -> Moved:
        """Make the memory what it was at ``version``; all that came after is set aside.

        Decisions are bit for bit those of that time. Nothing is deleted: it takes entries of the
        stream, which ``undo`` takes back. Of the journal nothing changes, and what is learned from
        now on counts.

        Raises:
            InputError: If there is no such version.
        """
        reason, principal = self._clean(reason), self._clean(principal)
        with self._writing() as db:
            self._check(db, version)
            rows = db.execute(
                f"""SELECT r.id, r.status, CASE WHEN j.version > :until THEN
                    CASE r.status WHEN {_RETIRED} THEN {_RETIRED} ELSE {_QUARANTINED} END
                    ELSE {_AS_OF} END AS target
                FROM row r JOIN judgment j ON j.id = r.judgment_id
                JOIN episode e ON e.id = j.episode_id
                WHERE e.memory_id = :memory AND r.status <> target""",
                {"memory": self._id, "until": version},
            ).fetchall()
            before = {r.id: r.status for r in self._rules(db, version)}
            now = [r for r in self._rules(db, None) if r.id in before or r.status != "retired"]
            rules = [(r.id, before.get(r.id, "quarantined")) for r in now]
            said = reason or f"rollback to version {version}"
            return self._move(
                db, [(i, to) for i, _, to in rows], rules, said, self._clean(principal)
            )

    def undo(self, first: int, last: int, *, reason: str = "", principal: str = "") -> Moved:
        """Give rows and rules back the status they had before the entries ``first`` to ``last``.

        What changed again since stays as it is now.

        Raises:
            InputError: If there are no such entries, or one of them brought rows: these are set
                aside by a quarantine, or a rollback.
        """
        reason, principal = self._clean(reason), self._clean(principal)
        with self._writing() as db:
            if first > last:
                raise InputError(f"entries {first}-{last}: the first must not be above the last")
            self._check(db, first)
            self._check(db, last)
            among = {"memory": self._id, "first": first, "last": last, "until": first - 1}
            brought = db.execute(
                """SELECT min(version) FROM change JOIN judgment j USING (version)
                WHERE memory_id = :memory AND version BETWEEN :first AND :last
                    AND kind = 'append' AND j.id = judgment_id AND j.rows > 0""",
                among,
            ).fetchone()[0]
            if brought is not None:
                raise InputError(
                    f"entry {brought} brought rows, which cannot be taken back; put them in "
                    "quarantine, or roll back to the version before"
                )
            rows = db.execute(
                f"""SELECT r.id, {_AS_OF} AS target FROM row r
                WHERE r.id IN (SELECT row_id FROM change_row WHERE memory_id = :memory
                        AND version BETWEEN :first AND :last)
                    AND NOT EXISTS (SELECT 1 FROM change_row WHERE memory_id = :memory
                        AND row_id = r.id AND version > :last)
                    AND r.status <> target""",
                among,
            ).fetchall()
            rules = self._changed_rules(db, first, last)
            said = reason or (
                f"taken back: entry {first}" if first == last else f"taken back: {first}-{last}"
            )
            return self._move(db, rows, rules, said, principal)

    def _move(
        self,
        db: sqlite3.Connection,
        rows: Iterable[tuple[int, int]],
        rules: Iterable[tuple[str, RuleStatus]],
        reason: str,
        principal: str,
    ) -> Moved:
        """Give rows and rules new statuses, as entries of the stream."""
        by: dict[int, list[int]] = {status: [] for status in _ORDER}
        for row, status in rows:
            by[status].append(row)
        (before,) = db.execute("SELECT head FROM memory WHERE id = ?", (self._id,)).fetchone()
        for status in _ORDER:
            if status == _ACTIVE:  # the others are out of the way by now
                by[status] = stream.restorable(db, by[status])
            if ids := by[status]:
                writes.put_status(
                    db,
                    self._id,
                    _KINDS[status],
                    sorted(ids),
                    episode_id=None,
                    reason=reason,
                    principal=principal,
                    at=time.time(),
                )
        _unmark(db, self._id, by[_ACTIVE])
        of: dict[RuleStatus, list[str]] = {}
        for rule, standing in rules:
            of.setdefault(standing, []).append(rule)
        changed = sum(
            rulebook.set_status(db, self._id, standing, ids, reason, principal)
            for standing, ids in of.items()
        )
        (head,) = db.execute("SELECT head FROM memory WHERE id = ?", (self._id,)).fetchone()
        gone = len(by[_QUARANTINED]) + len(by[_RETIRED])
        return Moved(int(before) + 1, int(head), gone, len(by[_ACTIVE]), changed)

    def _rules(self, db: sqlite3.Connection, until: int | None) -> tuple[Rule, ...]:
        return rulebook_reads.rules(db, self._id, until=until)

    def _changed_rules(
        self, db: sqlite3.Connection, first: int, last: int
    ) -> list[tuple[str, RuleStatus]]:
        """Rules that changed in these entries and not since, with the status before."""
        found = []
        for record in rulebook_reads.records(db, self._id):
            versions = [change.version for change in record.changes]
            earlier = [c.status for c in record.changes if c.version < first]
            if earlier and first <= versions[-1] <= last:
                found.append((record.rule.id, earlier[-1]))
        return found

    def _check(self, db: sqlite3.Connection, version: int) -> int:
        (head,) = db.execute("SELECT head FROM memory WHERE id = ?", (self._id,)).fetchone()
        if isinstance(version, bool) or not isinstance(version, int) or not 0 <= version <= head:
            raise InputError(f"version is {version!r}; this memory has the versions 0 to {head}")
        return version


# Status of row r as of version :until; rows that were brought later have the one they came with.
_AS_OF = """coalesce((SELECT CASE c.kind WHEN 'quarantine' THEN 1 WHEN 'restore' THEN 0 ELSE 2 END
    FROM change_row w JOIN change c ON c.memory_id = w.memory_id AND c.version = w.version
    WHERE w.row_id = r.id AND w.memory_id = :memory AND w.version <= :until
    ORDER BY w.version DESC LIMIT 1), r.born)"""


def _unmark(db: sqlite3.Connection, memory_id: int, rows: Sequence[int]) -> None:
    """Episodes of which nothing is in quarantine any more lose their mark."""
    db.execute(
        """UPDATE episode SET quarantined = 0 WHERE memory_id = ? AND quarantined
            AND id IN (SELECT j.episode_id FROM row r JOIN judgment j ON j.id = r.judgment_id
                WHERE r.id IN (SELECT value FROM json_each(?)))
            AND NOT EXISTS (SELECT 1 FROM judgment j JOIN row r
                ON r.id BETWEEN j.first_row AND j.first_row + j.rows - 1
                WHERE j.episode_id = episode.id AND r.status = 1)""",
        (memory_id, msgspec.json.encode(rows).decode()),
    )
