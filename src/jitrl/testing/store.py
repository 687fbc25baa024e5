"""Contract suite for stores: what every implementation of ``ports.Store`` must do.

Subclass it in a test module; pytest finds the tests by their names:

    class TestMyStore(StoreContract):
        def open_store(self) -> Store:
            return MyStore(...)
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import replace

from jitrl.errors import InputError, StoreError
from jitrl.ports import Change
from jitrl.testing.store_journal import JournalContract
from jitrl.testing.store_rows import RowsContract
from jitrl.testing.store_samples import (
    derive,
    in_threads,
    put,
    refused,
    sample_episode,
    scored,
)
from jitrl.types import Episode, Judgment, Outcome, Row, Unscored


class StoreContract(JournalContract, RowsContract):
    """Inherit, and say how to open an empty store."""

    # --- bad input ----------------------------------------------------------------------------

    def test_what_cannot_be_stored_is_refused_and_nothing_is_written(self) -> None:
        episode = sample_episode("e1")
        judgment = scored(episode)
        rows = derive(episode, judgment)
        bad_steps = (replace(episode.steps[0], reward=math.nan), *episode.steps[1:])
        bad_text = (replace(episode.steps[0], action="\ud800"), *episode.steps[1:])
        cases: list[tuple[Episode, Judgment, Sequence[Row]]] = [
            (replace(episode, key=""), judgment, ()),
            (replace(episode, steps=bad_steps), judgment, rows),
            (replace(episode, steps=bad_text), judgment, rows),
            (replace(episode, outcome=Outcome(math.inf)), judgment, rows),
            (replace(episode, info={"x": math.nan}), judgment, rows),
            (replace(episode, info={"x": object()}), judgment, rows),
            (replace(episode, started=math.nan), judgment, rows),
            (replace(episode, started=-1.0), judgment, rows),
            (replace(episode, finished=1e13), judgment, rows),
            (replace(episode, status="lost"), judgment, rows),  # type: ignore[arg-type]
            (episode, Unscored("no outcome"), rows),
            (episode, Unscored(""), ()),
            (episode, replace(judgment, rewards=(0.0,)), rows),
            (episode, replace(judgment, rewards=(0.0, math.nan, 1.0)), rows),
            (episode, replace(judgment, basis="rumour"), ()),  # type: ignore[arg-type]
            (episode, judgment, [replace(rows[0], ret=math.inf)]),
            (episode, judgment, [replace(rows[0], reward=math.nan)]),
            (episode, judgment, [replace(rows[0], novelty=math.nan)]),
            (episode, judgment, [replace(rows[0], step=3)]),
            (episode, judgment, [rows[0], rows[0]]),
            (episode, judgment, [replace(rows[0], episode="e2")]),
            (episode, judgment, [replace(rows[0], scope="elsewhere")]),
            (episode, judgment, [replace(rows[0], basis="human")]),
            (episode, judgment, [rows[0], replace(rows[1], source="other")]),
            (episode, judgment, [replace(rows[0], status="retired")]),
        ]
        with self.store() as store:
            for case in cases:
                with refused(InputError):
                    store.commit(*case)
            with refused(InputError):
                store.set_status("retired", rows=[1])  # type: ignore[arg-type]
            assert store.head() == 0
            assert list(store.episodes()) == []
            put(store, episode)
            with refused(InputError):
                store.rederive("e1", Outcome(math.nan), judgment, rows)
            with refused(InputError):
                store.rederive("e1", Outcome(0.0), Unscored("no outcome"), rows)
            assert store.head() == 1
            assert store.episode("e1") == episode

    # --- threads and the end ------------------------------------------------------------------

    def test_a_reader_never_sees_a_part_of_an_episode(self) -> None:
        with self.store() as store:
            done = threading.Event()
            torn: list[Change] = []

            def read() -> None:
                seen = 0
                while not done.is_set():
                    for change in store.changes(seen):
                        if len(change.rows) != 10 or change.version != seen + 1:
                            torn.append(change)
                        seen = change.version
                    if store.head() < seen:
                        torn.append(change)

            reader = threading.Thread(target=read)
            reader.start()
            try:
                in_threads(
                    lambda n: [put(store, sample_episode(f"{n}.{i}", steps=10)) for i in range(5)],
                    4,
                )
            finally:
                done.set()
                reader.join()
            assert not torn
            assert store.head() == 20

    def test_closing_twice_is_harmless_and_use_after_it_is_a_store_error(self) -> None:
        store = self.open_store()
        store.close()
        store.close()
        for use in (store.head, lambda: put(store, sample_episode("e1"))):
            with refused(StoreError):
                use()
