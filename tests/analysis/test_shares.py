import msgspec
import pytest

from jitrl import config
from jitrl.analysis import results
from jitrl.analysis.shares import shares
from jitrl.run import experiment


@pytest.fixture
def lived(tmp_path, settings, parts):
    """Journals of a run of the agent jitrl on toy tasks, and its attempts."""

    def made(**run):
        near = config.Memory(retrieval={"threshold": 0.1})
        asked = msgspec.structs.replace(settings(attempts=3, **run), memory=near)
        experiment.run(asked, tmp_path / "r", parts("jitrl", tasks=3))
        return results.read(tmp_path / "r").journals

    return made


def test_own_and_other_rows_are_told_apart(lived):
    found = shares(lived(), 3)
    assert found.rows > found.other > 0
    assert found.share == pytest.approx(found.other / found.rows)
    assert found.by_attempt[0] == 1.0  # before one's own first episode there are only others
    assert found.by_attempt[2] < 1.0


def test_with_transfer_all_rows_are_of_other_tasks(lived):
    found = shares(lived(protocol="transfer"), 3)
    assert found.rows == found.other > 0
    assert set(found.by_attempt) == {1.0}


def test_an_agent_without_memory_is_given_nothing(tmp_path, settings, parts):
    experiment.run(settings(attempts=2), tmp_path / "r", parts("static"))
    found = shares(results.read(tmp_path / "r").journals, 2)
    assert (found.decisions, found.rows, found.share, found.by_attempt) == (0, 0, None, (None,) * 2)
