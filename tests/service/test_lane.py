"""Calls one after the other, and past each other only where one is slow."""

import threading
import time

import pytest

from jitrl.service.lane import Lane

LONG = 20.0


def test_calls_run_one_after_the_other_in_the_order_they_came():
    lane, seen, done = Lane("t", 4, patience=LONG), [], threading.Event()
    for n in range(50):
        lane.submit(lambda n=n: seen.append((n, threading.get_ident())))
    lane.submit(done.set)
    assert done.wait(LONG)
    assert [n for n, _ in seen] == list(range(50))
    assert len({thread for _, thread in seen}) == 1
    lane.close()


def test_no_call_passes_one_that_does_not_take_too_long():
    lane, began, go = Lane("t", 4, patience=LONG), threading.Event(), threading.Event()
    passed = threading.Event()
    lane.submit(lambda: (began.set(), go.wait(LONG)))
    assert began.wait(LONG)
    lane.submit(passed.set)
    assert not passed.wait(0.2)
    go.set()
    assert passed.wait(LONG)
    lane.close()


def test_a_call_passes_one_that_takes_too_long_but_only_so_many_do():
    lane, go, passed = Lane("t", 2, patience=0.01), threading.Event(), threading.Event()
    began = [threading.Event(), threading.Event()]
    for event in began:
        lane.submit(lambda event=event: (event.set(), go.wait(LONG)))
        assert event.wait(LONG)
        time.sleep(0.05)
    lane.submit(passed.set)
    assert not passed.wait(0.2)
    go.set()
    assert passed.wait(LONG)
    lane.close()


def test_a_spare_thread_ends_and_the_last_one_stays():
    lane, go = Lane("spare", 3, patience=0.01, idle=0.05), threading.Event()
    lane.submit(lambda: go.wait(LONG))
    time.sleep(0.05)
    passed = threading.Event()
    lane.submit(passed.set)
    assert passed.wait(LONG)
    go.set()
    until = time.monotonic() + LONG
    while threads("spare") > 1 and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.2)
    assert threads("spare") == 1
    lane.close()


def test_a_call_that_fails_stops_no_other(caplog):
    lane, done = Lane("t", 1), threading.Event()
    lane.submit(lambda: 1 / 0)
    lane.submit(done.set)
    assert done.wait(LONG)
    assert "ZeroDivisionError" in caplog.text
    lane.close()


def test_closing_waits_for_what_runs_and_drops_what_waits():
    lane, began, seen = Lane("t", 1), threading.Event(), []
    lane.submit(lambda: (began.set(), time.sleep(0.1), seen.append("ran")))
    assert began.wait(LONG)
    lane.submit(lambda: seen.append("waited"))
    lane.close()
    assert seen == ["ran"]
    with pytest.raises(RuntimeError, match="was closed"):
        lane.submit(lambda: None)
    lane.close()


def threads(name):
    return sum(t.name == name for t in threading.enumerate())


def test_what_is_left_of_a_call_and_takes_long_lets_others_pass_but_none_of_its_key():
    lane, began, go = Lane("t", 4, patience=LONG), threading.Event(), threading.Event()
    passed, same = threading.Event(), threading.Event()

    def rest():
        began.set()
        go.wait(LONG)

    lane.submit(lambda: [rest], "mine")
    assert began.wait(LONG)
    lane.submit(same.set, "mine")
    lane.submit(passed.set, "other")
    assert passed.wait(LONG)
    assert not same.wait(0.2)
    go.set()
    assert same.wait(LONG)
    lane.close()


def test_who_waited_before_the_long_part_began_passes_too():
    lane, began, go, rest = (
        Lane("t", 2, patience=LONG),
        threading.Event(),
        threading.Event(),
        threading.Event(),
    )
    passed = threading.Event()
    lane.submit(lambda: (began.set(), go.wait(LONG)) and [lambda: rest.wait(LONG)], "mine")
    assert began.wait(LONG)
    lane.submit(passed.set, "other")
    assert not passed.wait(0.2)
    go.set()
    assert passed.wait(LONG)
    rest.set()
    lane.close()


def pieces(count, seen, name="piece", then=None):
    for n in range(count):
        seen.append((name, n))
        yield
    if then is not None:
        then()


def test_what_is_done_later_is_done_in_pieces_and_calls_come_between_them():
    lane, seen, done = Lane("t", 1, patience=LONG), [], threading.Event()
    began, go = threading.Event(), threading.Event()

    def slow():
        seen.append(("piece", 0))
        began.set()
        assert go.wait(LONG)
        yield
        yield from pieces(3, seen, "after", done.set)

    lane.later("scope", slow())
    assert began.wait(LONG)
    lane.submit(lambda: seen.append("call"))
    go.set()
    assert done.wait(LONG)
    assert seen == [("piece", 0), "call", ("after", 0), ("after", 1), ("after", 2)]
    lane.close()


def test_no_piece_begins_while_something_holds_the_lane_and_calls_run():
    lane, seen, called, done = Lane("t", 1), [], threading.Event(), threading.Event()
    with lane.hold():
        lane.later("scope", pieces(2, seen, then=done.set))
        lane.submit(called.set)
        assert called.wait(LONG)
        assert not done.wait(0.2)
        assert not seen
    assert done.wait(LONG)
    assert seen == [("piece", 0), ("piece", 1)]
    lane.close()


def test_what_is_newly_left_for_later_takes_the_place_of_the_rest_under_its_key():
    lane, seen, done, other = Lane("t", 1), [], threading.Event(), threading.Event()
    with lane.hold():
        lane.later("scope", pieces(2, seen, "old"))
        lane.later("other", pieces(1, seen, "other", other.set))
        lane.later("scope", pieces(1, seen, "new", done.set))
    assert done.wait(LONG)
    assert other.wait(LONG)
    assert seen == [("new", 0), ("other", 0)]
    lane.close()


def test_a_piece_that_fails_ends_its_own_rest_alone(caplog):
    lane, seen, done = Lane("t", 1), [], threading.Event()
    with lane.hold():
        lane.later("bad", pieces(1, seen, then=lambda: 1 / 0))
        lane.later("good", pieces(1, seen, then=done.set))
    assert done.wait(LONG)
    assert "ZeroDivisionError" in caplog.text
    assert len(seen) == 2
    lane.close()


def test_closing_drops_what_is_left_for_later():
    lane, seen = Lane("t", 1), []
    with lane.hold():
        lane.later("scope", pieces(2, seen))
        lane.close()
    lane.later("scope", pieces(2, seen))
    time.sleep(0.1)
    assert not seen


def test_a_piece_waits_until_nothing_came_for_a_moment():
    lane, called, done = Lane("t", 1, pause=0.3), [], threading.Event()
    began = []
    lane.submit(lambda: called.append(time.monotonic()))
    while not called:
        time.sleep(0.001)
    lane.later("scope", pieces(1, began, then=done.set))
    assert done.wait(LONG)
    assert time.monotonic() - called[0] >= 0.3
    lane.close()


def test_a_piece_begins_where_what_holds_the_lane_lets_go_for_a_while():
    lane, seen = Lane("t", 1), []
    with lane.hold():
        lane.later("a", pieces(3, seen))
        time.sleep(0.05)
        assert seen == []
        with lane.let_go():
            until = time.monotonic() + 20.0
            while len(seen) < 3 and time.monotonic() < until:
                time.sleep(0.01)
        assert len(seen) == 3
        lane.later("b", pieces(3, seen))
        time.sleep(0.05)
        assert len(seen) == 3
    lane.close()
