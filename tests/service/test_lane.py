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
