"""The agent in AgentLab's studies, and the outcomes that a study leaves behind.

AgentLab makes an agent for each experiment and tells it neither the reward nor the end. So the
agent writes the key of its episode to the experiment's log and keeps the episode without an outcome
when it goes away; when the study is over, ``outcomes`` reads the rewards from the study's folder.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakSet

from jitrl.api import JitRL
from jitrl.errors import InputError, StoreError
from jitrl.integrations.browsergym import BrowserGymAgent

_made: WeakSet[BrowserGymAgent] = WeakSet()
"""Agents of this process; Playwright may hold the last one of a study until the process ends."""

_KEY = re.compile(r"episode begins key=('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")


@dataclass
class JitRLArgs:
    """What AgentLab calls agent arguments; it copies and pickles them and sets their attributes.

    Attributes:
        memory: The file of the memory; experiments in several processes may share it.
        scope: As for ``BrowserGymAgent``.
    """

    memory: str
    scope: str | None = None
    agent_name: str = "jitrl"
    options: dict[str, Any] = field(default_factory=dict)

    def prepare(self) -> None:
        """Nothing is kept between experiments."""

    def close(self) -> None:
        """Nothing is kept between experiments."""

    def make_agent(self) -> BrowserGymAgent:
        """The agent of one experiment."""
        agent = BrowserGymAgent(self.memory, scope=self.scope, **self.options)
        _made.add(agent)
        return agent

    def set_benchmark(self, benchmark: Any, demo_mode: bool) -> None:
        """The agent is the same for every benchmark."""

    def set_reproducibility_mode(self) -> None:
        """The model's own options say how it samples; the memory changes what it does."""


@dataclass(frozen=True, slots=True)
class Told:
    """What ``outcomes`` did.

    Attributes:
        keys: Episodes whose outcome was told.
        left: Folders of experiments without one, and why.
    """

    keys: tuple[str, ...]
    left: tuple[tuple[Path, str], ...]


def outcomes(memory: JitRL, folder: Path) -> Told:
    """Tell a memory how the experiments in ``folder`` ended; it learns from them.

    An experiment that failed has no outcome, which is not 0. May be called again: the outcome of
    an episode is then replaced.

    Raises:
        InputError: If there is no experiment in the folder.
        StoreError: If the memory cannot be used.
    """
    found = sorted(folder.rglob("summary_info.json"))
    if not found:
        raise InputError(f"{folder} holds no finished experiment (no summary_info.json)")
    keys, left = list[str](), list[tuple[Path, str]]()
    for path in found:
        key, reward, reason = _ended(path)
        if not reason:
            for agent in [agent for agent in _made if agent.key == key]:
                agent.close()
            try:
                memory.outcome(key, reward, basis="state_check", evaluator="browsergym")
            except StoreError as error:
                reason = str(error)
        if reason:
            left.append((path.parent, reason))
        else:
            keys.append(key)
    return Told(tuple(keys), tuple(left))


def _ended(summary: Path) -> tuple[str, float, str]:
    """Key and reward of an experiment, and why they are of no use, or ""."""
    log = summary.with_name("experiment.log")
    try:
        said = json.loads(summary.read_text(encoding="utf-8"))
        named = _KEY.findall(log.read_text(encoding="utf-8", errors="replace"))
    except (OSError, ValueError) as error:
        return "", 0.0, f"it cannot be read: {error}"
    if said.get("err_msg"):
        return "", 0.0, f"it failed: {str(said['err_msg']).splitlines()[-1]}"
    if len(named) != 1:
        return "", 0.0, f"experiment.log names {len(named)} episodes of this agent"
    if not isinstance(said.get("cum_reward"), int | float):
        return "", 0.0, f"cum_reward is {said.get('cum_reward')!r}"
    return ast.literal_eval(named[0]), float(said["cum_reward"]), ""
