"""Text games of the textworld-express package: the same game again and again, by seed."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jitrl.envs.aside import whole
from jitrl.envs.codecs.plain import PlainCodec
from jitrl.envs.java import end_java, require_java, start_java
from jitrl.envs.turns import Turns
from jitrl.errors import ConfigError, InputError, MissingExtra
from jitrl.types import Observation, State, Task, TimeStep


@dataclass(frozen=True, slots=True)
class Game:
    """One kind of game.

    Attributes:
        package: Name of the game in the package.
        settings: Its generation parameters, ``a=1,b=2``; "" takes the package's own.
        idle: Prefixes of valid actions that are not offered, because they change nothing that
            matters.
    """

    package: str
    settings: str = ""
    idle: tuple[str, ...] = ()


_IDLE = ("look around", "inventory", "examine", "close ", "task")
GAMES: Mapping[str, Game] = {
    "twc": Game(
        "twc",
        "numLocations=2,numItemsToPutAway=3,includeDoors=0,limitInventorySize=0",
        (*_IDLE, "read "),
    ),
    "cook": Game(
        "cookingworld",
        "numLocations=2,numIngredients=2,numDistractorItems=2,includeDoors=0,limitInventorySize=0",
        _IDLE,
    ),
    "coin": Game("coin", "numLocations=7,includeDoors=1,numDistractorItems=0", (*_IDLE, "read ")),
    **{name: Game(name) for name in ("mapreader", "arithmetic", "sorting", "simonsays")},
    "peckingorder": Game("peckingorder"),
}
"""The first three are the games and parameters that results are reported on."""


class LookCodec(PlainCodec):
    """A room as it looks, with what is carried: the state says nothing of how one came there."""

    name = "look"

    def state(self, observation: Observation, history: Sequence[str]) -> State:
        """``look || inventory``."""
        return State(f"{observation.info['look']} || {observation.info['inventory']}")

    def reading(self, observation: Observation) -> str:
        """What the game said to the last action."""
        return str(observation.info["said"])


_WALKS = 4  # of the package's random walks through a maze, of which the shortest is taken


def _place(shown: Mapping[str, Any]) -> tuple[Any, ...]:
    return shown["look"], shown["inventory"], shown["score"]


class TextWorldExpress:
    """Games of ``textworld-express``; each step's reward is the change of the game's score.

    Task ids are ``game:seed`` (``twc:40``). Needs the extra and Java 8 or newer. One Java process
    belongs to an instance, from the first use until ``close``.

    Args:
        games: Names from ``GAMES``.
        seeds: Game seeds; there is a task for each game and seed.
        fold: Where the package takes rooms and objects from: ``train``, ``dev`` or ``test``.
        steps: Step limit of an episode.
        slip: Probability that a uniformly drawn valid action is executed instead.
        reward_shift: Constant added to every step's reward.

    Raises:
        MissingExtra: If the package or Java is not installed.
        ConfigError: If a setting is impossible.
    """

    name = "textworld-express"
    is_replayable = True

    def __init__(
        self,
        *,
        games: Sequence[str] = ("twc", "cook", "coin"),
        seeds: Sequence[int] = tuple(range(40, 58)),
        fold: str = "train",
        steps: int = 25,
        slip: float = 0.0,
        reward_shift: float = 0.0,
    ) -> None:
        unknown = [name for name in games if name not in GAMES]
        if unknown or not games or not seeds:
            raise ConfigError(
                f"games {list(games)} and seeds {list(seeds)} must not be empty, and the games "
                f"must be among {list(GAMES)}"
            )
        if fold not in ("train", "dev", "test"):
            raise ConfigError(f"fold must be train, dev or test, got {fold!r}")
        if not 0.0 <= slip <= 1.0 or steps < 1 or not np.isfinite(reward_shift):
            raise ConfigError(
                "slip must be in [0, 1], steps at least 1 and reward_shift finite; got "
                f"slip={slip}, steps={steps}, reward_shift={reward_shift}"
            )
        self._make = _package()
        self.codec = LookCodec()
        self._fold, self._slip = fold, slip
        self._java: Any = None
        self._loaded = ""
        self._ids = tuple(f"{game}:{seed}" for seed in seeds for game in games)
        self._tasks: tuple[Task, ...] = ()
        self._rng = np.random.default_rng(0)
        self._turns = Turns(steps, reward_shift)

    def tasks(self) -> Sequence[Task]:
        """A task for each seed and game; the goal is the game's own description."""
        if not self._tasks:
            self._tasks = tuple(self.task(id) for id in self._ids)
        return self._tasks

    @whole()
    def task(self, id: str) -> Task:
        """The task ``game:seed``, whether or not it is among ``tasks()``.

        Raises:
            InputError: If there is no such game, or the seed is not a number.
        """
        game, _, seed = id.partition(":")
        if game not in GAMES or not seed.isdecimal():
            raise InputError(f"no task {id!r}; write game:seed with a game of {list(GAMES)}")
        self._start(game, int(seed))
        params = {"game": game, "seed": int(seed)}
        return Task(id, self._java.getTaskDescription(), game, game, params)

    @whole()
    def gold(self, task: Task) -> tuple[str, ...]:
        """Offered actions that win the game; for tests and oracle priors. Ends the episode.

        The package walks through a maze at random, anew each time. So the shortest of a few walks
        is taken, without the steps that can be spared.
        """
        walks = [self._walk(task) for _ in range(_WALKS)]
        path = min(walks, key=lambda walk: (len(walk), walk))
        size = len(path) - 1
        while size > 0:
            for first in range(len(path) - size + 1):
                shorter = path[:first] + path[first + size :]
                if self._wins(shorter, task):
                    path = shorter
                    break
            else:
                size -= 1
            size = min(size, len(path) - 1)
        return path

    def _walk(self, task: Task) -> tuple[str, ...]:
        """The package's own path, without its loops where it wins without them."""
        self._start(task.params["game"], task.params["seed"], gold=True)
        path = list(self._java.server.getGoldActionSequence())
        shown = self._start(task.params["game"], task.params["seed"])
        whole: list[str] = []
        direct: list[str] = []
        places = [_place(shown)]
        for action in path:
            if action not in _offered(shown, task):  # where the path reopens what it closed
                continue
            shown = json.loads(self._java.server.stepJSON(action))
            whole.append(action)
            direct.append(action)
            if _place(shown) in places:
                first = places.index(_place(shown))
                del direct[first:], places[first + 1 :]
            else:
                places.append(_place(shown))
        return tuple(direct if self._wins(direct, task) else whole)

    def _wins(self, path: Sequence[str], task: Task) -> bool:
        """Whether the actions of ``path`` are offered one after the other, and win."""
        shown = self._start(task.params["game"], task.params["seed"])
        for action in path:
            if action not in _offered(shown, task):
                return False
            shown = json.loads(self._java.server.stepJSON(action))
        return _won(shown)

    @whole()
    def reset(self, task: Task, *, seed: int = 0) -> TimeStep:
        """Start a game; ``seed`` decides the slips."""
        shown = self._start(task.params["game"], task.params["seed"])
        self._rng = np.random.default_rng([seed, zlib.crc32(task.id.encode())])
        return self._turns.begin(task, _observation(shown, task))

    @whole()
    def step(self, action: str) -> TimeStep:
        """Take a valid action.

        Raises:
            InputError: If no game is under way or the action is not offered now.
        """
        task = self._turns.check(action)
        if self._slip and self._rng.random() < self._slip:
            offered = self._turns.shown.actions
            action = offered[int(self._rng.integers(len(offered)))]
        shown = json.loads(self._java.server.stepJSON(action))
        over = bool(shown["taskfailure"]) or _won(shown)
        return self._turns.taken(_observation(shown, task), over=over)

    @whole()
    def close(self) -> None:
        """End the Java process."""
        if self._java is not None:
            end_java(self._java)
            self._java._obj_tree_tempfile.close()  # which the package leaves open
        self._java, self._loaded = None, ""
        self._turns.end()

    def _start(self, name: str, seed: int, *, gold: bool = False) -> dict[str, Any]:
        """Generate a game; what it shows at first."""
        self._turns.end()
        if self._java is None:
            # The package counts steps as well; its limit must not come first.
            self._java = start_java(lambda: self._make(envStepLimit=10**9))
        if self._loaded != name:
            self._java.load(GAMES[name].package, GAMES[name].settings)
            self._loaded = name
        made: dict[str, Any] = json.loads(
            self._java.server.generateNewGameJSON(seed, self._fold, gold)
        )
        return made


def _offered(shown: Mapping[str, Any], task: Task) -> tuple[str, ...]:
    idle = GAMES[task.params["game"]].idle
    return tuple(sorted(a for a in shown["validActions"] if not a.startswith(idle)))


def _observation(shown: Mapping[str, Any], task: Task) -> Observation:
    look, inventory = shown["look"], shown["inventory"]
    said = "" if shown["observation"] == look else shown["observation"].strip()
    text = "\n".join(filter(None, (said, look.strip(), inventory.strip())))
    info = {"look": look, "inventory": inventory, "score": float(shown["score"]), "said": said}
    return Observation(text, task.goal, _offered(shown, task), info=info)


def _won(shown: Mapping[str, Any]) -> bool:
    return bool(shown["tasksuccess"] or float(shown["score"]) >= 1.0)


def _package() -> Any:
    """The package's environment class.

    Raises:
        MissingExtra: If the package or Java is not installed.
    """
    try:
        from textworld_express import TextWorldExpressEnv
    except ImportError as error:
        raise MissingExtra(
            "textworld-express is not installed: pip install 'jitrl[textworld-express]'"
        ) from error
    require_java("textworld-express")
    return TextWorldExpressEnv
