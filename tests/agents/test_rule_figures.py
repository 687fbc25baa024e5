"""Figures of rules that are kept up to date are those that all uses give, whatever happened."""

import random
from contextlib import suppress
from dataclasses import replace

import pytest

from jitrl.agents.rulebook.figures import Figures
from jitrl.agents.rulebook.gating import Gating
from jitrl.core.effect import Promise
from jitrl.core.gates import Gates, drawn, is_win
from jitrl.purging import purged
from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.rule_samples import TEXTS, played, sample_rule
from jitrl.testing.store_samples import derive, sample_episode
from jitrl.types import Outcome, RuleUse, Scored, Unscored

WIN = 0.25
LEFT_OUT = (frozenset(), frozenset({"t1"}), frozenset({"t0", "t2"}))


class History:
    """Whatever can happen to a memory with rules, drawn at random."""

    def __init__(self, store, seed):
        self.store, self.chance, self.number = store, random.Random(seed), 0
        self.keys, self.pinned = [], [0]
        self.rules = [sample_rule(text).id for text in TEXTS]
        store.add_rules([sample_rule(text) for text in TEXTS])

    def live(self):
        chance = self.chance
        for _ in range(chance.randint(1, 5)):
            self.number += 1
            key = f"e{self.number}"
            there = {rule.id for rule in self.store.rules()}
            used = [r for r in self.rules if r in there and chance.random() < 0.7]
            uses = [
                RuleUse(r, key, p == 1.0 or chance.random() < p, p)
                for r in used
                for p in [chance.choice([0.2, 0.5, 0.9, 1.0])]
            ]
            made = sample_episode(key, task=f"t{chance.randrange(4)}")
            judgment = self.judged(made)
            self.store.commit(made, judgment, derive(made, judgment), uses)
            self.keys.append(key)

    def judged(self, episode):
        if self.chance.random() < 0.2:
            return Unscored("not known yet")
        first = self.chance.choice([0.0, 0.25, 1.0])
        return Scored((first, *[0.0] * (len(episode.steps) - 1)), "x")

    def some(self):
        return self.chance.sample(self.keys, min(len(self.keys), self.chance.randint(1, 3)))

    def judge_again(self):
        for key in self.some():
            made = self.store.episode(key)
            judgment = self.judged(made)
            outcome = Outcome(self.chance.random())
            self.store.rederive(key, outcome, judgment, derive(made, judgment))

    def withdraw(self):
        for key in self.some():
            self.store.rederive(key, None, Unscored("withdrawn"), ())

    def quarantine(self):
        self.store.set_status("quarantined", episodes=self.some())

    def restore(self):
        self.store.set_status("active", episodes=self.some())

    def restore_rows(self):
        rows = [row.id for key in self.some() for row in self.store.rows(key)]
        self.store.set_status("active", rows=rows)

    def change_rules(self):
        status = self.chance.choice(["retired", "quarantined", "candidate", "active"])
        there = [rule.id for rule in self.store.rules()]
        self.store.set_rule_status(status, there[: self.chance.randint(1, 3)], reason="x")

    def purge(self):
        keys = self.some()
        purged(self.store, [f"episode={key}" for key in keys])
        self.keys = [key for key in self.keys if key not in keys]

    def roll_back(self):
        moved = self.store.versions.rollback(self.chance.randint(0, self.store.head()))
        if moved.first <= moved.last and self.chance.random() < 0.5:
            self.store.versions.undo(moved.first, moved.last)

    def pin(self):
        self.pinned.append(self.store.head())

    def go_on(self):
        common, rare = [self.live, self.judge_again, self.pin, self.change_rules], []
        if self.keys:
            rare = [self.withdraw, self.quarantine, self.restore, self.restore_rows]
            rare += [self.purge, self.roll_back]
        does = self.chance.choice([*common * 3, *rare])
        if self.keys or does == self.live:
            does()
        return does.__name__


def read(figures, rules, exclude, until):
    told = dict(figures.told(rules, exclude=exclude, until=until))
    return told, dict(figures.promises(rules, exclude=exclude, until=until))


def anew(store, rules, exclude, until):
    """As ``read``, of all uses from the first to the last."""
    told, promises = {}, {}
    for rule, uses in store.rule_uses(rules, until=until).items():
        kept = [one for one in uses if one.task not in exclude]
        scores = [one.score for one in kept if one.use.told]
        told[rule] = len(scores), sum(is_win(score, WIN) for score in scores)
        promise = Promise()
        for use in drawn(kept):
            promise.add(use)
        promises[rule] = promise.value
    return told, promises


@pytest.mark.parametrize("seed", range(6))
def test_running_figures_are_those_of_all_uses_over_a_random_history(seed):
    with SQLiteStore(":memory:") as store:
        history = History(store, seed)
        running, does = Figures(store, WIN), []
        for n in range(70):
            does.append(history.go_on())
            asked = history.chance.sample(history.rules, history.chance.randint(1, 4))
            newest = [None, store.head(), history.pinned[-1], history.chance.choice(history.pinned)]
            exclude = history.chance.choice(LEFT_OUT)
            for until in newest[: 2 + n % 3]:
                expected = anew(store, asked, exclude, until)
                for figures in (running, Figures(store, WIN)):
                    assert read(figures, asked, exclude, until) == expected, does[-5:]
        assert len(set(does)) == 10


def verdicts(gating, rules):
    """What the gates make of each rule, as text: an effect without uses is no number."""
    trials = gating._tried(rules)
    statuses = ("candidate", "active")
    return {id: (str(t.effect), t.helped_on, *map(t.judged, statuses)) for id, t in trials.items()}


@pytest.mark.parametrize("seed", range(6))
def test_running_trials_are_those_of_all_uses_over_a_random_history(seed):
    gates = Gates(grace=2, idle=2, trial=4)
    with SQLiteStore(":memory:") as store:
        history = History(store, seed)
        running, does = Gating(store, gates, success=WIN), []
        for _ in range(90):
            does.append(history.go_on())
            there = [rule.id for rule in store.rules()]
            asked = history.chance.sample(there, history.chance.randint(0, len(there)))
            expected = verdicts(Gating(store, gates, success=WIN), asked)
            assert verdicts(running, asked) == expected, does[-5:]
            if history.chance.random() < 0.2:
                keys = list(history.keys)
                with suppress(KeyError), store.batch():
                    history.live()
                    verdicts(running, asked)
                    raise KeyError
                history.keys = keys
        assert len(set(does)) == 10


def test_a_late_score_from_before_a_rule_came_back_does_not_judge_it():
    with SQLiteStore(":memory:") as store:
        rule = sample_rule()
        store.add_rules([rule])
        played(store, "late", [(rule.id, True)], score=None)
        for status in ("retired", "candidate"):
            store.set_rule_status(status, [rule.id], reason="x")
        running = Gating(store, Gates(), success=WIN)
        assert running.effects([rule.id])[rule.id].given == 0
        for key in ("late", "since"):
            if key == "since":
                played(store, key, [(rule.id, True)], score=None)
            made = store.episode(key)
            judgment = Scored((1.0, *[0.0] * (len(made.steps) - 1)), "x")
            store.rederive(key, Outcome(1.0), judgment, derive(made, judgment))
            assert running.effects([rule.id])[rule.id].given == (key == "since")


def test_running_figures_are_counts_and_promises_that_add_up(tmp_path):
    with SQLiteStore(tmp_path / "m.db") as store, SQLiteStore(tmp_path / "m.db") as elsewhere:
        rule = sample_rule()
        store.add_rules([rule])
        figures = Figures(store, 0.5)
        first = read(figures, [rule.id], frozenset(), None)
        assert first == ({rule.id: (0, 0)}, {rule.id: 0.5})
        for n in range(8):  # told: 1, held out: 0; each of them by another process
            played(elsewhere, f"e{n}", [(rule.id, n % 2 == 0)], score=float(n % 2 == 0))
        told, promises = read(figures, [rule.id], frozenset(), None)
        assert told == {rule.id: (4, 4)}
        assert promises[rule.id] > 0.8


def test_a_rule_that_is_purged_has_no_figures():
    with SQLiteStore(":memory:") as store:
        rule, other = sample_rule(), sample_rule(TEXTS[1])
        store.add_rules([rule, other])
        played(store, "e1", [(rule.id, True), (other.id, True)])
        figures = Figures(store, 1.0)
        assert read(figures, [rule.id], frozenset(), None)[0] == {rule.id: (1, 1)}
        purged(store, [f"text={rule.text}"])
        for exclude in LEFT_OUT:
            told, promises = read(figures, [rule.id, other.id], exclude, None)
            assert told[rule.id] == (0, 0)
            assert list(promises) == [other.id]


def test_figures_for_more_sets_of_tasks_than_are_kept_are_right_and_few_are_kept():
    with SQLiteStore(":memory:") as store:
        rule = sample_rule()
        store.add_rules([rule])
        figures = Figures(store, 1.0)
        for n in range(100):
            played(store, f"e{n}", [(rule.id, True)], task=f"t{n}")
            exclude = frozenset({f"t{n}"})
            assert read(figures, [rule.id], exclude, None)[0] == {rule.id: (n, n)}
            assert read(figures, [rule.id], frozenset(), None)[0] == {rule.id: (n + 1, n + 1)}
        assert len(figures._lines) < 50


def test_figures_forget_what_they_read_in_a_batch_that_failed(tmp_path):
    with SQLiteStore(tmp_path / "m.db") as store, SQLiteStore(tmp_path / "m.db") as elsewhere:
        rule = sample_rule()
        store.add_rules([rule])
        figures = Figures(store, 1.0)
        with suppress(KeyError), store.batch():
            played(store, "never", [(rule.id, True)])
            assert read(figures, [rule.id], frozenset(), None)[0] == {rule.id: (1, 1)}
            raise KeyError
        played(elsewhere, "e1", [(rule.id, True)], score=0.0)  # under the same version
        assert read(figures, [rule.id], frozenset(), None)[0] == {rule.id: (1, 0)}
        with store.batch():
            with suppress(KeyError), store.batch():
                played(store, "never", [(rule.id, True)])
                read(figures, [rule.id], frozenset(), None)
                raise KeyError
            played(store, "e2", [(rule.id, False)])
            assert read(figures, [rule.id], frozenset(), None)[0] == {rule.id: (1, 0)}


class Broken:
    """A store whose news break off on the way once."""

    def __init__(self, inner):
        self.inner, self.is_broken = inner, True

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def rule_news(self, after, *, until=None):
        news = self.inner.rule_news(after, until=until)
        if self.is_broken:
            self.is_broken = False
            worse = {rule: (*uses, None) for rule, uses in news.uses.items()}
            return replace(news, uses=worse)
        return news


def test_figures_that_broke_off_half_way_are_read_anew():
    with SQLiteStore(":memory:") as store:
        rule = sample_rule()
        store.add_rules([rule])
        figures = Figures(Broken(store), 1.0)
        read(figures, [rule.id], frozenset(), None)
        played(store, "e1", [(rule.id, True)])
        with pytest.raises(AttributeError):
            read(figures, [rule.id], frozenset(), None)
        assert read(figures, [rule.id], frozenset(), None)[0] == {rule.id: (1, 1)}
