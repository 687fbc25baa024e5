"""A study's folder as AgentLab leaves it, and what the memory is told of it."""

import copy
import dataclasses
import json
import pickle
from pathlib import Path

import pytest
from browsergym_pages import CLICK_BUTTON, seen

import jitrl
from jitrl.errors import InputError
from jitrl.integrations.agentlab import JitRLArgs, outcomes
from jitrl.models.scripted import Scripted


@pytest.fixture
def memory(tmp_path):
    with jitrl.open(tmp_path / "memory.db") as opened:
        yield opened


@pytest.fixture
def args(tmp_path):
    return JitRLArgs(str(tmp_path / "memory.db"), options={"proposer": Scripted()})


def experiment(folder, agent, caplog, **summary):
    """What one experiment leaves, in the words of the agent itself."""
    folder.mkdir(parents=True)
    caplog.clear()
    with caplog.at_level("INFO"):
        agent.get_action(agent.obs_preprocessor(seen(CLICK_BUTTON)))
    (folder / "experiment.log").write_text(f"before\n{caplog.text}after\n", encoding="utf-8")
    values = {"n_steps": 1, "cum_reward": 1.0, "err_msg": None, "terminated": True, **summary}
    (folder / "summary_info.json").write_text(json.dumps(values), encoding="utf-8")
    return agent.key


def test_the_rewards_of_a_study_reach_the_episodes(tmp_path, memory, args, caplog):
    agents = [args.make_agent() for _ in range(2)]
    for agent in agents:
        agent.set_task_name("miniwob.click-'b\"utton")
    study = tmp_path / "study"
    keys = [
        experiment(study / f"{n}", agent, caplog, cum_reward=float(n))
        for n, agent in enumerate(agents)
    ]
    agents[1].close()  # the other one is still held, as by a program that did not let go
    assert outcomes(memory, study).keys == tuple(keys)
    assert {e.key: e.outcome.value for e in memory.store.episodes()} == dict(
        zip(keys, (0.0, 1.0), strict=True)
    )
    assert outcomes(memory, study).keys == tuple(keys)  # again: replaced, not doubled
    agents[0].close()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"err_msg": "Exception in task x.\nTimeoutError"}, "it failed: TimeoutError"),
        ({"cum_reward": None}, "cum_reward is None"),
        ("log", "names 0 episodes"),
        ("json", "it cannot be read"),
        ("gone", "has no episode"),
    ],
)
def test_an_experiment_without_a_reward_has_no_outcome(
    tmp_path, memory, args, caplog, change, reason
):
    agent, place = args.make_agent(), tmp_path / "study" / "0"
    experiment(place, agent, caplog, **(change if isinstance(change, dict) else {}))
    agent.close()
    if change == "log":
        (place / "experiment.log").write_text("nothing", encoding="utf-8")
    if change == "json":
        (place / "summary_info.json").write_text("{", encoding="utf-8")
    if change == "gone":
        memory = jitrl.open(":memory:")
    told = outcomes(memory, tmp_path)
    assert told.keys == ()
    [(folder, said)] = told.left
    assert folder == place
    assert reason in said
    assert all(e.outcome is None for e in memory.store.episodes())


def test_a_folder_without_experiments_is_refused(tmp_path, memory):
    with pytest.raises(InputError, match="holds no finished experiment"):
        outcomes(memory, tmp_path)


def test_arguments_can_be_copied_pickled_and_written_down():
    args = JitRLArgs("memory.db", scope="shop")
    args.agent_name = "with memory"
    for same in (copy.deepcopy(args), pickle.loads(pickle.dumps(args))):  # noqa: S301
        assert same == args
    assert dataclasses.asdict(args)["scope"] == "shop"
    args.prepare()
    args.set_benchmark(None, demo_mode=False)
    args.set_reproducibility_mode()
    args.close()
    assert not Path("memory.db").exists()
