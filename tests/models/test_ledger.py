import multiprocessing
import os
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import replace
from functools import partial

import pytest

from jitrl.errors import BudgetExceeded, ConfigError, ModelError, StoreError
from jitrl.models.cache import AnswerFile
from jitrl.models.calls import Answer, Call, Message, Meter, Transient, Write
from jitrl.models.channel import Channel, Retry
from jitrl.models.scripted import Scripted, ScriptedEndpoint
from jitrl.run.ledger import Ledger, Limits, Price
from jitrl.types import Prompt

CALL = Call("m@server", "letters", False, 100, 20)
STEP = Prompt("g", "o", (), ("a", "b"))


def made(meter, call=CALL, tokens_in=90, tokens_out=10):
    ticket = meter.start(call)
    meter.finish(ticket, replace(call, tokens_in=tokens_in, tokens_out=tokens_out))


def calls(ledger):
    return sum(total.calls for total in ledger.totals())


def repeat(task):
    for _ in range(20):
        task()


# --- sums ------------------------------------------------------------------------------------


def test_calls_are_summed_by_phase_and_model():
    ledger = Ledger(":memory:", prices={"m": Price(2.0, 8.0)})
    assert isinstance(ledger.meter("act"), Meter)
    for _ in range(3):
        made(ledger.meter("act"))
    made(ledger.meter("judge"), replace(CALL, model="j"))
    ledger.meter("act").cached("m@server")
    act, judge = ledger.totals()
    assert (act.phase, act.model, act.calls, act.failed, act.cached) == ("act", "m@server", 3, 0, 1)
    assert (act.tokens_in, act.tokens_out) == (270, 30)
    assert act.dollars == pytest.approx((270 * 2 + 30 * 8) / 1e6)
    assert (judge.phase, judge.model, judge.calls, judge.dollars) == ("judge", "j", 1, 0.0)


def test_what_answers_from_a_file_took_once_is_kept_where_it_is_known():
    meter = (ledger := Ledger(":memory:")).meter("act")
    made(meter)
    for tokens in ((100, 20), (50, 0), (0, 0)):
        meter.cached("m@server", *tokens)
    (total,) = ledger.totals()
    assert (total.calls, total.cached, total.tokens_in, total.tokens_out) == (1, 3, 90, 10)
    assert (total.spared, total.spared_in, total.spared_out) == (2, 150, 20)


def test_a_call_under_way_counts_with_its_estimate():
    ledger = Ledger(":memory:")
    ledger.meter("act").start(CALL)
    (total,) = ledger.totals()
    assert (total.calls, total.tokens_in, total.tokens_out) == (1, 100, 20)


def test_a_failed_call_counts_as_a_call_without_tokens():
    ledger = Ledger(":memory:")
    script = [Transient("busy"), Transient("busy"), Answer("hello", tokens_in=5, tokens_out=2)]
    channel = Channel(ScriptedEndpoint(script), meter=ledger.meter("act"), retry=Retry(first=0.001))
    channel.ask(Write((Message("user", "hello"),)), lambda answer: answer.text, "test")
    (total,) = ledger.totals()
    assert (total.calls, total.failed, total.tokens_in, total.tokens_out) == (3, 2, 5, 2)


def test_answers_from_a_file_cost_nothing_and_are_counted_apart(tmp_path, rng):
    ledger = Ledger(tmp_path / "ledger.db", limits=Limits(calls=1))
    for _ in range(3):
        model = Scripted(cache=tmp_path / "answers.db", meter=ledger.meter("act"))
        model.propose(STEP, rng)
    (total,) = ledger.totals()
    assert (total.calls, total.cached) == (1, 2)


def test_every_phase_and_retry_of_a_model_is_in_the_sum(rng):
    ledger = Ledger(":memory:")
    models = [Scripted(meter=ledger.meter(phase)) for phase in ("learn", "judge", "act")]
    for n, model in enumerate(models):
        for _ in range(n + 1):
            model.propose(STEP, rng)
    assert [(t.phase, t.calls) for t in ledger.totals()] == [("act", 3), ("judge", 2), ("learn", 1)]
    with pytest.raises(ConfigError, match="no phase 'play'; there are act, judge, learn"):
        ledger.meter("play")


def test_sums_stay_after_closing(tmp_path):
    path = tmp_path / "ledger.db"
    ledger = Ledger(path)
    made(ledger.meter("act"))
    ledger.close()
    ledger.close()
    assert calls(Ledger(path)) == 1
    with pytest.raises(StoreError, match="closed"):
        ledger.totals()


def test_a_file_of_answers_is_not_a_ledger(tmp_path):
    AnswerFile(tmp_path / "a.db").close()
    with pytest.raises(StoreError, match="something else than a ledger"):
        Ledger(tmp_path / "a.db")


# --- budgets ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "allowed"),
    [
        (Limits(calls=0), 0),
        (Limits(calls=3), 3),
        (Limits(tokens=320), 3),  # 3 x 100 taken, 120 more estimated
        (Limits(dollars=0.00062), 2),  # 2 x .00026 taken, .00036 more estimated
        (Limits(calls=9, tokens=320), 3),
    ],
)
def test_the_call_that_would_pass_a_limit_is_not_made(limits, allowed):
    ledger = Ledger(":memory:", limits=limits, prices={"m": Price(2.0, 8.0)})
    endpoint = ScriptedEndpoint([Answer("x", tokens_in=90, tokens_out=10)], model="m@server")
    endpoint.local = False
    channel = Channel(endpoint, meter=ledger.meter("act"))
    request = Write((Message("user", "x" * 297),), max_tokens=20)
    with pytest.raises(BudgetExceeded, match=r"raise max_\w+ to go on") as stop:
        repeat(lambda: channel.ask(request, lambda answer: answer.text, "test"))
    assert endpoint.calls == calls(ledger) == allowed
    assert stop.value.exit_code == 6


def test_a_run_goes_on_with_a_higher_limit(tmp_path, rng):
    path = tmp_path / "ledger.db"
    for limit in (5, 8):
        model = Scripted(meter=Ledger(path, limits=Limits(calls=limit)).meter("act"))
        with pytest.raises(BudgetExceeded, match=f"budget of {limit} calls is used up"):
            repeat(partial(model.propose, STEP, rng))
        assert calls(Ledger(path)) == limit
    assert model.calls == 3


def test_a_limit_of_dollars_needs_a_price_unless_the_model_is_local(rng):
    ledger = Ledger(":memory:", limits=Limits(dollars=0))
    with pytest.raises(ConfigError, match="no price for m@server"):
        ledger.meter("act").start(CALL)
    Scripted(meter=ledger.meter("act")).propose(STEP, rng)
    assert calls(ledger) == 1


def test_a_price_may_name_the_server():
    ledger = Ledger(":memory:", prices={"m": Price(1, 1), "m@server": Price(3, 0)})
    made(ledger.meter("act"))
    assert ledger.totals()[0].dollars == pytest.approx(270e-6)


@pytest.mark.parametrize(
    "limits",
    [
        Limits(calls=-1),
        Limits(tokens=-1),
        Limits(dollars=float("nan")),
        Limits(dollars=float("inf")),
    ],
)
def test_an_impossible_limit_is_refused(limits):
    with pytest.raises(ConfigError, match="at least 0"):
        Ledger(":memory:", limits=limits)


def test_an_impossible_price_is_refused():
    for read, written in ((-1, 0), (0, float("inf")), (float("nan"), 0)):
        with pytest.raises(ConfigError, match="dollars per million tokens"):
            Price(read, written)


def test_threads_cannot_pass_a_limit_together(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", limits=Limits(calls=30))
    model = Scripted(meter=ledger.meter("act"))
    stopped = []

    def work():
        try:
            while True:
                model.propose(STEP, None)
        except BudgetExceeded:
            stopped.append(True)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(stopped), model.calls, calls(ledger)) == (6, 30, 30)


def spend(path, count):
    """Make scripted calls until the budget ends; the exit code is how many were made."""
    model = Scripted(meter=Ledger(path, limits=Limits(calls=count)).meter("act"))
    try:
        while True:
            model.propose(STEP, None)
    except BudgetExceeded:
        os._exit(model.calls)


def test_processes_cannot_pass_a_limit_together(tmp_path):
    path = tmp_path / "ledger.db"
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=spend, args=(path, 50)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert sum(process.exitcode for process in processes) == 50
    assert calls(Ledger(path)) == 50


# --- kill ------------------------------------------------------------------------------------

KILLED = """
import sys, time
from jitrl.models.callable import CallableModel
from jitrl.run.ledger import Ledger
from jitrl.types import Prompt

seen = open(sys.argv[2], "ab", buffering=0)

def counted(prompt):
    seen.write(b".")
    time.sleep(0.002)
    return {action: 0.0 for action in prompt.actions}

model = CallableModel(counted, meter=Ledger(sys.argv[1]).meter("act"))
while True:
    model.propose(Prompt("g", "o", (), ("a", "b")), None)
"""


def test_after_kills_the_sum_is_the_number_of_calls_made(tmp_path):
    path, seen = tmp_path / "ledger.db", tmp_path / "seen"
    for kill in range(4):
        before = seen.stat().st_size if seen.exists() else 0
        process = subprocess.Popen([sys.executable, "-c", KILLED, str(path), str(seen)])
        while not seen.exists() or seen.stat().st_size < before + 5 + 7 * kill:
            time.sleep(0.001)
        process.kill()
        process.wait()
        # a call that was written down, and not yet begun when the kill came, may be one too many
        assert 0 <= calls(Ledger(path)) - seen.stat().st_size <= kill + 1
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        total = db.execute("SELECT calls, tokens_in FROM total").fetchone()
        assert db.execute("SELECT count(*), sum(tokens_in) FROM call").fetchone() == total
    db.close()


def test_a_provider_that_fails_for_good_leaves_no_call_open():
    ledger = Ledger(":memory:")
    channel = Channel(ScriptedEndpoint([ModelError("gone")]), meter=ledger.meter("act"))
    with pytest.raises(ModelError, match="gone"):
        channel.ask(Write((Message("user", "hello"),)), lambda answer: answer.text, "test")
    (total,) = ledger.totals()
    assert (total.calls, total.failed, total.tokens_in) == (1, 1, 0)
