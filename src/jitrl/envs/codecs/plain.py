"""The codec of worlds that list their actions and show nothing that changes between loads."""

from __future__ import annotations

from collections.abc import Sequence

from jitrl.errors import GroundingError
from jitrl.types import Observation, State


def listed(action: str, actions: Sequence[str], where: str) -> str:
    """``action`` itself, if it is one of ``actions``.

    Raises:
        GroundingError: If it is not.
    """
    if action not in actions:
        raise GroundingError(f"{where} has no {action!r}; it has {list(actions)}")
    return action


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
        return listed(action, observation.actions, "the observation")

    def text(self, observation: Observation) -> str:
        """The observation's text."""
        return observation.text
