"""What a service keeps of secrets: nothing, while callers get actions that they can execute."""

from jitrl.config import Memory
from jitrl.service.desk import Desk

CARD = "4111 1111 1111 1111"
STATE = f"pay with {CARD}"
CANDIDATES = {f"fill({CARD!r})": 1.0, "back()": 0.0}


def bytes_of(folder):
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_a_step_with_a_secret_is_answered_again_and_leaves_no_trace_on_disk(tmp_path):
    desk = Desk(tmp_path / "shop.db", settings=Memory())
    seat = desk.episodes.start(f"pay {CARD}", key=f"run {CARD}")
    first = desk.episodes.decide(seat.key, STATE, CANDIDATES, step=0)
    assert first.action == f"fill({CARD!r})"
    assert desk.episodes.start(f"pay {CARD}", key=f"run {CARD}").key == seat.key
    again = desk.episodes.decide(seat.key, STATE, CANDIDATES, step=0)
    assert (again.step, again.action) == (0, first.action)
    assert CARD.encode() not in bytes_of(tmp_path)
    desk.episodes.close(f"run {CARD}")
    desk.close()
    assert CARD.encode() not in bytes_of(tmp_path)
