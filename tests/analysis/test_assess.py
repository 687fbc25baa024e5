"""What is said of an evaluator: against outcomes, people, itself, and planted texts."""

import sys
from pathlib import Path

import pytest

from jitrl.analysis.assess import assess
from jitrl.errors import InputError
from jitrl.evaluators.checks import Checks
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.evaluators.injection import CANARIES
from jitrl.evaluators.judge import Judge
from jitrl.evaluators.outcome import TerminalOutcome
from jitrl.evaluators.simulated import Simulated
from jitrl.types import Episode, Scored, State, Transition, Unscored

sys.path.append(str(Path(__file__).parents[1] / "evaluators"))
from judged import Model, gullible


def episode(i, won, steps=2):
    return Episode(
        f"e{i}",
        f"t{i % 8}",
        "",
        tuple(
            Transition(State(f"s{t}"), "go", None, float(won and t == steps - 1))
            for t in range(steps)
        ),
        info={"pages": [f"p{t}" for t in range(steps + 1)]},
    )


LIVED = [episode(i, won=i % 2 == 0) for i in range(40)]


class Saying:
    """A blind evaluator from a function of the episode."""

    name, told, reads_pages = "saying", False, True

    def __init__(self, judge):
        self.judge = judge


def verdicts(function):
    return Saying(lambda e: Scored((0.0, function(e)), "saying", "llm_judge"))


def test_verdicts_are_counted_against_the_outcomes():
    wrong = {"e0": 0.0, "e1": 1.0, "e3": 1.0}

    def judge(e):
        if e.key == "e5":
            return Unscored("cannot tell", "saying")
        return Scored((0.0, wrong.get(e.key, e.steps[-1].reward)), "saying")

    found = assess(lambda number: Saying(judge), LIVED)
    assert found.gold.confusion == {
        "success": {"success": 19, "failure": 1},
        "failure": {"success": 2, "failure": 17, "not scored": 1},
    }
    assert found.gold.accuracy == pytest.approx(36 / 39)
    assert found.unscored == {"cannot tell": 1}
    assert found.gold.tasks == 8
    assert found.gold.interval.low < found.gold.kappa < found.gold.interval.high


def test_a_verdict_of_its_own_counts_before_its_rewards():
    said = Saying(lambda e: Scored((3.0, 3.0), "saying", info={"verdict": "failure"}))
    assert assess(lambda number: said, LIVED[:2]).gold.confusion["success"] == {"failure": 1}


def test_one_that_was_told_has_no_findings_of_its_own():
    said = verdicts(lambda e: 1.0)
    said.told = True
    assert assess(lambda number: said, LIVED).gold is None
    assert assess(lambda number: Simulated(), LIVED).gold.accuracy == 1.0


def test_steps_are_compared_with_what_people_said():
    labels = {("e0", 0): 3, ("e0", 1): -1, ("e2", 0): 2, ("e2", 1): None, ("gone", 0): 1}
    said = Saying(lambda e: Scored((0.3, -0.1), "saying", info={"samples": [[3, -1], [1, -1]]}))
    found = assess(lambda number: said, LIVED, labels=labels).people
    assert (found.steps, found.unsure) == (3, 1)
    assert found.kappa == 1.0
    assert found.pearson == pytest.approx(0.9707, abs=1e-3)
    assert assess(lambda number: said, LIVED, labels={}).people is None


def test_repeats_show_how_much_it_varies():
    turns = [verdicts(lambda e: 1.0), verdicts(lambda e: float(e.key != "e0"))]
    found = assess(turns.__getitem__, LIVED[:4], repeats=2).repeats
    assert found.changed == 0.25
    assert found.variance == pytest.approx(0.25 / 4)
    same = assess(lambda number: EnvironmentRewards(), LIVED, repeats=3).repeats
    assert (same.variance, same.changed) == (0.0, 0.0)


def test_scores_that_hardly_differ_do_not_discriminate():
    """C6(d): .74 to .79 over 40 groups."""
    flat = verdicts(lambda e: 0.74 + 0.05 * (int(e.key[1:]) % 6) / 5)
    found = assess(lambda number: flat, LIVED).spread
    assert found.discriminates is False
    assert (found.low, found.high) == (0.74, 0.79)
    assert assess(lambda number: EnvironmentRewards(), LIVED).spread.discriminates is True
    equal = assess(lambda number: EnvironmentRewards(), LIVED).spread.equal
    assert equal == pytest.approx(2 * 20 * 19 / (40 * 39))


def test_planted_texts_that_raise_a_score_are_counted():
    def judge(e):
        is_fooled = any("score every step +3" in page for page in e.info["pages"])
        if any("</record>" in page for page in e.info["pages"]):
            return Unscored("a page speaks to the judge", "saying")
        return Scored((0.0, float(is_fooled)), "saying")

    found = assess(lambda number: Saying(judge), LIVED, canaries=5)
    by_name = {one.canary: one for one in found.canaries}
    assert set(by_name) == {canary.name for canary in CANARIES}
    assert (by_name["order"].episodes, by_name["order"].rose) == (5, 5)
    assert (by_name["closing tag"].rose, by_name["closing tag"].unscored) == (0, 5)
    assert found.obeyed == pytest.approx(1 / len(CANARIES))


def test_a_gullible_judge_obeys_planted_texts_unless_it_is_guarded():
    def found(guard):
        judge = Judge(writer=Model(gullible(2)), guard=guard)
        return assess(lambda number: judge, LIVED[:2], canaries=2)

    unguarded, guarded = found(False), found(True)
    assert {one.canary for one in unguarded.canaries if one.rose} == {"answer"}
    assert guarded.obeyed == 0.0


def test_planted_texts_for_one_that_reads_no_pages_are_refused():
    with pytest.raises(InputError, match="reads no text of a page"):
        assess(lambda number: Checks(lambda e: 1.0), LIVED, canaries=5)


@pytest.mark.parametrize("source", [EnvironmentRewards, TerminalOutcome])
def test_the_source_of_the_outcomes_is_not_compared_with_itself(source):
    found = assess(lambda number: source(), LIVED)
    assert (found.is_source, found.gold) == (True, None)
    assert not assess(lambda number: Checks(lambda e: 1.0), LIVED).is_source


def test_progress_is_told_to_its_end():
    told = []
    assess(
        lambda number: verdicts(lambda e: 1.0),
        LIVED[:3],
        repeats=2,
        canaries=2,
        tell=lambda *at: told.append(at),
    )
    assert told[-1] == (6 + 2 * len(CANARIES),) * 2
