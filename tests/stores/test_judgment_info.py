"""How a judgment came about is journaled with it, and travels in an export."""

import dataclasses
from pathlib import Path

import pytest

from jitrl.errors import InputError
from jitrl.stores import line
from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.store_samples import put, sample_episode
from jitrl.types import Scored, Unscored

INFO = {"answers": ["<think>8</think>", "不知道"], "scores": [1, None, 0.5]}


@pytest.mark.parametrize(
    "judgment",
    [Unscored("unreadable", "judge", INFO), Scored((0.0, 0.0, 1.0), "judge", info=INFO)],
)
def test_what_a_judge_said_is_kept_beside_the_episode(
    tmp_path: Path, judgment: Scored | Unscored
) -> None:
    with SQLiteStore(tmp_path / "m.db") as store:
        store.commit(sample_episode("e1"), judgment, ())
        assert store.record("e1").judgment == judgment
        assert line.parse(line.dump(store.record("e1"))).judgment == judgment


def test_what_is_no_json_is_refused(tmp_path: Path) -> None:
    with SQLiteStore(tmp_path / "m.db") as store, pytest.raises(InputError, match=r"info\.x"):
        store.commit(sample_episode("e1"), Unscored("why", "judge", {"x": object()}), ())


def test_half_a_surrogate_pair_in_the_info_of_an_episode_is_named_by_its_place() -> None:
    episode = dataclasses.replace(sample_episode("e1"), info={"readings": [[0, "a\ud83d"]]})
    said = r"info\.readings\[0\]\[1\] has half of a surrogate pair \('\\ud83d'\) at character 1"
    with SQLiteStore(":memory:") as store, pytest.raises(InputError, match=said):
        put(store, episode)
