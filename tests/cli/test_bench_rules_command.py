"""`jitrl bench rules` from the command line."""

import pytest

from jitrl.bench.rules.life import there
from jitrl.cli.bench.numbers import say_fewer

SMALL = ("--templates", "1", "--rounds", "1", "--seeds", "1")


def test_what_became_of_planted_rules_is_shown_and_printed(jitrl):
    done = jitrl("bench", "rules", "--what", "gates", "--arms", "harmful, gates", *SMALL, "--json")
    assert done.code == 0, done.err
    assert done.data["schema"] == "jitrl.bench.rules/4"
    assert done.err.startswith(f"gates, {len(done.data['results'])} arms: ")
    last = done.data["results"][-1]
    assert {"mean", "low", "high"} <= set(last["score"])
    assert last["arm"]["name"] == "planted harmful, gates off"
    harmful = last["planted"]["harmful"]
    assert (harmful["admitted"], harmful["told"]) == (0, 1)
    assert harmful["gone"] == {"10": 0.0, "20": 0.0, "40": 0.0, "80": 0.0}
    told = done.data["protocol"]["told_until_retired"]
    assert {status: set(of) for status, of in told.items()} == {
        status: {"-0.3", "-0.6", "-0.9"} for status in ("candidate", "active")
    }
    assert "planted harmful, gates off" in done.err
    assert "until it is retired" in done.err
    assert "were asked for" not in done.err


def test_no_more_templates_count_than_the_world_has(capfd):
    say_fewer(999, there("backoffice", 1), "templates")
    said = capfd.readouterr().err
    assert said == f"999 templates were asked for; there are {there('backoffice', 1)}\n"
    assert 0 < there("backoffice", 1) < 999


def test_rules_are_measured_in_documents_as_well(jitrl):
    done = jitrl("bench", "rules", "--world", "extraction", "--arms", "rules", *SMALL, "--json")
    assert done.code == 0, done.err
    assert done.data["protocol"]["environment"] == "extraction"
    assert [result["arm"]["name"] for result in done.data["results"]] == ["none", "rules"]


@pytest.mark.parametrize("flag", ["--right", "--heeds"])
def test_numbers_that_are_not_finite_are_refused(jitrl, flag):
    done = jitrl("bench", "rules", flag, "inf")
    assert done.code == 2
    assert "must be a finite number" in done.err
