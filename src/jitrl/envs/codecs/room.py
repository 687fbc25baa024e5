"""The codec of text games: a place as it looks, what is carried, and how far one has come."""

from __future__ import annotations

from collections.abc import Sequence

from jitrl.envs.codecs.plain import PlainCodec
from jitrl.types import Observation, State


class RoomCodec(PlainCodec):
    """A room, the inventory and the score: the state says nothing of how one came there.

    Reads ``look``, ``inventory``, ``score`` and ``place`` of ``Observation.info``, and ``question``
    where the game waits for an answer; what it ``said`` is read, where it is there: the page of a
    cookbook is no part of the room. The score tells apart what looks alike before and after it was
    scored, since most games pay for a thing once.
    """

    name = "room"

    def state(self, observation: Observation, history: Sequence[str]) -> State:
        """``look || inventory || score``, and the place as it is named."""
        info = observation.info
        parts = (info["look"], info["inventory"], f"score {info['score']:g}", info.get("question"))
        return State(" || ".join(part for part in parts if part), place=info["place"])

    def reading(self, observation: Observation) -> str:
        """What the game said to the last action, where the environment tells."""
        return str(observation.info.get("said", ""))


def shown(*parts: str) -> str:
    """The parts one below the other, without those that are empty or stand above already."""
    kept: list[str] = []
    for part in parts:
        words = " ".join(part.split())
        if words and not any(words in " ".join(other.split()) for other in kept):
            kept.append(part.strip())
    return "\n".join(kept)
