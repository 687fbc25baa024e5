from dataclasses import replace

import pytest

from jitrl.analysis.price import Assumptions, account, measured
from jitrl.errors import ConfigError, InputError
from jitrl.models.calls import Call
from jitrl.run import experiment
from jitrl.run.ledger import Ledger

GIVEN = Assumptions(
    tokens_in=10_000,
    tokens_out=1_000,
    price_in=1.0,
    price_out=10.0,
    tasks=10,
    attempts=5,
    rounds=2,
    judging=0.3,
    learning=0.2,
    gpus=2,
    hours=10,
    gpu_price=3.0,
    served=600,
    load=0.5,
)


def test_both_bills_are_what_they_are_by_hand():
    found = account(GIVEN)
    assert found.attempts == 100
    assert found.memory.each == pytest.approx(0.02)  # 10k at $1 and 1k at $10 a million
    assert found.memory.once == pytest.approx(100 * 0.02 * 1.5)
    assert found.tuning.once == 60.0
    assert found.tuning.each == pytest.approx(0.01)  # $3 for 600 tasks at half load
    assert found.even == pytest.approx((60 - 3) / (0.02 - 0.01))


def test_at_the_even_volume_both_cost_the_same_and_beyond_it_tuning_is_cheaper():
    found = account(GIVEN)
    assert found.memory.total(found.even) == pytest.approx(found.tuning.total(found.even))
    assert found.cheaper(found.even / 2) == "memory"
    assert found.cheaper(found.even * 2) == "tuning"


@pytest.mark.parametrize(
    ("changed", "cheaper"),
    [({"load": 0.1}, "memory"), ({"rounds": 200, "price_in": 5.0}, "tuning")],
)
def test_one_way_may_be_cheaper_at_any_volume(changed, cheaper):
    found = account(replace(GIVEN, **changed))
    assert found.even is None
    assert {found.cheaper(volume) for volume in (0, 1e9)} == {cheaper}


def test_learning_in_use_is_paid_for_each_task():
    assert account(replace(GIVEN, used=1.0)).memory.each == pytest.approx(0.02 * 1.5)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"tasks": -1}, "tasks is -1"),
        ({"price_in": float("nan")}, "price_in is nan"),
        ({"load": 1.5}, "a share is at most 1"),
        ({"served": 0}, "served is 0"),
    ],
)
def test_what_no_account_can_be_made_of_is_refused(changed, said):
    with pytest.raises(ConfigError, match=said):
        replace(GIVEN, **changed)


@pytest.fixture
def played(tmp_path, settings, parts):
    """A run of 20 episodes whose ledger holds nothing."""
    experiment.run(settings(attempts=2, agent="static"), tmp_path / "r", parts("static"))
    (tmp_path / "r" / "ledger.db").unlink()
    return tmp_path / "r"


def call(ledger, phase, tokens_in, tokens_out):
    meter = ledger.meter(phase)
    spent = Call("m", "letters", False, tokens_in, tokens_out)
    meter.finish(meter.start(spent), spent)


def test_a_run_gives_tokens_and_shares_of_an_episode(played):
    ledger = Ledger(played / "ledger.db")
    call(ledger, "act", 20_000, 2_000)
    ledger.meter("act").cached("m")  # counts as another call of that size
    lost = Call("m", "letters", False, 0, 0)
    meter = ledger.meter("act")
    meter.finish(meter.start(lost), lost, failed=True)  # brought no answer
    call(ledger, "judge", 4_000, 400)
    call(ledger, "learn", 0, 400)
    ledger.close()
    found = measured(played, GIVEN)
    assert (found.tokens_in, found.tokens_out) == (2_000, 200)
    assert found.judging == pytest.approx(0.1)
    assert found.learning == pytest.approx(400 * 10 / (40_000 + 40_000))
    assert found.tasks == GIVEN.tasks


def test_a_ledger_without_tokens_is_refused_with_what_to_give(played):
    with pytest.raises(InputError, match=r"20 episodes.*--tokens-in"):
        measured(played, GIVEN)
