"""Contract of stores, the journal: episodes come back as they were, once per key."""

from __future__ import annotations

from jitrl.errors import StoreError
from jitrl.ports import Asked, Receipt
from jitrl.testing.store_samples import (
    OpensStore,
    in_threads,
    put,
    refused,
    sample_episode,
)
from jitrl.types import Candidate, Episode, State, Transition, Unscored


class JournalContract(OpensStore):
    """Part of ``jitrl.testing.store.StoreContract``."""

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
