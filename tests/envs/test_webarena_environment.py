"""WebArena's tasks in a real browser, on a small site that stands in for the official ones."""

import json
import shutil
from functools import partial
from importlib.util import find_spec

import numpy as np
import pytest
from webarena_site import served

from jitrl.agents.static import Static
from jitrl.envs.webarena.environment import WebArena
from jitrl.envs.webarena.scoring import scored
from jitrl.errors import ConfigError, InputError, WorldError
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.models.scripted import Scripted
from jitrl.run.loop import Trial, play
from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing import environment as contract
from jitrl.types import Scored

needs_package = pytest.mark.skipif(
    find_spec("webarena_verified") is None, reason="needs webarena-verified (make .venv/worlds)"
)
pytestmark = [pytest.mark.webarena, pytest.mark.browser, needs_package]

TODOS, RATING, WISH = 44, 386, 511
TO_TODOS, TO_CABLE = "click(<link[To-Do List]>)", "click(<link[Ugreen cable]>)"
TO_SOAP, ADD = "click(<link[Laundry detergent]>)", "click(<button[Add to Wish List]>)"


@pytest.fixture(scope="module")
def site():
    with served() as url:
        yield url


@pytest.fixture(scope="module")
def make(site):
    """Makes an environment; all that are left open are closed at the end."""
    made = []

    def environment(**options):
        given = {
            "urls": {"gitlab": site, "shopping": site},
            "ids": (TODOS, RATING, WISH),
            "settle": 0.3,
        }
        made.append(WebArena(**{**given, **options}))
        return made[-1]

    yield environment
    for environment in made:
        environment.close()


@pytest.fixture(scope="module")
def env(make):
    return make()


def task(env, number):
    return next(t for t in env.tasks() if t.id.endswith(f":{number}"))


def walk(env, number, *actions, seed=0):
    """The last step of an episode in which these canonical actions are taken."""
    now = env.reset(task(env, number), seed=seed)
    for action in actions:
        now = env.step(env.codec.ground(action, now.observation))
    return now


@pytest.mark.parametrize(
    ("number", "actions", "reward"),
    [
        (TODOS, (TO_TODOS, 'finish("navigate")'), 1.0),
        (TODOS, ("click(<link[Other]>)", 'finish("navigate")'), 0.0),
        (TODOS, (TO_TODOS, 'finish("mutate")'), 0.0),
        (TODOS, (TO_TODOS, "back()", 'finish("navigate")'), 0.0),
        (RATING, (TO_CABLE, 'answer("65")'), 1.0),
        (RATING, (TO_CABLE, 'answer("Rating:")'), 0.0),
        (WISH, (TO_SOAP, ADD, 'finish("mutate")'), 1.0),
        (WISH, (TO_SOAP, 'finish("mutate")'), 0.0),
    ],
)
def test_an_episode_ends_with_1_or_0_by_its_answer_and_its_requests(env, number, actions, reward):
    last = walk(env, number, *actions)
    assert (last.reward, last.terminated, last.truncated) == (reward, True, False)
    with pytest.raises(InputError, match="no episode is under way"):
        env.step("finish('navigate')")


def test_at_the_step_limit_an_episode_is_cut_off_and_without_an_answer_scores_0(make):
    last = walk(make(steps=2), TODOS, TO_TODOS, "back()")
    assert (last.reward, last.terminated, last.truncated) == (0.0, False, True)


def test_a_page_lists_what_can_be_done_its_texts_as_answers_and_the_endings(env):
    now = env.reset(task(env, RATING))
    assert env.codec.actions(now.observation)[:4] == (
        TO_TODOS,
        "click(<link[Other]>)",
        TO_CABLE,
        TO_SOAP,
    )
    assert 'finish("retrieve", "NOT_FOUND_ERROR")' in env.codec.actions(now.observation)
    now = env.step(env.codec.ground(TO_CABLE, now.observation))
    assert 'answer("65")' in env.codec.actions(now.observation)
    assert now.observation.info["arrived"] == 1
    with pytest.raises(InputError, match=r"has no 'click\(0\)'"):
        env.step("click(0)")


def test_what_was_played_is_scored_the_same_from_its_folder(make, tmp_path):
    env = make(record=tmp_path)
    rewards = [
        walk(env, TODOS, TO_TODOS, 'finish("navigate")', seed=1).reward,
        walk(env, TODOS, 'finish("navigate")', seed=2).reward,
        walk(env, WISH, TO_SOAP, ADD, 'finish("mutate")').reward,
    ]
    found = scored(tmp_path)
    assert [(one.number, one.folder.name) for one in found] == [
        (TODOS, "seed-1"),
        (TODOS, "seed-2"),
        (WISH, "seed-0"),
    ]
    assert [one.judgment.rewards[0] for one in found] == rewards == [1.0, 0.0, 1.0]
    har = json.loads((tmp_path / str(WISH) / "seed-0" / "network.har").read_text("utf-8"))
    assert len(har["log"]["entries"]) >= 4
    assert not any("text" in entry["response"]["content"] for entry in har["log"]["entries"])


def test_an_episode_that_cannot_be_scored_fails_and_is_not_0(make, tmp_path):
    env = make(record=tmp_path)
    now = env.reset(task(env, TODOS))
    shutil.rmtree(tmp_path / str(TODOS))
    (tmp_path / str(TODOS)).write_text("in the way", encoding="utf-8")
    with pytest.raises(WorldError):
        env.step(env.codec.ground('finish("navigate")', now.observation))


def test_a_file_of_cookies_logs_in(make, tmp_path):
    cookie = {"name": "session", "value": "emma", "domain": "127.0.0.1", "path": "/"}
    more = {"expires": -1, "httpOnly": False, "secure": False, "sameSite": "Lax"}
    path = tmp_path / "state.json"
    path.write_text(json.dumps({"cookies": [cookie | more], "origins": []}), encoding="utf-8")
    env = make(storage_state=path, actions="open")
    now = env.reset(task(env, TODOS))
    now = env.step('goto("__GITLAB__/account")')
    assert "session=emma" in now.observation.text
    now = env.reset(task(env, TODOS))
    assert now.observation.url.endswith("/")


@pytest.mark.parametrize("text", ["", "[]", '{"cookies": []}'])
def test_a_file_that_holds_no_cookies_is_refused(make, tmp_path, text):
    path = tmp_path / "state.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"storage_state: .*state\.json"):
        make(storage_state=path)


def test_where_actions_are_open_a_mistake_is_said_on_the_page_and_costs_a_step(make):
    env = make(actions="open", steps=4)
    now = env.reset(task(env, TODOS))
    assert now.observation.actions == ()
    for mistake, said in [
        ("click(<link[Nowhere]>)", "element"),
        ('goto("http://example.com/")', "not on the allowed sites"),
        ('goto("__MAP__")', "needs the address of map"),
    ]:
        now = env.step(env.codec.ground(mistake, now.observation))
        assert (now.reward, now.terminated) == (0.0, False)
        assert said in now.observation.text.splitlines()[1]
    now = env.step(env.codec.ground(TO_TODOS, now.observation))
    assert now.truncated
    assert now.observation.info["arrived"] == 4  # mistakes are steps


def test_a_task_of_a_site_without_an_address_says_so(env):
    from jitrl.envs.webarena.tasks import everything

    with pytest.raises(ConfigError, match="task 7 needs site map, which has no address"):
        env.reset(everything()[7].task)
    with pytest.raises(InputError, match="'gitlab:45' is not of this subset"):
        env.reset(everything()[45].task)


@pytest.mark.parametrize(
    "options",
    [
        {"urls": {}},
        {"urls": None},
        {"subset": "half"},
        {"actions": "any"},
        {"steps": 0},
        {"limit": 0},
    ],
)
def test_impossible_settings_are_refused(make, options):
    with pytest.raises(ConfigError):
        make(**options)


def test_a_scripted_model_plays_an_episode_of_the_run_loop(env, site):
    prior = Scripted({TO_SOAP: 30.0, ADD: 30.0, 'finish("mutate")': 15.0})
    agent = Static(SQLiteStore(":memory:"), EnvironmentRewards())
    episode = play(Trial(task(env, WISH), 0, 0, 0), env, prior, agent.episode())
    assert [step.action for step in episode.steps] == [TO_SOAP, ADD, 'finish("mutate")']
    assert EnvironmentRewards().judge(episode) == Scored(
        (0.0, 0.0, 1.0), "environment", "state_check"
    )
    assert (episode.scope, episode.task) == ("shopping", f"shopping:{WISH}")


@pytest.mark.parametrize(
    "check",
    [
        contract.tasks_are_unique_and_in_a_fixed_order,
        contract.every_action_comes_back_through_the_codec,
        contract.an_action_that_is_not_there_is_refused_and_changes_nothing,
        contract.close_may_be_called_twice,
    ],
    ids=lambda check: check.__name__,
)
def test_the_contract_of_environments_is_kept(make, check):
    check(partial(make, ids=(TODOS,), steps=3, answers=2))


def test_two_readings_of_one_page_are_one_state(env):
    first, again = (env.reset(task(env, TODOS)).observation for _ in range(2))
    assert first.text != again.text  # ids change
    assert env.codec.state(first, ()) == env.codec.state(again, ())
    assert np.array_equal(env.codec.actions(first), env.codec.actions(again))
