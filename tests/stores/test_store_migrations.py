"""Files made by an older version are brought up to date, and no other file is touched."""

import sqlite3
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from jitrl.errors import StoreError, StoreVersionError
from jitrl.stores import schema
from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.rule_samples import played, sample_contrast, sample_rule
from jitrl.testing.store_samples import put, sample_episode


def add_note(db: sqlite3.Connection) -> None:
    db.execute("ALTER TABLE memory ADD COLUMN note TEXT NOT NULL DEFAULT ''")
    db.execute("UPDATE memory SET note = 'from ' || name")


def split_note(db: sqlite3.Connection) -> None:
    db.execute("CREATE TABLE note(memory_id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
    db.execute("INSERT INTO note SELECT id, note FROM memory")


NOW = schema.VERSION
MIGRATIONS: Mapping[int, schema.Migration] = {NOW: add_note, NOW + 1: split_note}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A file of the shipped schema with two episodes."""
    path = tmp_path / "memory.db"
    with SQLiteStore(path) as store:
        put(store, sample_episode("e1"))
        put(store, sample_episode("e2"))
    return path


@pytest.fixture
def db(old: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(old, isolation_level=None)
    yield connection
    connection.close()


def version_of(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def without_rules(db: sqlite3.Connection) -> None:
    """As schema 2 was."""
    for table in ("snapshot", "rule_use", "change_rule", "contrast", "rule"):
        db.execute(f"DROP TABLE {table}")


def described(db: sqlite3.Connection) -> list[tuple[str, str]]:
    return db.execute("SELECT name, sql FROM sqlite_master WHERE sql <> '' ORDER BY 1").fetchall()


def test_the_shipped_migrations_reach_the_shipped_version() -> None:
    assert sorted(schema.MIGRATIONS) == list(range(1, schema.VERSION))


def test_a_file_of_schema_1_learns_to_say_how_judgments_came_about(
    old: Path, db: sqlite3.Connection
) -> None:
    without_rules(db)
    db.execute("ALTER TABLE judgment DROP COLUMN info")
    db.execute("PRAGMA user_version = 1")
    with SQLiteStore(old) as store:
        assert [record.judgment.info for record in store.records()] == [{}, {}]
        put(store, sample_episode("e3"))
        assert store.check() == []
    assert version_of(db) == NOW


def test_a_file_of_schema_2_keeps_its_episodes_and_takes_rules(
    old: Path, db: sqlite3.Connection
) -> None:
    with SQLiteStore(old) as store:
        before = (list(store.episodes()), list(store.changes(0)))
    tables = described(db)
    without_rules(db)
    db.execute("PRAGMA user_version = 2")
    assert described(db) != tables
    with pytest.raises(StoreError, match="of an older schema"):
        SQLiteStore(old, readonly=True)
    with SQLiteStore(old) as store:
        assert (list(store.episodes()), list(store.changes(0))) == before
        assert (store.rules(), store.contrasts(), store.rule_uses()) == ((), (), {})
        rule = sample_rule(evidence=("c1",))
        store.add_rules([rule], [sample_contrast()])
        played(store, "e3", [(rule.id, True)])
        assert (store.head(), len(store.rule_uses()[rule.id])) == (4, 1)
        assert store.check() == []
    assert described(db) == tables
    assert version_of(db) == NOW


def test_a_file_of_schema_4_keeps_what_was_obeyed(old: Path, db: sqlite3.Connection) -> None:
    rule = sample_rule()
    with SQLiteStore(old) as store:
        store.add_rules([rule])
        played(store, "e3", [(rule.id, True)])
        (before,) = store.rule_uses()[rule.id]
    tables = described(db)
    db.execute("ALTER TABLE rule_use DROP COLUMN unknown")
    db.execute("PRAGMA user_version = 4")
    with SQLiteStore(old) as store:
        (after,) = store.rule_uses()[rule.id]
        assert after.use == replace(before.use, unknown=0)
        assert store.check() == []
    assert described(db) == tables


def test_a_file_of_schema_3_keeps_its_episodes_and_takes_snapshots(
    old: Path, db: sqlite3.Connection
) -> None:
    tables = described(db)
    db.execute("DROP TABLE snapshot")
    db.execute("ALTER TABLE rule_use DROP COLUMN unknown")
    db.execute("PRAGMA user_version = 3")
    with SQLiteStore(old) as store:
        assert [episode.key for episode in store.episodes()] == ["e1", "e2"]
        assert store.versions.name("now").version == store.head()
        assert [one.name for one in store.versions.snapshots()] == ["now"]
        assert store.check() == []
    assert described(db) == tables
    assert version_of(db) == NOW


def test_an_older_file_is_migrated_step_by_step_and_keeps_its_episodes(
    old: Path, db: sqlite3.Connection
) -> None:
    assert version_of(db) == NOW
    assert schema.needs_work(db, str(old), version=NOW + 2)
    schema.prepare(db, str(old), version=NOW + 2, migrations=MIGRATIONS)
    assert version_of(db) == NOW + 2
    assert db.execute("SELECT text FROM note").fetchall() == [("from default",)]
    assert db.execute("SELECT key FROM episode ORDER BY id").fetchall() == [("e1",), ("e2",)]
    assert not schema.needs_work(db, str(old), version=NOW + 2)


def test_the_older_package_refuses_a_migrated_file(old: Path, db: sqlite3.Connection) -> None:
    schema.prepare(db, str(old), version=NOW + 1, migrations=MIGRATIONS)
    with pytest.raises(
        StoreVersionError, match=f"schema version {NOW + 1}, this jitrl reads up to {NOW}"
    ):
        SQLiteStore(old)


def test_a_migration_that_fails_leaves_the_file_as_it_was(
    old: Path, db: sqlite3.Connection
) -> None:
    def broken(db: sqlite3.Connection) -> None:
        add_note(db)
        db.execute("DELETE FROM episode")
        raise StoreError("half way")

    with pytest.raises(StoreError, match="half way"):
        schema.prepare(db, str(old), version=NOW + 1, migrations={NOW: broken})
    with SQLiteStore(old) as store:
        assert [e.key for e in store.episodes()] == ["e1", "e2"]
        assert store.check() == []


def test_a_version_without_a_way_forward_is_named(old: Path, db: sqlite3.Connection) -> None:
    with pytest.raises(StoreError, match=f"schema version {NOW + 1}; no migration starts there"):
        schema.prepare(db, str(old), version=NOW + 2, migrations={NOW: add_note})
    assert version_of(db) == NOW


def test_a_new_file_gets_the_shipped_tables_and_what_comes_after_them(tmp_path: Path) -> None:
    new = sqlite3.connect(tmp_path / "new.db", isolation_level=None)
    schema.prepare(new, "new.db", version=NOW + 2, migrations=MIGRATIONS)
    assert version_of(new) == NOW + 2
    assert new.execute("SELECT count(*) FROM note").fetchone() == (0,)
    new.close()


def test_of_several_that_open_an_old_file_at_once_one_migrates(old: Path) -> None:
    ran: list[int] = []

    def count(db: sqlite3.Connection) -> None:
        ran.append(1)
        add_note(db)

    def work() -> None:
        own = sqlite3.connect(old, isolation_level=None, timeout=30)
        schema.prepare(own, str(old), version=NOW + 1, migrations={NOW: count})
        own.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ran == [1]
