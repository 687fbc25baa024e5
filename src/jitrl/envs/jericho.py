"""Interactive fiction of the user's own: story files for the Z-machine, played by jericho."""

from __future__ import annotations

import hashlib
import sys
import threading
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from jitrl.envs.codecs.room import RoomCodec, shown
from jitrl.envs.jericho_actions import remember, remembered, valid_actions
from jitrl.envs.places import games_folder
from jitrl.envs.turns import Turns
from jitrl.errors import ConfigError, InputError, MissingExtra
from jitrl.types import Observation, Task, TimeStep

Chance = Literal["fixed", "episode"]

_ENDINGS = (".z1", ".z2", ".z3", ".z4", ".z5", ".z8")
_SCALE = {1: 2, 2: 2, 3: 2, 4: 4, 5: 4, 8: 8}  # bytes per unit of a story file's length
_FIXED = 1  # seed of games of which no walkthrough is known; 0 means the clock
_LOADING = threading.Lock()  # warnings are a thing of the whole process
_ALWAYS = ("look", "wait")  # offered where nothing was found


class Jericho:
    """Story files played by ``jericho``; each step's reward is the change of the game's score.

    Task ids are file names without their ending (``zork1``). Needs the extra, Linux, and story
    files that jericho knows how to score: some fifty classics, and games made by textworld. Each
    instance has its own copy of the player; it may be used by any thread, by one at a time.

    Args:
        games: Files of the folder, with or without ending; () takes all story files in it.
        folder: Where they lie; the variable ``JITRL_GAMES_DIR`` if not given.
        steps: Step limit of an episode.
        chance: ``fixed``: the game's dice fall the same way in every episode (as its walkthrough
            needs them, where one is known). ``episode``: by the seed of the episode.
        cache: SQLite file that keeps valid actions for the next run; made if it is not there.

    Raises:
        MissingExtra: If the package is not installed, or this is not Linux.
        ConfigError: If a setting is impossible, or a file is no story that can be played.
    """

    name = "jericho"
    is_replayable = True

    def __init__(
        self,
        *,
        games: Sequence[str] = (),
        folder: Path | None = None,
        steps: int = 60,
        chance: Chance = "fixed",
        cache: Path | None = None,
    ) -> None:
        if steps < 1 or chance not in get_args(Chance):
            raise ConfigError(
                f"steps must be at least 1 and chance among {get_args(Chance)}; got steps={steps}, "
                f"chance={chance!r}"
            )
        self._make = _package()
        self.codec = RoomCodec()
        self._stories = _stories(games_folder(folder), games)
        self._draws, self._cache = chance == "episode", cache
        self._game: Any = None
        self._loaded = ""
        self._digest = ""
        self._tasks: tuple[Task, ...] = ()
        self._turns = Turns(steps)

    def tasks(self) -> Sequence[Task]:
        """A task for each story file."""
        if not self._tasks:
            self._tasks = tuple(self._described(id) for id in self._stories)
        return self._tasks

    def gold(self, task: Task) -> tuple[str, ...]:
        """Offered actions with the effects of jericho's walkthrough; for tests and oracle priors.

        Ends the episode.

        Raises:
            InputError: If it has none, or its commands are not among the valid actions.
        """
        self._load(task.id)
        known = self._game.bindings.get("walkthrough", "")
        if not known:
            raise InputError(f"jericho knows no walkthrough of {task.id!r}")
        return self.path(task, known.split("/"))

    def path(self, task: Task, commands: Sequence[str]) -> tuple[str, ...]:
        """Offered actions that change the world as ``commands`` do. Ends the episode.

        Raises:
            InputError: If no offered action does what one of the commands does.
        """
        shown = self.reset(task).observation
        self._turns.end()
        taken: list[str] = []
        for command in commands:
            wanted = self._effect(command)
            if wanted == self._effect("look"):
                continue
            same = (a for a in (command, *shown.actions) if self._effect(a) == wanted)
            action = next((a for a in same if a in shown.actions), None)
            if action is None:
                raise InputError(f"no offered action of {task.id!r} does what {command!r} does")
            taken.append(action)
            said, _, over, _ = self._game.step(action)
            if over:
                break
            shown = self._observe(said, task)
        return tuple(taken)

    def _effect(self, command: str) -> tuple[str, int, str, str]:
        """What a command would change: the objects, the score, and what one sees and carries."""
        state = self._game.get_state()
        self._game.step(command)
        score = int(self._game.get_score())
        over = bool(self._game.game_over() or self._game.victory())
        seen = ("", "") if over else (self._asked("look"), self._asked("inventory"))
        found = (self._game.get_world_state_hash() if over else "", score, *seen)
        self._game.set_state(state)
        return found

    def reset(self, task: Task, *, seed: int = 0) -> TimeStep:
        """Start a game; ``seed`` decides its dice if ``chance`` is ``episode``."""
        self._load(task.id)
        own = self._game.bindings.get("seed") or _FIXED
        self._game.seed(1 + seed % (2**31 - 1) if self._draws else own)
        said, _ = self._game.reset()
        return self._turns.begin(task, self._observe(said, task))

    def step(self, action: str) -> TimeStep:
        """Take a valid action.

        Raises:
            InputError: If no game is under way or the action is not offered now.
        """
        task = self._turns.check(action)
        said, _, over, _ = self._game.step(action)
        over = bool(over or self._game._emulator_halted())
        return self._turns.taken(self._observe(said, task, over=over), over=over)

    def close(self) -> None:
        """Free the player and its copy of the library."""
        if self._game is not None:
            self._game.close()
        self._game, self._loaded = None, ""
        self._turns.end()

    def _load(self, id: str) -> None:
        self._turns.end()
        if id not in self._stories:
            raise InputError(f"there is no game {id!r}; there are {list(self._stories)}")
        if self._loaded == id:
            return
        self.close()
        story = self._stories[id]
        with _LOADING, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns where we refuse
            game = self._make(str(story))
        if not game.is_fully_supported:
            game.close()
            raise ConfigError(
                f"jericho cannot score {story}: it knows some games by their exact files, and "
                "those of textworld if their name begins with tw-; name others in the option games"
            )
        self._game, self._loaded = game, id
        self._digest = hashlib.sha256(story.read_bytes()).hexdigest()

    def _described(self, id: str) -> Task:
        self._load(id)
        most = int(self._game.get_max_score())
        goal = f"Play {id} and score as many of its {most} points as you can."
        params = {"game": id, "max_score": most}
        return Task(id, goal, id, id, params)

    def _observe(self, said: str, task: Task, *, over: bool = False) -> Observation:
        game = self._game
        score = int(game.get_score())  # first: what follows leaves another one behind
        look, inventory, place, actions = "", "", "", tuple[str, ...]()
        if not over:
            look, inventory = self._asked("look"), self._asked("inventory")
            place, actions = self._place(look), self._valid(look, inventory)
        info = {"look": look, "inventory": inventory, "score": score, "place": place}
        return Observation(shown(said, look, inventory), task.goal, actions, info=info)

    def _asked(self, command: str) -> str:
        """What the game answers to a command that is then taken back."""
        state = self._game.get_state()
        answer = str(self._game.step(command)[0]).strip()
        self._game.set_state(state)
        return answer

    def _place(self, look: str) -> str:
        """Name and number of the room: rooms of a maze have one name."""
        room = self._game.get_player_location()
        first = look.partition("\n")[0].strip(" -=")
        return first if room is None else f"{room.name or first} #{room.num}"

    def _valid(self, look: str, inventory: str) -> tuple[str, ...]:
        said = "\0".join((self._digest, self._game.get_world_state_hash(), look, inventory))
        key = hashlib.sha256(said.encode()).hexdigest()
        known = remembered(key, self._cache)
        if known is None:
            known = valid_actions(self._game, look, inventory)
            remember(key, known, self._cache)
        return known or _ALWAYS


def _stories(folder: Path, games: Sequence[str]) -> dict[str, Path]:
    """The story files that are named, by name without ending, each looked at.

    Raises:
        ConfigError: If one is missing, stands for two files, or is no story file.
    """
    there = sorted(p for p in folder.iterdir() if p.suffix.lower() in _ENDINGS and p.is_file())
    if not there:
        raise ConfigError(f"there are no story files ({', '.join(_ENDINGS)}) in {folder}")
    chosen: list[Path] = []
    for name in games or [path.name for path in there]:
        fitting = [path for path in there if name in (path.name, path.stem)]
        if not fitting:
            raise ConfigError(f"there is no game {name!r} in {folder}; there are {_names(there)}")
        if len(fitting) > 1:
            raise ConfigError(f"game {name!r} could be any of {_names(fitting)}; write the ending")
        if fitting[0] not in chosen:
            chosen.append(fitting[0])
    for path in chosen:
        _look_at(path)
    stems = [path.stem for path in chosen]
    return {p.stem if stems.count(p.stem) == 1 else p.name: p for p in chosen}


def _names(paths: Sequence[Path]) -> list[str]:
    return [path.name for path in paths]


def _look_at(path: Path) -> None:
    """Refuse what is no story file, since the player ends the whole process over one."""
    raw = path.read_bytes()
    version = raw[0] if raw else 0
    if version not in _SCALE or len(raw) < 64:
        raise ConfigError(f"{path} is no story file for the Z-machine (versions {list(_SCALE)})")
    if int.from_bytes(raw[26:28]) * _SCALE[version] > len(raw):
        raise ConfigError(f"{path} is cut off: its header says that it is longer")


def _package() -> Any:
    """The package's player.

    Raises:
        MissingExtra: If this is not Linux or the package is not installed.
    """
    if sys.platform != "linux":
        raise MissingExtra(
            f"jericho plays on Linux alone (this is {sys.platform}); on Windows use WSL, elsewhere "
            "a Linux container"
        )
    try:
        from jericho import FrotzEnv
    except (ImportError, OSError) as error:
        raise MissingExtra(
            "jericho is not installed: pip install 'jitrl[jericho]' (needs a C compiler and make), "
            "or, without its language model, pip install --no-deps jericho"
        ) from error
    return FrotzEnv
