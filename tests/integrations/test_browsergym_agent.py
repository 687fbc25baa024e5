"""The agent in BrowserGym's loop, on recorded pages; BrowserGym itself is not needed."""

import gc
import re
from pathlib import Path

import numpy as np
import pytest
from browsergym_pages import CHECKBOXES, CHOOSE_LIST, CLICK_BUTTON, TwoButtons, seen

import jitrl
from jitrl.errors import InputError, MissingExtra, RepeatedKey
from jitrl.integrations.browsergym import BrowserGymAgent, how, play
from jitrl.integrations.browsergym_page import observation, page_actions, page_text
from jitrl.models.scripted import Scripted
from jitrl.types import Candidate, Observation, Proposal

SUBMIT, CANCEL = "click(<button[submit]>)", "click(<button[cancel]>)"
TYPE = 'fill(<textbox>, "cancel")'


def actions(tree, goal):
    return page_actions(Observation(page_text(tree), goal))


def test_a_page_begins_with_its_title_and_says_each_text_once():
    assert page_text(CLICK_BUTTON).split("\n") == [
        "Click Button Task",
        "\t[12] button 'submit', clickable",
        "imperdiet quis posuere",
        "\t[16] textbox '', clickable",
        "\t[18] button 'cancel', clickable",
    ]


def test_a_text_that_looks_like_an_element_is_none():
    text = page_text("RootWebArea 'T'\n\tStaticText \"[9] button 'x'\"")
    assert text == "T\ntext [9] button 'x'"
    assert actions("RootWebArea 'T'\n\tStaticText \"[9] button 'x'\"", "g") == ("noop()",)


@pytest.mark.parametrize(
    ("tree", "goal", "expected"),
    [
        (
            CLICK_BUTTON,
            'Click on the "cancel" button.',
            ("click('12')", "fill('16', 'cancel')", "click('18')"),
        ),
        (CLICK_BUTTON, "Click on it.", ("click('12')", "click('16')", "click('18')")),
        (
            CHOOSE_LIST,
            "Select Norfolk Island.",
            (
                "select_option('13', 'Norfolk Island')",
                "select_option('13', \"Côte d'Ivoire\")",
                "click('21')",
            ),
        ),
        (CHECKBOXES, "Select Jc.", ("click('18')", "click('20')", "click('36')")),
        (
            "RootWebArea 'T'\n\t[3] textbox 'Name' value='Tom'",
            'Write "Tom" or "Ann".',
            ("fill('3', 'Ann')", "press('3', 'Enter')"),
        ),
    ],
)
def test_a_page_offers_clicks_values_of_the_goal_and_options(tree, goal, expected):
    assert actions(tree, goal) == expected


def test_the_goal_may_come_in_parts():
    obs = seen(CLICK_BUTTON, goal="")
    obs["goal_object"] = ({"type": "text", "text": "a"}, {"type": "image_url"})
    assert observation(obs, list_actions=None).goal == "a"


@pytest.mark.parametrize(
    ("gone", "message"),
    [
        ("axtree_txt", "neither axtree_txt nor axtree_object; it has goal, url"),
        ("goal", "the observation has no goal, and no text in goal_object"),
    ],
)
def test_what_an_observation_lacks_is_said(gone, message):
    obs = {"axtree_txt": CLICK_BUTTON, "goal": "g", "url": ""}
    del obs[gone]
    with pytest.raises(InputError, match=message):
        observation(obs, list_actions=None)


@pytest.fixture
def memory(tmp_path):
    with jitrl.open(tmp_path / "memory.db") as opened:
        yield opened


@pytest.fixture
def agent(memory):
    return BrowserGymAgent(memory, task="miniwob.click-button", proposer=Scripted(noise=1.0))


def only(memory):
    (episode,) = memory.store.episodes()
    return episode


@pytest.mark.parametrize("taken", [0, 1])
def test_a_memory_that_cannot_be_read_leaves_the_agent_the_models_own_choice(
    memory, agent, tmp_path, taken
):
    for _ in range(taken):
        agent.get_action(agent.obs_preprocessor(seen(CLICK_BUTTON)))
        agent.reward(0.5)
    (tmp_path / "memory.db").rename(tmp_path / "aside.db")
    for _ in range(2):
        action, info = agent.get_action(agent.obs_preprocessor(seen(CLICK_BUTTON)))
        agent.reward(0.5)
        assert action in {"click('12')", "fill('16', 'cancel')", "click('18')"}
        assert "cannot be read" in info["think"]
        (tmp_path / "memory.db").unlink(missing_ok=True)
    (tmp_path / "aside.db").rename(tmp_path / "memory.db")
    agent.end(1.0, terminated=True)
    with jitrl.open(tmp_path / "memory.db") as again:
        episode = only(again)
    assert (episode.status, len(episode.steps), episode.outcome) == ("aborted", taken, None)
    agent.get_action(agent.obs_preprocessor(seen(CLICK_BUTTON)))
    agent.end(1.0, terminated=True)
    assert [e.status for e in memory.store.episodes()] == ["aborted", "terminated"]


def test_an_action_is_in_the_syntax_of_the_environment_and_its_numbers_are_told(agent):
    action, info = agent.get_action(agent.obs_preprocessor(seen(CLICK_BUTTON)))
    assert action in {"click('12')", "fill('16', 'cancel')", "click('18')"}
    assert info["stats"] == {"jitrl_candidates": 3, "jitrl_neighbors": 0, "jitrl_changed": 0}
    assert info["extra_info"]["jitrl_decision"] == f"{agent.key}#0"
    assert "the model gives it" in info["think"]


def test_an_episode_is_stored_with_its_rewards_scope_and_canonical_actions(agent, memory):
    agent.get_action(seen(CLICK_BUTTON))
    agent.reward(0.0)
    agent.get_action(seen(CLICK_BUTTON, last_action_error="ValueError: covered\n  at …"))
    receipt = agent.end(1.0, terminated=True)
    assert (receipt.rows, agent.key) == (2, None)
    episode = only(memory)
    assert (episode.task, episode.scope) == ("miniwob.click-button", "miniwob")
    assert (episode.status, episode.outcome.value) == ("terminated", 1.0)
    assert episode.outcome.basis == "state_check"
    assert {step.action for step in episode.steps} <= {SUBMIT, CANCEL, TYPE}
    assert "covered" in episode.steps[1].state.text
    assert episode.steps[0].state.text == "Click Button Task"


def test_what_is_learned_under_some_ids_is_done_under_others(agent, memory):
    env = TwoButtons()
    scores = [play(env, agent, seed=seed) for seed in range(12)]
    assert env.seeds == list(range(12))
    assert scores[-6:] == [1.0] * 6
    assert list(memory.store.episodes())[-1].steps[-1].action == CANCEL


def test_without_a_memory_file_of_ones_own_it_opens_one(tmp_path):
    path = tmp_path / "own.db"
    agent = BrowserGymAgent(path, task="a.b", proposer=Scripted())
    play(TwoButtons(), agent)
    agent.close()
    agent.close()
    with jitrl.open(path) as memory:
        assert only(memory).scope == "a"
    with pytest.raises(InputError, match="this agent was closed"):
        agent.get_action(seen(CLICK_BUTTON))


@pytest.mark.parametrize("how", ["reset", "close", "set_task_name", "forgotten"])
def test_an_episode_that_nobody_ended_is_kept_until_its_outcome_comes(memory, how):
    agent = BrowserGymAgent(memory, task="a.b", proposer=Scripted())
    agent.get_action(seen(CLICK_BUTTON))
    key = agent.key
    match how:
        case "forgotten":
            del agent
            gc.collect()
        case "set_task_name":
            agent.set_task_name("c.d")
        case _:
            getattr(agent, how)()
    episode = only(memory)
    assert (episode.key, episode.status, episode.outcome) == (key, "truncated", None)
    assert memory.outcome(key, 1.0).rows == 1


def test_a_key_makes_an_episode_idempotent(agent, memory):
    def lived():
        agent.reset(key="once")
        agent.get_action(seen(CLICK_BUTTON))
        return agent.end(1.0, terminated=True)

    assert not lived().duplicate
    with pytest.warns(RepeatedKey, match="'once' is stored already"):
        assert lived().duplicate
    assert only(memory).key == "once"


def test_a_reward_before_an_action_is_refused_and_ending_nothing_is_nothing(agent):
    with pytest.raises(InputError, match="no episode is under way"):
        agent.reward(1.0)
    assert agent.end(1.0) is None


def test_large_parts_of_an_observation_are_dropped_before_it_is_recorded(agent):
    kept = agent.obs_preprocessor(seen(CLICK_BUTTON))
    assert "dom_object" not in kept
    assert kept["axtree_txt"] == CLICK_BUTTON


def test_the_set_of_actions_is_the_users_or_browsergyms(memory):
    given = object()
    assert BrowserGymAgent(memory, proposer=Scripted(), action_set=given).action_set is given
    try:
        import browsergym.core  # noqa: F401
    except ImportError:
        with pytest.raises(MissingExtra, match="pip install browsergym-core"):
            _ = BrowserGymAgent(memory, proposer=Scripted()).action_set


def test_a_chinese_goal_gets_instructions_and_values_in_chinese():
    assert how("点击按钮").startswith("动作的写法")
    assert how("ボタンを押す") == how("Click.") != how("点击按钮")
    assert "fill('16', '取消')" in actions(CLICK_BUTTON, "输入「取消」")


class Writing:
    """A model that writes its actions: one that is there, and one that is not."""

    name = "writing"

    def __init__(self):
        self.prompts = []

    def propose(self, prompt, rng):
        assert isinstance(rng, np.random.Generator)
        self.prompts.append(prompt)
        first = Candidate(CANCEL if len(self.prompts) == 1 else "click(<button[gone]>)", 9.0)
        return Proposal((first, Candidate(SUBMIT, 0.0)), "verbalized", "writing")


def test_a_model_may_write_its_actions_itself(memory):
    model = Writing()
    agent = BrowserGymAgent(memory, proposer=model, list_actions=None)
    action, _ = agent.get_action(seen(CLICK_BUTTON))
    assert action == "click('18')"
    prompt = model.prompts[0]
    assert prompt.actions == ()
    assert "<button[cancel]>" in prompt.observation
    assert prompt.observation.endswith(how(prompt.goal))
    action, _ = agent.get_action(seen(CLICK_BUTTON))
    assert action == "click(<button[gone]>)"  # BrowserGym says what is wrong with it


def test_the_blocks_of_the_documentation_do_what_they_say(agent, memory, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "browsergym.md").read_text("utf-8")
    said = {}
    for block in re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)[1:]:
        exec(block, said)
    said["one_episode"](TwoButtons(), agent, "a.b", seed=3)
    assert only(memory).task == "a.b"
    shown = observation(seen(CLICK_BUTTON), list_actions=said["more_actions"])
    assert "go_back()" in shown.actions
    assert 'send_msg_to_user("done")' in agent.codec.actions(shown)
    assert said["arguments"].memory == "study.db"
