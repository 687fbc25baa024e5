"""The agent in BrowserGym: it takes an observation, gives an action, and learns from the reward.

BrowserGym is not imported before something of it is needed: any program whose observations look
like its own can use the agent.
"""

from __future__ import annotations

import logging
import os
import weakref
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from jitrl import api, config, registry
from jitrl.api import JitRL
from jitrl.envs.codecs.open_page import OpenPageCodec
from jitrl.envs.codecs.page import PageCodec
from jitrl.episode import Episode
from jitrl.errors import InputError, JitRLError, MissingExtra, StoreError
from jitrl.integrations.browsergym_page import Listed, axtree, observation, page_actions
from jitrl.language import counted, is_chinese
from jitrl.ports import Codec, Proposer, Receipt
from jitrl.types import Decision, EpisodeStatus, Observation, Prompt, Proposal

_log = logging.getLogger(__name__)

_ENGLISH = """\
Actions: click(<link[Label]>), fill(<textbox[Label]>, "text"), \
select_option(<combobox[Label]>, "text"), press(<textbox[Label]>, "Enter"), scroll(0, 600), \
go_back(), goto("address"), send_msg_to_user("text"), report_infeasible("why"), noop()."""
_CHINESE = """\
动作的写法：click(<link[名称]>)、fill(<textbox[名称]>, "文字")、\
select_option(<combobox[名称]>, "文字")、press(<textbox[名称]>, "Enter")、scroll(0, 600)、\
go_back()、goto("网址")、send_msg_to_user("文字")、report_infeasible("原因")、noop()。"""

_DROPPED = ("axtree_object", "dom_object", "extra_element_properties")


class BrowserGymAgent:
    """An agent for loops that call ``get_action(obs)``, such as BrowserGym's and AgentLab's.

    One object plays one episode at a time; ``end`` or ``reset`` closes it. An episode that nobody
    closed is kept when the object goes away, without an outcome: ``JitRL.outcome`` can tell it.

    Args:
        memory: An open memory, or the file of one, opened with the settings in force.
        task: Name of the task, as ``miniwob.click-button``; the goal if it is not given.
        scope: Episodes of one scope learn from each other; the part of the task's name before the
            first dot if it is not given.
        proposer: The frozen model; that of the settings if it is not given.
        list_actions: Raw actions of a page. ``None``: the model writes its actions itself.
        action_set: BrowserGym's; ``HighLevelActionSet()`` if it is not given.

    Raises:
        ConfigError: If a setting is impossible.
        ModelError: If the model does not answer its probe.
        StoreError: If the memory cannot be used.
    """

    def __init__(
        self,
        memory: JitRL | str | os.PathLike[str],
        *,
        task: str = "",
        scope: str | None = None,
        proposer: Proposer | None = None,
        list_actions: Listed | None = page_actions,
        action_set: Any = None,
    ) -> None:
        self._proposer = _configured() if proposer is None else proposer
        self._list_actions, self._action_set = list_actions, action_set
        page = PageCodec()
        self.codec: Codec = page if list_actions else OpenPageCodec(page, how)
        is_mine = not isinstance(memory, JitRL)
        self.memory = memory if isinstance(memory, JitRL) else api.open(memory)
        self._running: list[Episode] = []
        self._finish = weakref.finalize(self, _leave, self._running, self.memory, is_mine)
        self._scope = scope
        self._next_key: str | None = None
        self._task = task
        self._history: list[str] = []
        self._where, self._arrived, self._is_lost = "", 0, False

    @property
    def action_set(self) -> Any:
        """What turns actions into code; AgentLab gives it to the environment.

        Raises:
            MissingExtra: If none was given and BrowserGym is not installed.
        """
        if self._action_set is None:
            try:
                from browsergym.core.action.highlevel import HighLevelActionSet
            except ImportError as error:
                raise MissingExtra(
                    "action_set needs BrowserGym: pip install browsergym-core"
                ) from error
            self._action_set = HighLevelActionSet()
        return self._action_set

    @property
    def key(self) -> str | None:
        """Key of the episode under way, for ``JitRL.outcome``."""
        return self._running[0].key if self._running else None

    def set_task_name(self, task: str) -> None:
        """Name of the task; AgentLab calls this."""
        self.reset(task)

    def reset(self, task: str = "", *, key: str | None = None) -> None:
        """Make ready for another episode; one that is under way is kept without an outcome.

        Args:
            task: The same as before if it is not given.
            key: Makes the episode idempotent; made up if it is not given.
        """
        if self._running:
            self.end(truncated=True)
        self._task, self._next_key = task or self._task, key
        self._forget()

    def obs_preprocessor(self, obs: Mapping[str, Any]) -> dict[str, Any]:
        """``obs`` with the accessibility tree as text, and without what is large."""
        kept = {name: value for name, value in obs.items() if name not in _DROPPED}
        return {**kept, "axtree_txt": axtree(obs)}

    def get_action(self, obs: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """The next action in BrowserGym's syntax, ``click('a12')``, and what made it.

        Where the memory cannot be read, it is the model's own from then on, and nothing is learned
        of the episode, as it lacks a step.

        Raises:
            InputError: If the observation lacks a goal or an accessibility tree.
            ModelError: If the model failed after all retries.
        """
        shown = observation(obs, list_actions=self._list_actions)
        if shown.url != self._where:
            self._where, self._arrived = shown.url, len(self._history)
        shown = replace(shown, info={"arrived": self._arrived})
        episode = self._running[0] if self._running else self._begin(shown.goal)
        prompt = Prompt(
            shown.goal,
            self.codec.text(shown),
            tuple(self._history),
            self.codec.actions(shown),
        )
        seeds = np.random.SeedSequence([zlib.crc32(episode.key.encode()), len(self._history)])
        proposal = self._proposer.propose(prompt, np.random.default_rng(seeds))
        decision = None if self._is_lost else self._decided(episode, shown, prompt, proposal)
        chosen = _own(prompt, proposal) if decision is None else decision.action
        action = self.codec.ground(chosen, shown)
        self._history.append(chosen)
        if decision is None:
            return action, {"think": f"{chosen}: the memory cannot be read"}
        return action, self._info(episode, decision)

    def _decided(
        self, episode: Episode, shown: Observation, prompt: Prompt, proposal: Proposal
    ) -> Decision | None:
        """The decision; ``None`` where the memory cannot be read."""
        try:
            return episode.decide(
                self.codec.state(shown, self._history),
                proposal.candidates,
                allowed=prompt.actions or None,
                scorer=proposal.scorer,
            )
        except StoreError as error:
            _log.warning("degraded episode=%s the agent goes on alone: %s", episode.key, error)
            self._is_lost = True
            return None

    def reward(self, value: float) -> None:
        """Reward of the action just taken.

        Raises:
            InputError: If no episode is under way, or the value cannot be used.
        """
        episode = self._open()
        if not self._is_lost:
            episode.reward(value)

    def end(
        self, reward: float | None = None, *, terminated: bool = False, truncated: bool = False
    ) -> Receipt | None:
        """The episode is over; it is stored and learned from.

        Args:
            reward: Added to the last step's; ``None`` if there was none, or it is not known yet.
            terminated: The task ended by itself.
            truncated: It was cut off. Both are as the environment's ``step`` returns them.

        Returns:
            What was stored; ``None`` if no action was taken.

        Raises:
            InputError: If the value cannot be used.
            StoreError: If it cannot be written; ``end`` may be called again.
        """
        if not self._running:
            return None
        status: EpisodeStatus = "terminated" if terminated and not truncated else "truncated"
        receipt = self._open().finish(
            None if self._is_lost else reward,
            basis="state_check",
            evaluator="browsergym",
            status="aborted" if self._is_lost else status,
        )
        self._running.clear()
        self._forget()
        return receipt

    def close(self) -> None:
        """Keep an episode that is under way, and close a memory that was opened here."""
        self._finish()

    def _begin(self, goal: str) -> Episode:
        if not self._finish.alive:
            raise InputError("this agent was closed; make another one")
        task = self._task or goal
        scope = task.partition(".")[0] if self._scope is None and self._task else self._scope
        episode = self.memory.episode(task, scope=scope or "browsergym", key=self._next_key)
        self._next_key = None
        self._running.append(episode)
        _log.info("episode begins key=%r task=%r", episode.key, task)
        return episode

    def _open(self) -> Episode:
        if not self._running:
            raise InputError("no episode is under way; call get_action first")
        return self._running[0]

    def _forget(self) -> None:
        self._history, self._where, self._arrived, self._is_lost = [], "", 0, False

    def _info(self, episode: Episode, decision: Decision) -> dict[str, Any]:
        chosen = decision.chosen
        said = (
            f"{decision.action}: the model gives it {chosen.prior:.2f}, with the memory "
            f"{chosen.probability:.2f} ({counted(len(decision.neighbors), 'neighbor')})"
        )
        return {
            "think": said,
            "stats": {
                "jitrl_candidates": len(decision.candidates),
                "jitrl_neighbors": len(decision.neighbors),
                "jitrl_changed": int(decision.changed),
            },
            "extra_info": {"jitrl_decision": f"{episode.key}#{len(self._history) - 1}"},
        }


def _own(prompt: Prompt, proposal: Proposal) -> str:
    """The model's own choice, among what can be done here."""
    known = [c for c in proposal.candidates if c.action in prompt.actions or not prompt.actions]
    return max(known or proposal.candidates, key=lambda c: c.logit).action


def how(goal: str) -> str:
    """What a model is told that writes its actions itself, in the language of the goal."""
    return _CHINESE if is_chinese(goal) else _ENGLISH


def play(env: Any, agent: BrowserGymAgent, task: str = "", *, seed: int | None = None) -> float:
    """Play one episode of a BrowserGym environment; the agent learns from it.

    Args:
        env: As ``gymnasium.make("browsergym/…")`` gives it.
        seed: Given to ``env.reset``.

    Returns:
        The sum of its rewards.
    """
    agent.reset(task)
    obs, _ = env.reset(seed=seed)
    total, terminated, truncated = 0.0, False, False
    while not (terminated or truncated):
        action, _ = agent.get_action(agent.obs_preprocessor(obs))
        obs, reward, terminated, truncated, _ = env.step(action)
        agent.reward(float(reward))
        total += float(reward)
    agent.end(terminated=terminated, truncated=truncated)
    return total


def _configured() -> Proposer:
    """The model of the settings in force."""
    model = config.load().model
    proposer: Proposer = registry.create("models", model.name, model.options)
    if hasattr(proposer, "probe"):
        proposer.probe()
    return proposer


def _leave(running: list[Episode], memory: JitRL, is_mine: bool) -> None:
    """What happens when an agent is closed or nobody holds it any more."""
    for episode in running:
        with suppress(JitRLError):
            episode.finish(status="truncated")
    running.clear()
    if is_mine:
        memory.close()
