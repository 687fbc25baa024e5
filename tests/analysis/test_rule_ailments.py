"""Each check of a rulebook fires where it should, stays silent elsewhere, and asks for enough."""

import numpy as np
import pytest
from ailing import attempt, book, case, distilled, grid, rows, rule, run_of, tally, used

from jitrl.analysis.doctor import CHECKS
from jitrl.cli.doctor.command import LANGUAGES
from jitrl.report.ailments.words import ailment, evidence

ONE, TWO, THREE = rule(1), rule(2), rule(3)


def said(name, *args, **kwargs):
    found = CHECKS[name](case(*args, **kwargs))
    if found.status == "unknown":
        return found
    for words in LANGUAGES.values():  # whatever is found can be told
        assert "{" not in evidence(words, name, found)
        assert (ailment(words, name, found) is None) == (found.status != "finding")
    return found


def rng():
    return np.random.default_rng(0)


# --- more rules, worse results ----------------------------------------------------------------


def drawn(gain, tasks=8, episodes=40):
    """Three rules, each told or not by a coin, with ``gain`` for each that is."""
    chance = rng()
    rules, uses = [rule(n) for n in range(3)], []
    for n in range(tasks * episodes):
        told = chance.random(3) < 0.5
        score = float(np.clip(0.5 + gain * told.sum() + chance.normal(0, 0.05), 0, 1))
        uses += [
            used(r, n, bool(t), score, f"t{n % tasks}") for r, t in zip(rules, told, strict=True)
        ]
    return book(rules, uses)


def test_by_the_draws_more_rules_make_it_worse_or_not():
    found = said("rules-more", rules=drawn(-0.1))
    assert tally(found) == ("finding", "own agent")
    for words in LANGUAGES.values():
        assert "told = 1" in ailment(words, "rules-more", found).remedy
    assert found.numbers["mean"] == pytest.approx(-0.1, abs=0.02)
    assert list(found.numbers["by"]) == ["0", "1", "2", "3"]
    assert said("rules-more", rules=drawn(0.1)).status == "fine"
    assert said("rules-more", rules=drawn(0.0)).status == "fine"


def test_that_good_tasks_have_more_rules_is_no_effect_of_rules():
    """Tasks with three rules score .9, those with one .1; being told does nothing."""
    chance = rng()
    rules, uses = [rule(n) for n in range(3)], []
    for n in range(400):
        many = n % 2 == 0
        for r in rules[: 3 if many else 1]:
            uses.append(used(r, n, bool(chance.random() < 0.5), 0.9 if many else 0.1, f"t{n % 8}"))
    found = said("rules-more", rules=book(rules, uses))
    assert found.status == "fine"
    assert abs(found.numbers["mean"]) < 0.02


def test_against_runs_that_are_told_fewer_the_difference_is_paired():
    noise = rng().normal(0, 0.01, (8, 5))
    few, many = case(grid(0.8 + noise)), grid(0.6 + noise)
    has_rules = book([ONE])
    found = said("rules-more", many, rules=has_rules, arms={1: few})
    assert tally(found) == ("finding", "arms")
    assert found.numbers["best"] == 1
    assert found.numbers["arms"]["told=1"]["mean"] == pytest.approx(-0.2)
    assert said("rules-more", many, rules=has_rules, arms={1: case(many)}).status == "fine"
    # A run that is told more says nothing about more rules here.
    assert said("rules-more", many, rules=has_rules, arms={5: few}).status == "unknown"
    found = said("rules-more", many, rules=has_rules, base=few, arms={1: case(many)})
    assert tally(found) == ("finding", "arms")
    assert (list(found.numbers["arms"]), found.numbers["best"]) == (["static", "told=1"], 0)
    assert said("rules-more", many, base=few).status == "unknown"


# --- told in vain, followed -------------------------------------------------------------------


def test_rules_whose_condition_never_held_are_there_for_nothing():
    def those(*spoke, lived=20, **changed):
        uses = [used(one, 3, True, 1.0, occasions=1) for one in spoke]
        attempts = [attempt(n, **changed) for n in range(1, lived + 1)]
        return said("rules-idle", attempts, rules=book([ONE, TWO, THREE], uses))

    found = those(ONE)
    assert tally(found) == ("finding", "")
    assert (found.numbers["idle"], found.n) == (2, 3)
    assert found.numbers["ids"] == [TWO.rule.id, THREE.rule.id]
    assert those(ONE, THREE).status == "fine"
    assert those(ONE, lived=19).status == "unknown"
    assert those(ONE, scope="other").status == "unknown"
    assert those(ONE, judged=None).status == "unknown"


def test_a_rule_too_long_for_the_room_of_all_rules_is_told_in_vain():
    long = rule(2, text=f"当页面出现“{'订单' * 112}”时，先点击“详情”再{'核对订单' * 12}")
    found = said("rules-idle", rules=book([ONE, long]))
    assert tally(found) == ("finding", "long")
    assert (found.numbers["long"], found.n, found.numbers["ids"]) == (1, 2, [long.rule.id])
    gone = rule(2, (1, "active"), (2, "retired"), text=long.rule.text)
    assert said("rules-idle", rules=book([ONE, gone])).status == "unknown"


@pytest.mark.parametrize("text", ["Think more", "The second attempt failed", "仔细思考"])
def test_a_text_that_is_no_rule_is_found_and_named(text):
    found = said("rules-form", rules=book([ONE, rule(2, text=text)]))
    assert tally(found) == ("finding", "")
    assert found.numbers["ids"] == [rule(2, text=text).rule.id]
    assert said("rules-form", rules=book([ONE, TWO])).status == "fine"
    retired = rule(2, (1, "active"), (2, "retired"), text=text)
    assert said("rules-form", rules=book([ONE, retired])).status == "fine"


def heard(told, held, tasks=8, unknown=0):
    """Uses with this share of four occasions obeyed where told, and where held out."""
    chance, uses = rng(), []
    for n in range(tasks * 20):
        is_told = n // tasks % 2 == 0
        share = told if is_told else held
        obeyed = int(chance.binomial(4, share))
        steps = {"occasions": 4 + unknown, "obeyed": obeyed, "unknown": unknown}
        uses.append(used(ONE, n, is_told, 1.0, f"t{n % tasks}", **steps))
    return book([ONE], uses)


def test_a_model_that_does_not_do_as_it_is_told_is_found():
    found = said("rules-obeyed", rules=heard(0.4, 0.4))
    assert tally(found) == ("finding", "")
    assert found.numbers["told"] == pytest.approx(0.4, abs=0.1)
    assert said("rules-obeyed", rules=heard(0.8, 0.4)).status == "fine"
    assert tally(said("rules-obeyed", rules=heard(0.97, 0.97))) == ("finding", "needless")
    assert said("rules-obeyed", rules=heard(0.8, 0.4, tasks=3)).status == "unknown"
    assert said("rules-obeyed", rules=heard(0.8, 0.4, unknown=9)).numbers == pytest.approx(
        said("rules-obeyed", rules=heard(0.8, 0.4)).numbers
    )


# --- harm and conflict ------------------------------------------------------------------------


def tried(record, gain, n=60):
    chance, uses = rng(), []
    for i in range(n):
        told = bool(chance.random() < 0.5)
        score = float(chance.random() < 0.5 + (gain if told else 0))
        uses.append(used(record, i, told, score, f"t{i % 4}"))
    return uses


def test_a_rule_that_does_harm_is_named_with_the_command_that_retires_it():
    found = said("rules-harm", rules=book([ONE, TWO], [*tried(ONE, 0.3), *tried(TWO, -0.45)]))
    assert tally(found) == ("finding", "")
    assert (found.numbers["ids"], found.n) == ([TWO.rule.id], 2)
    remedy = ailment(LANGUAGES["en"], "rules-harm", found).remedy
    assert f"jitrl rules retire m.db {TWO.rule.id} --reason harm" in remedy
    assert said("rules-harm", rules=book([ONE], tried(ONE, 0.3))).status == "fine"
    gone = rule(2, (1, "active"), (2, "retired"))
    assert said("rules-harm", rules=book([gone], tried(gone, -0.45))).status == "unknown"


def test_a_candidate_below_zero_is_no_harm_as_long_as_its_bounds_are_not():
    weak, same = tried(ONE, -0.1), rule(1, status="candidate")
    assert said("rules-harm", rules=book([same], weak)).status == "fine"
    found = said("rules-harm", rules=book([ONE], weak))
    assert found.numbers["below"] == (1 if found.status == "finding" else 0)
    assert found.status == "finding"


def test_rules_that_hold_and_contradict_each_other_are_found():
    one = rule(1, text="When you see the hall, open the door")
    other = rule(2, text="When you see the hall, do not open the door")
    both = [used(r, n, True, 1.0) for n, r in enumerate((one, other))]
    found = said("rules-conflict", rules=book([one, other], both))
    assert tally(found) == ("finding", "")
    (pair,) = found.numbers["held"]
    assert {*pair.split(" / ")} == {one.rule.id, other.rule.id}
    silent = said("rules-conflict", rules=book([one, other], both[:1]))
    assert (silent.status, silent.numbers["pairs"]) == ("fine", 1)
    assert said("rules-conflict", rules=book([ONE, TWO])).numbers["pairs"] == 0
    assert said("rules-conflict", rules=book([ONE])).status == "unknown"


# --- what rounds bring ------------------------------------------------------------------------


def test_distillations_that_bring_nothing_new_are_found():
    first = [rule(n, (n + 1, "candidate", [f"c{n}"])) for n in range(3)]
    new = [distilled(n, f"t{n}") for n in range(3)]
    again = [distilled(n, f"t{n % 3}") for n in range(3, 12)]
    found = said("rules-rounds", rules=book(first, contrasts=[*new, *again]))
    assert tally(found) == ("finding", "")
    assert (found.numbers["brought"], found.numbers["repeats"]) == (3, 9)
    assert found.numbers["each"] == 4.0
    assert said("rules-rounds", rules=book(first, contrasts=[*new, *again[:3]])).status == "fine"
    assert tally(said("rules-rounds", rules=book([], contrasts=again))) == ("finding", "barren")
    writing = run_of("rulebook", options={"author": "model"}, rules=book([], contrasts=again))
    assert tally(CHECKS["rules-rounds"](writing)) == ("finding", "unwritten")
    assert said("rules-rounds", rules=book([], contrasts=again[:4])).status == "unknown"


def test_rounds_that_fail_by_trying_the_same_again_need_a_higher_temperature():
    def those(actions, score=0.0, tasks=6):
        """Rounds of 8 attempts at each task; the k-th takes the actions of its place."""
        lived = [attempt(n, score, task=f"t{n // 8}") for n in range(8 * tasks)]
        taken = [(0, action, 0.0, n) for n in range(8 * tasks) for action in actions[n % 8]]
        return said("rules-alike", lived, held=rows(*taken), rules=book([ONE]))

    same, different = [(1, 2)] * 8, [(n, n + 8) for n in range(8)]
    found = those(same)
    assert tally(found) == ("finding", "own agent")
    assert (found.n, found.numbers["same"], found.numbers["diversity"]) == (6, 6, 0.0)
    assert those(different).status == "fine"
    assert those(different).numbers["poor"] == 1.0
    assert those(same, tasks=4).status == "unknown"
    assert those(same, score=1.0).status == "unknown"


def test_a_run_whose_failing_rounds_are_all_alike_is_told_so_though_no_rule_came_of_it():
    lived = [attempt(n, task=f"t{n // 8}") for n in range(48)]
    same = rows(*((0, 1, 0.0, n) for n in range(48)))
    played = run_of("rulebook", lived, held=same)
    assert played.has_rules
    assert tally(CHECKS["rules-alike"](played)) == ("finding", "")
    assert CHECKS["rules-alike"](case(lived, held=same)).status == "unknown"


def test_rules_that_fit_one_task_only_can_never_be_admitted():
    stuck = rule(1, status="candidate")
    alone = [used(stuck, n, n % 2 == 0, 1.0, "t0") for n in range(30)]
    found = said("rules-undecided", [attempt(1), attempt(2, task="t1")], rules=book([stuck], alone))
    assert tally(found) == ("finding", "")
    assert found.numbers["alone"] == 1
    only = said("rules-undecided", rules=book([stuck], alone))
    assert tally(only) == ("finding", "one task, own agent")
    played = CHECKS["rules-undecided"](run_of("rulebook", rules=book([stuck], alone)))
    assert tally(played) == ("finding", "one task")
    for words in LANGUAGES.values():
        remedy = ailment(words, "rules-undecided", only).remedy
        assert "gates = { tasks = 1 }" in remedy
        assert "--agent-options" not in remedy
        assert "--agent-options" in ailment(words, "rules-undecided", played).remedy
    gone = rule(1, (1, "candidate"), (2, "retired"))
    assert said("rules-undecided", rules=book([gone], alone)).status == "finding"
    spread = [used(stuck, n, n % 2 == 0, 1.0, f"t{n % 3}") for n in range(30)]
    assert said("rules-undecided", rules=book([stuck], spread)).status == "fine"
    assert said("rules-undecided", rules=book([stuck], alone[:29])).status == "unknown"


def test_rules_that_wait_for_episodes_that_do_not_come_are_found():
    waiting = rule(1, status="candidate", kind="orders")
    lived = [attempt(n, family="orders") for n in range(1, 25)]
    found = said("rules-undecided", lived, rules=book([waiting]))
    assert tally(found) == ("finding", "never")
    assert (found.numbers["file"], found.numbers["ids"]) == ("m.db", [waiting.rule.id])
    others = [attempt(n, family="refunds") for n in range(1, 25)]
    assert said("rules-undecided", others, rules=book([waiting])).status == "unknown"


@pytest.mark.parametrize("check", ["rules-undecided", "rules-idle"])
def test_a_rule_that_is_kept_back_for_a_wider_one_waits_for_no_episode(check):
    narrow = rule(1, status="candidate", kind="orders")
    wide = rule(2, status="candidate", kind="orders", parents=(narrow.rule.id,))
    lived = [attempt(n, family="orders") for n in range(1, 25)]
    uses = [used(wide, n, n % 2 == 0, 1.0, f"t{n % 3}", occasions=1) for n in range(30)]
    found = said(check, lived, rules=book([narrow, wide], uses))
    assert (found.status, found.n) == ("fine", 1)
    apart = rule(2, status="candidate", kind="orders")
    assert said(check, lived, rules=book([narrow, apart], uses)).numbers["ids"] == [narrow.rule.id]


def test_a_book_that_admits_nothing_for_long_is_stale():
    late = [distilled(n, f"t{n}", version=10 + n) for n in range(12)]
    once = rule(1, (1, "candidate", ["c0"]), (5, "active"), (30, "active", ["c9"]))
    found = said("rules-stale", rules=book([once], contrasts=late))
    assert tally(found) == ("finding", "memory")
    assert (found.numbers["since"], found.numbers["admitted"]) == (12, 1)
    fresh = rule(2, (1, "candidate"), (19, "active"))
    assert said("rules-stale", rules=book([once, fresh], contrasts=late)).status == "fine"
    ungated = [rule(2 + n, (10 + n, "active", [f"c{n}"])) for n in range(12)]
    found = said("rules-stale", rules=book(ungated, contrasts=late))
    assert (found.status, found.numbers["since"], found.numbers["admitted"]) == ("fine", 0, 12)
    run = run_of("rulebook", rules=book([once], contrasts=late))
    assert tally(CHECKS["rules-stale"](run)) == ("finding", "")
    never = rule(1, (1, "candidate"))
    assert tally(said("rules-stale", rules=book([never], contrasts=late))) == ("finding", "never")
    assert said("rules-stale", rules=book([never], contrasts=late[:9])).status == "unknown"
