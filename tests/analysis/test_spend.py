"""What a run took: acting, judging and learning, by its ledger."""

import pytest

from jitrl.analysis.spend import spent
from jitrl.errors import InputError
from jitrl.models.calls import Call
from jitrl.run import experiment
from jitrl.run.ledger import Ledger, Price


@pytest.fixture
def played(tmp_path, settings, parts):
    """A run of 20 episodes whose ledger holds nothing."""
    experiment.run(settings(attempts=2, agent="static"), tmp_path / "r", parts("static"))
    (tmp_path / "r" / "ledger.db").unlink()
    return tmp_path / "r"


def call(ledger, phase, tokens_in, tokens_out, *, model="m", failed=False):
    meter = ledger.meter(phase)
    made = Call(model, "letters", False, tokens_in, tokens_out)
    meter.finish(meter.start(made), made, failed=failed)


def test_shares_are_of_all_dollars_and_failed_calls_take_nothing(played):
    ledger = Ledger(played / "ledger.db")
    call(ledger, "act", 20_000, 2_000)
    call(ledger, "act", 0, 0, failed=True)
    call(ledger, "judge", 4_000, 400)
    call(ledger, "learn", 0, 400)
    ledger.close()
    found = spent(played, 1.0, 10.0)
    assert (found.episodes, found.is_priced) == (20, False)
    assert [one.phase for one in found.phases] == ["act", "judge", "learn"]
    assert (found.of("act").tokens_in, found.of("act").answers) == (20_000, 2)
    assert found.of("act").dollars == pytest.approx(0.04)
    assert found.share("judge") == pytest.approx(8 / 52)
    assert found.beside == pytest.approx(12 / 52)


def test_answers_from_a_file_count_with_what_they_took_once_or_else_the_mean(played):
    ledger = Ledger(played / "ledger.db")
    call(ledger, "act", 1_000, 100)
    ledger.meter("act").cached("m", 3_000, 300)
    ledger.meter("judge").cached("m", 500, 0)
    ledger.close()
    found = spent(played, 1.0, 10.0)
    assert (found.of("act").tokens_in, found.of("act").tokens_out) == (4_000, 400)
    assert (found.of("judge").tokens_in, found.of("judge").kept) == (500, 1)
    ledger = Ledger(played / "ledger.db")
    ledger.meter("act").cached("m")  # of a file that older versions filled
    ledger.close()
    assert spent(played, 1.0, 10.0).of("act").tokens_in == 6_000


def test_dollars_are_those_of_the_run_where_it_had_prices(played):
    prices = {"m": Price(1.0, 1.0), "judge": Price(10.0, 10.0)}
    ledger = Ledger(played / "ledger.db", prices=prices)
    call(ledger, "act", 3_000, 1_000)
    ledger.meter("act").cached("m", 3_000, 1_000)
    call(ledger, "judge", 200, 0, model="judge")
    ledger.close()
    found = spent(played, 99.0, 99.0)
    assert found.is_priced
    assert found.of("act").dollars == pytest.approx(0.008)
    assert found.beside == pytest.approx(0.002 / 0.010)


def test_where_only_some_models_have_a_price_all_are_priced_alike(played):
    ledger = Ledger(played / "ledger.db", prices={"m": Price(1.0, 1.0)})
    call(ledger, "act", 1_000, 0)
    call(ledger, "judge", 1_000, 0, model="judge")
    ledger.close()
    found = spent(played, 2.0, 2.0)
    assert not found.is_priced
    assert found.beside == pytest.approx(0.5)


def test_a_ledger_without_tokens_is_refused_with_what_to_give(played):
    with pytest.raises(InputError, match=r"20 episodes.*--tokens-in"):
        spent(played, 1.0, 1.0)
