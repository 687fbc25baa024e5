"""The tables of a memory file, and how files made by older versions are brought up to date."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress

from jitrl.errors import StoreError, StoreVersionError

APPLICATION_ID = 0x4A695452
"""Marks an SQLite file as ours (``JiTR``)."""

VERSION = 5
"""Schema this package reads and writes (``PRAGMA user_version``)."""

Migration = Callable[[sqlite3.Connection], object]

MIGRATIONS: Mapping[int, Migration] = {
    1: lambda db: db.execute("ALTER TABLE judgment ADD COLUMN info TEXT NOT NULL DEFAULT '{}'"),
    2: lambda db: [db.execute(statement) for statement in RULE_TABLES],
    3: lambda db: db.execute(SNAPSHOT_TABLE),
    4: lambda db: db.execute(UNKNOWN_COLUMN),
}
"""From version n to n + 1, by n. Runs inside one transaction; must not commit."""

# What version 3 added; one that changes these statements leaves a copy of them to migration 2.
RULE_TABLES: tuple[str, ...] = (
    # The sentences of a rulebook; written once. `key` is the digest of the text, or of scope and
    # text, so a scope has a text once. `entities` and `parents` (keys of rules) are JSON lists.
    """CREATE TABLE rule(
        id INTEGER PRIMARY KEY,
        memory_id INTEGER NOT NULL REFERENCES memory,
        key TEXT NOT NULL,
        text TEXT NOT NULL,
        scope TEXT NOT NULL,
        kind TEXT NOT NULL,
        entities TEXT NOT NULL,
        entry REAL NOT NULL,
        author TEXT NOT NULL,
        parents TEXT NOT NULL,
        UNIQUE(memory_id, key))""",
    # What rules are distilled from; `good` and `bad` (keys of episodes) and `scores` are JSON.
    """CREATE TABLE contrast(
        id INTEGER PRIMARY KEY,
        memory_id INTEGER NOT NULL REFERENCES memory,
        key TEXT NOT NULL,
        scope TEXT NOT NULL,
        task TEXT NOT NULL,
        kind TEXT NOT NULL,
        round INTEGER NOT NULL,
        goal TEXT NOT NULL,
        good TEXT NOT NULL,
        bad TEXT NOT NULL,
        scores TEXT NOT NULL,
        created REAL NOT NULL,
        version INTEGER NOT NULL,
        UNIQUE(memory_id, key))""",
    # What an entry of the version stream (kind `rules`) did to a rule: the status it has from then
    # on, and the contrasts (their keys, as JSON) that the entry brought.
    """CREATE TABLE change_rule(
        memory_id INTEGER NOT NULL,
        version INTEGER NOT NULL,
        rule_id INTEGER NOT NULL REFERENCES rule,
        status TEXT NOT NULL,
        evidence TEXT NOT NULL,
        PRIMARY KEY(memory_id, version, rule_id)) WITHOUT ROWID""",
    "CREATE INDEX change_rule_rule ON change_rule(rule_id)",
    # Rules that could be told in an episode; written with it. What came of it is not here: it is
    # the episode's present judgment.
    """CREATE TABLE rule_use(
        episode_id INTEGER NOT NULL REFERENCES episode,
        rule_id INTEGER NOT NULL REFERENCES rule,
        told INTEGER NOT NULL,
        chance REAL NOT NULL,
        occasions INTEGER NOT NULL,
        obeyed INTEGER NOT NULL,
        PRIMARY KEY(episode_id, rule_id)) WITHOUT ROWID""",
    "CREATE INDEX rule_use_rule ON rule_use(rule_id)",
)

# What version 4 added. Names of versions; written once.
SNAPSHOT_TABLE = """CREATE TABLE snapshot(
        memory_id INTEGER NOT NULL REFERENCES memory,
        name TEXT NOT NULL,
        version INTEGER NOT NULL,
        at REAL NOT NULL,
        reason TEXT NOT NULL,
        principal TEXT NOT NULL,
        PRIMARY KEY(memory_id, name)) WITHOUT ROWID"""

# What version 5 added: occasions of a use at which nobody can tell whether the rule was obeyed.
UNKNOWN_COLUMN = "ALTER TABLE rule_use ADD COLUMN unknown INTEGER NOT NULL DEFAULT 0"

# What VERSION looks like. A new version changes these statements and adds a migration that gives
# a file of the version before the same tables.
TABLES = (
    # One memory; several may share a file. `head` is the newest version of its stream.
    """CREATE TABLE memory(
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        config TEXT NOT NULL DEFAULT '{}',
        head INTEGER NOT NULL DEFAULT 0)""",
    # Distinct states of a memory and scope; `digest` is over both and the three texts.
    """CREATE TABLE state(
        id INTEGER PRIMARY KEY,
        memory_id INTEGER NOT NULL REFERENCES memory,
        scope TEXT NOT NULL,
        digest BLOB NOT NULL UNIQUE,
        text TEXT NOT NULL,
        context TEXT NOT NULL,
        place TEXT NOT NULL)""",
    # The journal: written once, but for `quarantined`: rows derived later start in quarantine.
    # An episode's present outcome and judgment are those with the highest id.
    """CREATE TABLE episode(
        id INTEGER PRIMARY KEY,
        memory_id INTEGER NOT NULL REFERENCES memory,
        key TEXT NOT NULL,
        task TEXT NOT NULL,
        scope TEXT NOT NULL,
        status TEXT NOT NULL,
        agent TEXT NOT NULL,
        config TEXT NOT NULL,
        principal TEXT NOT NULL,
        holdout INTEGER NOT NULL,
        started REAL NOT NULL,
        finished REAL NOT NULL,
        info TEXT NOT NULL,
        scorers TEXT NOT NULL,
        quarantined INTEGER NOT NULL,
        UNIQUE(memory_id, key))""",
    # `read` is the memory version that the step's decision saw; NULL without a decision.
    """CREATE TABLE step(
        episode_id INTEGER NOT NULL REFERENCES episode,
        step INTEGER NOT NULL,
        state_id INTEGER NOT NULL REFERENCES state,
        action TEXT NOT NULL,
        reward REAL,
        next_state_id INTEGER REFERENCES state,
        novelty REAL NOT NULL,
        read INTEGER,
        PRIMARY KEY(episode_id, step)) WITHOUT ROWID""",
    "CREATE INDEX step_read ON step(read) WHERE read IS NOT NULL",
    # All decisions of an episode, packed (see packing.py); `crc` is zlib.crc32 of `body`.
    """CREATE TABLE decision(
        episode_id INTEGER PRIMARY KEY REFERENCES episode,
        body BLOB NOT NULL,
        crc INTEGER NOT NULL)""",
    # What was said about the end of an episode; `value` NULL withdraws what it supersedes.
    """CREATE TABLE outcome(
        id INTEGER PRIMARY KEY,
        episode_id INTEGER NOT NULL REFERENCES episode,
        value REAL,
        basis TEXT NOT NULL,
        evaluator TEXT NOT NULL,
        told INTEGER NOT NULL,
        principal TEXT NOT NULL,
        at REAL NOT NULL,
        supersedes INTEGER REFERENCES outcome)""",
    "CREATE INDEX outcome_episode ON outcome(episode_id)",
    # Step rewards, or why there are none (`rewards` NULL, `reason` set), and the provenance
    # that the rows first_row .. first_row + rows - 1 share. `info`: how they came about, as JSON.
    """CREATE TABLE judgment(
        id INTEGER PRIMARY KEY,
        episode_id INTEGER NOT NULL REFERENCES episode,
        version INTEGER NOT NULL,
        evaluator TEXT NOT NULL,
        told INTEGER,
        basis TEXT,
        rewards TEXT,
        reason TEXT NOT NULL,
        principal TEXT NOT NULL,
        source TEXT NOT NULL,
        digest TEXT NOT NULL,
        first_row INTEGER NOT NULL,
        rows INTEGER NOT NULL,
        info TEXT NOT NULL DEFAULT '{}')""",
    "CREATE INDEX judgment_episode ON judgment(episode_id)",
    # What similarity search reads. `born` and `status`: 0 active, 1 quarantined, 2 retired.
    """CREATE TABLE row(
        id INTEGER PRIMARY KEY,
        judgment_id INTEGER NOT NULL REFERENCES judgment,
        step INTEGER NOT NULL,
        state_id INTEGER NOT NULL REFERENCES state,
        action TEXT NOT NULL,
        reward REAL NOT NULL,
        ret REAL NOT NULL,
        next_state_id INTEGER REFERENCES state,
        terminal INTEGER NOT NULL,
        novelty REAL NOT NULL,
        born INTEGER NOT NULL,
        status INTEGER NOT NULL)""",
    # The version stream: append (with the judgment that brought rows), quarantine, restore, retire,
    # rules.
    """CREATE TABLE change(
        memory_id INTEGER NOT NULL REFERENCES memory,
        version INTEGER NOT NULL,
        kind TEXT NOT NULL,
        episode_id INTEGER REFERENCES episode,
        judgment_id INTEGER REFERENCES judgment,
        reason TEXT NOT NULL,
        principal TEXT NOT NULL,
        at REAL NOT NULL,
        PRIMARY KEY(memory_id, version)) WITHOUT ROWID""",
    # The rows whose status a quarantine, restore or retire entry changed.
    """CREATE TABLE change_row(
        memory_id INTEGER NOT NULL,
        version INTEGER NOT NULL,
        row_id INTEGER NOT NULL REFERENCES row,
        PRIMARY KEY(memory_id, version, row_id)) WITHOUT ROWID""",
    *RULE_TABLES,
    SNAPSHOT_TABLE,
    UNKNOWN_COLUMN,
)

_NAMES = frozenset(table.split("(")[0].split()[2] for table in TABLES if "TABLE" in table)


def needs_work(db: sqlite3.Connection, path: str, *, version: int = VERSION) -> bool:
    """Whether the file is empty or older than ``version``; reads only, in one transaction.

    Raises:
        StoreVersionError: If a newer version of this package wrote the file.
        StoreError: If it belongs to another program, or tables are missing.
    """
    application, found, tables = _read(db)
    if application != APPLICATION_ID:
        if tables or found or application:
            raise StoreError(
                f"{path} is an SQLite database of another program (tables: "
                f"{', '.join(sorted(tables)) or 'none'}); choose another file"
            )
        return True
    if found > version:
        raise StoreVersionError(
            f"{path} has schema version {found}, this jitrl reads up to {version}; "
            "upgrade it: pip install -U jitrl"
        )
    missing = _NAMES - tables
    if found == VERSION and missing:
        raise StoreError(
            f"{path} is damaged: table {', '.join(sorted(missing))} is missing; "
            "take a backup or an export"
        )
    return bool(found < version)


def _read(db: sqlite3.Connection) -> tuple[int, int, set[str]]:
    """Application, schema version and tables at one moment: another process may be making them."""
    is_own = not db.in_transaction
    if is_own:
        db.execute("BEGIN")
    try:
        names = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        tables = {str(name) for (name,) in names}
        (application,) = db.execute("PRAGMA application_id").fetchone()
        (found,) = db.execute("PRAGMA user_version").fetchone()
    finally:
        if is_own:
            with suppress(sqlite3.Error):  # a damaged file's own error counts
                db.execute("ROLLBACK")
    return application, found, tables


def check_version(db: sqlite3.Connection, path: str) -> None:
    """Refuse a file that was changed while it was open.

    Raises:
        StoreVersionError: If a newer version of this package brought it up to date.
    """
    (found,) = db.execute("PRAGMA user_version").fetchone()
    if found != VERSION:
        raise StoreVersionError(
            f"a newer jitrl brought {path} to schema version {found} while it was open, this one "
            f"reads up to {VERSION}; nothing of this was written: upgrade (pip install -U jitrl) "
            "and open it again"
        )


def prepare(
    db: sqlite3.Connection,
    path: str,
    *,
    version: int = VERSION,
    migrations: Mapping[int, Migration] = MIGRATIONS,
) -> None:
    """Create the tables, or migrate step by step to ``version``, in one transaction.

    Raises:
        StoreError: As ``needs_work``, or if there is no way from the file's version.
    """
    db.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have done it while this one waited for the lock.
        if needs_work(db, path, version=version):
            (found,) = db.execute("PRAGMA user_version").fetchone()
            if not found:
                for statement in TABLES:
                    db.execute(statement)
                found = VERSION
            for step in range(found, version):
                if step not in migrations:
                    raise StoreError(f"{path} has schema version {step}; no migration starts there")
                migrations[step](db)
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute(f"PRAGMA user_version = {version}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
