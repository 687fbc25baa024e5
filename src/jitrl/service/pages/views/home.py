"""All places that somebody may see, each with a few numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jitrl.errors import JitRLError
from jitrl.run.folder import Record
from jitrl.service.pages.places import Place
from jitrl.service.pages.viewers import Viewer


@dataclass(frozen=True, slots=True)
class Card:
    """A place in the list.

    Attributes:
        total: Episodes that a run will have; 0 for a memory file.
        problem: Why it cannot be read; "" if it can.
    """

    place: Place
    record: Record | None
    episodes: int
    rows: int
    decisions: int
    total: int
    problem: str = ""


def cards(viewer: Viewer) -> list[Card]:
    """A card for each place."""
    return [_card(place) for place in viewer.shelf.places]


def _card(place: Place) -> Card:
    numbers: dict[str, Any] = {"episodes": 0, "rows": 0, "decisions": 0}
    try:
        record = place.record()
        for seed in place.seeds() or (() if record else (None,)):
            with place.reading(seed) as opened:
                size = opened.paging.size()
            numbers["episodes"] += size.episodes
            numbers["rows"] += size.rows
            numbers["decisions"] += size.decisions
    except JitRLError as error:
        return Card(place, None, 0, 0, 0, 0, str(error))
    total = len(record.tasks) * len(record.seeds) * record.attempts if record else 0
    return Card(place, record, total=total, **numbers)
