"""What a memory remembers of how its rows were derived."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import jitrl
from jitrl.errors import MixedMemory
from jitrl.run.derivation import remember
from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.store_samples import derive, sample_episode, scored

OTHER = {"preset": "paper-web", "trusted": ["human"]}


def live(path: Path, key: str, **settings: Any) -> None:
    with jitrl.open(path, **settings) as memory, memory.episode("t", key=key) as episode:
        for page in ("s0", "s1"):
            episode.decide(page, {"a": 0.0})
        episode.finish(1.0)


def remembered(path: Path) -> dict[str, Any]:
    with SQLiteStore(path, readonly=True) as store:
        return store.settings()


class Other:
    """A store that is none of the package's."""

    def __init__(self, inner: SQLiteStore, lacks: str = "") -> None:
        self._inner, self._lacks = inner, lacks

    def __getattr__(self, name: str) -> Any:
        if name == self._lacks:
            raise AttributeError(name)
        return getattr(self._inner, name)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.db"


def test_opening_alone_remembers_nothing_and_changes_nothing_that_is_remembered(path: Path) -> None:
    jitrl.open(path).close()
    assert remembered(path) == {}
    live(path, "k")
    before = remembered(path)
    assert before == {
        "gamma": 0.6,
        "returns": "discounted",
        "trusted": ["human", "state_check", "test"],
    }
    with jitrl.open(path, **OTHER) as memory:
        memory.quarantine(episodes=["k"])
        memory.restore(episodes=["k"])
    assert remembered(path) == before


def test_any_store_that_keeps_settings_remembers_them_and_others_are_left_alone() -> None:
    with SQLiteStore(":memory:") as store:
        for other, kept in ((Other(store, "configure"), {}), (Other(store), {"gamma": 0.5})):
            assert remember(other, {"gamma": 0.5}) == ""  # type: ignore[arg-type]
            assert store.settings() == kept
        lived = sample_episode("k")
        store.commit(lived, scored(lived), derive(lived, scored(lived)))
        assert "were derived with gamma 0.5" in remember(Other(store), {"gamma": 0.1})  # type: ignore[arg-type]


def test_rows_that_come_with_other_settings_are_warned_of_once_and_stored(path: Path) -> None:
    live(path, "k")
    before = remembered(path)
    with jitrl.open(path, gamma=0.1) as memory:
        with memory.episode("t", key="one") as episode:
            episode.decide("s0", {"a": 0.0})
            says = r"were derived with gamma 0\.6, new ones are with gamma 0\.1.*memory rebuild"
            with pytest.warns(MixedMemory, match=says):
                episode.finish(1.0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with memory.episode("t", key="two") as episode:
                episode.decide("s0", {"a": 0.0})
                episode.finish(1.0)
    with jitrl.open(path, trusted=["human"]) as memory:
        with pytest.warns(MixedMemory, match=r"trusted \['human', 'state_check', 'test'\], new"):
            memory.outcome("k", 0.5)
        assert [row.reward for row in memory.store.rows("k")[-2:]] == [0.0, 0.5]
    assert remembered(path) == before


def test_a_warning_that_is_made_an_error_comes_after_the_episode_is_stored(path: Path) -> None:
    live(path, "k")
    with jitrl.open(path, gamma=0.1) as memory:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with memory.episode("t", key="one") as episode:
                episode.decide("s0", {"a": 0.0})
                with pytest.raises(MixedMemory):
                    episode.finish(1.0)
        assert memory.store.episode("one").status == "terminated"


def test_settings_are_replaced_as_long_as_there_are_no_rows(path: Path) -> None:
    with SQLiteStore(path) as store:
        store.configure({"gamma": 0.2})
    live(path, "k", gamma=0.3)
    assert remembered(path)["gamma"] == 0.3


def test_the_first_outcome_that_brings_rows_has_its_settings_remembered(path: Path) -> None:
    with jitrl.open(path, gamma=0.3) as memory:
        memory.episode("t", key="k").finish()
        with memory.episode("t", key="kk") as episode:
            episode.decide("s0", {"a": 0.0})
    with jitrl.open(path, gamma=0.4) as memory:
        memory.outcome("kk", 1.0)
    assert remembered(path)["gamma"] == 0.4
