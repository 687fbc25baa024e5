"""What will be played is said in one line before the first episode."""

import pytest

TOY = ("--env", "toy", "--env-options", "tasks=14,size=2", "--model", "scripted")
SMALL = (*TOY, "--tasks", "6", "--attempts", "2")


def test_a_run_says_its_size_and_terms_in_its_first_line_and_nothing_when_it_is_over(jitrl):
    first, second, *_ = jitrl("run", *SMALL, "--seeds", "2", "--out", "r").err.splitlines()
    assert first == (
        "jitrl on toy: 6 tasks × 2 attempts × 2 seeds = 24 episodes; "
        "model scripted; evaluator environment; into r"
    )
    assert second.startswith("jitrl: 24 of 24 episodes")
    assert "on toy" not in jitrl("run", *SMALL, "--seeds", "2", "--out", "r").err


@pytest.mark.parametrize(("attempts", "hint"), [(50, ""), (51, "; for fewer: --tasks N --atte")])
def test_more_than_300_episodes_are_said_with_what_makes_them_fewer(jitrl, attempts, hint):
    asked = ("run", *TOY, "--tasks", "6", "--attempts", attempts, "--max-calls", "5")
    said = jitrl(*asked, "--out", "r").err.splitlines()[0]
    assert f"= {6 * attempts} episodes;" in said
    assert said.partition("into r")[2].startswith(hint)
    assert bool(said.partition("into r")[2]) == bool(hint)


def test_what_was_played_before_is_said_on_going_on(jitrl):
    asked = ("run", *SMALL, "--out", "r")
    assert jitrl(*asked, "--max-calls", "8").code == 6
    assert "= 12 episodes (" in (said := jitrl(*asked).err.splitlines()[0])
    assert " played before); model" in said


def test_a_comparison_says_all_that_it_plays_before_its_first_arm(jitrl):
    arms = ("--agents", "static,jitrl", "--arm", "long=jitrl,run.attempts=60")
    done = jitrl("compare", *SMALL, *arms, "--differ", "attempts", "--out", "c")
    assert done.err.splitlines()[0] == (
        "static, jitrl on toy: 6 tasks × 2 attempts × 1 seed = 12 episodes each; "
        "long on toy: 6 tasks × 60 attempts × 1 seed = 360 episodes, 384 in all; "
        "model scripted; evaluator environment; into c; for fewer: --tasks N --attempts N"
    )


def test_a_search_says_the_most_it_plays_and_first_what_it_measures_its_pace_by(jitrl):
    asked = ("tune", *TOY, "--attempts", "2", "--episodes", "100", "--out", "t")
    first = jitrl(*asked).err.splitlines()[0]
    assert "tasks of toy, 7 tasks held out: at most " in first
    assert first.endswith("; model scripted; evaluator environment; into t")
    asked = ("tune", *TOY, "--attempts", "2", "--seconds", "9", "--episodes", "400", "--out", "u")
    why, pace, *_ = jitrl(*asked).err.splitlines()
    assert why.startswith("The first run shows")
    assert pace.startswith("default on toy: 7 tasks × 2 attempts × 1 seed = 14 episodes; model")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("judge", "--tasks", "6", "--seeds", "1", "--attempts", "5"), "1 seed: 420 episodes; for"),
        (("transfer", "--templates", "2", "--seeds", "1"), "the memories they need: 70 episodes"),
        (
            ("learn", "--what", "toy", "--protocols", "1"),
            "toy, hidden protocols: 600 episodes; for",
        ),
        (("learn", "--what", "gaps", "--trials", "1"), "gaps: 28 memories"),
    ],
)
def test_a_bench_says_how_many_episodes_it_plays(jitrl, asked, said):
    first = jitrl("bench", *asked).err.splitlines()[0]
    assert said in first
    assert (" for fewer: --" in first) == ("for" in said)
