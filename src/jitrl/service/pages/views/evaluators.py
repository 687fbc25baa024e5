"""How far the evaluators of a place can be trusted, by what its journals hold."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote
from typing import Any

from jitrl.analysis import labels
from jitrl.analysis.assess import Assessment
from jitrl.analysis.recorded import calibration
from jitrl.service.pages.asking import Asked, Shown
from jitrl.stores.records import EpisodeRecord


def view(asked: Asked) -> Shown:
    """Verdicts beside the truth, scores beside those of people, and how different scores are."""

    def work(tell: Any) -> Mapping[str, Assessment]:
        records: list[EpisodeRecord] = []
        for seed in asked.place.seeds() or (None,):
            with asked.place.reading(seed) as opened:
                total = opened.paging.size().episodes
                for record in opened.store.records():
                    records.append(record)
                    tell(len(records), max(total, len(records)))
        return calibration(records, labels.read(labels.file_of(asked.place.path)) or None)

    job = asked.later("evaluator", work)
    values = {
        "job": job,
        "found": job.result or {},
        "command": f"jitrl evaluator check {quote(str(asked.place.path))} --evaluator judge",
        "file": labels.file_of(asked.place.path).name,
    }
    return Shown("evaluator.html", values)
