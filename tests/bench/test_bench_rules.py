"""Rules measured with a made-up model that heeds them: gates hold what was planted."""

import numpy as np

from jitrl.bench.arms import chosen
from jitrl.bench.priors import Known
from jitrl.bench.rules.arms import SETS, Arm
from jitrl.bench.rules.life import Heeding, Job, drawn, run
from jitrl.bench.rules.planted import planted
from jitrl.bench.rules.results import rules
from jitrl.envs.backoffice import Backoffice
from jitrl.types import Prompt

SMALL = {"seeds": (0,), "templates": 2, "rounds": 2, "right": 3.0}


def job(arm, **given):
    return Job(
        **{
            "arm": arm,
            "seed": 0,
            "world": "backoffice",
            "world_seed": 1,
            "right": 3.0,
            "heeds": 3.0,
        }
        | given
    )


def test_a_model_that_heeds_its_notes_gains_only_what_they_name():
    prompt = Prompt("", "", (), ("a(x)", "b(x)"), notes="- When X, take b(x).")
    logits = [c.logit for c in Heeding(Known("uniform"), 3.0).propose(prompt, None).candidates]
    assert logits == [0.0, 3.0]


def test_each_template_gets_a_rule_that_does_harm_and_one_that_does_nothing():
    world = Backoffice(instances=3)
    tasks = [task for _, task in drawn(world.tasks(), job(Arm("x"), templates=3, rounds=1))]
    found = list(planted(world, tasks, "candidate", 0))
    assert [kind for kind, _ in found] == ["harmful", "idle"] * 3
    for kind, rule in found:
        of = [task for task in tasks if task.family == rule.kind]
        first = world.reset(of[0]).observation
        named = [a for a in world.codec.actions(first) if rule.text.endswith(f"take {a}")]
        assert len(named) == (kind == "harmful")
        assert world.oracle(of[0])[0] not in named


def test_with_gates_off_what_was_planted_is_told_for_good():
    life = run(job(Arm("off", options={"gates": False}, planted=True), templates=1, rounds=2))
    assert [(fate.kind, fate.gone) for fate in life.fates] == [("harmful", None), ("idle", None)]
    assert life.candidate == 0
    on = run(job(Arm("on", planted=True), templates=1, rounds=4))
    harm = next(fate for fate in on.fates if fate.kind == "harmful")
    assert not harm.admitted
    assert harm.uses < 4 * 8 * 3 / 2


def test_arms_play_the_same_tasks_whatever_the_number_of_processes():
    arms = chosen(SETS["together"], "rules")
    one, two = (rules("together", arms, workers=n, **SMALL) for n in (1, 2))
    assert one.results == two.results
    assert [result.against for result in one.results] == ["none", "none"]
    assert np.isfinite(one.results[1].score.mean)
