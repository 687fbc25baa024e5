"""What a rule has shown is read by its own uses, however many episodes of others there are."""

import sqlite3
from contextlib import closing

import pytest

from jitrl.core.sentences import rule_id
from jitrl.stores import rulebook_reads
from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.rule_samples import played
from jitrl.types import Rule

MINE, OTHER = (f"When the goal names {what}, open it" for what in ("an order", "a page"))


@pytest.mark.parametrize(
    "read",
    [
        lambda db: rulebook_reads.uses(db, 1, [rule_id(MINE)], None),
        lambda db: rulebook_reads.counts(db, 1, 1.0, [rule_id(MINE)], None),
        lambda db: {r.rule.id: r for r in rulebook_reads.records(db, 1, ids=[rule_id(MINE)])},
    ],
    ids=["uses", "counts", "history"],
)
def test_a_rule_is_read_without_looking_at_all_episodes_or_rules(tmp_path, read):
    path = tmp_path / "m.db"

    def steps():
        """Instructions that SQLite takes, to the hundred."""
        count = 0

        def one():
            nonlocal count
            count += 1

        with closing(sqlite3.connect(path)) as db:
            db.set_progress_handler(one, 100)
            assert read(db)[rule_id(MINE)]
        return count

    with SQLiteStore(path) as store:
        store.add_rules([Rule(rule_id(text), text, "shop") for text in (MINE, OTHER)])
        for n in range(20):
            played(store, f"mine{n}", [(rule_id(MINE), n % 2 == 0)])
        before = steps()
        with store.batch():
            for n in range(400):
                played(store, f"other{n}", [(rule_id(OTHER), True)])
                text = f"{OTHER} of kind {n}"
                store.add_rules([Rule(rule_id(text), text, "shop")])
        after = steps()
    assert after <= before + before // 2
