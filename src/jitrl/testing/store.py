"""Contract suite for stores: what every implementation of ``ports.Store`` must do.

Subclass it in a test module; pytest finds the tests by their names:

    class TestMyStore(StoreContract):
        def open_store(self) -> Store:
            return MyStore(...)
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from jitrl.errors import InputError, StoreError
from jitrl.ports import Asked, Change, Receipt, Store
from jitrl.testing.store_samples import (
    derive,
    in_threads,
    put,
    refused,
    rows_at,
    sample_episode,
    scored,
    statuses,
)
from jitrl.types import Candidate, Episode, Judgment, Outcome, Row, State, Transition, Unscored


class StoreContract:
    """Inherit, and say how to open an empty store."""

    def open_store(self) -> Store:
        """An empty store; a new one at each call."""
        raise NotImplementedError

    @contextmanager
    def store(self) -> Iterator[Store]:
        """An empty store that is closed after the block."""
        store = self.open_store()
        try:
            yield store
        finally:
            store.close()

    # --- the journal --------------------------------------------------------------------------

    def test_an_episode_and_its_outline_come_back_as_they_were(self) -> None:
        with self.store() as store:
            put(store, lived := sample_episode("e1"))
            assert store.episode("e1") == lived
            found = store.outline("e1")
            assert (found.task, found.info) == (lived.task, lived.info)
            for asked, step in zip(found.steps, lived.steps, strict=True):
                of = step.decision.candidates if step.decision else ()
                made_of = tuple(Candidate(c.action, c.logit, c.source) for c in of)
                assert asked == Asked(step.state, step.action, made_of)

    def test_an_episode_without_steps_or_outcome_comes_back_as_it_was(self) -> None:
        with self.store() as store:
            episode = Episode("e1", "t", "", (), "aborted", holdout=True)
            store.commit(episode, Unscored("aborted"), ())
            assert store.episode("e1") == episode

    def test_any_text_comes_back_as_it_was(self) -> None:
        with self.store() as store:
            odd = (
                "",
                "a\0b",
                "\x1b[31m\r\n\t",
                "𝔘𝔫𝔦 データベース",
                "x" * 1_000_000,
                "'; DROP TABLE row;",
            )
            steps = tuple(Transition(State(t, t, t), t or "wait") for t in odd)
            episode = Episode("key 订单 #1 '", "t", "s", steps)
            store.commit(episode, Unscored("no outcome"), ())
            assert store.episode("key 订单 #1 '") == episode

    def test_episodes_are_listed_in_commit_order_and_by_scope_and_task(self) -> None:
        with self.store() as store:
            for key, scope, task in (("b", "x", "1"), ("a", "y", "1"), ("c", "x", "2")):
                put(store, sample_episode(key, scope=scope, task=task))
            assert [e.key for e in store.episodes()] == ["b", "a", "c"]
            assert [e.key for e in store.episodes(scope="x")] == ["b", "c"]
            assert [e.key for e in store.episodes(task="1")] == ["b", "a"]
            assert [e.key for e in store.episodes(scope="x", task="2")] == ["c"]

    def test_an_unknown_episode_is_a_store_error(self) -> None:
        with self.store() as store:
            for read in (store.episode, store.outline):
                with refused(StoreError):
                    read("nobody")
            with refused(StoreError):
                store.rederive("nobody", None, Unscored("withdrawn"), ())
            with refused(StoreError):
                store.set_status("quarantined", episodes=["nobody"])
            with refused(StoreError):
                store.set_status("quarantined", rows=[12345])
            assert store.head() == 0

    # --- once per key -------------------------------------------------------------------------

    def test_the_same_key_is_stored_once(self) -> None:
        with self.store() as store:
            first = put(store, sample_episode("e1"))
            again = put(store, sample_episode("e1", steps=5))
            assert not first.duplicate
            assert again == Receipt("e1", first.version, 0, duplicate=True)
            assert store.head() == first.version
            assert len(store.episode("e1").steps) == 3
            assert sum(len(c.rows) for c in store.changes(0)) == 3

    def test_threads_that_race_with_one_key_store_it_once(self) -> None:
        with self.store() as store:
            receipts: list[Receipt] = []

            def run(n: int) -> None:
                receipts.append(put(store, sample_episode(f"own {n}")))
                receipts.append(put(store, sample_episode("shared")))

            in_threads(run, 8)
            assert len(receipts) == 16
            assert sum(not r.duplicate for r in receipts if r.key == "shared") == 1
            assert sum(len(c.rows) for c in store.changes(0)) == 9 * 3
            assert [c.version for c in store.changes(0)] == list(range(1, 10))

    # --- rows and the version stream ----------------------------------------------------------

    def test_rows_come_back_with_ids_version_and_provenance(self) -> None:
        with self.store() as store:
            episode = sample_episode("e1")
            receipt = put(store, episode)
            (change,) = store.changes(0)
            assert (change.kind, change.episode) == ("append", "e1")
            assert change.version == receipt.version == store.head() == 1
            bare = [replace(r, id=0, version=0, state_id=0, next_state_id=0) for r in change.rows]
            assert bare == list(derive(episode, scored(episode)))
            assert len({r.id for r in change.rows}) == 3
            assert all(r.id > 0 and r.version == 1 for r in change.rows)

    def test_equal_states_of_a_scope_have_one_id_and_other_scopes_their_own(self) -> None:
        with self.store() as store:
            put(store, sample_episode("e1", scope="x"))
            put(store, sample_episode("e2", scope="x"))
            put(store, sample_episode("e3", scope="y"))
            one, two, three = ([*c.rows] for c in store.changes(0))
            assert [r.state_id for r in one] == [r.state_id for r in two]
            assert not {r.state_id for r in one} & {r.state_id for r in three}
            assert one[0].state is two[0].state
            assert one[0].next_state_id == one[1].state_id > 0
            assert one[-1].next_state_id == 0

    def test_changes_start_after_a_version_and_can_be_limited_to_a_scope(self) -> None:
        with self.store() as store:
            for i, scope in enumerate("xyx"):
                put(store, sample_episode(f"e{i}", scope=scope))
            store.set_status("quarantined", episodes=["e0", "e1"])
            assert [c.version for c in store.changes(0)] == [1, 2, 3, 4]
            assert [c.version for c in store.changes(2)] == [3, 4]
            assert list(store.changes(4)) == []
            assert [c.version for c in store.changes(0, scope="x")] == [1, 3, 4]
            (*_, last) = store.changes(0, scope="x")
            assert {r.episode for r in last.rows} == {"e0"}

    def test_an_unscored_episode_is_journaled_without_rows(self) -> None:
        with self.store() as store:
            episode = sample_episode("e1")
            info = {"answers": ["<think>8</think>", "不知道"]}
            receipt = store.commit(episode, Unscored("judge gave no number", "judge", info), ())
            assert (receipt.rows, receipt.duplicate) == (0, False)
            assert store.episode("e1") == episode
            assert [(c.kind, c.rows) for c in store.changes(0)] == [("append", ())]

    # --- outcomes that come late, change, or are taken back -----------------------------------

    def test_a_late_outcome_brings_rows(self) -> None:
        with self.store() as store:
            open_ended = replace(sample_episode("e1"), outcome=None)
            store.commit(open_ended, Unscored("no outcome yet"), ())
            episode = replace(open_ended, outcome=Outcome(0.5, "human", "desk"))
            judgment = scored(episode)
            receipt = store.rederive("e1", episode.outcome, judgment, derive(episode, judgment))
            assert receipt.rows == 3
            assert receipt.version == store.head()
            assert store.episode("e1") == episode
            assert set(statuses(store).values()) == {"active"}

    def test_a_corrected_outcome_retires_the_old_rows_and_appends_new_ones(self) -> None:
        with self.store() as store:
            put(store, sample_episode("e1"))
            before = store.head()
            episode = replace(sample_episode("e1"), outcome=Outcome(-1.0, "human"))
            judgment = scored(episode)
            store.rederive("e1", episode.outcome, judgment, derive(episode, judgment))
            stream = list(store.changes(0))
            assert [c.kind for c in stream] == ["append", "retire", "append"]
            assert [c.version for c in stream] == [1, 2, 3]
            now = rows_at(stream, store.head()).values()
            assert sorted(r.ret for r in now if r.status == "active") == [-1.0, -0.5, -0.25]
            assert sorted(r.ret for r in now if r.status == "retired") == [0.25, 0.5, 1.0]
            then = rows_at(stream, before).values()
            assert sorted((r.ret, r.status) for r in then) == [
                (0.25, "active"),
                (0.5, "active"),
                (1.0, "active"),
            ]

    def test_a_withdrawn_outcome_leaves_no_row_in_use(self) -> None:
        with self.store() as store:
            put(store, sample_episode("e1"))
            store.rederive("e1", None, Unscored("withdrawn"), ())
            assert store.episode("e1").outcome is None
            assert set(statuses(store).values()) == {"retired"}

    def test_saying_the_same_outcome_again_writes_nothing(self) -> None:
        with self.store() as store:
            episode = replace(sample_episode("e1"), outcome=Outcome(2.0))
            judgment = scored(episode)
            put(store, sample_episode("e1"))
            first = store.rederive("e1", episode.outcome, judgment, derive(episode, judgment))
            again = store.rederive("e1", episode.outcome, judgment, derive(episode, judgment))
            assert again == Receipt("e1", first.version, 0, duplicate=True)
            assert store.head() == first.version

    # --- quarantine and restore ---------------------------------------------------------------

    def test_rows_are_quarantined_and_restored_in_the_version_stream(self) -> None:
        with self.store() as store:
            put(store, sample_episode("e1"))
            row = next(r for c in store.changes(0) for r in c.rows if r.step == 1)
            assert (
                store.set_status("quarantined", rows=[row.id], reason="odd", principal="ann") == 1
            )
            (change,) = store.changes(1)
            assert (change.kind, change.reason, change.principal) == ("quarantine", "odd", "ann")
            assert change.rows == (replace(row, status="quarantined"),)
            assert statuses(store)["e1", 1] == "quarantined"
            assert store.set_status("active", rows=[row.id]) == 1
            assert statuses(store)["e1", 1] == "active"
            stream = list(store.changes(0))
            assert [rows_at(stream, v)[row.id].status for v in (1, 2, 3)] == [
                "active",
                "quarantined",
                "active",
            ]

    def test_whole_episodes_are_quarantined_in_one_entry(self) -> None:
        with self.store() as store:
            for i in range(3):
                put(store, sample_episode(f"e{i}"))
            assert store.set_status("quarantined", episodes=["e0", "e2"]) == 6
            assert store.head() == 4
            assert [k for k, s in statuses(store).items() if s == "active"] == [
                ("e1", 0),
                ("e1", 1),
                ("e1", 2),
            ]

    def test_a_status_that_is_already_there_changes_nothing(self) -> None:
        with self.store() as store:
            put(store, sample_episode("e1"))
            assert store.set_status("active", episodes=["e1"]) == 0
            assert store.set_status("quarantined") == 0
            assert store.head() == 1

    def test_retired_rows_stay_retired(self) -> None:
        with self.store() as store:
            put(store, sample_episode("e1"))
            ids = [r.id for c in store.changes(0) for r in c.rows]
            store.rederive("e1", None, Unscored("withdrawn"), ())
            assert store.set_status("active", rows=ids) == 0
            assert store.set_status("quarantined", episodes=["e1"]) == 0
            assert set(statuses(store).values()) == {"retired"}

    def test_a_new_outcome_does_not_lift_a_quarantine(self) -> None:
        with self.store() as store:
            episode = replace(sample_episode("e1"), outcome=Outcome(2.0))
            judgment = scored(episode)
            put(store, sample_episode("e1"))
            row = next(r for c in store.changes(0) for r in c.rows if r.step == 1)
            store.set_status("quarantined", rows=[row.id])
            store.rederive("e1", episode.outcome, judgment, derive(episode, judgment))
            assert [statuses(store)["e1", t] for t in range(3)] == [
                "active",
                "quarantined",
                "active",
            ]

    def test_rows_that_come_after_an_episode_was_quarantined_start_there(self) -> None:
        with self.store() as store:
            episode = sample_episode("e1")
            store.commit(replace(episode, outcome=None), Unscored("no outcome yet"), ())
            assert store.set_status("quarantined", episodes=["e1"]) == 0
            judgment = scored(episode)
            store.rederive("e1", episode.outcome, judgment, derive(episode, judgment))
            assert set(statuses(store).values()) == {"quarantined"}
            assert store.set_status("active", episodes=["e1"]) == 3
            assert set(statuses(store).values()) == {"active"}

    def test_rows_handed_in_as_quarantined_start_there(self) -> None:
        with self.store() as store:
            episode = sample_episode("e1")
            judgment = scored(episode)
            rows = [replace(r, status="quarantined") for r in derive(episode, judgment)]
            store.commit(episode, judgment, rows)
            assert set(statuses(store).values()) == {"quarantined"}

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
