"""WebArena as an environment: its sites in a real browser, wherever they are served."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from jitrl.envs.browser import Browser
from jitrl.envs.codecs.calls import Call, parse_call
from jitrl.envs.codecs.elements import element_line
from jitrl.envs.codecs.open_page import OpenPageCodec
from jitrl.envs.codecs.page import PageCodec
from jitrl.envs.webarena.endings import HOW, LISTED, VERBS, page_values, response
from jitrl.envs.webarena.har import trim
from jitrl.envs.webarena.scoring import ANSWER, SITES_OF, TRACE, Scoring, score
from jitrl.envs.webarena.tasks import (
    SiteTask,
    Subset,
    addresses,
    everything,
    filled_in,
    require_addresses,
    selected,
)
from jitrl.errors import ConfigError, InputError, WorldError
from jitrl.ports import Codec
from jitrl.types import Observation, Scored, Task, TimeStep, Unscored

Actions = Literal["listed", "open"]


@dataclass(slots=True)
class _Visit:
    """An episode under way.

    Attributes:
        taken: Steps, mistakes included.
        arrived: Steps before the present page was reached.
        counted: The same as the browser has it, which knows of no mistakes.
    """

    task: SiteTask
    folder: Path
    shown: Observation
    taken: int = 0
    arrived: int = 0
    counted: int = 0
    said: list[str] = field(default_factory=list)


class WebArena:
    """WebArena's tasks on sites that the user serves; an episode ends with reward 1 or 0.

    What the browser asks of the sites is recorded, and webarena-verified scores the answer and the
    recording. An episode that it cannot score fails; it does not count as 0.

    Args:
        urls: Address by site, out of ``SITES``; tasks about other sites are not listed.
        subset: ``all``, or the 165 tasks of WebArena-Lite.
        ids: Numbers of tasks; takes the place of ``subset``.
        actions: ``listed``: each page lists what can be done and ``answers`` of its texts as
            answers. ``open``: the model writes its actions, as in the paper.
        answers: Most answers that a page lists.
        limit: Longest page that a model is shown, in characters.
        steps: Step limit of an episode.
        storage_state: Playwright's file of cookies and local storage, to be logged in.
        record: Folder that keeps the answer and the requests of each episode, under
            ``NUMBER/seed-SEED``. Cookies are among them.
        executable: Path of Chromium; unset: Playwright's own, else one of this machine.
        headless: Whether the browser has no window.
        timeout: Seconds that one load or action may take.
        settle: After an action, most seconds to wait until the page is at rest.

    Raises:
        MissingExtra: If Playwright or webarena-verified is not installed.
        ConfigError: If a setting is impossible, or there is no Chromium.
    """

    name = "webarena"
    is_replayable = False  # what an episode changes on the sites stays changed

    def __init__(
        self,
        *,
        urls: Mapping[str, str] | None = None,
        subset: Subset = "all",
        ids: Sequence[int] = (),
        actions: Actions = "listed",
        answers: int = 20,
        limit: int = 8000,
        steps: int = 10,
        storage_state: Path | None = None,
        record: Path | None = None,
        executable: str | None = None,
        headless: bool = True,
        timeout: float = 30.0,
        settle: float = 2.0,
    ) -> None:
        if subset not in get_args(Subset) or actions not in get_args(Actions):
            raise ConfigError(
                f"subset must be one of {list(get_args(Subset))} and actions one of "
                f"{list(get_args(Actions))}, got {subset!r} and {actions!r}"
            )
        if steps < 1 or limit < 1 or answers < 0:
            raise ConfigError(
                "steps and limit must be at least 1 and answers at least 0, got "
                f"steps={steps}, limit={limit}, answers={answers}"
            )
        if not urls:
            raise ConfigError(
                "environment webarena needs the addresses of the sites; give "
                'environment.options.urls = { shopping = "http://host:7770", … }'
            )
        self._urls = addresses(urls)
        self._tasks = {one.task.id: one for one in selected(self._urls, subset, ids)}
        self._is_open, self._answers, self._limit = actions == "open", answers, steps
        self._login = _login(storage_state)
        self._record = record
        page = PageCodec(site=self.name, verbs={"finish": 0}, limit=limit)
        self.codec: Codec = (
            OpenPageCodec(page, lambda goal: HOW, limit=limit) if self._is_open else page
        )
        self._scoring = Scoring(self._urls)
        self._browser = Browser(
            sites=sorted({_origin(url) for url in self._urls.values()}),
            executable=executable,
            headless=headless,
            timeout=timeout,
            settle=settle,
        )
        self._visit: _Visit | None = None

    def tasks(self) -> Sequence[Task]:
        """The tasks whose sites all have an address: ``shopping:118`` of family ``151``.

        ``family`` is the number of the template, ``params["template"]`` its wording.
        """
        return tuple(one.task for one in self._tasks.values())

    def reset(self, task: Task, *, seed: int = 0) -> TimeStep:
        """Open the page that ``task`` starts at, in a browser that is logged in but else fresh.

        The sites themselves are not reset: what earlier episodes changed stays changed.

        Args:
            seed: Names the folder of the recording; chance plays no other part.

        Raises:
            ConfigError: If a site of the task has no address.
            InputError: If there is no such task.
            WorldError: If the page does not open in time.
        """
        one = self._known(task)
        self._drop()
        folder = self._folder(one, seed)
        self._visit = _Visit(one, folder, Observation("", task.goal))
        self._browser.begin(
            self._address(one.start[0]),
            name=f"{one.number}-{seed}",
            state=self._login,
            har=folder / TRACE,
        )
        return TimeStep(self._observe(self._visit))

    def step(self, action: str) -> TimeStep:
        """Take one action.

        Raises:
            InputError: If no episode is under way, or the page does not list the action. Where
                actions are open, what cannot be done is said on the page that follows.
            WorldError: If the browser does not answer in time, or the episode cannot be scored.
        """
        visit = self._visit
        if visit is None:
            raise InputError(f"no episode is under way, so {action!r} cannot be taken; call reset")
        if not self._is_open and action not in visit.shown.actions:
            raise InputError(
                f"page {visit.shown.url} has no {action!r}; it has {list(visit.shown.actions)}"
            )
        visit.said = []
        ending = None
        try:
            ending = self._take(action)
        except InputError as error:
            if not self._is_open:
                raise
            visit.said = [str(error)]
        visit.taken += 1
        is_over = ending is not None or visit.taken >= self._limit
        observation = visit.shown if ending is not None else self._observe(visit)
        if not is_over:
            return TimeStep(observation)
        reward = self._score(visit, ending)
        return TimeStep(observation, reward, ending is not None, ending is None)

    def close(self) -> None:
        """End the browser; may be called twice."""
        self._drop()
        self._browser.close()

    def _known(self, task: Task) -> SiteTask:
        if task.id in self._tasks:
            return self._tasks[task.id]
        for one in everything().values():
            if one.task.id == task.id:
                require_addresses(one, self._urls)
                raise InputError(f"task {task.id!r} is not of this subset; see tasks()")
        raise InputError(f"there is no task {task.id!r} in WebArena; see tasks()")

    def _take(self, action: str) -> dict[str, Any] | None:
        """Carry an action out; what the agent ends with, if it is an ending."""
        call = parse_call(action)
        if call.verb in VERBS:
            return response(call)
        if call.verb == "goto" and len(call.args) == 1:
            try:
                call = Call("goto", (self._address(str(call.args[0])),), call.named)
            except ConfigError as error:  # a site that this run has no address of
                raise InputError(str(error)) from error
        self._browser.act(call.raw())
        return None

    def _address(self, text: str) -> str:
        """An address with placeholders filled in; a bare host gets the slash of its path."""
        address = filled_in(text, self._urls)
        return address if urlsplit(address).path else f"{address}/"

    def _observe(self, visit: _Visit) -> Observation:
        """The present page; the other addresses that the task starts at can be gone to."""
        page = self._browser.observe(visit.task.goal)
        more: list[str] = []
        if not self._is_open:
            values = page_values(page.text, self._answers)
            more += [Call("goto", (address,)).raw() for address in visit.task.start[1:]]
            more += [Call("answer", (value,)).raw() for value in values]
            more += [ending.raw() for ending in LISTED]
        if page.info["arrived"] != visit.counted:
            visit.counted, visit.arrived = page.info["arrived"], visit.taken
        title, newline, rest = page.text.partition("\n")
        alerts = "".join(
            f"\n{element_line(f'said{i}', 'alert', said)}" for i, said in enumerate(visit.said)
        )
        visit.shown = replace(
            page,
            text=f"{title}{alerts}{newline}{rest}",
            actions=() if self._is_open else (*page.actions, *more),
            info={**page.info, "arrived": visit.arrived},
        )
        return visit.shown

    def _score(self, visit: _Visit, ending: Mapping[str, Any] | None) -> float:
        """The reward of an episode that is over."""
        self._visit = None
        try:
            self._browser.end()
            trim(visit.folder / TRACE, keep_bodies=visit.task.reads_bodies)
            _write(visit.folder / ANSWER, ending)
            _write(visit.folder / SITES_OF, {site: self._urls[site] for site in visit.task.sites})
            match score(visit.folder, visit.task.number, self._scoring):
                case Scored(rewards=(reward,)):
                    return reward
                case Unscored(reason=reason):
                    raise WorldError(f"task {visit.task.task.id} cannot be scored: {reason}")
                case other:
                    raise WorldError(f"task {visit.task.task.id} was scored as {other}")
        finally:
            self._forget(visit)

    def _folder(self, task: SiteTask, seed: int) -> Path:
        """An empty folder for the recording."""
        if self._record is None:
            return Path(tempfile.mkdtemp(prefix="jitrl-webarena-"))
        folder = self._record / str(task.number) / f"seed-{seed}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name in (ANSWER, TRACE, SITES_OF):
                (folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise ConfigError(f"record: {folder} cannot be used: {error.strerror}") from error
        return folder

    def _drop(self) -> None:
        """Give the episode under way up, if there is one."""
        visit, self._visit = self._visit, None
        if visit is not None:
            with suppress(WorldError):  # a browser that hangs is ended by close()
                self._browser.end()
            self._forget(visit)

    def _forget(self, visit: _Visit) -> None:
        if self._record is None:
            shutil.rmtree(visit.folder, ignore_errors=True)


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _login(path: Path | None) -> Mapping[str, Any] | None:
    if path is None:
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"storage_state: {path} cannot be read: {error}") from error
    if not isinstance(found, dict) or not {"cookies", "origins"} <= found.keys():
        raise ConfigError(
            f"storage_state: {path} has no cookies and origins; Playwright's "
            "context.storage_state(path=…) writes such a file"
        )
    return found


def _write(path: Path, value: Any) -> None:
    try:
        path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    except OSError as error:
        raise WorldError(f"{path} cannot be written: {error.strerror}") from error
