"""Contract of stores with a rulebook, the uses: scored, counted, and what became of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from jitrl.errors import InputError, StoreError
from jitrl.ports.rules import RuleStore
from jitrl.testing.rule_samples import TEXTS, played, sample_rule
from jitrl.testing.store_samples import derive, refused, sample_episode, scored
from jitrl.types import Outcome, RuleCounts, RuleNews, RuleUse, Scored, Unscored


class RuleUsesContract(ABC):
    """Part of ``jitrl.testing.store_rules.RulesContract``."""

    @abstractmethod
    def open_store(self) -> RuleStore:
        """An empty store; a new one at each call."""

    @contextmanager
    def store(self) -> Iterator[RuleStore]:
        """An empty store that is closed after the block."""
        store = self.open_store()
        try:
            yield store
        finally:
            store.close()

    # --- uses ---------------------------------------------------------------------------------

    def test_uses_come_with_the_score_and_task_of_their_episode_oldest_first(self) -> None:
        with self.store() as store:
            one, two, none = (sample_rule(text) for text in TEXTS[:3])
            store.add_rules([one, two, none])
            played(store, "e2", [(one.id, True)], score=0.5, task="t2")
            played(store, "e1", [(one.id, False), (two.id, True)], score=7.0)
            uses = store.rule_uses()
            told = [(u.use.episode, u.use.told, u.score, u.task, u.version) for u in uses[one.id]]
            assert told == [("e2", True, 0.5, "t2", 2), ("e1", False, 1.0, "t1", 3)]
            assert uses[two.id][0].use == RuleUse(two.id, "e1", True, 0.5, 3, 2, 1)
            assert list(uses) == [one.id, two.id]
            assert store.rule_uses([none.id, two.id]) == {none.id: (), two.id: uses[two.id]}

    def test_an_episode_has_the_rules_that_could_be_told_in_it_whether_it_is_scored_or_not(
        self,
    ) -> None:
        with self.store() as store:
            one, two = (sample_rule(text) for text in TEXTS[:2])
            store.add_rules([one, two])
            played(store, "e1", [(two.id, True), (one.id, False)], score=None)
            played(store, "e2", [], score=1.0)
            uses = {use.rule: (use.told, use.episode) for use in store.episode_uses("e1")}
            assert uses == {one.id: (False, "e1"), two.id: (True, "e1")}
            assert store.episode_uses("e2") == ()
            with refused(StoreError):
                store.episode_uses("e3")

    def test_counts_tell_told_from_held_out_and_when_it_was_told_last(self) -> None:
        with self.store() as store:
            rule, other = sample_rule(), sample_rule(TEXTS[1])
            store.add_rules([rule, other])
            for i, (is_told, score) in enumerate(
                [(True, 1.0), (True, 0.5), (False, 0.5), (False, 0.0), (True, 0.1)]
            ):
                played(store, f"e{i}", [(rule.id, is_told)], score=score)
            played(store, "held", [(rule.id, False)], score=None)
            counts = store.rule_counts(0.5)
            assert counts[rule.id].last_at > 0
            assert replace(counts[rule.id], last_at=0.0) == RuleCounts(3, 2, 2, 1, 6)
            assert counts[other.id] == RuleCounts()
            assert store.rule_counts(0.5, [rule.id]) == {rule.id: counts[rule.id]}
            assert store.rule_counts(0.5, []) == {}
            assert store.rule_counts(0.6)[rule.id].wins == 1
            episode = sample_episode("tenths", steps=10)
            tenths = Scored((0.1,) * 10, "x")  # their sum is a little less than 1
            use = RuleUse(rule.id, "tenths", True, 0.5)
            store.commit(episode, tenths, derive(episode, tenths), [use])
            assert store.rule_counts(1.0)[rule.id].wins == 2

    def test_an_episode_that_could_not_be_judged_changes_neither_uses_nor_wins(self) -> None:
        with self.store() as store:
            rule = sample_rule()
            store.add_rules([rule])
            uses = [(rule.id, True)]
            played(store, "e1", uses)
            played(store, "unscored", uses, score=None)
            aborted = replace(sample_episode("aborted"), status="aborted")
            judgment = scored(aborted)
            use = RuleUse(rule.id, "aborted", True, 1.0)
            store.commit(aborted, judgment, derive(aborted, judgment), [use])
            empty = replace(sample_episode("empty"), steps=())
            store.commit(empty, Scored((), "x"), (), [replace(use, episode="empty")])
            played(store, "planted", uses)
            store.set_status("quarantined", episodes=["planted"])
            assert [u.use.episode for u in store.rule_uses()[rule.id]] == ["e1"]
            counts = store.rule_counts(1.0)[rule.id]
            assert (counts.uses, counts.wins, counts.last) == (1, 1, 6)

    def test_scores_follow_the_present_judgment_and_can_be_seen_as_they_were(self) -> None:
        with self.store() as store:
            rule = sample_rule()
            store.add_rules([rule])
            receipt = played(store, "e1", [(rule.id, True)], score=1.0)
            episode = replace(sample_episode("e1"), outcome=Outcome(0.25))
            judgment = scored(episode)
            store.rederive("e1", episode.outcome, judgment, derive(episode, judgment))
            assert [u.score for u in store.rule_uses()[rule.id]] == [0.25]
            assert store.rule_counts(1.0)[rule.id].wins == 0
            then = receipt.version
            assert [u.score for u in store.rule_uses(until=then)[rule.id]] == [1.0]
            assert store.rule_counts(1.0, until=then)[rule.id].wins == 1
            assert store.rule_uses(until=then - 1) == {}
            assert store.rule_counts(1.0, until=then - 1) == {rule.id: RuleCounts()}
            store.rederive("e1", None, Unscored("withdrawn"), ())
            assert store.rule_uses() == {}

    def test_uses_are_written_with_their_episode_once_per_key_or_not_at_all(self) -> None:
        with self.store() as store:
            rule, other = sample_rule(), sample_rule(TEXTS[1])
            store.add_rules([rule, other])
            played(store, "e1", [(rule.id, True)])
            assert played(store, "e1", [(other.id, True)]).duplicate
            assert list(store.rule_uses()) == [rule.id]
            use = RuleUse(rule.id, "e2", True, 0.5)
            bad = (
                [replace(use, rule="nobody")],
                [replace(use, episode="e1")],
                [use, use],
                [replace(use, chance=0.0)],
                [replace(use, chance=1.5)],
                [replace(use, chance=math.nan)],
                [replace(use, chance=1.0, told=False)],
                [replace(use, occasions=1, obeyed=2)],
                [replace(use, obeyed=-1, occasions=0)],
                [replace(use, occasions=2, obeyed=1, unknown=2)],
            )
            episode = sample_episode("e2")
            judgment = scored(episode)
            for uses in bad:
                with refused(InputError):
                    store.commit(episode, judgment, derive(episode, judgment), uses)
            assert [e.key for e in store.episodes()] == ["e1"]
            assert store.head() == 2

    def test_news_are_the_uses_of_later_episodes_and_the_rules_whose_earlier_uses_changed(
        self,
    ) -> None:
        with self.store() as store:
            one, two = sample_rule(), sample_rule(TEXTS[1])
            store.add_rules([one, two])
            played(store, "e1", [(one.id, True)])
            played(store, "late", [(two.id, True)], score=None)
            before = store.head()
            assert store.rule_news(before) == RuleNews({})
            played(store, "e2", [(one.id, False), (two.id, True)], score=0.5)
            played(store, "unscored", [(one.id, True)], score=None)
            then = played(store, "e3", [(one.id, True)]).version
            store.set_rule_status("retired", [two.id], reason="x")
            uses = store.rule_uses()
            fresh = {one.id: uses[one.id][1:], two.id: uses[two.id]}
            assert store.rule_news(before) == RuleNews(fresh)
            assert store.rule_news(before, until=then - 1).uses == {
                one.id: uses[one.id][1:2],
                two.id: uses[two.id],
            }
            assert store.rule_news(then) == RuleNews({})
            told = replace(sample_episode("late"), outcome=Outcome(1.0))
            judgment = scored(told)
            store.rederive("late", told.outcome, judgment, derive(told, judgment))
            assert store.rule_news(then) == RuleNews({}, frozenset({two.id}))
            assert store.rule_news(then, until=then) == RuleNews({})
            now = store.head()
            store.rederive("late", None, Unscored("withdrawn"), ())
            assert store.rule_news(now) == RuleNews({}, frozenset({two.id}))

    def test_a_first_score_that_comes_late_is_news_of_a_rule_that_was_scored_nowhere_since(
        self,
    ) -> None:
        with self.store() as store:
            rule, other = sample_rule(), sample_rule(TEXTS[1])
            store.add_rules([rule, other])
            played(store, "e1", [(rule.id, True)])
            for key in ("late", "later"):
                played(store, key, [(rule.id, True), (other.id, True)], score=None)
            played(store, "e2", [(other.id, True)])
            for number, key in enumerate(("late", "later"), 1):
                before = store.head()
                told = replace(sample_episode(key), outcome=Outcome(1.0))
                judgment = scored(told)
                store.rederive(key, told.outcome, judgment, derive(told, judgment))
                uses = store.rule_uses()[rule.id]
                assert [use.use.episode for use in uses] == ["e1", "late", "later"][: number + 1]
                assert store.rule_news(before) == RuleNews(
                    {rule.id: uses[-1:]}, frozenset({other.id})
                )

    def test_after_a_quarantine_or_its_end_any_use_may_have_changed(self) -> None:
        with self.store() as store:
            rule = sample_rule()
            store.add_rules([rule])
            played(store, "e1", [(rule.id, True)])
            for status in ("quarantined", "active"):
                before = store.head()
                store.set_status(status, episodes=["e1"])
                assert store.rule_news(before).changed is None
                assert store.rule_news(before, until=before).changed is None  # it counts at once
