"""What came out of a run: its scores and everything a table row has to say about them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jitrl.config import Budget
from jitrl.errors import InputError
from jitrl.run import folder as folders
from jitrl.run.ledger import Total
from jitrl.stores.records import EpisodeRecord
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Unscored


@dataclass(frozen=True, slots=True)
class Result:
    """A finished run of one agent.

    Attributes:
        label: How tables call it; the folder's name.
        scores: Sum of rewards of each episode, shape [T, S, K]: tasks, seeds, attempts.
        model: Name and version of the frozen model, as the journal has it.
        scorers: How z was made.
        cost: What it took, by phase and model; answers from a cache cost nothing.
        excluded: Most rows that one decision had to leave out, as the protocol asks.
        failures: Episodes that failed and were played again.
        unscored: Episodes that could not be judged; nothing was learned from them.
    """

    label: str
    record: folders.Record
    scores: np.ndarray
    model: str
    scorers: tuple[str, ...]
    cost: tuple[Total, ...]
    excluded: int
    failures: int
    unscored: int = 0

    @property
    def commits(self) -> str:
        """The commits it ran on, oldest first."""
        return ", ".join(dict.fromkeys(session.commit for session in self.record.sessions))

    def setting(self, group: str, name: str) -> Any:
        """One of its settings."""
        return self.record.settings[group][name]


def read(folder: Path, label: str = "") -> Result:
    """The result of the run in ``folder``.

    Raises:
        InputError: If there is no run, or it is not finished.
    """
    record = folders.read(folder)
    attempts = int(record.settings["run"]["attempts"])
    tasks = {task: i for i, task in enumerate(record.tasks)}
    scores = np.full((len(tasks), len(record.seeds), attempts), np.nan)
    models, scorers = dict[str, None](), dict[str, None]()
    excluded = failures = unscored = 0
    for s, seed in enumerate(record.seeds):
        for kept in _journal(folders.store_path(folder, seed)):
            episode = kept.episode
            if episode.status == "aborted":
                failures += 1
                continue
            info = episode.info
            unscored += isinstance(kept.judgment, Unscored)
            scores[tasks[episode.task], s, info["attempt"]] = info["score"]
            excluded = max(excluded, info["excluded"])
            models[info["model"]] = None
            scorers.update(dict.fromkeys(info["scorers"]))
    missing = int(np.isnan(scores).sum())
    if missing:
        raise InputError(
            f"{folder} is not finished: {missing} of {scores.size} episodes are missing; "
            "start it again to play them"
        )
    return Result(
        label=label or folder.resolve().name,
        record=record,
        scores=scores,
        model=", ".join(models),
        scorers=tuple(scorers),
        cost=_cost(folder),
        excluded=excluded,
        failures=failures,
        unscored=unscored,
    )


def gather(places: Sequence[str]) -> list[Result]:
    """The results in ``FOLDER`` or ``LABEL=FOLDER``; a folder of runs stands for all of them.

    Raises:
        InputError: If one of them holds no finished run.
    """
    found: list[Result] = []
    for place in places:
        label, equals, folder = place.partition("=")
        top = Path(folder if equals else place)
        inside = [] if (top / "run.json").is_file() else sorted(top.glob("*/run.json"))
        if inside and not equals:
            found += [read(path.parent) for path in inside]
        else:
            found.append(read(top, label if equals else ""))
    return found


def _cost(folder: Path) -> tuple[Total, ...]:
    with closing(folders.ledger(folder, Budget())) as ledger:
        return ledger.totals()


def _journal(path: Path) -> list[EpisodeRecord]:
    if not path.is_file():
        return []
    with SQLiteStore(path, readonly=True) as store:
        return list(store.records())
