"""The notes that an episode was shown, as its journal entry keeps them."""

from __future__ import annotations

from typing import Any


class Shown:
    """What stood in the prompt from which step on; what stays the same is kept once."""

    def __init__(self) -> None:
        self._notes: list[tuple[int, str]] = []
        self._step = 0

    def show(self, notes: str) -> str:
        """``notes`` stand in the prompt of the present step, whatever stood there before."""
        if self._notes and self._notes[-1][0] == self._step:
            self._notes.pop()
        if notes != (self._notes[-1][1] if self._notes else ""):
            self._notes.append((self._step, notes))
        return notes

    def over(self) -> None:
        """The present step is over."""
        self._step += 1

    def plain(self) -> dict[str, Any]:
        """Pairs of step and notes for ``Episode.info``; nothing where there were none."""
        return {"notes": [list(shown) for shown in self._notes]} if self._notes else {}
