"""Past episodes of a scope, read from the journal: what agents that write notes make them of."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jitrl.core.loops import straight
from jitrl.memory.stream import changes, newest
from jitrl.ports import Store
from jitrl.types import Row


@dataclass(frozen=True, slots=True)
class PastEpisode:
    """A scored episode.

    Attributes:
        rows: One a step, with the rewards of its judgment; at least one.
        goal: Of its task, in words; "" if the agent that played it did not write it down.
        info: What else was written down when it was learned.
    """

    rows: tuple[Row, ...]
    goal: str = ""
    info: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Its idempotency key."""
        return self.rows[0].episode

    @property
    def task(self) -> str:
        """Id of its task."""
        return self.rows[0].task

    @property
    def score(self) -> float:
        """Sum of its rewards."""
        return sum(row.reward for row in self.rows)

    @property
    def ended(self) -> bool:
        """Whether the task ended by itself."""
        return self.rows[-1].terminal

    @property
    def direct(self) -> tuple[Row, ...]:
        """Its steps without the loops."""
        return tuple(self.rows[i] for i in straight([row.state for row in self.rows]))


@dataclass(frozen=True, slots=True)
class Past:
    """What an episode may know of earlier ones.

    Attributes:
        episodes: Scored ones in the order they were committed, none with an inactive row.
        version: Version of the memory they were read at.
        excluded: Rows left out because they belong to tasks that must not be used.
    """

    episodes: tuple[PastEpisode, ...] = ()
    version: int = 0
    excluded: int = 0

    def of(self, task: str) -> tuple[PastEpisode, ...]:
        """Those of one task."""
        return tuple(episode for episode in self.episodes if episode.task == task)


@dataclass(slots=True)
class _Stream:
    """The version stream of a scope up to ``version``: the last rows of each episode."""

    version: int = 0
    rows: dict[str, tuple[Row, ...]] = field(default_factory=dict)
    inactive: set[int] = field(default_factory=set)

    def follow(self, store: Store, scope: str, until: int) -> bool:
        """Take in what came; whether rows that it had taken in are no more in the stream."""
        for change in changes(store, self.version, until, scope, self.inactive):
            if change.kind == "append":
                self.rows[change.episode] = change.rows
            elif change.kind == "purge" and self.version > 0:
                return True
        self.version = max(self.version, until)
        return False

    def active(self) -> dict[str, tuple[Row, ...]]:
        return {
            key: rows
            for key, rows in self.rows.items()
            if rows and self.inactive.isdisjoint(row.id for row in rows)
        }


class Journal:
    """Reads past episodes from ``store``; keeps nothing that the store does not hold.

    Safe for threads.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._streams: dict[str, _Stream] = {}
        self._told: dict[str, Mapping[str, Any]] = {}
        self._undone = 0
        self._lock = threading.Lock()

    def past(
        self,
        scope: str,
        *,
        task: str | None = None,
        exclude: frozenset[str] = frozenset(),
        until: int | None = None,
    ) -> Past:
        """The scored episodes of ``scope`` up to the version ``until`` (``None``: all).

        Args:
            task: Only those of this task.
        """
        with self._lock:
            undone = getattr(self._store, "undone", 0)  # a plugin that keeps no rules has none
            if undone != self._undone:  # it may have been read in a batch that failed
                self._streams.clear()
                self._told.clear()
                self._undone = undone
            version = newest(self._store, until)
            stream = self._streams.setdefault(scope, _Stream())
            if version < stream.version:
                stream = _Stream()
            if stream.follow(self._store, scope, version):
                self._told.clear()
                stream = self._streams[scope] = _Stream()
                stream.follow(self._store, scope, version)
            active = stream.active()
            if task is not None:
                active = {key: rows for key, rows in active.items() if rows[0].task == task}
            left_out = {key for key, rows in active.items() if rows[0].task in exclude}
            return Past(
                tuple(self._read(key, rows) for key, rows in active.items() if key not in left_out),
                version,
                sum(len(active[key]) for key in left_out),
            )

    def _read(self, key: str, rows: tuple[Row, ...]) -> PastEpisode:
        if key not in self._told:  # what an episode was told at its commit never changes
            self._told[key] = self._store.episode(key).info
        info = self._told[key]
        return PastEpisode(rows, str(info.get("goal", "")), info)
