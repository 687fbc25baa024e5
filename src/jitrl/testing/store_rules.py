"""Contract suite for stores with a rulebook: what every ``ports.rules.RuleStore`` must do.

class TestMyRules(RulesContract):
    def open_store(self) -> RuleStore:
        return MyStore(...)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from jitrl.core.sentences import rule_id, scoped_id
from jitrl.errors import InputError, StoreError
from jitrl.ports.rules import RuleStore
from jitrl.testing.rule_samples import TEXTS, played, sample_contrast, sample_rule
from jitrl.testing.store_rule_uses import RuleUsesContract
from jitrl.testing.store_samples import in_threads, refused
from jitrl.types import Rule

_LONG = f"When you see a field, type {'x' * 10_000}"  # longer than a rule may be


_WRONG: list[dict[str, Any]] = [
    *({name: 1} for name in ("text", "scope", "kind", "author", "id")),
    *({name: bad} for name in ("parents", "entities", "evidence") for bad in ("ab", (1,))),
    *({"entry": bad} for bad in ("1", True, None)),
]


class RulesContract(RuleUsesContract):
    """Inherit, and say how to open an empty store."""

    # --- adding -------------------------------------------------------------------------------

    def test_rules_and_contrasts_come_back_as_they_were_in_one_version(self) -> None:
        with self.store() as store:
            given = [
                sample_rule(text, evidence=("c1",), parents=("p",), kind="form") for text in TEXTS
            ]
            contrast = sample_contrast()
            new = store.add_rules(given, [contrast], reason="round 2", principal="ann")
            assert new == tuple(rule.id for rule in given)
            assert len(set(new)) == 4
            assert store.head() == 1
            found = store.rules()
            bare = [replace(r, reason="", created=0.0, version=0, principal="") for r in found]
            assert bare == given
            assert {(r.reason, r.version, r.principal) for r in found} == {("round 2", 1, "ann")}
            assert all(r.created > 0 for r in found)
            assert store.contrasts() == (replace(contrast, version=1, principal="ann"),)

    def test_what_says_the_same_is_one_rule(self) -> None:
        with self.store() as store:
            same = [TEXTS[1], "　部署前必须运行测试。", "我们应该部署前必须运行测试"]
            rules = [Rule(rule_id(text), text) for text in same]
            assert store.add_rules(rules) == (rules[1].id,)
            assert store.add_rules(rules[1:]) == ()
            (rule,) = store.rules()
            assert (rule.text, rule.version, store.head()) == (TEXTS[1], 1, 1)

    def test_of_rules_of_one_call_that_say_the_same_the_first_stays_with_the_evidence_of_all(
        self,
    ) -> None:
        with self.store() as store:
            first = sample_rule(entry=0.5, evidence=("c1",))
            second = sample_rule(entry=0.25, evidence=("c2", "c1"))
            assert store.add_rules([first, second], [sample_contrast(), sample_contrast("c2")]) == (
                first.id,
            )
            assert (store.rule(first.id).entry, store.rule(first.id).evidence) == (
                0.5,
                ("c1", "c2"),
            )

    def test_a_text_that_is_there_gains_evidence_and_keeps_all_else(self) -> None:
        with self.store() as store:
            first = sample_rule(evidence=("c1",))
            store.add_rules([first], [sample_contrast("c1")], reason="found", principal="ann")
            store.set_rule_status("active", [first.id], reason="helps")
            again = replace(first, evidence=("c1", "c2"), entry=0.1, author="bob", kind="other")
            new = store.add_rules(
                [again], [sample_contrast("c2", task="t2")], reason="seen again", principal="bob"
            )
            found = store.rule(first.id)
            assert new == ()
            assert found.evidence == ("c1", "c2")
            assert (found.status, found.reason) == ("active", "helps")
            assert (found.entry, found.author, found.kind) == (0.75, "a-model", "")
            assert (found.principal, found.version, store.head()) == ("ann", 3, 3)

    def test_a_text_is_a_rule_of_each_scope_and_never_lost_in_another(self) -> None:
        with self.store() as store:
            first = sample_rule()
            store.add_rules([first])
            said = _refusal(store, [replace(first, scope="other")])
            own = scoped_id(first.text, "other")
            assert "in scope 'shop' (candidate) and is not told in scope 'other'" in said
            assert own in said
            assert store.add_rules([replace(first, id=own, scope="other")]) == (own,)
            assert [rule.id for rule in store.rules(scope="other")] == [own]
            assert len(store.rules()) == 2
            _refusal(store, [replace(first, id=own, scope="third")])

    def test_saying_the_same_again_writes_nothing(self) -> None:
        with self.store() as store:
            rule, contrast = sample_rule(evidence=("c1",)), sample_contrast()
            store.add_rules([rule], [contrast])
            assert store.add_rules([rule], [contrast], reason="again") == ()
            assert store.head() == 1
            store.add_rules([rule, sample_rule(TEXTS[1])], reason="one is new")
            assert len(store.rule_history(rule.id)) == 1
            assert store.add_rules([]) == ()
            assert store.set_rule_status("candidate", [rule.id]) == 0
            assert store.set_rule_status("active", []) == 0
            assert store.head() == 2

    def test_what_cannot_be_stored_is_refused_and_nothing_is_written(self) -> None:
        rule, contrast = sample_rule(), sample_contrast()
        rules = (
            replace(rule, id="0" * 12),
            replace(rule, text="another one"),
            Rule(rule_id(" 。"), " 。"),
            replace(rule, entry=1.5),
            replace(rule, entry=math.nan),
            replace(rule, author=""),
            *(replace(rule, scope=scope) for scope in ("\ud800", "x" * 10_001)),
            replace(rule, kind="x" * 10_001),
            replace(rule, author="x" * 10_001),
            replace(rule, id="x" * 101),
            replace(rule, id=rule_id(_LONG), text=_LONG),
            *(replace(rule, **wrong) for wrong in _WRONG),
            replace(rule, status="lost"),  # type: ignore[arg-type]
            replace(rule, evidence=("nothing",)),
        )
        contrasts = (
            replace(contrast, id=""),
            replace(contrast, task=""),
            replace(contrast, good=(), bad=(), scores=()),
            replace(contrast, good=("bad",)),
            replace(contrast, good=("",)),
            replace(contrast, scores=(1.0,)),
            replace(contrast, scores=(1.0, math.inf)),
            replace(contrast, round=-1),
            replace(contrast, created=math.nan),
        )
        with self.store() as store:
            for bad in rules:
                with refused(InputError):
                    store.add_rules([sample_rule(TEXTS[1]), bad], [contrast])
            for other in contrasts:
                with refused(InputError):
                    store.add_rules([rule], [other])
            with refused(InputError):
                store.add_rules([], [contrast, replace(contrast, goal="other")])
            assert (store.head(), store.rules(), store.contrasts()) == (0, (), ())
            store.add_rules([rule], [contrast])
            with refused(InputError):
                store.add_rules([], [replace(contrast, bad=("worse",))])
            with refused(InputError):
                store.set_rule_status("lost", [rule.id])  # type: ignore[arg-type]
            assert store.head() == 1

    # --- status and history -------------------------------------------------------------------

    def test_every_change_is_an_entry_of_the_version_stream_and_of_the_rule(self) -> None:
        with self.store() as store:
            one, two = sample_rule(evidence=("c1",)), sample_rule(TEXTS[1], scope="other")
            store.add_rules([one, two], [sample_contrast()], reason="found", principal="ann")
            played(store, "e1")
            assert store.set_rule_status("active", [one.id, two.id], reason="helps") == 2
            assert (
                store.set_rule_status("retired", [one.id], reason="no more", principal="bob") == 1
            )
            history = store.rule_history(one.id)
            assert [(c.version, c.status, c.reason, c.principal, c.evidence) for c in history] == [
                (1, "candidate", "found", "ann", ("c1",)),
                (3, "active", "helps", "", ()),
                (4, "retired", "no more", "bob", ()),
            ]
            assert all(c.at > 0 for c in history)
            assert store.rule(one.id).reason == "no more"
            stream = list(store.changes(0))
            assert [(c.version, c.kind, len(c.rows), len(c.rules)) for c in stream] == [
                (1, "rules", 0, 2),
                (2, "append", 3, 0),
                (3, "rules", 0, 2),
                (4, "rules", 0, 1),
            ]
            assert stream[3].rules == history[-1:]
            assert (stream[3].reason, stream[3].principal) == ("no more", "bob")
            assert [len(c.rules) for c in store.changes(0, scope="other")] == [1, 1]
            assert [c.version for c in store.changes(0, scope="shop")] == [1, 2, 3, 4]

    def test_rules_are_listed_by_scope_and_status_and_as_of_a_version(self) -> None:
        with self.store() as store:
            a, b = sample_rule(TEXTS[0], scope="x"), sample_rule(TEXTS[1], scope="y")
            store.add_rules([b])
            store.add_rules([a])
            store.set_rule_status("quarantined", [b.id])
            assert [r.id for r in store.rules()] == [b.id, a.id]
            assert [r.id for r in store.rules(scope="x")] == [a.id]
            assert [r.id for r in store.rules(status="quarantined")] == [b.id]
            assert store.rules(scope="x", status="quarantined") == ()
            assert [(r.id, r.status) for r in store.rules(until=1)] == [(b.id, "candidate")]
            assert [c.id for c in store.contrasts(scope="x")] == []

    def test_contrasts_are_listed_by_scope_task_and_id(self) -> None:
        with self.store() as store:
            of = {"c1": ("x", "1"), "c2": ("y", "1"), "c3": ("x", "2")}
            store.add_rules(
                [],
                [sample_contrast(id, scope=scope, task=task) for id, (scope, task) in of.items()],
            )
            assert [c.id for c in store.contrasts(scope="x")] == ["c1", "c3"]
            assert [c.id for c in store.contrasts(task="1")] == ["c1", "c2"]
            assert [c.id for c in store.contrasts(ids=["c3", "c2", "nothing"])] == ["c2", "c3"]
            assert [(c.version, len(c.rules)) for c in store.changes(0)] == [(1, 0)]

    def test_unknown_rules_are_all_named_and_nothing_changes(self) -> None:
        with self.store() as store:
            rule = sample_rule()
            store.add_rules([rule])
            said = ""
            try:
                store.set_rule_status("active", [rule.id, "nobody", "none"])
            except StoreError as error:
                said = str(error)
            assert "nobody, none" in said
            for ask in (store.rule, store.rule_history, lambda id: store.rule_uses([id])):
                with refused(StoreError):
                    ask("nobody")
            assert (store.rule(rule.id).status, store.head()) == ("candidate", 1)

    # --- taint --------------------------------------------------------------------------------

    def test_rules_that_rest_on_a_quarantined_episode_are_tainted_until_it_is_restored(
        self,
    ) -> None:
        with self.store() as store:
            for key in ("good", "bad", "fine", "worse"):
                played(store, key)
            first = sample_rule(TEXTS[0], evidence=("c1",))
            clean = sample_rule(TEXTS[1], evidence=("c2",))
            child = sample_rule(TEXTS[2], parents=(clean.id, first.id, "gone"), scope="other")
            grandchild = sample_rule(TEXTS[3], parents=(child.id,), evidence=("c2",))
            store.add_rules(
                [first, clean, child, grandchild],
                [sample_contrast(), sample_contrast("c2", good=("fine",), bad=("worse",))],
            )
            assert store.tainted() == {}
            store.set_status("quarantined", episodes=["bad"], reason="planted")
            bad = ("bad",)
            assert store.tainted() == {first.id: bad, child.id: bad, grandchild.id: bad}
            assert store.tainted(scope="other") == {child.id: bad}
            store.set_status("quarantined", episodes=["fine"])
            assert store.tainted()[clean.id] == ("fine",)
            assert store.tainted()[grandchild.id] == ("bad", "fine")
            store.set_status("active", episodes=["bad", "fine"])
            assert store.tainted() == {}

    def test_rules_that_stand_for_themselves_or_in_a_ring_are_refused(self) -> None:
        with self.store() as store:
            a, b, c = (sample_rule(text) for text in TEXTS[:3])
            said = _refusal(store, [replace(a, parents=(a.id,))])
            assert "stands for itself" in said
            store.add_rules([replace(a, parents=(b.id,))])
            ring = [replace(b, parents=(c.id,)), replace(c, parents=(a.id,))]
            said = _refusal(store, ring)
            assert f"{b.id} → {c.id} → {a.id} → {b.id}" in said
            assert [rule.id for rule in store.rules()] == [a.id]
            assert store.add_rules([replace(b, parents=("gone",))]) == (b.id,)

    # --- threads ------------------------------------------------------------------------------

    def test_a_batch_that_failed_after_it_was_read_in_is_counted(self) -> None:
        with self.store() as store:
            before = store.undone
            with suppress(InputError), store.batch():
                store.add_rules([sample_rule()])
                head = store.head()
                raise InputError("taken back")
            assert store.head() < head
            assert store.undone > before

    def test_threads_that_race_with_one_text_add_it_once(self) -> None:
        with self.store() as store:
            new: list[str] = []

            def run(n: int) -> None:
                shared = sample_rule(evidence=(f"c{n}",))
                new.extend(store.add_rules([shared], [sample_contrast(f"c{n}", task=str(n))]))

            in_threads(run, 8)
            (rule,) = store.rules()
            assert new == [rule.id]
            assert sorted(rule.evidence) == [f"c{n}" for n in range(8)]
            assert store.head() == 8


def _refusal(store: RuleStore, rules: Sequence[Rule]) -> str:
    """What is said of rules that cannot be added."""
    try:
        store.add_rules(rules)
    except InputError as error:
        return str(error)
    raise AssertionError(f"nothing was raised of {rules}")
