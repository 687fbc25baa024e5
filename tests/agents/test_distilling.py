"""Rules of good and bad attempts: which are compared, what is made of them, and by whom."""

import json

import pytest
from pasts import past
from test_written import Scribe

from jitrl.agents.rulebook.conflicts import disagree, settled
from jitrl.agents.rulebook.contrasts import Contrast, contrast
from jitrl.agents.rulebook.partings import distilled, filled, partings, speaks_of
from jitrl.agents.rulebook.written import written
from jitrl.core.sentences import faults

GOOD = past("g", "hall:open door", "attic:take lamp")
LEFT = past("b1", "hall:wait", "hall:open door", "attic:sing", rewards=[0.0, 0.0, 0.0])
LOST = past("b2", "hall:wait", "hall:wait", rewards=[0.0, 0.0])


def test_equal_attempts_teach_nothing():
    same = [past(str(n), "hall:wait", rewards=[0.5]) for n in range(8)]
    assert contrast(same, gap=0.25, threshold=0.75) == "gap<0.25"
    assert contrast([], gap=0.25, threshold=0.75) == "no attempt was scored"


def test_the_best_of_bad_attempts_teaches_nothing():
    weak = [past("a", "hall:wait", rewards=[0.6]), past("b", "hall:wait", rewards=[0.0])]
    assert contrast(weak, gap=0.25, threshold=0.75) == "best<0.75"


def test_at_most_three_good_attempts_stand_against_the_bad_ones():
    scores = (1.0, 0.2, 0.9, 1.0, 0.8, 0.0, 0.6)
    attempts = [past(str(n), "hall:wait", rewards=[s]) for n, s in enumerate(scores)]
    found = contrast(attempts, gap=0.25, threshold=0.75)
    assert [a.key for a in found.good] == ["0", "3", "2"]
    assert [a.key for a in found.bad] == ["5", "1"]
    assert found.gap == 1.0


def test_a_parting_is_where_a_bad_attempt_first_left_the_way():
    (later,) = partings(GOOD, [LEFT])
    assert (later.state.text, later.action, later.times) == ("attic", "take lamp", 1)
    both = partings(GOOD, [LEFT, LOST, LOST])
    assert [(p.state.text, p.times) for p in both] == [("hall", 2), ("attic", 1)]


def test_an_attempt_that_never_came_to_the_way_parts_nowhere():
    assert partings(GOOD, [past("x", "cellar:dig", rewards=[0.0])]) == []


@pytest.mark.parametrize(
    ("goal", "rule"),
    [
        (
            "Cancel order 91",
            "When the goal is “Cancel {value 1}” and you see hall, take click(<link[{value 1}]>)",
        ),
        ("取消订单 91", "当目标是“取消订单 {值1}”且看到hall时，执行click(<link[order {值1}]>)"),
    ],
)
def test_a_rule_speaks_of_the_values_of_any_goal(goal, rule):
    good = past("g", "hall:click(<link[order 91]>)", goal=goal)
    bad = past("b", "hall:wait", goal=goal, rewards=[0.0])
    (found,) = distilled(Contrast(goal, (good,), (bad,), 1.0), 2)
    assert found == rule
    assert faults(found) == []


def test_the_values_of_a_goal_are_filled_in_where_it_fits():
    rule = "When the goal is “Cancel order {value 1}”, take click(<link[{value 1}]>)"
    assert filled(rule, "Cancel order 7") == (
        "When the goal is “Cancel order 7”, take click(<link[7]>)"
    )
    assert filled(rule, "Ship order 7") == rule
    assert filled("When A holds, do B", "anything") == "When A holds, do B"


def test_a_rule_that_names_a_goal_speaks_of_no_other():
    rule = "When the goal is “Cancel order {value 1}”, take A"
    assert speaks_of(rule, "Cancel order 7")
    assert not speaks_of(rule, "Ship order 7")
    assert speaks_of("When A holds, do B", "anything")


CASE = Contrast("Win.", (GOOD,), (LEFT,), 1.0)
RULE = "When you see the attic, take lamp"


def rules(*texts):
    return json.dumps({"rules": list(texts)})


def test_a_model_reads_both_kinds_of_attempts_and_the_rules_they_were_told():
    scribe = Scribe(rules(RULE))
    assert written(scribe, CASE, 2, ["When in the hall, wait"]) == [RULE]
    asked = scribe.asked[0].text
    assert asked.index("A bad attempt, score 0.00") < asked.index("A good attempt, score 1.00")
    assert "take lamp" in asked
    assert "- When in the hall, wait" in asked


def test_what_is_no_rule_is_sent_back_once_with_the_reason_and_then_dropped():
    scribe = Scribe(rules("Think more"), rules("Be careful", RULE))
    assert written(scribe, CASE, 2, []) == [RULE]
    assert "- Think more (it says nothing that could be done otherwise)" in scribe.asked[1].text
    assert len(scribe.asked) == 2


def test_an_answer_that_cannot_be_read_gives_no_rule(caplog):
    assert written(Scribe("no JSON"), CASE, 2, []) == []
    assert "no rule written" in caplog.text


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("When you see the hall, open the door", "When you see the hall, do not open the door"),
        ("When you see the hall, take click(A)", "When you see the hall, take click(B)"),
        ("保存之前，填写价格", "保存之前，不要填写价格"),
    ],
)
def test_rules_of_one_case_that_cannot_both_be_followed_disagree(first, second):
    assert disagree(first, second)
    assert disagree(second, first)


@pytest.mark.parametrize(
    "second",
    [
        "When you see the hall, open the door",
        "When you see the cellar below the stairs, do not open the door",
        "When you see the hall, sing",
        "Open the door",
    ],
)
def test_rules_that_can_both_be_followed_do_not_disagree(second):
    assert not disagree("When you see the hall, open the door", second)


def test_a_word_that_only_one_side_names_settles_it():
    first, second = "When you see the list, take A", "When you see the list, take B"
    found = settled(first, second, [{"show", "orders"}, {"all", "orders"}], [{"show", "coupons"}])
    assert found.by == "orders"
    assert found.text == "When you see the list: if “orders” is named, take A; otherwise take B"


def test_without_such_a_word_both_stay():
    first, second = "When you see the list, take A", "When you see the list, take B"
    assert settled(first, second, [{"show", "orders"}], [{"show", "orders"}]) is None
    assert settled(first, second, [], [{"show"}]) is None
