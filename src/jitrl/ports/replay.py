"""The border between an agent and episodes that are played once more, to learn what a step cost."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from jitrl.ports import EpisodeAgent
from jitrl.types import Episode


class Replay(Protocol):
    """Plays finished episodes of a run again, from their start and with their chance."""

    def __call__(self, key: str, agent: EpisodeAgent) -> Episode:
        """The episode of this key as another agent plays it; nothing is learned from it.

        What the agent raises comes through.

        Raises:
            InputError: If no run played an episode of that key here.
        """
        ...


Replays = Callable[[], AbstractContextManager[Replay]]
"""Gives a block in which an environment to replay in is open.

The call raises ``ConfigError`` where episodes may not be played again, as on a live site; nothing
is opened before the block is entered.
"""
