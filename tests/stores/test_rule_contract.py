"""The SQLite store keeps a rulebook as its contract says, in a file and in memory."""

from pathlib import Path

import pytest

from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.rule_samples import played, sample_contrast, sample_rule
from jitrl.testing.store_rules import RulesContract


class TestInAFile(RulesContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def open_store(self) -> SQLiteStore:
        return SQLiteStore(self.folder / "memory.db")


class TestInMemory(RulesContract):
    def open_store(self) -> SQLiteStore:
        return SQLiteStore(":memory:")


class TestBesideAnotherMemoryOfTheFile(RulesContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def open_store(self) -> SQLiteStore:
        with SQLiteStore(self.folder / "memory.db") as default:
            rule = sample_rule(evidence=("c1",))
            default.add_rules([rule], [sample_contrast(goal="elsewhere")], reason="elsewhere")
            played(default, "e1", [(rule.id, True)])
            played(default, "bad")
            default.set_status("quarantined", episodes=["bad"])
        return SQLiteStore(self.folder / "memory.db", memory="other")


def test_rules_and_uses_of_a_batch_that_fails_are_not_there(tmp_path: Path) -> None:
    with SQLiteStore(tmp_path / "memory.db") as store:
        rule = sample_rule(evidence=("c1",))

        def write() -> None:
            with store.batch():
                store.add_rules([rule], [sample_contrast()])
                played(store, "e1", [(rule.id, True)])
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            write()
        assert (store.head(), store.rules(), store.contrasts()) == (0, (), ())
        assert store.check() == []
