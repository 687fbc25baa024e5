"""Each check of the doctor fires where it should, stays silent elsewhere, and asks for enough."""

from dataclasses import replace

import numpy as np
import pytest
from ailing import attempt, book, case, choice, grid, many, rows, rule, run_of, tally

from jitrl.analysis.doctor import CHECKS
from jitrl.run.ledger import Total
from jitrl.stores.stats import Mixture
from jitrl.types import State

RNG = np.random.default_rng(0)


def said(name, *args, **kwargs):
    return CHECKS[name](case(*args, **kwargs))


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_without_data_says_so_and_finds_nothing(name):
    found = CHECKS[name](case())
    assert (found.status, found.n) == ("unknown", 0)


# --- scores ---------------------------------------------------------------------------------------


def test_scores_in_one_band_do_not_discriminate():
    scores = RNG.uniform(0.74, 0.79, 40)
    found = said("spread", [attempt(i, s) for i, s in enumerate(scores)])
    assert tally(found) == ("finding", "")
    assert found.numbers["share"] == 1.0
    assert found.numbers["iqr"] < 0.05


def test_scores_that_differ_and_tasks_that_are_solved_are_fine():
    assert said("spread", many()).status == "fine"
    assert said("spread", [attempt(i, 1.0) for i in range(40)]).status == "fine"


def test_verdicts_that_are_nearly_all_failures_are_told_apart_from_a_flat_scale():
    assert tally(said("spread", [attempt(i, 0.0) for i in range(40)])) == ("finding", "verdicts")
    assert tally(said("spread", [attempt(i, 0.76) for i in range(40)])) == ("finding", "")


def test_the_narrowest_band_is_found_wherever_it_lies():
    scores = [0.0] + [0.5 + 0.002 * i for i in range(38)] + [1.0]
    found = said("spread", [attempt(i, s) for i, s in enumerate(scores)])
    assert found.status == "finding"
    assert found.numbers["band"] == pytest.approx([0.5, 0.574])


def test_a_level_curve_is_found_and_a_rising_one_is_not():
    noise = RNG.normal(0, 0.05, (8, 10))
    turned = (choice(turned="returns"),)
    assert tally(said("curve", grid(0.3 + noise, choices=turned))) == ("finding", "")
    assert said("curve", grid(np.linspace(0, 0.8, 10) + noise)).status == "fine"


def test_a_level_curve_is_looked_into_by_what_the_agent_learns_by():
    level = 0.3 + RNG.normal(0, 0.05, (8, 10))
    turned = said("curve", grid(level, choices=(choice(turned="returns"),)))
    assert turned.numbers["file"] == "m.db"
    assert turned.numbers["unit"] == "task"
    assert tally(said("curve", grid(level, choices=(choice(),)))) == ("finding", "unturned")
    ruled = CHECKS["curve"](run_of("rulebook", grid(level), rules=book([rule(1)])))
    assert (tally(ruled), ruled.numbers["file"]) == (("finding", "rules"), "m.db")
    assert tally(CHECKS["curve"](run_of("reflexion", grid(level)))) == ("finding", "other")
    for mode in ("shadow", "off"):  # nobody hears it
        assert said("curve", grid(level, choices=(choice(mode=mode),))).status == "unknown"


def test_a_falling_curve_is_worse_than_a_level_one():
    scores = np.linspace(0.8, 0, 10) + RNG.normal(0, 0.05, (8, 10))
    found = said("curve", grid(scores, choices=(choice(),)))
    assert tally(found) == ("finding", "falls")
    assert found.numbers["high"] < 0
    assert tally(CHECKS["curve"](run_of("reflexion", grid(scores)))) == ("finding", "other falls")


def test_a_curve_that_is_level_because_all_is_solved_is_fine():
    assert said("curve", grid(np.ones((8, 10)))).status == "fine"


def test_a_level_curve_is_no_finding_where_the_memory_is_shown_to_help():
    level = 0.6 + RNG.normal(0, 0.05, (8, 10))
    for gain, status in ((0.4, "fine"), (0.0, "finding")):
        base = case(grid(level - gain + RNG.normal(0, 0.05, (8, 10))))
        assert CHECKS["curve"](case(grid(level, choices=ACTED), base=base)).status == status


def test_a_curve_of_a_few_tasks_cannot_be_told():
    found = said("curve", grid(np.ones((3, 10))))
    assert (found.status, found.n) == ("unknown", 3)


# --- effects --------------------------------------------------------------------------------------

ACTED = (choice(),)


def test_without_anything_to_compare_with_no_effect_can_be_known():
    assert tally(said("effect", many(choices=ACTED))) == ("finding", "off")


def test_the_effect_of_an_agent_that_learns_in_its_prompt_takes_a_static_run():
    alone = run_of("rulebook", many(), rules=book([rule(1)]))
    assert tally(CHECKS["effect"](alone)) == ("finding", "no static")
    base = case(grid(np.full((8, 4), 0.5)))
    scores = 0.6 + RNG.normal(0, 0.02, (8, 4))
    found = CHECKS["effect"](run_of("rulebook", grid(scores), base=base))
    assert (tally(found), found.n) == (("fine", ""), 32)
    worse = CHECKS["effect"](run_of("reflexion", grid(scores - 0.4), base=base))
    assert tally(worse) == ("finding", "by prompt")
    assert CHECKS["effect"](run_of("static", many())).status == "unknown"


def held_out(gain):
    """Eight tasks, each with five episodes with memory and five without it."""
    scores = RNG.normal(0.5, 0.05, (8, 10)) + gain * (np.arange(10) < 5)
    return [
        attempt(a.number, a.score, task=a.task, is_held=a.number >= 5, choices=ACTED)
        for a in grid(scores)
    ]


def test_episodes_held_out_make_the_effect_known_and_a_harm_is_found():
    found = said("effect", held_out(0.3))
    assert tally(found) == ("fine", "")
    assert found.numbers["mean"] == pytest.approx(0.3, abs=0.05)
    assert tally(said("effect", held_out(-0.3))) == ("finding", "")


def test_of_few_tasks_the_effect_is_known_by_episodes_as_on_the_curve():
    three = [a for a in held_out(0.3) if a.task in ("t0", "t1", "t2")]
    found = said("effect", three)
    assert tally(found) == ("fine", "")
    assert found.numbers["few_tasks"] == 6
    scores = [np.array([a.score for a in three if a.is_held == is_held]) for is_held in (0, 1)]
    assert found.numbers["mean"] == pytest.approx(scores[0].mean() - scores[1].mean())
    assert found.numbers["unit"] == "episode"
    many_tasks = said("effect", held_out(0.3)).numbers
    assert (many_tasks["few_tasks"], many_tasks["unit"]) == (None, "task")


def test_an_effect_of_few_tasks_over_many_seeds_names_the_seeds():
    three = [a for a in held_out(0.3) if a.task in ("t0", "t1", "t2")]
    noise = RNG.normal(0, 0.02, 8)
    seeds = [replace(a, seed=s, score=a.score + noise[s]) for s in range(8) for a in three]
    numbers = said("effect", seeds).numbers
    assert (numbers["unit"], numbers["clusters"], numbers["few_tasks"]) == ("seed", 8, None)


def test_a_static_run_is_held_against_attempt_by_attempt():
    base = case(grid(np.full((8, 4), 0.5)))
    scores = 0.6 + RNG.normal(0, 0.02, (8, 4))
    found = CHECKS["effect"](case(grid(scores, choices=ACTED), base=base))
    assert (found.status, found.numbers["against"]) == ("fine", "static")
    assert found.numbers["mean"] == pytest.approx(scores.mean() - 0.5)


def two_families(bad):
    """One family that gains much and one that gains ``bad``, of which row 3 changed choices."""
    noise = RNG.normal(0, 0.02, (7, 10))
    turned = (choice(turned="returns", rows=(3, 3, 4)),)
    return [
        *grid(np.linspace(0, 0.9, 10) + noise, family="good"),
        *grid(np.linspace(0.5, 0.5 + bad, 10) + noise, family="bad", choices=turned),
    ]


def test_a_family_that_is_harmed_is_found_though_the_sum_is_good():
    found = said("families", two_families(-0.4))
    assert tally(found) == ("finding", "rows")
    assert {found.numbers["overall"]["unit"], found.numbers["worse"]["bad"]["unit"]} == {"task"}
    assert list(found.numbers["worse"]) == ["bad"]
    assert found.numbers["overall"]["mean"] > 0
    assert (found.numbers["rows"], found.numbers["episodes"]) == ([3, 4], ["e3", "e4"])


def test_families_that_all_gain_are_fine_and_one_family_cannot_be_told():
    assert said("families", two_families(0.4)).status == "fine"
    found = said("families", grid(RNG.random((7, 10)), family="one"))
    assert (found.status, found.n) == ("unknown", 1)


def test_families_are_held_against_the_static_run_where_there_is_one():
    base = case(
        [*grid(np.full((7, 10), 0.9), family="good"), *grid(np.ones((7, 10)), family="bad")]
    )
    found = CHECKS["families"](case(two_families(0.4), base=base))
    assert found.numbers["against"] == "static"
    assert set(found.numbers["worse"]) == {"good", "bad"}


def flipped(gain):
    """Eight tasks; choices are changed in every other episode."""
    turned = choice(turned="returns")
    return [
        attempt(
            a.number,
            a.score + gain * (a.number % 2),
            task=a.task,
            choices=(turned if a.number % 2 else choice(),),
        )
        for a in grid(RNG.normal(0.5, 0.05, (8, 10)))
    ]


def test_turned_choices_are_held_against_the_other_episodes_of_their_task():
    found = said("flips", flipped(-0.3))
    assert tally(found) == ("finding", "")
    assert (found.numbers["share"], found.numbers["why"]) == (0.5, {"returns": 40})
    assert (found.numbers["unit"], found.numbers["clusters"]) == ("task", 8)
    assert said("flips", flipped(0.3)).status == "fine"


def test_a_task_in_which_all_or_no_episodes_have_turned_choices_says_nothing_of_them():
    turned = (choice(turned="returns"),)
    more = [*many(task="always", choices=turned), *many(task="never", choices=(choice(),))]
    found = said("flips", [*flipped(0.3), *more])
    assert (found.n, found.numbers["mean"]) == (8, pytest.approx(0.3, abs=0.05))


def test_turned_choices_of_few_tasks_are_not_held_against_episodes_of_easier_ones():
    turned = (choice(turned="returns"),)
    hard = [attempt(i, 0.2, task=f"hard{i % 3}", choices=turned) for i in range(30)]
    easy = [attempt(i, 0.9, task=f"easy{i % 3}", choices=ACTED) for i in range(30)]
    assert said("flips", [*hard, *easy]).status == "unknown"


# --- the bill -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("check", "phase"), [("judging", "judge"), ("learning", "learn")])
def test_a_phase_that_takes_more_than_a_quarter_of_the_bill_is_found(check, phase):
    act = Total("act", "m", 70, 0, 20, 9000, 0, 9.0)
    small = Total(phase, "m", 10, 0, 0, 900, 100, 1.0)
    dear = Total(phase, "big", 10, 0, 0, 900, 100, 4.0)
    fine = said(check, spent=(act, small))
    assert fine.status == "fine"
    assert fine.numbers["calls"] == pytest.approx(0.1)  # answers from a cache count as answers
    found = said(check, spent=(act, dear))
    assert (found.status, found.numbers["dollars"]) == ("finding", pytest.approx(4 / 13))
    assert said(check, spent=(Total("act", "m", 19, 0, 0, 9, 0, 0.0),)).status == "unknown"


@pytest.mark.parametrize(("larger", "other"), [("judge", "learn"), ("learn", "judge")])
def test_judging_and_learning_that_take_a_quarter_together_are_found_once_with_the_larger(
    larger, other
):
    bill = (
        Total("act", "m", 72, 0, 0, 7200, 0, 7.2),
        Total(larger, "m", 15, 0, 0, 1500, 0, 1.5),
        Total(other, "m", 13, 0, 0, 1300, 0, 1.3),
    )
    checks = {"judge": "judging", "learn": "learning"}
    found = said(checks[larger], spent=bill)
    assert (found.status, found.form) == ("finding", "both")
    assert found.numbers["together"]["calls"] == pytest.approx(0.28)
    assert said(checks[other], spent=bill).status == "fine"


# --- likeness -------------------------------------------------------------------------------------


def kinds(texts):
    """Eight states of each of two kinds; ``texts`` says what state i of a kind looks like."""
    listed = [(8 * k + i, 0, 0.0, k) for k in range(2) for i in range(8)]
    states = {8 * k + i: State(texts(k, i)) for k in range(2) for i in range(8)}
    attempts = [attempt(k, task=f"kind {k}") for k in range(2)]
    return case(attempts, held=rows(*listed), states=states)


def test_a_kind_that_is_lost_among_another_one_is_found():
    found = CHECKS["kinds"](kinds(lambda k, i: f"shop of{k} a{i} b{i} c{i}"))
    assert (found.status, found.numbers["lost"]) == ("finding", 1.0)
    assert {found.numbers["worst"], found.numbers["like"]} == {"kind 0", "kind 1"}


def test_kinds_with_words_of_their_own_are_fine():
    found = CHECKS["kinds"](kinds(lambda k, i: f"{'order list' if k else 'room door'} {i}"))
    assert (found.status, found.numbers["purity"]) == ("fine", 1.0)


def test_states_that_are_nearest_to_another_kind_but_no_neighbors_are_not_lost():
    found = CHECKS["kinds"](kinds(lambda k, i: f"a{i} kind{k} b{k}{i} c{k}{i}"))
    assert (found.status, found.numbers["lost"]) == ("fine", 0.0)


# --- retrieval ------------------------------------------------------------------------------------


def stuck(actions):
    """Twelve poor states with three visits each, and a good one."""
    poor = [(s, i % actions, 0.0, 0) for s in range(12) for i in range(3)]
    return rows(*poor, (12, 0, 1.0, 0))


def test_poor_states_in_which_nothing_else_is_tried_are_found():
    found = said("single", [attempt(0)], held=stuck(1))
    assert (found.status, found.n, found.numbers["single"]) == ("finding", 12, 12)
    assert said("single", [attempt(0)], held=stuck(3)).status == "fine"


def test_states_with_a_single_candidate_are_not_held_against_anybody():
    only = tuple(choice(f"state {i}", options=1) for i in range(12))
    assert said("single", [attempt(0, choices=only)], held=stuck(1)).status == "unknown"


def reading(n=40, **changed):
    """Decisions over a memory of twelve states."""
    held = rows(*((s, 0, 0.0, 0) for s in range(12)))
    return case([attempt(0, choices=(choice("state 1 too", **changed),) * n)], held=held)


def test_a_threshold_that_nothing_reaches_is_found_with_what_is_nearest():
    found = CHECKS["threshold"](reading(known=0, reached=0))
    assert (found.status, found.numbers["share"]) == ("finding", 0.0)
    assert found.numbers["nearest"] == pytest.approx(2 / 3)
    assert CHECKS["threshold"](reading()).status == "fine"
    assert CHECKS["threshold"](reading(version=0)).status == "unknown"  # nothing was held yet


def test_what_is_similar_and_still_no_neighbor_is_of_other_tasks():
    lost = reading(known=0, reached=0)
    assert tally(CHECKS["threshold"](lost)) == ("finding", "other tasks")  # 2/3, where 0.5 will do
    held, attempts = lost.journals[0].rows, lost.journals[0].attempts
    assert tally(CHECKS["threshold"](case(attempts, held=held, threshold=0.9))) == ("finding", "")


def test_neighborhoods_that_hold_half_of_all_are_found():
    found = CHECKS["width"](reading(reached=10))
    assert tally(found) == ("finding", "wide")
    assert found.numbers["cover"] == pytest.approx(10 / 12)
    held = rows(*((s, 0, 0.0, 0) for s in range(12)))
    alone = (*[choice(reached=10)] * 40, choice(known=0, reached=0))
    assert said("width", [attempt(0, choices=alone)], held=held).status == "fine"
    assert CHECKS["width"](reading()).status == "fine"


def test_a_k_that_is_never_reached_is_found():
    held = rows(*((s, 0, 0.0, 0) for s in range(12)))
    lived = [attempt(0, choices=(choice(),) * 40)]
    assert tally(said("width", lived, held=held, k=5)) == ("finding", "never full")
    assert said("width", lived, held=held, k=4).status == "fine"


def decisions(n=40, **changed):
    return [attempt(0, choices=(choice(**changed),) * n)]


def test_choices_that_the_model_never_proposed_are_found():
    assert said("memory-only", decisions(is_memorys=True)).status == "finding"
    assert said("memory-only", decisions()).status == "fine"
    assert said("memory-only", decisions(29)).status == "unknown"


def test_a_memory_that_never_turns_a_choice_is_found():
    found = said("prior-wins", decisions())
    assert (found.status, found.numbers["push"], found.numbers["spread"]) == ("finding", 2.0, 3.0)
    assert said("prior-wins", decisions(turned="returns")).status == "fine"
    assert tally(said("prior-wins", decisions(push=0.0))) == ("finding", "silent")


def test_a_model_that_can_change_nothing_is_found_unless_it_has_no_preference():
    assert said("prior-loses", decisions(is_outweighed=True)).status == "finding"
    assert said("prior-loses", decisions()).status == "fine"
    assert said("prior-loses", decisions(is_outweighed=True, spread=0.0)).status == "unknown"


# --- outcomes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["told", "scorer", "evaluator"])
def test_what_is_mixed_in_a_scope_is_found(what):
    found = said(f"mixed-{what}", many(), mixed=[Mixture("shop", what, {"a": 3, "b": 1})])
    assert (found.status, found.numbers["values"]) == ("finding", {"a": 3, "b": 1})
    other = "told" if what != "told" else "scorer"
    assert said(f"mixed-{what}", many(), mixed=[Mixture("shop", other, {})]).status == "fine"


def test_missing_outcomes_are_found_and_those_that_are_overdue_counted():
    came = [attempt(i, delay=5.0) for i in range(30)]
    lack = {"is_waiting": True, "reason": "no outcome yet"}
    wait = [attempt(i, judged=None, score=None, **lack) for i in range(30, 50)]
    found = said("waiting", [*came, *wait])
    assert (found.status, found.numbers["waiting"], found.numbers["stale"]) == ("finding", 20, 14)
    assert said("waiting", [*came, *wait[:5]]).status == "fine"


def test_unscored_episodes_are_found_by_reason_and_waiting_ones_are_not_among_them():
    lost = [attempt(i, judged=None, reason="the judge cannot tell how it ended") for i in range(5)]
    found = said("unscored", [*many(30), *lost])
    assert found.status == "finding"
    assert found.numbers["reasons"] == {"the judge cannot tell how it ended": 5}
    wait = [attempt(i, judged=None, is_waiting=True, reason="no outcome yet") for i in range(5)]
    assert said("unscored", [*many(30), *wait]).status == "fine"


def test_scores_that_nobody_can_check_are_found():
    found = said("checkable", many(basis="llm_judge"))
    assert (found.status, found.numbers["bases"]) == ("finding", {"llm_judge": 40})
    assert said("checkable", many()).status == "fine"


def test_tasks_that_never_come_again_are_found_unless_their_family_does():
    once = [attempt(i, task=f"t{i}") for i in range(40)]
    assert said("recurrence", once).status == "finding"
    kin = [attempt(i, task=f"t{i}", family="orders") for i in range(40)]
    found = said("recurrence", kin)
    assert (found.status, found.numbers["same_task"], found.numbers["same_kind"]) == ("fine", 0, 1)
