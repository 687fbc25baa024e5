"""Rules of good and bad attempts: which are compared, what is made of them, and by whom."""

import json
from dataclasses import replace

import pytest
from pasts import past
from test_written import Scribe

from jitrl.agents.rulebook.cases import Case, case_of, read
from jitrl.agents.rulebook.conflicts import disagree, settled
from jitrl.agents.rulebook.contrasts import Compared, contrast
from jitrl.agents.rulebook.partings import partings
from jitrl.agents.rulebook.shared import contradicts, lesson, way_of
from jitrl.agents.rulebook.words import words
from jitrl.agents.rulebook.written import written
from jitrl.core.faults import faults
from jitrl.core.sentences import rule_id
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Contrast, Rule, State

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
    place, action = "hall", "click(<link[order 91]>)"
    found = lesson(way("a", f"{place}:{action}", goal=goal), State(place), action, [])
    assert found.case.sentence(words(goal)) == rule
    assert faults(rule) == []
    assert read(rule) == found.case


def way(id, *steps, goal="Win.", kind=""):
    found = Contrast(id, "s", goal, kind, goal=goal)
    return way_of(found, past(id, *steps, goal=goal, task=goal))


def taught(mine, *others):
    """Goal pattern and evidence of what the last step of a way teaches."""
    found = lesson(mine, *mine.steps[-1], others)
    return found.case.goal, found.contrasts


def test_a_step_that_tasks_share_is_a_rule_of_what_their_goals_share():
    cancel = way("a", "menu:orders", goal="Cancel order 91")
    hold = way("b", "menu:orders", goal="Put order 7 on hold")
    assert taught(cancel, hold) == ("... order ...", ("b", "a"))
    assert taught(
        way("c", "菜单:订单", goal="取消订单91"), way("d", "菜单:订单", goal="暂停订单7")
    ) == (
        "... 订单 ...",
        ("d", "c"),
    )


def test_a_pattern_that_fits_a_task_that_did_something_else_there_is_not_made():
    cancel = way("a", "menu:sales", goal="Cancel order 91")
    hold = way("b", "menu:sales", goal="Put order 7 on hold")
    ship = way("c", "menu:stock", goal="Ship order 9")
    assert taught(cancel, hold, ship) == ("Cancel order 91", ("a",))
    again = way("d", "menu:sales", goal="Cancel order 8")
    assert taught(cancel, hold, ship, again) == ("Cancel order ...", ("d", "a"))


def test_what_three_tasks_without_a_common_word_did_is_a_rule_of_any_goal():
    ways = [
        way(c, "hall:open door", goal=g) for c, g in (("a", "Eat"), ("b", "Sing"), ("c", "Run"))
    ]
    assert taught(*ways[:2]) == ("Eat", ("a",))
    assert taught(*ways) == ("", ("b", "c", "a"))
    assert taught(*ways, way("d", "hall:wait", goal="Sleep")) == ("Eat", ("a",))


def test_a_pattern_keeps_the_values_that_its_action_needs():
    first = way("a", "list:fill(91)", goal="Cancel order 91")
    second = way("b", "list:fill(7)", goal="Put order 7 on hold")
    assert taught(first, second) == ("... order {value 1} ...", ("b", "a"))
    apart = way("c", "list:fill(5)", goal="Lend 5 books")
    assert taught(first, apart) == ("... {value 1} ...", ("c", "a"))
    plain = way("d", "list:fill(91)", goal="Cancel all of them")
    assert taught(first, plain) == ("Cancel order {value 1}", ("a",))


def test_two_actions_at_one_place_are_told_apart_by_what_else_is_seen():
    goal = "Cancel order 91"
    states = [State("Orders", "", "list"), State("Orders\nSearch = 91", "", "list")]
    steps = tuple(zip(states, ("fill(91)", "click(91)"), strict=True))
    mine = replace(way("a", "list:wait", goal=goal), steps=steps)
    cases = [lesson(mine, *step, []).case for step in mine.steps]
    assert [case.where for case in cases] == ["list (Orders)", "list (Search = {value 1})"]
    other = State("Orders\nSearch = 7", "", "list")
    assert cases[1].at("Cancel order 7", other, ["fill(7)", "click(7)"]).action == "click(7)"
    assert cases[0].at("Cancel order 7", other, ["fill(7)", "click(7)"]) is None


def test_a_case_is_filled_with_the_values_of_an_action_that_can_be_taken():
    case = Case("... order {value 1} ...", "hall", "open({value 1})")
    goal, hall = "Put order 7 of 12 on hold", State("hall")
    assert case.at(goal, hall, ["open(7)", "open(12)"]) == Case(
        "... order 7 ...", "hall", "open(7)"
    )
    assert case.at(goal, hall, ["open(12)", "wait"]) is None
    assert case.at(goal, State("attic"), ["open(7)"]) is None
    assert case.at("Lend 7 books", hall, ["open(7)"]) is None


def test_a_case_that_two_actions_fit_says_nothing():
    case = Case("Show {value 1} ...", "hall", "open({value 1})")
    actions = ["open(A)", "open(A B)"]
    assert case.at("Show A B", State("hall"), actions) is None
    assert case.at("Show A B", State("hall"), actions[:1]).action == "open(A)"


def test_a_way_contradicts_a_case_that_speaks_of_it_and_asks_for_something_else():
    case = case_of("Cancel order 91", "menu", "sales")
    general = Case("... order ...", "menu", "sales")
    ship = way("c", "menu:stock", goal="Ship order 9")
    assert contradicts(ship, general)
    assert not contradicts(ship, case)
    assert not contradicts(way("d", "menu:sales", goal="Ship order 9"), general)
    assert not contradicts(way("e", "hall:stock", goal="Ship order 9"), general)


@pytest.mark.parametrize(
    ("goal", "where", "action"),
    [
        ("Say it", "hall", 'say "plugh"'),
        ("Go", "hall", "go 13!"),
        ("Go", "hall", "[up]"),
        ("Call it", "room", 'call({"id": 1})'),
        ("说出来", "大厅", "说「开门」"),
    ],
)
def test_a_rule_names_its_action_to_the_last_character(goal, where, action):
    found = lesson(way("a", f"{where}:wait", goal=goal), State(where), action, [])
    assert read(found.text) == found.case
    assert faults(found.text) == []
    other = 'call({"id": 2})'
    assert found.case.at(goal, State(where), [other, action]).action == action
    assert found.case.at(goal, State(where), [other]) is None


@pytest.mark.parametrize(
    ("goal", "where", "action"),
    [
        ("Put {value 1} in box 7", "room", "put(7)"),
        ("Go", "You may sit, take or go", "go"),
    ],
)
def test_what_no_sentence_can_say_makes_no_rule(goal, where, action):
    assert lesson(way("a", "hall:wait", goal=goal), State(where), action, []) is None


def test_steps_of_one_good_way_do_not_disagree():
    first = "When the goal is “Go on” and you see admin/orders, take click(<link[New]>)"
    second = "When the goal is “Go on” and you see admin/orders/new, take click(<link[Save]>)"
    assert not disagree(first, second)
    assert disagree(first, first.replace("New", "Old"))


@pytest.mark.parametrize(
    ("was", "action"),
    [
        ("When you see hall, take [say “open”]", "say “open”"),
        ("When you see hall, take [go 13!]", "go 13!"),
        ("When you see hall, take [[up]]", "[up]"),
        ("当看到hall时,执行[说「开门」]", "说「开门」"),
        ("当看到hall时,执行click(<link[订单]>)", "click(<link[订单]>)"),
    ],
)
def test_a_rule_of_a_book_made_before_is_read_as_it_was(was, action):
    assert read(was) == Case("", "hall", action)


def test_a_text_that_an_older_version_cut_is_the_rule_that_it_was():
    was, now = "如果目标提到订单号,先点击“订单", "如果目标提到订单号，先点击“订单”。"
    with SQLiteStore(":memory:") as store:
        store.add_rules([Rule(rule_id(was), was, "s")])
        assert store.add_rules([Rule(rule_id(now), now, "s")]) == ()
        assert [rule.text for rule in store.rules()] == [was]
    with SQLiteStore(":memory:") as store:
        store.add_rules([Rule(rule_id(was), now, "s")])
        assert [rule.text for rule in store.rules()] == [now]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("当用户要求退款时，点击退款", "当用户要求取消时，点击取消"),
        ("如果应用打开失败，点击重试", "如果应用更新失败，点击稍后"),
        ("如果页面显示「订单」，点击退款", "如果页面显示「发票」，点击下载"),
        ("When you see [Orders], click Refund", "When you see [Bills], click Download"),
    ],
)
def test_rules_of_different_cases_do_not_disagree(first, second):
    assert not disagree(first, second)


@pytest.mark.parametrize("goal", ["Cancel 2：all", "看全部、和 ２"])
def test_characters_of_several_forms_are_one(goal):
    case = read(case_of(goal, "hall", "wait").sentence(words(goal)))
    assert case.at(goal, State("hall"), ["wait"]).action == "wait"


CASE = Compared("Win.", (GOOD,), (LEFT,), 1.0)
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


def walk(key, last, steps=15, score=0.0):
    """The same long way, but for its last step."""
    way = [
        f"page {n} of the manual, with much to read on it:turn to the next page"
        for n in range(steps - 1)
    ]
    return past(key, *way, f"the end:{last}", rewards=[*[0.0] * (steps - 1), score])


@pytest.mark.parametrize("steps", [15, 60])
def test_a_model_sees_how_each_attempt_ended_and_where_they_parted(steps):
    good = walk("g", "close the book", steps, score=1.0)
    bad = [walk(f"b{n}", f"tear page {n}", steps) for n in range(7)]
    scribe = Scribe(rules())
    written(scribe, Compared("Win.", (good,), tuple(bad), 1.0), 2, [])
    asked = scribe.asked[0].text
    assert "close the book" in asked
    assert [n for n in range(7) if f"tear page {n}" in asked] == [0, 1, 2]
    assert asked.count("A bad attempt") == 3
    assert len(asked) < 7500


def test_a_step_that_decides_is_shown_wherever_it_stands():
    def lived(key, action, score):
        way = [f"room {n} with a long description of all that is in it:go on" for n in range(80)]
        way[40] = f"the fork in the middle of the way:{action}"
        return past(key, *way, rewards=[*[0.0] * 79, score])

    good = lived("g", "go left", 1.0)
    bad = [lived(f"b{n}", f"go right {'on' * n}", 0.0) for n in range(4)]
    scribe = Scribe(rules())
    written(scribe, Compared("Win.", (good,), tuple(bad), 1.0), 2, [])
    asked = scribe.asked[0].text
    assert "go left" in asked
    assert asked.count("41. At the fork") == 4
    assert asked.count("80. At room 79") == 4
    assert "\n…\n" in asked


def test_bad_attempts_that_did_the_same_are_shown_once():
    scribe = Scribe(rules())
    written(scribe, Compared("Win.", (GOOD,), (LOST, LOST, LOST, LEFT), 1.0), 2, [])
    assert scribe.asked[0].text.count("A bad attempt") == 2


def test_what_is_no_rule_is_sent_back_once_with_the_reason_alone_and_then_dropped():
    scribe = Scribe(rules("Think more"), rules("Be careful", RULE))
    assert written(scribe, CASE, 2, []) == [RULE]
    again = scribe.asked[1].text
    assert "- Think more (it says nothing that could be done otherwise)" in again
    assert "Win." in again
    assert "one imperative sentence with a condition" in again
    assert '{"rules": [' in again
    assert "attempt" not in again
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
    orders, coupons = [{"show", "orders"}, {"all", "orders"}], [{"show", "coupons"}, {"coupons"}]
    found = settled(first, second, orders, coupons)
    assert found.by == "orders"
    assert found.text == "When you see the list: if “orders” is named, take A; otherwise take B"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("When you see the list, take A", "When you see the list, take B"),
        ("take A when you see the list", "When you see the list: if “coupons” is named, take B"),
        (
            "When you see it: if “orders” is named, take A; otherwise take B",
            "When you see it, wait",
        ),
        ("当看到列表时，先核对金额", "当看到列表时，若提到“订单”则先核对金额，否则先核对编号"),
    ],
)
def test_a_settled_rule_is_neither_of_the_two(first, second):
    for a, b in ((first, second), (second, first)):
        found = settled(a, b, [{"orders"}] * 2, [{"coupons"}] * 2)
        assert rule_id(found.text) not in (rule_id(a), rule_id(b))


@pytest.mark.parametrize(
    ("cases", "others"),
    [
        ([{"show", "orders"}] * 2, [{"show", "orders"}] * 2),
        ([{"orders"}, {"show"}], [{"coupons"}] * 2),
        ([{"orders"}, {"orders"}], [{"coupons"}, {"coupons", "orders"}]),
        ([{"the", "all"}] * 2, [{"coupons"}] * 2),
        ([{"orders"}], [{"coupons"}] * 2),
        ([{"orders"}] * 2, [{"coupons"}]),
        ([], [{"coupons"}] * 2),
    ],
)
def test_without_such_a_word_of_two_tasks_a_side_both_stay(cases, others):
    first, second = "When you see the list, take A", "When you see the list, take B"
    assert settled(first, second, cases, others) is None
