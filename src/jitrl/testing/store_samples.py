"""What store tests start from: sample episodes, their rows, threads."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from jitrl.core.credit import derive_rows
from jitrl.ports import Change, Receipt, Store
from jitrl.types import (
    Decision,
    Episode,
    Judgment,
    Neighbor,
    Outcome,
    Row,
    Scored,
    State,
    Transition,
    Weighed,
)


class OpensStore(ABC):
    """Tests of a store that a subclass opens."""

    @abstractmethod
    def open_store(self) -> Store:
        """An empty store; a new one at each call."""

    @contextmanager
    def store(self) -> Iterator[Store]:
        """An empty store that is closed after the block."""
        store = self.open_store()
        try:
            yield store
        finally:
            store.close()


def sample_decision(action: str, *, version: int = 0) -> Decision:
    """A decision with a different number in every place."""
    candidates = tuple(
        Weighed(
            a,
            -0.1 - i,
            "model",
            0.6 - i / 4,
            2.0,
            1 / 3,
            0.1,
            0.5,
            0.25,
            0.75,
            0.65,
            2 / 3,
            1.0,
            0.1,
        )
        for i, a in enumerate((action, "部署前(必须运行测试)"))
    )
    neighbors = (
        Neighbor(action, 0.9, 1 / 7, 3.0, 2.0, 0.2, 0.3, 0.5, 0.4, 1, False, (4, 9), 5),
        Neighbor("other", 0.7, -1.0),
    )
    return Decision(
        action, candidates, neighbors, 0.3, 1.1, 0.07, (0.125, 0.6), "digest", version, "letters"
    )


def sample_episode(key: str, *, steps: int = 3, scope: str = "shop", task: str = "t1") -> Episode:
    """An episode whose steps follow on each other; every second one was decided by a model."""
    states = [State(f"page {t} 订单", f"goal {t}", f"place/{t}") for t in range(steps)]
    return Episode(
        key,
        task,
        scope,
        tuple(
            Transition(
                states[t],
                f"click({t})",
                sample_decision(f"click({t})", version=t) if t % 2 == 0 else None,
                None if t % 2 else 0.5,
                states[t + 1] if t + 1 < steps else None,
                novelty=t % 8 / 8,
            )
            for t in range(steps)
        ),
        outcome=Outcome(1.0, "test", "outcome", False, "ci"),
        info={"note": "当输入包含日期时", "tags": ["a", 1, None, 0.5]},
        started=10.5,
        finished=20.25,
    )


def scored(episode: Episode) -> Scored:
    """The outcome as the reward of the last step."""
    outcome = episode.outcome or Outcome(0.0)
    rewards = [0.0] * len(episode.steps)
    rewards[-1:] = [outcome.value] * bool(rewards)
    return Scored(tuple(rewards), outcome.evaluator, outcome.basis, outcome.told)


def derive(episode: Episode, judgment: Judgment) -> tuple[Row, ...]:
    """Rows with discount .5; none for an unscored episode."""
    return derive_rows(episode, judgment, gamma=0.5)


def put(store: Store, episode: Episode) -> Receipt:
    """Judge, derive and commit."""
    judgment = scored(episode)
    return store.commit(episode, judgment, derive(episode, judgment))


def rows_at(changes: Sequence[Change], version: int) -> dict[int, Row]:
    """The rows of a memory as of ``version``, by id, replayed from its version stream."""
    rows: dict[int, Row] = {}
    for change in changes:
        if change.version <= version:
            rows.update({row.id: row for row in change.rows})
    return rows


def statuses(store: Store) -> dict[tuple[str, int], str]:
    """Status of the newest row of each (episode, step)."""
    rows = rows_at(list(store.changes(0)), store.head()).values()
    return {(row.episode, row.step): row.status for row in sorted(rows, key=lambda r: r.id)}


def in_threads(run: Callable[[int], object], count: int) -> None:
    """Call ``run(0)`` … ``run(count - 1)`` at once; the first error is raised here."""
    errors: list[BaseException] = []

    def guarded(n: int) -> None:
        try:
            run(n)
        except BaseException as error:  # noqa: BLE001  (handed to the test's own thread)
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


@contextmanager
def refused(*errors: type[Exception]) -> Iterator[None]:
    """The block must raise one of ``errors``."""
    try:
        yield
    except errors:
        return
    raise AssertionError(f"nothing was raised; expected {[e.__name__ for e in errors]}")
