"""A memory is kept by the store whose entry point was named."""

import sys

import pytest

import jitrl
from jitrl import registry
from jitrl.errors import ConfigError, InputError, StoreError
from jitrl.stores.sqlite import SQLiteStore

CODE = '''
from jitrl.stores.sqlite import SQLiteStore

OPENED = []

class Kept:
    """What ``ports.Store`` asks for, and nothing else."""

    def __init__(self, path, *, memory):
        OPENED.append((path, memory))
        self._inner = SQLiteStore(":memory:", memory=memory)
        self.closed = 0

    def close(self):
        self.closed += 1
        self._inner.close()

for name in "commit rederive episode outline episodes head changes set_status".split():
    def passed(self, *args, name=name, **more):
        return getattr(self._inner, name)(*args, **more)
    setattr(Kept, name, passed)
'''
LINKS = {"a": 0.0, "b": 0.0}


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Installs a package with the store ``kept``; its module, which says what was opened."""
    (tmp_path / "jitrl_kept.py").write_text(CODE)
    info = tmp_path / "jitrl_kept-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: jitrl-kept\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[jitrl.stores]\nkept = jitrl_kept:Kept\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "jitrl_kept", raising=False)
    import jitrl_kept

    return jitrl_kept


def learn(memory, times=6):
    for _ in range(times):
        with memory.episode("t") as episode:
            choice = episode.decide("a page", LINKS)
            episode.finish(choice.action == "b")


def test_the_store_that_comes_with_the_package_is_the_entry_point_sqlite(tmp_path):
    assert registry.load("stores", "sqlite") is SQLiteStore
    with jitrl.open(tmp_path / "m.db") as memory:
        assert isinstance(memory.store, SQLiteStore)


def test_a_memory_is_kept_by_the_store_that_is_named(kept, tmp_path):
    path = tmp_path / "m.db"
    with jitrl.open(path, memory="own", store="kept") as memory:
        assert [(str(path), "own")] == kept.OPENED
        learn(memory)
        with memory.episode("t", key="k") as episode:
            assert episode.decide("a page", LINKS).neighbors
            episode.finish(1.0)
        assert memory.outcome("k", 0.0).rows == 1
        assert memory.quarantine(episodes=["k"]) == 1
        store = memory.store
    assert store.closed >= 1
    assert not path.exists()


def test_a_store_of_another_package_gets_no_secret_either(kept):
    with jitrl.open(":memory:", store="kept", redact=["mails"]) as memory:
        with memory.episode("of a@b.cn", key="a@b.cn/1") as episode:
            episode.decide("from a@b.cn", {"a": 0.0})
            episode.finish(1.0, principal="a@b.cn")
        assert memory.outcome("a@b.cn/1", 0.5, principal="a@b.cn").rows == 1
        assert memory.quarantine(episodes=["a@b.cn/1"], reason="a@b.cn") == 1
        found = repr([*memory.store.episodes(), *memory.store.changes(0)])
    assert "a@b.cn" not in found
    assert "{mail:" in found


def test_a_store_without_decisions_says_that_they_cannot_be_explained(kept):
    with jitrl.open(":memory:", store="kept") as memory:
        learn(memory, 1)
        with pytest.raises(StoreError, match=r"store Kept has no decision\(\).*'sqlite'"):
            memory.explain("k#0")
        with pytest.raises(StoreError, match="cannot be explained"):
            memory.replay(without=())


def test_a_store_that_nobody_offers_is_refused_with_those_that_are_there(tmp_path):
    with pytest.raises(ConfigError, match=r"no store is named 'sqlit' \(did you mean 'sqlite'\?\)"):
        jitrl.open(tmp_path / "m.db", store="sqlit")
    with pytest.raises(InputError, match="store is None"):
        jitrl.open(tmp_path / "m.db", store=None)
    assert not (tmp_path / "m.db").exists()
