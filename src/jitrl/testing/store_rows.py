"""Contract of stores, the rows: the version stream, changed outcomes, and quarantine."""

from __future__ import annotations

from dataclasses import replace

from jitrl.ports import Receipt
from jitrl.testing.store_samples import (
    OpensStore,
    derive,
    put,
    rows_at,
    sample_episode,
    scored,
    statuses,
)
from jitrl.types import Outcome, Unscored


class RowsContract(OpensStore):
    """Part of ``jitrl.testing.store.StoreContract``."""

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
            store.rederive("e1", None, Unscored("withdrawn"), (), principal="ann")
            assert store.episode("e1").outcome is None
            assert set(statuses(store).values()) == {"retired"}
            assert [c.principal for c in store.changes(1)] == ["ann", "ann"]

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
