"""MiniWoB++ in Chromium: small web pages with a task each, the same again and again by seed."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from jitrl.envs.browser import Browser, quoted_values
from jitrl.envs.codecs.page import PageCodec
from jitrl.envs.miniwob.gold import EXPERTS, Seat
from jitrl.envs.miniwob.kinds import KINDS, LEFT_OUT
from jitrl.errors import ConfigError, InputError, MissingExtra, WorldError
from jitrl.types import Observation, Task, TimeStep

_SIZE = (500, 400)
_SETTLE = 1.0
_FRAME = "#query, #reward-display, #click-canvas, #sync-task-cover"
_LONGEST = 200  # characters of a value to type
_START = """async ([seed, settle]) => {
  core.EPISODE_MAX_TIME = 2e9;
  if (window.jQuery) jQuery.fx.off = true;
  if (core.setDataMode) core.setDataMode("train");
  Math.seedrandom(seed);
  core.startEpisodeReal();
  await window[Symbol.for("jitrl.clock")].pass(settle);
  const said = core.getUtterance();
  const fields = [...document.querySelectorAll("#area textarea")].map((field) => field.value);
  const text = document.getElementById("area")?.innerText ?? "";
  return [WOB_TASK_READY, typeof said === "string" ? said : said.utterance, text, fields];
}"""
_TIME_OUT = "() => core.endEpisode(-1, false, 'timed out')"
_STATUS = "() => [WOB_DONE_GLOBAL, WOB_RAW_REWARD_GLOBAL]"


class MiniWob:
    """Tasks of the package ``miniwob`` that can be done by clicking, typing and selecting.

    Task ids are ``kind:seed`` (``click-button:3``). An episode ends when the page says so; its
    reward is the page's own in [-1, 1], without a discount for time. The step limit stands for the
    pages' time limit, and brings what that brings: -1. A browser is held from the first use until
    ``close``.

    Args:
        kinds: Names from ``KINDS``; () takes all.
        seeds: Seeds of instances; there is a task for each kind and seed.
        steps: Step limit of an episode.
        executable: Path of Chromium; unset: Playwright's own, else one of this machine.
        screenshots: Folder for a picture of each step, ``TASK/SEED/NNN.png``.

    Raises:
        MissingExtra: If a package is not installed.
        ConfigError: If a setting is impossible, or there is no Chromium.
    """

    name = "miniwob"
    is_replayable = True

    def __init__(
        self,
        *,
        kinds: Sequence[str] = (),
        seeds: Sequence[int] = (0,),
        steps: int = 15,
        executable: str | None = None,
        screenshots: Path | None = None,
    ) -> None:
        for kind in kinds:
            if kind not in KINDS:
                why = f": {LEFT_OUT[kind]}" if kind in LEFT_OUT else ""
                raise ConfigError(f"no MiniWoB task {kind!r}{why}; there are {', '.join(KINDS)}")
        if not seeds or min(seeds) < 0 or steps < 1:
            raise ConfigError(
                "there must be a seed, none below 0, and steps must be at least 1; got seeds "
                f"{list(seeds)} and steps {steps}"
            )
        self._pages = _pages()
        self._browser = Browser(
            sites=[self._pages.as_uri()],
            executable=executable,
            size=_SIZE,
            settle=_SETTLE,
            clock="virtual",
            typed=self._typed,
            back=False,
            hide=_FRAME,
            screenshots=screenshots,
        )
        self.codec = PageCodec(site="miniwob", whole=True)
        self._ids = tuple(f"{kind}:{seed}" for seed in seeds for kind in kinds or KINDS)
        self._limit = steps
        self._tasks: tuple[Task, ...] = ()
        self._task: Task | None = None
        self._values: tuple[str, ...] = ()
        self._taken = 0

    def tasks(self) -> Sequence[Task]:
        """A task for each seed and kind; the goal is what the page says."""
        if not self._tasks:
            self._tasks = tuple(self.task(id) for id in self._ids)
        return self._tasks

    def task(self, id: str) -> Task:
        """The task ``kind:seed``, whether or not it is among ``tasks()``; ends the episode.

        Raises:
            InputError: If there is no such kind, or the seed is not a number.
        """
        kind, _, seed = id.partition(":")
        if kind not in KINDS or not seed.isdecimal():
            raise InputError(f"no task {id!r}; write kind:seed with a kind of {list(KINDS)}")
        self._task = None
        goal = self._start(kind, int(seed), "")
        return Task(id, goal, kind, kind, {"kind": kind, "seed": int(seed)})

    def reset(self, task: Task, *, seed: int = 0) -> TimeStep:
        """Load the page afresh; ``seed`` only names the folder of pictures."""
        kind = str(task.params["kind"])
        self._start(kind, int(task.params["seed"]), f"{kind}-{task.params['seed']}/{seed}")
        self._task, self._taken = task, 0
        return TimeStep(self._observe(task))

    def step(self, action: str) -> TimeStep:
        """Take an action on the page.

        Raises:
            InputError: If no episode is under way or the page does not list the action.
        """
        task = self._task
        if task is None:
            raise InputError(f"no episode is under way, so {action!r} cannot be taken; call reset")
        self._browser.act(action)
        self._taken += 1
        done, reward = self._browser.script(_STATUS)
        truncated = not done and self._taken >= self._limit
        if truncated:
            self._browser.script(_TIME_OUT)
            reward = self._browser.script(_STATUS)[1]
        observation = self._observe(task)
        if done or truncated:
            self._task = None
        earned = float(reward) if done or truncated else 0.0
        return TimeStep(observation, earned, bool(done), truncated)

    def close(self) -> None:
        """End the browser."""
        self._browser.close()
        self._task = None

    def gold(self, task: Task) -> tuple[str, ...]:
        """Canonical actions that win ``task``; for tests and oracle priors. Ends the episode.

        Raises:
            InputError: If there is no expert for its kind, or it did not win.
        """
        expert = EXPERTS.get(str(task.params["kind"]))
        if expert is None:
            raise InputError(f"there is no expert for {task.id!r}; there are for {list(EXPERTS)}")
        shown, path = self.reset(task), list[str]()

        def look() -> Seat:
            page = shown.observation
            return Seat(page.goal, self.codec.text(page), self.codec.actions(page))

        for action in expert(look):
            path.append(action)
            shown = self.step(self.codec.ground(action, shown.observation))
            if shown.terminated or shown.truncated:
                break
        self._task = None
        if shown.reward <= 0.0:
            raise InputError(f"the expert for {task.id!r} did not win: {path}")
        return tuple(path)

    def _start(self, kind: str, seed: int, name: str) -> str:
        """Load an instance; its goal."""
        address = f"{self._pages.as_uri()}/miniwob/{kind}.html"
        self._browser.begin(address, name=name, fresh=False)
        ready, goal, text, fields = self._browser.script(_START, [seed, 1000 * _SETTLE])
        if not ready:
            raise WorldError(f"task {kind}:{seed} was not ready after {_SETTLE:g} seconds")
        self._browser.rest()
        self._values = _values(kind, goal, text, fields)
        return str(goal)

    def _typed(self, goal: str) -> Sequence[str]:
        return self._values

    def _observe(self, task: Task) -> Observation:
        seen = self._browser.observe(task.goal)
        url = f"https://miniwob.example/{task.params['kind']}"
        return Observation(seen.text, task.goal, seen.actions, url, seen.info)


def _values(kind: str, goal: str, said: str, fields: Sequence[str]) -> tuple[str, ...]:
    """What may be typed: quoted values and the package's own fields of a goal.

    Where the answer has to be read off the page, it is its lines and words, and what its text
    areas hold.
    """
    from miniwob.fields import get_field_extractor

    found = [*KINDS[kind].values, *quoted_values(goal)]
    with suppress(KeyError, ValueError):  # where the package has no rule for a goal
        found += [str(value) for _, value in get_field_extractor(kind)(goal)]
    if KINDS[kind].reads:
        found += fields
        for text in (said, *fields):
            found += re.split(r"\s*[\n\t]\s*", text.strip())
            found += re.split(r"[\s,;:.!?]+", text)
    if KINDS[kind].cases:
        found += [case for value in found for case in (value.upper(), value.lower())]
    return tuple(dict.fromkeys(v for v in found if v.strip() and len(v) <= _LONGEST))


def _pages() -> Path:
    """Folder of the package's pages.

    Raises:
        MissingExtra: If the package is not installed.
    """
    spec: Any = importlib.util.find_spec("miniwob")
    if spec is None or spec.origin is None:
        raise MissingExtra("miniwob is not installed: pip install 'jitrl[miniwob]'")
    return Path(spec.origin).resolve().parent / "html"
