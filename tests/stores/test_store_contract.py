"""The SQLite store fulfils the store contract, in a file and in memory."""

from pathlib import Path

import pytest

from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.store import StoreContract
from jitrl.testing.store_samples import put, sample_episode


class TestInAFile(StoreContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def open_store(self) -> SQLiteStore:
        return SQLiteStore(self.folder / "memory.db")


class TestInMemory(StoreContract):
    def open_store(self) -> SQLiteStore:
        return SQLiteStore(":memory:")


class TestBesideAnotherMemoryOfTheFile(StoreContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def open_store(self) -> SQLiteStore:
        with SQLiteStore(self.folder / "memory.db") as default:
            put(default, sample_episode("e1", steps=4))
            put(default, sample_episode("elsewhere"))
        return SQLiteStore(self.folder / "memory.db", memory="other")
