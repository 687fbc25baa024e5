"""What came out of a run: its scores and everything a table row has to say about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from jitrl.agents.asked import FAILED
from jitrl.errors import InputError
from jitrl.run import folder as folders
from jitrl.run.ledger import Spell, Total
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
        unwritten: Lessons that the model that writes owes its agent: it failed, or wrote nonsense.
        spells: Wall time of playing (``act``) and learning, summed over threads.
        folder: Where it lies, with its raw episodes.
        unscored: Episodes that could not be judged, by reason, the most frequent first; nothing
            was learned from them.
    """

    label: str
    record: folders.Record
    scores: np.ndarray
    model: str
    scorers: tuple[str, ...]
    cost: tuple[Total, ...]
    excluded: int
    failures: int
    unwritten: int = 0
    spells: tuple[Spell, ...] = ()
    folder: Path = field(default_factory=Path)
    unscored: Mapping[str, int] = field(default_factory=dict)

    @property
    def commits(self) -> str:
        """The commits it ran on, oldest first."""
        return ", ".join(dict.fromkeys(session.commit for session in self._played))

    @property
    def commands(self) -> tuple[str, ...]:
        """The command lines that started it, each once, oldest first."""
        given = (session.command for session in self._played)
        return tuple(dict.fromkeys(command for command in given if command))

    @property
    def _played(self) -> list[folders.Session]:
        """The sessions that had something left to play."""
        return [session for session in self.record.sessions if session.seconds != 0.0]

    @property
    def journals(self) -> tuple[Path, ...]:
        """The memory file of each seed, which holds its raw episodes."""
        return tuple(folders.store_path(self.folder, seed) for seed in self.record.seeds)

    def setting(self, group: str, name: str) -> Any:
        """One of its settings."""
        return self.record.settings[group][name]


def read(folder: Path, label: str = "") -> Result:
    """The result of the run in ``folder``.

    Raises:
        InputError: If there is no run, or it is not finished.
    """
    record = folders.read(folder)
    attempts = record.attempts
    tasks = {task: i for i, task in enumerate(record.tasks)}
    scores = np.full((len(tasks), len(record.seeds), attempts), np.nan)
    models, scorers = dict[str, None](), dict[str, None]()
    excluded = failures = unwritten = 0
    reasons = Counter[str]()
    for s, seed in enumerate(record.seeds):
        for kept in _journal(folders.store_path(folder, seed)):
            episode = kept.episode
            if episode.status == "aborted":
                failures += 1
                continue
            info = episode.info
            if info["attempt"] >= attempts:  # played before it was known where to end
                continue
            if isinstance(kept.judgment, Unscored):
                reasons[kept.judgment.reason] += 1
            scores[tasks[episode.task], s, info["attempt"]] = info["score"]
            excluded = max(excluded, info["excluded"])
            unwritten += FAILED in info
            models[info["model"]] = None
            scorers.update(dict.fromkeys(info["scorers"]))
    missing = int(np.isnan(scores).sum())
    if missing:
        raise InputError(
            f"{folder} is not finished: {missing} of {scores.size} episodes are missing; "
            "start it again to play them"
        )
    with closing(folders.spent(folder)) as ledger:
        cost, spells = ledger.totals(), ledger.spells()
    return Result(
        label=(label or folder.resolve().name).encode("utf-8", "backslashreplace").decode("utf-8"),
        record=record,
        scores=scores,
        model=", ".join(models),
        scorers=tuple(scorers),
        cost=cost,
        excluded=excluded,
        failures=failures,
        unwritten=unwritten,
        spells=spells,
        folder=folder,
        unscored=dict(reasons.most_common()),
    )


def gather(places: Sequence[str]) -> list[Result]:
    """The results in ``FOLDER`` or ``LABEL=FOLDER``; a folder of runs stands for all of them.

    Those of one folder are in the order in which they were begun.

    Raises:
        InputError: If one of them holds no finished run.
    """
    found: list[Result] = []
    for place in places:
        label, equals, folder = place.partition("=")
        top = Path(folder if equals else place)
        inside = [] if (top / "run.json").is_file() else sorted(top.glob("*/run.json"))
        if inside and not equals:
            runs = [read(path.parent) for path in inside]
            found += sorted(runs, key=lambda run: run.record.sessions[0].started)
        else:
            found.append(read(top, label if equals else ""))
    return found


def _journal(path: Path) -> list[EpisodeRecord]:
    if not path.is_file():
        return []
    with SQLiteStore(path, readonly=True) as store:
        return list(store.records())
