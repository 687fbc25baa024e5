"""An agent of a run behind a redaction: it remembers placeholders, and acts on what they hide."""

from __future__ import annotations

from typing import Any

import numpy as np

from jitrl.ports import Agent, EpisodeAgent, Receipt
from jitrl.redaction.hidden import Hidden
from jitrl.redaction.placeholders import Placeholders
from jitrl.types import Decision, Episode, Prompt, Proposal, State, Task


class Redacted:
    """Any agent, with the memory it keeps free of secrets."""

    def __init__(self, agent: Agent, redaction: Placeholders) -> None:
        self._agent, self._redaction = agent, redaction

    def episode(
        self, *, exclude: frozenset[str] = frozenset(), until: int | None = None
    ) -> RedactedEpisode:
        """As :meth:`Agent.episode`."""
        inner = self._agent.episode(exclude=exclude, until=until)
        return RedactedEpisode(inner, self._redaction)

    def __getattr__(self, name: str) -> Any:
        """What else it has: ``resume``, ``derivation`` …"""
        return getattr(self._agent, name)


class RedactedEpisode:
    """One episode of it. The model sees what it would see; the agent under it, placeholders."""

    def __init__(self, agent: EpisodeAgent, redaction: Placeholders) -> None:
        self._agent, self._redaction = agent, redaction
        self._hidden = Hidden(redaction)

    def begin(self, task: Task, *, key: str, rng: np.random.Generator) -> None:
        """As :meth:`EpisodeAgent.begin`."""
        self._hidden = Hidden(self._redaction, [task.goal])
        self._agent.begin(self._redaction.record(task), key=self._redaction.text(key), rng=rng)

    def advise(self, state: State, prompt: Prompt) -> Prompt:
        """As :meth:`EpisodeAgent.advise`; of a prompt with notes, these alone may differ."""
        return self._agent.advise(self._redaction.record(state), prompt)

    def act(self, state: State, prompt: Prompt, proposal: Proposal) -> Decision:
        """As :meth:`EpisodeAgent.act`."""
        hidden = self._hidden
        here = hidden.state(state)
        candidates = hidden.candidates(proposal.candidates)
        if candidates != proposal.candidates:
            proposal = Proposal(candidates, proposal.scorer, proposal.model, proposal.calls)
        asked = self._redaction.record(prompt)
        if prompt.actions and asked is not prompt:
            hidden.names(prompt.actions)
        return hidden.shown(self._agent.act(here, asked, proposal))

    def observe(self, reward: float | None, next_state: State | None) -> None:
        """As :meth:`EpisodeAgent.observe`."""
        self._agent.observe(reward, self._redaction.record(next_state))

    def learn(self, episode: Episode) -> Receipt:
        """As :meth:`EpisodeAgent.learn`."""
        return self._agent.learn(self._redaction.record(episode))

    def __getattr__(self, name: str) -> Any:
        """What else it has."""
        return getattr(self._agent, name)
