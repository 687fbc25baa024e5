"""What episodes that read a canary scored, beside those that read the usual memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jitrl.core.effect import Effect, Use, effect
from jitrl.stores.records import EpisodeRecord
from jitrl.types import Scored


@dataclass(frozen=True, slots=True)
class Canary:
    """How a snapshot does on trial.

    Attributes:
        name: Of the snapshot.
        canary, main: Mean score of the episodes that read it, and of the others; not a number
            where there are none.
        effect: Of reading it, by the logged draws; its bounds hold at every look.
        unscored: Episodes that could not be judged, and so count nowhere.
    """

    name: str
    canary: float
    main: float
    effect: Effect
    unscored: int


def canaries(records: Iterable[EpisodeRecord], scope: str | None = None) -> tuple[Canary, ...]:
    """Each snapshot that was on trial, in the order they were first drawn for.

    The score of an episode is the sum of its step rewards, clipped to [0, 1]. Episodes that acted
    without memory, and those whose draw could only end one way, tell nothing.
    """
    uses: dict[str, list[Use]] = {}
    unscored: dict[str, int] = {}
    for record in records:
        e, drawn = record.episode, record.episode.info.get("canary")
        if not isinstance(drawn, dict) or e.holdout or scope not in (None, e.scope):
            continue
        name, share = str(drawn.get("name", "")), drawn.get("share")
        if not (isinstance(share, float) and 0.0 < share < 1.0):
            continue
        told = uses.setdefault(name, [])
        if not isinstance(record.judgment, Scored):
            unscored[name] = unscored.get(name, 0) + 1
            continue
        score = min(1.0, max(0.0, sum(record.judgment.rewards)))
        told.append(Use(drawn.get("arm") == "canary", share, score, e.task))
    return tuple(
        Canary(name, _mean(told, True), _mean(told, False), effect(told), unscored.get(name, 0))
        for name, told in uses.items()
    )


def _mean(uses: Iterable[Use], given: bool) -> float:
    scores = [use.score for use in uses if use.given == given]
    return sum(scores) / len(scores) if scores else float("nan")
