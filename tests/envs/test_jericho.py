"""Story files, of which none may be shipped: games that textworld makes stand for them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from jitrl.envs.jericho import Jericho
from jitrl.envs.jericho_actions import _runs, remember, remembered
from jitrl.envs.places import cache_folder, games_folder
from jitrl.envs.textworld_making import Recipe, story
from jitrl.errors import ConfigError, InputError, MissingExtra
from jitrl.testing.environment import CHECKS, Factory

SIMPLE = (
    "open chest drawer",
    "take old key",
    "unlock wooden door with old key",
    "open wooden door",
    "east",
)


@pytest.fixture(scope="module")
def stories(made_games: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("jericho")
    folder = tmp_path_factory.mktemp("stories")
    simple = Recipe("simple", {"rewards": "dense", "goal": "brief", "test": False})
    coin = Recipe("coin-collector", {"level": 5, "goal": "brief"})
    shutil.copy(story(simple, 7, made_games), folder / "tw-simple.z8")
    shutil.copy(story(coin, 7, made_games), folder / "tw-coin.z8")
    return folder


@pytest.fixture
def env(stories: Path) -> Iterator[Jericho]:
    env = Jericho(folder=stories)
    yield env
    env.close()


def test_names_are_runs_of_known_words():
    known = {"old", "key", "door"}
    assert list(_runs("An old key, door", known, 9)) == ["old", "old key", "key", "door"]
    assert list(_runs("A refrigerator", {"refrigera"}, 9)) == ["refrigerator"]


def test_what_was_found_is_kept_in_the_file(tmp_path: Path):
    kept = tmp_path / "found.sqlite"
    assert remembered("kept in a file", kept) is None
    remember("kept in a file", ("go", "stay"), kept)
    remember("nothing found", (), kept)
    assert remembered("kept in a file", None) == ("go", "stay")
    assert remembered("nothing found", kept) == ()
    (tmp_path / "text").write_text("no database at all")
    with pytest.raises(ConfigError, match="cache is"):
        remembered("never found", tmp_path / "text")


def test_folders_come_from_the_option_or_the_variable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.delenv("JITRL_GAMES_DIR", raising=False)
    with pytest.raises(ConfigError, match="JITRL_GAMES_DIR"):
        games_folder(None)
    monkeypatch.setenv("JITRL_GAMES_DIR", str(tmp_path))
    assert games_folder(None) == tmp_path
    with pytest.raises(ConfigError, match="option folder"):
        games_folder(tmp_path / "missing")
    monkeypatch.setenv("JITRL_CACHE_DIR", str(tmp_path))
    assert cache_folder("textworld") == tmp_path / "textworld"


@pytest.mark.skipif(sys.platform == "linux", reason="Linux has it")
def test_elsewhere_than_on_linux_jericho_says_so(tmp_path: Path):
    with pytest.raises(MissingExtra, match="Linux"):
        Jericho(folder=tmp_path)


@pytest.mark.jericho
def test_what_is_no_story_file_is_refused_before_the_player_sees_it(stories: Path, tmp_path: Path):
    with pytest.raises(ConfigError, match="no story files"):
        Jericho(folder=tmp_path)
    (tmp_path / "text.z5").write_text("hello")
    with pytest.raises(ConfigError, match="no story file"):
        Jericho(folder=tmp_path)
    whole = (stories / "tw-coin.z8").read_bytes()
    (tmp_path / "text.z5").write_bytes(whole[:5000])
    with pytest.raises(ConfigError, match="cut off"):
        Jericho(folder=tmp_path)
    (tmp_path / "text.z5").write_bytes(whole)
    unknown = Jericho(folder=tmp_path)
    with pytest.raises(ConfigError, match="cannot score"):
        unknown.tasks()
    unknown.close()


@pytest.mark.jericho
def test_games_are_named_with_or_without_ending(stories: Path):
    for name in ("tw-coin", "tw-coin.z8"):
        env = Jericho(games=[name], folder=stories)
        (task,) = env.tasks()
        assert (task.id, task.family, task.params["max_score"]) == ("tw-coin", "tw-coin", 1)
        env.close()
    with pytest.raises(ConfigError, match="no game 'zork1'"):
        Jericho(games=["zork1"], folder=stories)


@pytest.mark.jericho
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_jericho_keeps_the_contract(stories: Path, check: Callable[[Factory], None]):
    check(partial(Jericho, folder=stories, steps=15))


@pytest.mark.jericho
def test_actions_found_without_a_language_model_suffice_to_score(env: Jericho):
    assert "spacy" not in sys.modules
    task = env.tasks()[1]
    shown, total = env.reset(task), 0.0
    for action in SIMPLE:
        assert action in shown.observation.actions
        shown = env.step(action)
        total += shown.reward
    assert total == 5.0
    assert "spacy" not in sys.modules


@pytest.mark.jericho
def test_commands_become_the_offered_actions_that_do_the_same(env: Jericho):
    task = env.tasks()[1]
    commands = ["look", "open drawer", "get key", "unlock door with key", "open door", "go east"]
    assert env.path(task, commands) == SIMPLE
    with pytest.raises(InputError, match=r"no offered action .* does what 'open drawer\. get key'"):
        env.path(task, ["open drawer. get key"])
    with pytest.raises(InputError, match="no walkthrough"):
        env.gold(task)


@pytest.mark.jericho
def test_a_state_is_place_look_inventory_and_score(env: Jericho):
    shown = env.reset(env.tasks()[1])
    state = env.codec.state(shown.observation, ())
    assert state.place.startswith("Bedroom #")
    assert state.text.endswith(" || You are carrying nothing. || score 0")
    first = env.step(SIMPLE[0]).observation
    assert env.codec.state(first, ()).text.endswith("|| score 1")
    assert env.codec.text(first).startswith("You open the chest drawer")


@pytest.mark.jericho
def test_looking_around_and_trying_actions_takes_no_turn(env: Jericho):
    task = env.tasks()[1]
    env.reset(task)
    before = env._game.get_state()
    env._observe("", task)
    after = env._game.get_state()
    assert (before[0] == after[0]).all()
    assert before[7] == after[7]


@pytest.mark.jericho
def test_instances_play_in_threads_as_they_do_alone(stories: Path):
    def play(_: int) -> list[tuple[str, float]]:
        env = Jericho(games=["tw-simple"], folder=stories)
        (task,) = env.tasks()
        env.reset(task)
        steps = [env.step(action) for action in SIMPLE]
        env.close()
        return [(step.observation.text, step.reward) for step in steps]

    with ThreadPoolExecutor(3) as pool:
        first, *others = pool.map(play, range(4))
    assert all(other == first for other in others)


@pytest.mark.jericho
def test_closing_frees_the_copy_of_the_library(stories: Path):
    def mapped() -> int:
        return Path("/proc/self/maps").read_text().count("libfrotz")

    before = mapped()
    env = Jericho(games=["tw-coin"], folder=stories)
    env.reset(env.tasks()[0])
    assert mapped() > before
    env.close()
    assert mapped() == before
