import json
from contextlib import closing
from pathlib import Path

import pytest
from rich.cells import cell_len

from jitrl.analysis.price import NAMES, Assumptions
from jitrl.cli.cost.words import LANGUAGES
from jitrl.models.calls import Call
from jitrl.run.ledger import Ledger


def test_every_assumption_is_printed_beside_the_result_with_its_option(jitrl):
    done = jitrl("cost")
    assert (done.code, done.out) == (0, "")
    for name in NAMES:
        [line] = [x for x in done.err.splitlines() if f" --{name.replace('_', '-')} " in x]
        assert line.endswith("assumed")
        assert f"{getattr(Assumptions(), name):,.6g}" in line
    assert "Both have cost the same after 139,514 tasks in use" in " ".join(done.err.split())


def test_every_assumption_is_an_option_and_then_counts_as_given(jitrl):
    args = [x for name in NAMES for x in (f"--{name.replace('_', '-')}", "0.5")]
    data = jitrl("cost", *args, "--json").data
    assert data["schema"] == "jitrl.cost/1"
    assert all(one == {"value": 0.5, "origin": "given"} for one in data["assumptions"].values())
    assert list(data["assumptions"]) == list(NAMES)


def test_a_run_is_measured_and_what_is_given_counts_before_it(jitrl):
    toy = ("--env", "toy", "--env-options", "tasks=4", "--model", "scripted")
    jitrl("run", *toy, "--attempts", "2", "--agent", "static", "--out", "r")
    done = jitrl("cost", "--run", "r")
    assert (done.code, "--tokens-in" in done.err) == (2, True)  # a scripted model reads nothing
    with closing(Ledger("r/ledger.db")) as ledger:
        meter, call = ledger.meter("act"), Call("m", "letters", False, 8_000, 800)
        meter.finish(meter.start(call), call)
    found = jitrl("cost", "--run", "r", "--tokens-out", "7", "--json").data["assumptions"]
    assert found["tokens_in"] == {"value": 1_000, "origin": "measured"}
    assert found["tokens_out"] == {"value": 7, "origin": "given"}
    assert found["judging"] == {"value": 0, "origin": "measured"}
    assert found["gpus"]["origin"] == "assumed"
    assert jitrl("cost", "--run", "nowhere").code == 2


def test_a_run_says_what_acting_judging_and_learning_took_and_can_be_held_to_it(jitrl):
    toy = ("--env", "toy", "--env-options", "tasks=4", "--model", "scripted")
    jitrl("run", *toy, "--attempts", "2", "--agent", "static", "--out", "r")
    with closing(Ledger("r/ledger.db")) as ledger:
        for phase, tokens in (("act", 7_000), ("judge", 2_000), ("learn", 1_000)):
            meter, call = ledger.meter(phase), Call("m", "letters", False, tokens, 0)
            meter.finish(meter.start(call), call)
    spent = jitrl("cost", "--run", "r", "--json").data["spent"]
    assert (spent["episodes"], spent["beside"]) == (8, pytest.approx(0.3))
    assert [one["share"] for one in spent["phases"]] == pytest.approx([0.7, 0.2, 0.1])
    done = jitrl("cost", "--run", "r")
    assert "Judging and learning took 30.0% of all spend." in done.err
    assert done.code == jitrl("cost", "--run", "r", "--most-beside", "0.3").code == 0
    held = jitrl("cost", "--run", "r", "--most-beside", "0.25")
    assert (held.code, "judging and learning took 30.0%" in held.err) == (1, True)
    assert jitrl("cost", "--most-beside", "0.25").code == 2
    chinese = jitrl("cost", "--run", "r", "--lang", "zh").err
    assert "评判和学习占全部花费的 30.0%" in chinese
    assert max(map(cell_len, chinese.splitlines())) <= 80
    assert max(map(cell_len, done.err.splitlines())) <= 80


def test_totals_are_shown_for_the_volume_that_is_asked_for(jitrl):
    data = jitrl("cost", "--volume", "200000", "--json").data
    assert data["memory"]["volume"] == pytest.approx(46.8 + 200_000 * 0.024)
    assert (data["even"], data["cheaper"]) == (pytest.approx(139_514, abs=1), "tuning")
    assert jitrl("cost", "--volume", "nan").code == 2


def test_a_way_that_always_wins_is_said_in_place_of_an_even_volume(jitrl):
    assert "Learning at inference is cheaper at any volume." in jitrl("cost", "--load", "0.1").err


def test_of_two_that_cost_the_same_neither_is_said_to_be_cheaper(jitrl):
    free = ("--gpu-price", "0", "--price-in", "0", "--price-out", "0")
    assert "Both cost the same at any volume." in jitrl("cost", *free).err
    assert json.loads(jitrl("cost", *free, "--json").out)["cheaper"] == "same"
    nothing = ("--hours", "0", "--tasks", "0", "--volume", "0")
    assert "Fine-tuning is cheaper at any volume." in jitrl("cost", *nothing).err
    assert jitrl("cost", "--load", "2").code == 3


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_account_fits_80_columns_in_both_languages(jitrl, lang):
    err = jitrl("cost", "--lang", lang).err
    assert max(map(cell_len, err.splitlines())) <= 80
    assert list(LANGUAGES[lang].what) == list(NAMES)
    assert LANGUAGES[lang].memory in err


def test_the_account_in_the_docs_is_the_one_that_is_printed(jitrl):
    page = (Path(__file__).parents[2] / "docs" / "costs.md").read_text(encoding="utf-8")
    shown = [part.partition("```")[0] for part in page.split("```text\n")[1:]]
    assert jitrl("cost").err in shown
