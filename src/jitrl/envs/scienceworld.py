"""Experiments of the scienceworld package: 30 kinds of task in a house with ten rooms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, get_args

from jitrl.envs.aside import whole
from jitrl.envs.codecs.room import RoomCodec, shown
from jitrl.envs.java import end_java, require_java, start_java
from jitrl.envs.scienceworld_actions import closest, lean
from jitrl.envs.turns import Turns
from jitrl.errors import ConfigError, InputError, MissingExtra
from jitrl.types import Observation, Task, TimeStep

KINDS = (
    "boil",
    "melt",
    "freeze",
    "change-the-state-of-matter-of",
    "use-thermometer",
    "measure-melting-point-known-substance",
    "measure-melting-point-unknown-substance",
    "power-component",
    "power-component-renewable-vs-nonrenewable-energy",
    "test-conductivity",
    "test-conductivity-of-unknown-substances",
    "find-living-thing",
    "find-non-living-thing",
    "find-plant",
    "find-animal",
    "grow-plant",
    "grow-fruit",
    "chemistry-mix",
    "chemistry-mix-paint-secondary-color",
    "chemistry-mix-paint-tertiary-color",
    "lifespan-longest-lived",
    "lifespan-shortest-lived",
    "lifespan-longest-lived-then-shortest-lived",
    "identify-life-stages-1",
    "identify-life-stages-2",
    "inclined-plane-determine-angle",
    "inclined-plane-friction-named-surfaces",
    "inclined-plane-friction-unnamed-surfaces",
    "mendelian-genetics-known-plant",
    "mendelian-genetics-unknown-plant",
)
"""Kinds of task in the package's order, which goes by topic."""
SIMPLIFICATIONS = (
    "easy",
    "noElectricalAction",
    "openContainers",
    "openDoors",
    "selfWateringFlowerPots",
    "teleportAction",
)
Split = Literal["train", "dev", "test"]
Offered = Literal["lean", "all"]

_ELECTRICAL = ("power-component", "test-conductivity")
_ROOM = re.compile(r"(?:called|in) the ([a-z ]+?)\.")
_LOOKS = ("look ", "examine ")
_SLICE = 100  # actions fetched at once: a longer answer of the package waits for TCP's clock


class ScienceWorld:
    """Tasks of ``scienceworld``; each step's reward is the change of the score, which ends at 1.

    Task ids are ``kind:variation`` (``boil:3``). Needs the extra and Java 8 or newer. One Java
    process belongs to an instance, from the first use until ``close``.

    Args:
        kinds: Kinds of task, from ``KINDS``; () takes all.
        split: Which of the package's variations: ``train``, ``dev`` or ``test``.
        variations: The first so many variations of each kind, as far as there are that many.
        steps: Step limit of an episode.
        simplifications: Names from ``SIMPLIFICATIONS``; ``easy`` stands for all that fit the task.
        actions: Whether ``all`` valid actions are offered, or ``lean``: those that may help.
        failure: What the score is after a fatal mistake, which ends the episode; in [-1, 0]. The
            package's own is -1; at 0 all that was earned is lost.

    Raises:
        MissingExtra: If the package or Java is not installed.
        ConfigError: If a setting is impossible.
    """

    name = "scienceworld"
    is_replayable = True

    def __init__(
        self,
        *,
        kinds: Sequence[str] = (),
        split: Split = "train",
        variations: int = 1,
        steps: int = 100,
        simplifications: Sequence[str] = ("easy",),
        actions: Offered = "lean",
        failure: float = 0.0,
    ) -> None:
        _check(kinds, KINDS, "kinds")
        _check(simplifications, SIMPLIFICATIONS, "simplifications")
        if split not in get_args(Split) or actions not in get_args(Offered):
            raise ConfigError(
                f"split must be among {get_args(Split)} and actions among {get_args(Offered)}; got "
                f"{split!r} and {actions!r}"
            )
        if variations < 1 or steps < 1 or not -1.0 <= failure <= 0.0:
            raise ConfigError(
                "variations and steps must be at least 1 and failure in [-1, 0]; got "
                f"variations={variations}, steps={steps}, failure={failure}"
            )
        self._make = _package()
        self.codec = RoomCodec()
        self._kinds, self._split, self._variations = tuple(kinds) or KINDS, split, variations
        self._failure, self._is_lean = failure, actions == "lean"
        self._simplifications = tuple(simplifications)
        self._java: Any = None
        self._tasks: tuple[Task, ...] = ()
        self._turns = Turns(steps)

    def tasks(self) -> Sequence[Task]:
        """A task for each kind and variation; the goal is the package's own description."""
        if not self._tasks:
            found = []
            for kind in self._kinds:
                listed = self._listed(kind)
                if not listed:
                    raise ConfigError(f"task {kind!r} has no variations in split {self._split!r}")
                found += [self.task(f"{kind}:{variation}") for variation in listed]
            self._tasks = tuple(found)
        return self._tasks

    @whole()
    def task(self, id: str) -> Task:
        """The task ``kind:variation``, whether or not it is among ``tasks()``. Ends the episode.

        Raises:
            InputError: If there is no such kind or variation.
        """
        kind, _, number = id.partition(":")
        if kind not in KINDS or not number.isdecimal():
            raise InputError(f"no task {id!r}; write kind:variation with a kind of {list(KINDS)}")
        most = int(self._server().getTaskMaxVariations(kind))
        if int(number) >= most:
            raise InputError(f"no task {id!r}; variations of {kind} go from 0 to {most - 1}")
        self._load(kind, int(number))
        goal = str(self._server().getTaskDescription()).strip()
        return Task(id, goal, kind, kind, {"kind": kind, "variation": int(number)})

    @whole()
    def gold(self, task: Task) -> tuple[str, ...]:
        """Offered actions that reach the whole score; for tests and oracle priors.

        The package's path names things in ways that its list of valid actions does not, and looks
        around; here each action is one that is offered, and a look is a step of waiting. Ends the
        episode.

        Raises:
            InputError: If the package's path does not get through with offered actions.
        """
        self._load(task.params["kind"], task.params["variation"], gold=True)
        path = list(self._server().getGoldActionSequence())
        self._load(task.params["kind"], task.params["variation"])
        self._server().step("look around")
        taken: list[str] = []
        for action in path:
            offered = self._offered(task)
            chosen = action if action in offered else self._same(action, offered)
            self._server().step(chosen)
            taken.append(chosen)
            if self._server().getCompleted() or self._server().getScore() >= 1.0:
                break
        reached = float(self._server().getScore())
        if reached < 1.0:
            raise InputError(
                f"the package's path for {task.id!r} reaches a score of {reached:g} with offered "
                "actions; take another variation, or actions = 'all'"
            )
        return tuple(taken)

    @whole()
    def reset(self, task: Task, *, seed: int = 0) -> TimeStep:
        """Start a task. Nothing is drawn, so ``seed`` plays no part."""
        self._load(task.params["kind"], task.params["variation"])
        said = str(self._server().step("look around"))
        return self._turns.begin(task, self._observe(said, task, 0.0))

    @whole()
    def step(self, action: str) -> TimeStep:
        """Take an offered action.

        Raises:
            InputError: If no episode is under way or the action is not offered now.
        """
        task, server = self._turns.check(action), self._server()
        said = str(server.step(action))
        score = round(float(server.getScore()), 2)
        failed = score < 0.0
        score = self._failure if failed else score
        over = failed or bool(server.getCompleted()) or score >= 1.0
        return self._turns.taken(self._observe(said, task, score), over=over)

    @whole()
    def close(self) -> None:
        """End the Java process."""
        if self._java is not None:
            end_java(self._java)
            self._java._obj_tree_tempdir.cleanup()  # which the package leaves open
        self._java = None
        self._turns.end()

    def _server(self) -> Any:
        """The package's Java side, started if need be."""
        if self._java is None:
            self._java = start_java(lambda: self._make("", envStepLimit=10**9))
        return self._java.server

    def _load(self, kind: str, variation: int, *, gold: bool = False) -> None:
        self._turns.end()
        wanted = self._simplifications
        if kind.startswith(_ELECTRICAL):  # the package refuses to take wires out of these
            wanted = tuple(name for name in wanted if name != "noElectricalAction")
        self._server().load(kind, variation, ",".join(wanted), gold)

    @whole()
    def _listed(self, kind: str) -> tuple[int, ...]:
        self._load(kind, 0)
        all_of = getattr(self._server(), f"getVariations{self._split.title()}")()
        return tuple(int(all_of[i]) for i in range(min(self._variations, len(all_of))))

    def _offered(self, task: Task) -> tuple[str, ...]:
        listed = self._server().getValidActionObjectCombinations()
        join, size = self._java._gateway.jvm.java.lang.String.join, len(listed)
        slices = (
            join("\n", listed.subList(first, min(first + _SLICE, size)))
            for first in range(0, size, _SLICE)
        )
        actions = "\n".join(slices).split("\n")
        if self._is_lean:
            return lean(actions, wires=task.params["kind"].startswith(_ELECTRICAL))
        return tuple(sorted({action for action in actions if action != "reset task"}))

    def _same(self, action: str, offered: Sequence[str]) -> str:
        """What is offered for ``action``, else a step of waiting."""
        if action.startswith(_LOOKS):
            return "wait1"
        server = self._server()
        valid = str(server.getValidActionObjectCombinationsJSON())
        things = str(server.getAllObjectIdsTypesReferentsLUTJSON())
        return closest(action, offered, valid, things) or "wait1"

    def _observe(self, said: str, task: Task, score: float) -> Observation:
        server = self._server()
        look, inventory = str(server.freeActionLook()), str(server.freeActionInventory())
        question = said if said.startswith("Ambiguous request") else ""
        found = _ROOM.search(look)
        return Observation(
            shown(said, look, inventory),
            task.goal,
            self._offered(task),
            info={
                "look": look,
                "inventory": inventory,
                "score": score,
                "place": found[1] if found else "",
                "question": question,
            },
        )


def _check(given: Sequence[str], known: Sequence[str], what: str) -> None:
    unknown = [name for name in given if name not in known]
    if unknown:
        raise ConfigError(f"{what} has {unknown}; they must be among {list(known)}")


def _package() -> Any:
    """The package's environment class.

    Raises:
        MissingExtra: If the package or Java is not installed.
    """
    try:
        from scienceworld import ScienceWorldEnv
    except ImportError as error:
        raise MissingExtra(
            "scienceworld is not installed: pip install 'jitrl[scienceworld]'"
        ) from error
    require_java("scienceworld")
    return ScienceWorldEnv
