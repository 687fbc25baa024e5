"""The notes that an episode was shown, as its journal entry keeps them."""

from __future__ import annotations

from typing import Any

NOTES = "notes"
"""What an episode's info says them by."""


class Shown:
    """What stood in the prompt from which step on; what stays the same is kept once."""

    def __init__(self) -> None:
        self._notes: tuple[tuple[int, str], ...] = ()
        self._before: tuple[tuple[int, str], ...] = ()
        self._step = 0

    def show(self, notes: str) -> str:
        """``notes`` stand in the prompt of the present step, whatever stood there before."""
        kept = self._before = self._notes
        if kept and kept[-1][0] == self._step:
            kept = kept[:-1]
        is_new = notes != (kept[-1][1] if kept else "")
        self._notes = (*kept, (self._step, notes)) if is_new else kept
        return notes

    def take_back(self) -> None:
        """What was shown last never reached the agent."""
        self._notes = self._before

    def over(self) -> None:
        """The present step is over."""
        self._step += 1

    def plain(self) -> dict[str, Any]:
        """Pairs of step and notes for ``Episode.info``; nothing where there were none."""
        return {NOTES: [list(shown) for shown in self._notes]} if self._notes else {}
