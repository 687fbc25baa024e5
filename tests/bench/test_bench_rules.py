"""Rules measured with a made-up model that heeds them: gates hold what was planted."""

from dataclasses import replace

import numpy as np
import pytest

from jitrl.agents.rulebook.cases import read
from jitrl.agents.rulebook.telling import MOST_TOLD
from jitrl.bench.arms import chosen
from jitrl.bench.attempts import opened
from jitrl.bench.priors import Known
from jitrl.bench.rules.arms import SETS, Arm
from jitrl.bench.rules.asked import Asked, asked, full, together
from jitrl.bench.rules.life import Heeding, Job, drawn, run
from jitrl.bench.rules.planted import planted, shares
from jitrl.bench.rules.results import rules
from jitrl.bench.rules.waiting import median_and_ninth, tellings
from jitrl.core.sentences import rule_id
from jitrl.envs.backoffice import Backoffice
from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.store_samples import derive, sample_decision, sample_episode, scored
from jitrl.types import Contrast, Outcome, Prompt, Rule, RuleUse, Spoken, Task, Transition

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


def played(world, task, actions):
    """The reward of the last of these actions, then the right ones to the end."""
    now = world.reset(task)
    for action in actions:
        now = world.step(world.codec.ground(action, now.observation))
    while not (now.terminated or now.truncated):
        now = world.step(world.codec.ground(world.oracle_action(), now.observation))
    return now.reward


@pytest.mark.parametrize(("kind", "score"), [("harmful", 0.0), ("lucky", 1.0)])
def test_what_a_planted_rule_asks_for_costs_the_episode_or_nothing(kind, score):
    world = Backoffice(instances=3)
    tasks = [task for _, task in drawn(world.tasks(), job(Arm("x"), templates=3, rounds=1))]
    found = list(planted(world, tasks, "candidate", 0, kind))
    assert len(found) == 3
    for rule, evidence in found:
        assert len(evidence) == (kind == "lucky")
        assert rule.entry == 1.0
        followed = 0
        for task in tasks:
            way = list(world.oracle(task)) if task.family == rule.kind else []
            for place in range(len(way)):
                now = world.reset(task)
                for action in way[:place]:
                    now = world.step(world.codec.ground(action, now.observation))
                state = world.codec.state(now.observation, way[:place])
                asked = read(rule.text).at(task.goal, state, world.codec.actions(now.observation))
                if asked is not None:
                    followed += 1
                    assert played(world, task, [*way[:place], asked.action]) == score
        assert followed


def test_an_idle_rule_asks_for_what_is_not_there():
    world = Backoffice(instances=3)
    tasks = [task for _, task in drawn(world.tasks(), job(Arm("x"), templates=3, rounds=1))]
    found = list(planted(world, tasks, "candidate", 0, "idle"))
    assert len(found) == 3
    for rule, _ in found:
        first = world.reset(tasks[0]).observation
        assert not any(rule.text.endswith(f"take {a}") for a in world.codec.actions(first))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_crowd_asks_for_different_wrong_things_at_one_step(seed):
    world = Backoffice(instances=3)
    tasks = [t for _, t in drawn(world.tasks(), job(Arm("x"), seed=seed, templates=1, rounds=1))]
    crowd = [read(rule.text) for rule, _ in planted(world, tasks, "active", 0, "crowd")]
    assert 1 < len(crowd) <= 6
    assert len({case.where for case in crowd}) == 1
    assert len({case.action for case in crowd}) == len(crowd)
    spoke = [set()]
    for task in tasks:
        way = list(world.oracle(task))
        for place, right in enumerate(way):
            now = world.reset(task)
            for action in way[:place]:
                now = world.step(world.codec.ground(action, now.observation))
            state = world.codec.state(now.observation, way[:place])
            actions = world.codec.actions(now.observation)
            spoke.append(
                {of.action for case in crowd if (of := case.at(task.goal, state, actions))}
            )
            assert right not in spoke[-1]
    assert max(map(len, spoke)) > MOST_TOLD


def test_with_gates_off_harm_is_told_for_good_and_with_them_less_and_never_let_in():
    off = Arm("off", options={"gates": False}, planted="harmful")
    (told,) = run(job(off, templates=1, rounds=2)).fates
    assert (told.kind, told.gone) == ("harmful", None)
    (tested,) = run(job(Arm("on", planted="harmful"), templates=1, rounds=2)).fates
    assert not tested.admitted
    assert tested.uses < told.uses
    assert tested.effect.given == tested.uses


@pytest.mark.parametrize("status", ["candidate", "active"])
def test_rules_that_do_more_harm_are_told_fewer_times_until_they_go(status):
    mild, grave = (tellings(effect, status, runs=9) for effect in (-0.4, -0.9))
    assert sum(grave) < sum(mild)
    assert median_and_ninth(range(20)) == (10, 17)


def test_shares_of_what_is_gone_count_what_stays():
    assert shares([3, 10, 35, None]) == {10: 0.5, 20: 0.5, 40: 0.75, 80: 0.75}


def test_arms_play_the_same_tasks_whatever_the_number_of_processes():
    arms = chosen(SETS["together"], "rules")
    one, two = (rules("together", arms, workers=n, **SMALL) for n in (1, 2))
    assert one.results == two.results
    assert [result.against for result in one.results] == ["none", "none"]
    assert np.isfinite(one.results[1].score.mean)


def put(store, number, score, uses=()):
    episode = replace(sample_episode(f"e{number}"), outcome=Outcome(score, "test"))
    judgment = scored(episode)
    store.commit(episode, judgment, derive(episode, judgment), uses)


def test_rounds_are_counted_by_the_setting_that_kept_them_from_teaching():
    taught, same, left = (1.0, 0.0, 0.0), (0.8, 0.8, 0.8), (1.0, 0.0)
    rounds = [taught, same, (0.5, 0.4, 0.4), (0.6, 0.1, 0.1), (1.0, 0.9, 0.9), left]
    with SQLiteStore(":memory:") as store:
        book = opened("rulebook", {"attempts": 3}, {}, store)
        for number, score in enumerate(score for lived in rounds for score in lived):
            put(store, number, score)
        found = asked(book, store, [Task("t1", "", "shop")], 30, 3)
    assert found == Asked(4, gap=2, threshold=1, steps=30, full=3, admitted=0, lowest=0)
    assert together([found, found]) == Asked(8, 4, 2, 60, 6, 0, 0)


def test_a_step_is_full_where_as_many_rules_speak_as_a_prompt_may_hold():
    def step(*rules):
        spoke = tuple(Spoken(id, True, 0.5, "unknown") for id in rules)
        decided = replace(sample_decision("a"), notes=spoke)
        return Transition(sample_episode("e").steps[0].state, "a", decided)

    lived = replace(sample_episode("e"), steps=(step(), step("r"), step("r", "s")))
    assert [full(lived, told) for told in (1, 2, 3)] == [2, 1, 0]


def test_rules_that_gates_let_in_and_that_went_as_the_lowest_are_counted():
    sentences = [f"When you see the hall, take {what}" for what in ("a", "b", "c")]
    one, two, new = ids = [rule_id(text) for text in sentences]
    rules = {id: Rule(id, text, "shop") for id, text in zip(ids, sentences, strict=True)}
    good, bad, scores = ("g",), ("b",), (1.0, 0.0)
    shown = [Contrast(f"c{n}", "shop", "t1", "", n, "", good, bad, scores) for n in (0, 1)]
    with SQLiteStore(":memory:") as store:
        book = opened("rulebook", {"attempts": 0, "gates": {"bottom": 0.5}}, {}, store)
        for contrast in shown:  # the second time they gain evidence, and nothing else
            given = [replace(rules[id], evidence=(contrast.id,)) for id in (one, two)]
            store.add_rules([replace(rule, status="active") for rule in given], [contrast])
        store.add_rules([rules[new]])
        store.set_rule_status("active", [new], reason="it helped")
        rng = np.random.default_rng(0)
        for number in range(80):
            told = rng.random(3) < 0.5
            uses = [
                RuleUse(id, f"e{number}", bool(given), 0.5)
                for id, given in zip(ids, told, strict=True)
            ]
            put(store, number, 0.5 + 0.5 * float(told[2]), uses)
        book.learning.gating.thin("shop")
        assert [len(store.rule_history(id)) for id in (one, two)] in ([2, 3], [3, 2])
        found = asked(book, store, [], 0, 0)
    assert (found.admitted, found.lowest) == (1, 1)
