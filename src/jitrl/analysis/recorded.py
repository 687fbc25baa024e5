"""How far the judgments in a journal can be trusted, read off them; nobody is asked again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from jitrl.analysis.assess import Assessment, assess
from jitrl.analysis.labels import Labels
from jitrl.stores.records import EpisodeRecord
from jitrl.types import Episode, Judgment, Scored

SOURCES = frozenset({"environment", "outcome"})
"""Evaluators that hand on outcomes and rewards as they are."""


class Recorded:
    """The evaluator of some episodes again: it gives the judgments that are stored.

    Args:
        kept: Episodes that it judged.
    """

    def __init__(self, name: str, kept: Iterable[EpisodeRecord]) -> None:
        self.name, self.is_source = name, name in SOURCES
        self._said = {record.episode.key: record.judgment for record in kept}
        scored = (said for said in self._said.values() if isinstance(said, Scored))
        self.told = any(said.told for said in scored)

    def judge(self, episode: Episode) -> Judgment:
        """What is stored of it."""
        return self._said[episode.key]


def by_evaluator(records: Iterable[EpisodeRecord]) -> dict[str, list[EpisodeRecord]]:
    """Finished episodes by who judged them, in the order they came."""
    found: dict[str, list[EpisodeRecord]] = {}
    for record in records:
        if record.episode.status != "aborted" and record.episode.steps:
            found.setdefault(record.judgment.evaluator, []).append(record)
    return found


def calibration(
    records: Iterable[EpisodeRecord], labels: Labels | None = None, *, success: float = 1.0
) -> Mapping[str, Assessment]:
    """Evaluator to how its stored judgments compare: with outcomes, and with what people said.

    Args:
        success: Least sum of rewards that counts as a success, where there is no verdict.
    """
    return {
        name: assess(
            lambda number, name=name, kept=kept: Recorded(name, kept),  # type: ignore[misc]
            [record.episode for record in kept],
            labels=labels,
            success=success,
        )
        for name, kept in by_evaluator(records).items()
    }
