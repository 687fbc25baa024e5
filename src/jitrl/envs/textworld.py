"""Text games that the textworld package generates: houses, kitchens, mazes and quests, by seed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from jitrl.envs.codecs.room import RoomCodec, shown
from jitrl.envs.places import cache_folder
from jitrl.envs.textworld_making import CHALLENGES, Challenge, Recipe, story
from jitrl.envs.turns import Turns
from jitrl.errors import ConfigError, InputError, MissingExtra
from jitrl.types import Observation, Task, TimeStep

Rewards = Literal["dense", "balanced", "sparse"]
Goal = Literal["detailed", "brief", "none"]
Split = Literal["train", "valid", "test"]

_IDLE = ("examine ", "inventory", "look")
_USEFUL = "examine cookbook"  # a recipe counts as read only then
_PLAYER_SEED = 1  # of the player's own chance; the games draw nothing, and 0 means the clock


class TextWorld:
    """Games made by ``textworld``; each step's reward is the change of the share of points made.

    Task ids are ``challenge:seed`` (``cooking:3``). Needs the extra, and Linux. A game takes some
    seconds to make and is kept for the next time.

    Args:
        challenges: Kinds of game: ``simple`` (one house, one dish), ``cooking``,
            ``coin-collector``, ``treasure-hunter`` and ``custom`` (a world and a quest by size).
        seeds: Game seeds; there is a task for each challenge and seed.
        steps: Step limit of an episode.
        rewards: Of ``simple``: how often points are given.
        goal: What the task says: ``detailed`` all steps, ``brief`` the last one, ``none`` nothing.
        level: Of ``coin-collector``: 1 to 300; length of the way and, from 101 and 201, dead ends.
        treasure_level: Of ``treasure-hunter``: 1 to 30; from 11 with doors, from 21 locked ones.
        recipe: Of ``cooking``: ingredients.
        take: Of ``cooking``: how many of them have to be found.
        rooms: Of ``cooking`` (1, 6, 9 or 12) and of ``custom``: rooms.
        skills: Of ``cooking``: what else is asked for, among ``open``, ``cook``, ``cut``, ``drop``.
        split: Of ``cooking``: which food there is.
        objects: Of ``custom``: objects, at least.
        quest: Of ``custom``: actions of the quest.
        folder: Where games are kept; the user's cache folder if not given.

    Raises:
        MissingExtra: If the package is not installed, or there is none for this system.
        ConfigError: If a setting is impossible.
    """

    name = "textworld"
    is_replayable = True

    def __init__(
        self,
        *,
        challenges: Sequence[Challenge] = ("simple", "cooking", "coin-collector"),
        seeds: Sequence[int] = (0, 1, 2),
        steps: int = 50,
        rewards: Rewards = "dense",
        goal: Goal = "brief",
        level: int = 5,
        treasure_level: int = 11,
        recipe: int = 1,
        take: int = 1,
        rooms: int = 6,
        skills: Sequence[Literal["open", "cook", "cut", "drop"]] = ("open", "cook"),
        split: Split = "train",
        objects: int = 10,
        quest: int = 5,
        folder: Path | None = None,
    ) -> None:
        unknown = [name for name in challenges if name not in CHALLENGES]
        if unknown or not challenges or not seeds or min(seeds) < 0:
            raise ConfigError(
                f"challenges {list(challenges)} and seeds {list(seeds)} must not be empty, the "
                f"challenges must be among {list(CHALLENGES)} and the seeds at least 0"
            )
        for what, value, allowed in (
            ("rewards", rewards, get_args(Rewards)),
            ("goal", goal, get_args(Goal)),
            ("split", split, get_args(Split)),
        ):
            if value not in allowed:
                raise ConfigError(f"{what} must be among {allowed}, got {value!r}")
        if not (1 <= level <= 300 and 1 <= treasure_level <= 30) or min(steps, rooms, quest) < 1:
            raise ConfigError(
                "level must be in 1 to 300, treasure_level in 1 to 30, and steps, rooms and quest "
                f"at least 1; got level={level}, treasure_level={treasure_level}, steps={steps}, "
                f"rooms={rooms}, quest={quest}"
            )
        if "cooking" in challenges and rooms not in (1, 6, 9, 12):
            raise ConfigError(f"rooms of cooking must be 1, 6, 9 or 12, got {rooms}")
        if not 0 <= take <= recipe or not 1 <= recipe <= 5 or objects < 1:
            raise ConfigError(
                "recipe must be in 1 to 5, take in 0 to recipe and objects at least 1; got "
                f"recipe={recipe}, take={take}, objects={objects}"
            )
        wrong = [skill for skill in skills if skill not in ("open", "cook", "cut", "drop")]
        if wrong:
            raise ConfigError(f"skills has {wrong}; they must be among open, cook, cut and drop")
        self._package = _package()
        self.codec = RoomCodec()
        settings_of: dict[Challenge, dict[str, Any]] = {
            "simple": {"rewards": rewards, "test": False},
            "cooking": {"recipe": recipe, "take": take, "go": rooms, "split": split}
            | dict.fromkeys(sorted(set(skills)), True),
            "coin-collector": {"level": level},
            "treasure-hunter": {"level": treasure_level},
            "custom": {"rooms": rooms, "objects": objects, "quest": quest},
        }
        self._recipes: dict[str, Recipe] = {
            challenge: Recipe(challenge, {"goal": goal, **settings})
            for challenge, settings in settings_of.items()
        }
        self._ids = tuple(f"{challenge}:{seed}" for seed in seeds for challenge in challenges)
        self._folder = folder
        self._game: Any = None
        self._loaded = ""
        self._tasks: tuple[Task, ...] = ()
        self._turns = Turns(steps)

    def tasks(self) -> Sequence[Task]:
        """A task for each seed and challenge; makes the games that are not there yet."""
        if not self._tasks:
            self._tasks = tuple(self.task(id) for id in self._ids)
        return self._tasks

    def task(self, id: str) -> Task:
        """The task ``challenge:seed``, whether or not it is among ``tasks()``. Ends the episode.

        Raises:
            InputError: If there is no such challenge, the seed is not a number, or the package
                cannot make the game.
        """
        challenge, _, seed = id.partition(":")
        if challenge not in self._recipes or not seed.isdecimal():
            raise InputError(
                f"no task {id!r}; write challenge:seed with a challenge of {list(CHALLENGES)}"
            )
        state = self._start(challenge, int(seed))
        goal = " ".join(state["objective"].split()) or "Find out what gives points, and do it."
        params = {"challenge": challenge, "seed": int(seed), "max_score": int(state["max_score"])}
        return Task(id, goal, challenge, challenge, params)

    def gold(self, task: Task) -> tuple[str, ...]:
        """Offered actions that win the game; for tests and oracle priors. Ends the episode.

        Raises:
            InputError: If the package knows no such path.
        """
        state = self._start(task.params["challenge"], task.params["seed"])
        path = [a for a in state["game"].metadata.get("walkthrough") or () if a not in _IDLE]
        for action in path:
            if action not in _offered(state):
                raise InputError(
                    f"the package's path for {task.id!r} takes {action!r}, which is not offered"
                )
            state, _, _ = self._game.step(action)
        if not state["won"]:
            raise InputError(f"textworld knows no path that wins {task.id!r}")
        return tuple(path)

    def reset(self, task: Task, *, seed: int = 0) -> TimeStep:
        """Start a game. Nothing is drawn in it, so ``seed`` plays no part."""
        state = self._start(task.params["challenge"], task.params["seed"])
        return self._turns.begin(task, self._observe(state, task, 0.0))

    def step(self, action: str) -> TimeStep:
        """Take an offered action.

        Raises:
            InputError: If no game is under way or the action is not offered now.
        """
        task = self._turns.check(action)
        state, points, over = self._game.step(action)
        score = points / task.params["max_score"]
        return self._turns.taken(self._observe(state, task, score), over=bool(over))

    def close(self) -> None:
        """End the game; games that were made stay."""
        if self._game is not None:
            self._game.close()
        self._game, self._loaded = None, ""
        self._turns.end()

    def _start(self, challenge: str, seed: int) -> Any:
        """Load a game, made if need be; its first state."""
        self._turns.end()
        id = f"{challenge}:{seed}"
        if self._loaded != id:
            self.close()
            folder = self._folder or cache_folder("textworld")
            path = story(self._recipes[challenge], seed, folder)
            wanted = self._package.EnvInfos(
                description=True,
                inventory=True,
                admissible_commands=True,
                objective=True,
                score=True,
                max_score=True,
                won=True,
                lost=True,
            )
            self._game = self._package.start(str(path), wanted)
            self._game.seed(_PLAYER_SEED)
            # The game itself tells all that is wanted; otherwise its player would look for it too.
            self._game.unwrapped._jericho.is_fully_supported = False
            self._loaded = id
        return self._game.reset()

    def _observe(self, state: Any, task: Task, score: float) -> Observation:
        look, inventory = state["description"].strip(), state["inventory"].strip()
        place = look.splitlines()[0].strip("-= ") if look else ""
        said = _said(state["feedback"])
        info = {"look": look, "inventory": inventory, "score": score, "place": place, "said": said}
        text = shown(said, look, inventory)
        return Observation(text, task.goal, _offered(state), info=info)


def _offered(state: Any) -> tuple[str, ...]:
    listed = state["admissible_commands"]
    useful = tuple(a for a in listed if a == _USEFUL or not a.startswith(_IDLE))
    return useful or tuple(listed)


def _said(feedback: str) -> str:
    """What the game answered, without its banner and prompt line."""
    lines = [line.strip() for line in feedback.splitlines() if not line.startswith(">")]
    return "\n".join(
        line for line in lines if not set(line) & set("$\\|") and set(line) - set("_ ")
    )


def _package() -> Any:
    """The package.

    Raises:
        MissingExtra: If it is not installed.
    """
    try:
        import textworld
    except (ImportError, OSError) as error:  # its player is a library for Linux
        raise MissingExtra(
            "textworld cannot be loaded: pip install 'jitrl[textworld]' on Linux with a C compiler "
            "and make (on Windows in WSL); textworld-express needs neither"
        ) from error
    return textworld
