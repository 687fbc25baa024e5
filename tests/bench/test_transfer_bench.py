import json
import math
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from jitrl.bench.pool import kept
from jitrl.bench.priors import Noisy, Stated
from jitrl.bench.transfer import backoffice, results
from jitrl.bench.transfer.arms import COLD, DEFAULT, SETS, Arm
from jitrl.bench.transfer.backoffice import Job, drawn
from jitrl.bench.transfer.firsts import First
from jitrl.bench.transfer.tampered import tampered
from jitrl.envs.backoffice import Backoffice
from jitrl.errors import StoreError
from jitrl.presets import load
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Candidate, Prompt, Proposal

SMALL = Job((COLD, DEFAULT), 0, 0, "noisy", templates=6)


@pytest.fixture(scope="module")
def lived():
    """The memory of a seed, of six templates."""
    world = Backoffice(instances=backoffice.INSTANCES, seed=0)
    store = SQLiteStore(":memory:")
    backoffice.live(SMALL, world, drawn(world.tasks(), 0, 6).train, store)
    yield store
    store.close()


def test_every_arm_has_settings_that_exist_a_name_of_its_own_and_peers_to_be_compared_with():
    for arms in SETS.values():
        names = [arm.name for arm in arms]
        assert len(set(names)) == len(names)
        for arm in arms:
            load("default").changed(**arm.memory)
            peers = {a.learned for a in arms if a.rewards == arm.rewards}
            assert {"nothing", "as it is"} <= peers


def test_tests_are_fresh_and_each_template_has_equally_many():
    tasks = Backoffice(instances=8, seed=0).tasks()
    draw = drawn(tasks, 3)
    train, tests = ([t.task.id for t in side] for side in (draw.train, draw.tests))
    assert not set(train) & set(tests)
    assert len(train) == 3 * len({t.cluster for t in draw.train}) > 60
    assert len(tests) == 2 * len({t.cluster for t in draw.tests})
    assert all(tasks[t.index] is t.task and t.task.id in draw.of[t.cluster] for t in draw.tests)
    assert [t.task.id for t in drawn(tasks, 4).train] != train


def test_the_noisy_prior_repeats_itself_and_is_surest_of_the_right_action():
    world = Backoffice(instances=1, seed=0)
    task = world.tasks()[0]
    shown = world.reset(task).observation
    prompt = Prompt(task.goal, world.codec.text(shown), (), world.codec.actions(shown))

    def logits(right, seed):
        proposal = Noisy(world, task, right, seed).propose(prompt, np.random.default_rng(0))
        return {c.action: c.logit for c in proposal.candidates}

    assert logits(2.0, 0) == logits(2.0, 0)
    assert logits(2.0, 0) != logits(2.0, 1)
    right = world.oracle_action()
    more = {a: z - logits(2.0, 0)[a] for a, z in logits(5.0, 0).items()}
    assert more == pytest.approx({a: 3.0 * (a == right) for a in more})


def test_noise_has_the_size_that_it_says():
    world = Backoffice(instances=3, seed=0)
    found = []
    for task in world.tasks():
        shown = world.reset(task).observation
        prompt = Prompt(task.goal, world.codec.text(shown), (), world.codec.actions(shown))
        found += [
            c.logit
            for c in Noisy(world, task, 0.0, 0).propose(prompt, np.random.default_rng(0)).candidates
        ]
    assert abs(np.mean(found)) < 0.15
    assert np.std(found) == pytest.approx((1.1**2 + 0.5**2) ** 0.5, rel=0.1)


def test_shuffled_goals_belong_to_other_tasks(lived):
    old = {e.task: e.info["goal"] for e in lived.episodes()}
    made = tampered(lived, "goals shuffled", 0)
    new = {e.task: e.info["goal"] for e in made.episodes()}
    assert sorted(old.values()) == sorted(new.values())
    assert sum(old[t] != new[t] for t in old) > len(old) / 2
    assert all(s.state.context == e.info["goal"] for e in made.episodes() for s in e.steps)
    made.close()


def test_another_menu_renames_links_everywhere_in_the_same_way(lived):
    made = tampered(lived, "another menu", 0)
    new = {}
    for before, after in zip(lived.episodes(), made.episodes(), strict=True):
        for a, b in zip(before.steps, after.steps, strict=True):
            pairs = [(a.action, b.action)]
            pairs += zip(
                (c.action for c in a.decision.candidates),
                (c.action for c in b.decision.candidates),
                strict=True,
            )
            for x, y in pairs:
                assert new.setdefault(x, y) == y
    assert len(set(new.values())) == len(new)
    changed = {x for x, y in new.items() if x != y}
    assert changed
    assert all("<link[" in x for x in changed)
    made.close()


def test_planted_successes_all_do_the_same_wrong_thing(lived):
    tasks = {e.task for e in lived.episodes()}
    for how, basis in (("30 % planted", "state_check"), ("30 % planted, untrusted", "import")):
        made = tampered(lived, how, 0)
        planted = [e for e in made.episodes() if e.key.endswith("/planted")]
        assert len(planted) == round(0.3 * len(tasks))
        [action] = {e.steps[0].action for e in planted}
        begun = [e.steps[0].action for e in lived.episodes() if e.info["score"] > 0]
        assert begun.count(action) < len(begun) / 10
        rows = [made.rows(e.key) for e in planted]
        assert all([r.reward for r in one] == [1.0] and one[0].basis == basis for one in rows)
        made.close()


def test_arms_are_paired_and_a_run_goes_on_where_it_was_kept(tmp_path):
    job = replace(SMALL, arms=(COLD, DEFAULT, Arm("ucb", agent="ucb")), templates=2)
    work, shares = kept(backoffice.run, list[First], str(tmp_path)), []
    firsts = work(job, shares.append)
    assert shares == sorted(shares)
    assert (len(shares), shares[-1]) == (6 + len(firsts), 1.0)
    [file] = tmp_path.iterdir()
    assert work(job, shares.append) == firsts
    assert {one.arm for one in firsts} == {"cold", "default", "ucb"}
    for split in ("seen", "unseen"):
        tests = [
            [one.task for one in firsts if (one.arm, one.split) == (arm.name, split)]
            for arm in job.arms
        ]
        assert tests[0] == tests[1] == tests[2]
        assert len(tests[0]) == 4
    for broken in ("[", "[]"):
        file.write_text(broken)
        with pytest.raises(StoreError, match="remove it"):
            work(job, shares.append)
    assert backoffice.run(replace(job, seed=1)) != firsts


def test_stated_beliefs_are_confidences_in_whole_tens():
    given = Proposal((Candidate("a", 2.0), Candidate("b", 1.9), Candidate("c", -9.0)), "x", "x")
    model = SimpleNamespace(propose=lambda prompt, rng: given)
    logits = [c.logit for c in Stated(model).propose(None, None).candidates]
    half, none = math.log(0.5 / 0.5), math.log(0.02 / 0.98)
    assert logits == pytest.approx([half, half, none])


def test_a_result_is_the_difference_of_paired_means():
    arms = (COLD, DEFAULT)
    firsts = [
        First(arm.name, "seen", f"t{t}", "g", f"t{t}:{seed}", seed, float(score), 0.5)
        for arm in arms
        for seed in (1, 0)
        for t in range(6)
        for score in [(t + seed) % 2 if arm is COLD else t < 4]
    ]
    report = results._report("x", arms, {}, [firsts])
    cold, ours = report.results
    assert cold.score.mean == 0.5
    assert ours.score.mean == pytest.approx(4 / 6)
    assert ours.against_cold.mean == pytest.approx(1 / 6)
    assert (ours.better, ours.equal, ours.worse) == (4, 0, 2)
    assert (ours.attempts, ours.strength) == (12, 0.5)
    assert (ours.by_group["g"].score, ours.by_group["g"].against_cold) == (
        ours.score.mean,
        ours.against_cold,
    )


def test_a_kind_of_game_that_does_not_exist_is_refused():
    command = "from jitrl.cli import main; main()"
    options = ["bench", "transfer", "--what", "text", "--kinds", "chess", "--json"]
    done = subprocess.run(
        [sys.executable, "-c", command, *options], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert "chess" in done.stderr


def test_the_command_prints_its_numbers_as_json(tmp_path):
    command = "from jitrl.cli import main; main()"
    options = ["bench", "transfer", "--templates", "2", "--seeds", "1", "--arms", "rows", "--json"]
    options += ["--out", str(tmp_path / "kept")]
    done = subprocess.run(
        [sys.executable, "-c", command, *options], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["schema"] == "jitrl.bench.transfer/2"
    assert {(r["arm"]["name"], r["split"]) for r in data["results"]} == {
        (arm, split)
        for arm in ("cold", "default", "rows of other tasks")
        for split in ("seen", "unseen")
    }
    assert len(data["firsts"]) == 3 * 2 * 4
    said = " ".join(done.stderr.split())
    for part in ("by family", "cold, seen", "cold, unseen", "above/at/below", "followed, 0 to 1.5"):
        assert part in said
    assert len(list((tmp_path / "kept").iterdir())) == 1
