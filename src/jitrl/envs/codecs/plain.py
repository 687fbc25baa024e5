"""The codec of worlds that list their actions and show nothing that changes between loads."""

from __future__ import annotations

from collections.abc import Sequence

from jitrl.errors import GroundingError
from jitrl.types import Observation, State


class PlainCodec:
    """Text is the state, and an action's own text is its canonical text."""

    name = "plain"
    features = "words"

    def state(self, observation: Observation, history: Sequence[str]) -> State:
        """The observation's text; the history plays no part."""
        return State(observation.text)

    def actions(self, observation: Observation) -> tuple[str, ...]:
        """The listed actions without duplicates."""
        return tuple(dict.fromkeys(observation.actions))

    def ground(self, action: str, observation: Observation) -> str:
        """The action as it is.

        Raises:
            GroundingError: If the observation does not list it.
        """
        if action not in observation.actions:
            there = list(observation.actions)
            raise GroundingError(f"the observation has no {action!r}; it has {there}")
        return action

    def text(self, observation: Observation) -> str:
        """The observation's text."""
        return observation.text
