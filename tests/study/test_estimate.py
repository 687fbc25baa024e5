import msgspec
import pytest

from jitrl import config
from jitrl.errors import BudgetExceeded
from jitrl.run import experiment
from jitrl.run.compose import compose
from jitrl.study import estimate, purse

TOY = config.Settings(
    environment=config.Environment(name="toy", options={"tasks": 4, "size": 2}),
    model=config.Model(name="scripted"),
    run=config.Run(agent="static", attempts=3, seeds=2, max_steps=10),
)


def changed(group, **values):
    return msgspec.structs.replace(
        TOY, **{group: msgspec.structs.replace(getattr(TOY, group), **values)}
    )


def test_what_is_left_is_episodes_times_steps_times_what_a_decision_takes(tmp_path):
    ask = estimate.Ask(calls=2.0, tokens=100.0, dollars=0.01, basis="pilot")
    found = estimate.estimate("static", TOY, tmp_path / "none", ask)
    assert (found.episodes, found.calls, found.tokens) == (24, 480.0, 24_000.0)
    assert found.dollars == pytest.approx(2.4)


WRITER = config.Writer(name="openai", options={"model": "m", "base_url": "http://127.0.0.1:9/v1"})


def written(**run):
    return msgspec.structs.replace(changed("run", **run), writer=WRITER)


def test_an_agent_that_writes_is_taken_to_write_once_an_episode(tmp_path):
    ask = estimate.Ask(1.0, 100.0, 0.01, "pilot")
    by_model = written(agent="reflexion", options={"author": "model"})
    told = estimate.estimate("r", by_model, tmp_path / "none", ask)
    assert told.calls == 24 * 11
    assert told.tokens == 24 * (1000 + 1000 + 512)
    assert told.dollars == pytest.approx(24 * 0.1 * 2512 / 1000)


def test_what_asks_no_model_to_write_costs_nothing_more(tmp_path):
    ask = estimate.Ask(1.0, 100.0, 0.01, "pilot")
    by_rules = estimate.estimate("r", written(agent="reflexion"), tmp_path / "none", ask)
    assert by_rules.calls == 24 * 10
    scored = changed("memory", evaluator="simulated")
    assert estimate.estimate("s", scored, tmp_path / "none", ask).calls == 24 * 10


def test_a_judge_is_asked_once_an_episode(tmp_path):
    ask = estimate.Ask(1.0, 100.0, 0.01, "pilot")
    judged = msgspec.structs.replace(changed("memory", evaluator="judge"), writer=WRITER)
    assert estimate.estimate("j", judged, tmp_path / "none", ask).calls == 24 * 11


def test_without_a_price_the_sum_is_not_known(tmp_path):
    ask = estimate.Ask(1.0, 100.0, None, "pilot")
    found = estimate.estimate("static", TOY, tmp_path / "none", ask)
    assert found.dollars is None
    assert estimate.total([found]) is None


def test_a_pilot_asks_the_model_once_and_its_calls_are_in_the_ledger(tmp_path):
    first = estimate.pilot(TOY, tmp_path / "pilot", 3)
    assert (first.calls, first.basis, first.dollars) == (1.0, "pilot", 0.0)
    assert purse.spent([tmp_path / "pilot"])[0] == 3
    assert estimate.pilot(TOY, tmp_path / "pilot", 3) == first
    assert purse.spent([tmp_path / "pilot"])[0] == 3


def test_without_a_pilot_tokens_come_from_the_length_of_prompts(tmp_path):
    small = estimate.pilot(TOY, tmp_path / "a", 0)
    large = estimate.pilot(changed("environment", options={"choices": 12}), tmp_path / "b", 0)
    assert (small.basis, small.calls) == ("prompt length", 1.0)
    assert large.tokens > small.tokens > 0
    assert purse.spent([tmp_path / "a"]) == (0, 0, 0.0)


def test_a_pilot_keeps_to_the_budget(tmp_path):
    with pytest.raises(BudgetExceeded):
        estimate.pilot(changed("budget", max_calls=1), tmp_path / "pilot", 3)


def test_what_was_played_is_taken_from_the_ledger(tmp_path):
    experiment.run(TOY, tmp_path / "r", compose(TOY))
    more = changed("run", attempts=5)
    ask = estimate.Ask(100.0, 100.0, 1.0, "pilot")
    found = estimate.estimate("static", more, tmp_path / "r", ask)
    assert (found.basis, found.episodes) == ("ledger", 16)
    assert 16 <= found.calls <= 16 * 2  # one or two steps an episode


def test_a_run_may_spend_what_the_others_left(tmp_path):
    experiment.run(TOY, tmp_path / "r", compose(TOY))
    calls, _, _ = purse.spent([tmp_path / "r"])
    limited = changed("budget", max_calls=calls + 5, max_tokens=10)
    folders = [tmp_path / "r", tmp_path / "s"]
    assert purse.within(limited, tmp_path / "s", folders).budget.max_calls == 5
    assert purse.within(limited, tmp_path / "r", folders).budget.max_calls == calls + 5
    assert purse.within(limited, tmp_path / "s", folders).budget.max_dollars is None
    assert (
        purse.within(changed("budget", max_calls=1), tmp_path / "s", folders).budget.max_calls == 0
    )
