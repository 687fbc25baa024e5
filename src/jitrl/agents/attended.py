"""What an agent notes of a running episode, step by step, for when its rows are derived."""

from __future__ import annotations

from dataclasses import replace

from jitrl.errors import InputError
from jitrl.memory.session import Session
from jitrl.types import Decision, Episode, State


class Attended:
    """The steps of one episode on one session.

    Args:
        exclude: Tasks whose rows the session leaves out.
    """

    def __init__(self, session: Session, exclude: frozenset[str]) -> None:
        self.session, self._exclude = session, exclude
        self._pending: tuple[State, Decision] | None = None
        self._novelty: list[float] = []
        self._shown = False

    def decided(self, state: State, decision: Decision) -> None:
        """A decision fell; what it brings comes with ``observe``."""
        self._pending = state, decision

    def took(self, action: str) -> None:
        """Something else was done than was decided last.

        Raises:
            InputError: If nothing was decided since the last ``observe``.
        """
        if self._pending is None:
            raise InputError("took() came before act(); nothing was decided yet")
        state, decision = self._pending
        self._pending = state, replace(decision, action=action)

    def observe(self, reward: float | None, next_state: State | None) -> None:
        """What the last action brought; it counts at once, in this episode only.

        Raises:
            InputError: If nothing was decided since the last call.
        """
        if self._pending is None:
            raise InputError("observe() came before act(); nothing was decided yet")
        (state, decision), self._pending = self._pending, None
        self._shown = self._shown or reward is not None
        self._novelty.append(self.session.step(state, decision, next_state, reward))

    def noted(self, episode: Episode) -> Episode:
        """The finished episode with what was noted of its steps, and of what it could see."""
        steps = tuple(
            replace(step, novelty=novelty)
            for step, novelty in zip(episode.steps, self._novelty, strict=True)
        )
        info = dict(episode.info)
        if self._exclude:
            info["exclude"] = sorted(self._exclude)
        if self._shown:
            info["shown"] = True
        return replace(episode, steps=steps, info=info)
