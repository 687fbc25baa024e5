"""What other tasks taught a decision is explained, and taken back, to the last digit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

import jitrl
from jitrl.analysis.explain import data, turned, unaided, why
from jitrl.memory.explain import Explanation
from jitrl.presets import load
from jitrl.stores.records import EpisodeRecord
from jitrl.types import Decision, State

RULE = load("default").rule

HOME = ("click(<link[Orders]>)", "click(<link[Help]>)", "click(<link[Stock]>)")
ORDERS = ("click(<button[Cancel]>)", "click(<button[Ship]>)", "click(<button[Print]>)", "back()")
VERBS = ("cancel", "ship", "print")
NEW = "ship the order 7"


def live(memory: jitrl.JitRL, goal: str, key: str, right: int, push: float) -> list[Decision]:
    """An episode of two pages; ``push`` is what the model prefers the right actions by."""
    found = []
    with memory.episode(goal, key=key) as episode:
        for page, actions, best in (("home", HOME, 0), ("orders", ORDERS, right)):
            state = State(f"the {page} page of a shop", goal, page)
            logits = {a: push * (i == best) + 0.1 * i for i, a in enumerate(actions)}
            found.append(episode.decide(state, logits, allowed=actions))
        is_right = [d.action for d in found] == [HOME[0], ORDERS[right]]
        episode.finish(float(is_right), basis="state_check")
    return found


def fill(memory: jitrl.JitRL, count: int = 12) -> None:
    """Tasks that a model solved alone that just prefers what is right."""
    with jitrl.open(":memory:", mode="off") as alone:
        for n in range(count):
            live(alone, f"{VERBS[n % 3]} the order {100 + n}", f"e{n}", n % 3, push=1.0)
        put(memory, list(alone.store.records()))


def asked(memory: jitrl.JitRL) -> list[Decision]:
    """The first attempt at a new task, by a model that leans to the last action."""
    return live(memory, NEW, "Q", 1, push=0.0)


def put(memory: jitrl.JitRL, records: list[EpisodeRecord]) -> None:
    for record in records:
        memory.store.commit_record(record, memory.agent.derive(record.episode, record.judgment))


def explained(**settings: Any) -> tuple[list[Decision], list[Explanation], dict[str, Any]]:
    with jitrl.open(":memory:", **settings) as memory:
        fill(memory)
        made = asked(memory)
        rule = memory.agent.preset.rule
        found = [memory.explain(f"Q#{step}") for step in range(2)]
        return made, found, data(found[1], rule)


@pytest.mark.parametrize("mode", ["act", "shadow"])
def test_what_was_taught_adds_up_to_what_was_added(mode: str) -> None:
    made, found, _ = explained(mode=mode)
    for decision, one in zip(made, found, strict=True):
        assert one.exact
        assert one.taught is not None
        at = {c.action: c.transfer for c in decision.candidates}
        assert one.taught.nats == at[one.taught.action] - at[one.taught.against]
        assert sum(m.nats for m in one.taught.moved) == pytest.approx(one.taught.nats)
        sizes = [abs(m.nats) for m in one.taught.moved]
        assert sizes == sorted(sizes, reverse=True)
        lesson = decision.lesson
        assert lesson is not None
        for m in one.taught.moved:
            nats = lesson.strength * lesson.trust * m.weight * (m.value - m.other)
            assert m.nats == pytest.approx(nats)


def test_only_a_share_is_explained_of_what_a_rule_follows_by_a_share() -> None:
    _, whole, _ = explained()
    _, half, _ = explained(rule={"transfer": 0.5})
    assert whole[0].taught is not None
    assert half[0].taught is not None
    assert half[0].exact
    for m, n in zip(whole[0].taught.moved, half[0].taught.moved, strict=True):
        assert n.nats == pytest.approx(m.nats / 2)


def test_a_choice_that_other_tasks_turned_says_so_and_names_their_episodes() -> None:
    made, [_, last], plain = explained()
    assert made[1].action == ORDERS[1]
    assert made[1].changed
    assert why(made[1], RULE) == plain["why"] == "lessons"
    assert last.taught is not None
    assert last.taught.against == unaided(made[1]).action == ORDERS[3]
    named = next(m for m in last.taught.moved if m.feature == ("named",))
    assert set(named.took) == {f"e{n}" for n in range(12)}
    words = [m for m in last.taught.moved if m.feature[:2] == ("goal", "ship") and m.nats > 0]
    assert [m.feature[2] for m in words] == ["click button | {text}", "back"]
    assert words[0].took == tuple(f"e{n}" for n in (1, 4, 7, 10))
    assert (words[1].took, words[1].left) == ((), tuple(f"e{n}" for n in (1, 4, 7, 10)))
    assert plain["lesson"]["tasks"] == 12
    assert plain["taught"]["moved"][0]["feature"] == last.taught.moved[0].feature


def test_a_choice_that_is_the_models_own_is_compared_with_the_next_best() -> None:
    with jitrl.open(":memory:") as memory:
        fill(memory)
        [first, _] = live(memory, NEW, "Q", 1, push=60.0)
        assert not first.changed
        taught = memory.explain("Q#0").taught
        others = [c for c in first.candidates if c.action != first.action]
        assert taught is not None
        assert taught.against == max(others, key=lambda c: c.corrected).action


def test_without_a_teacher_is_what_a_memory_that_never_held_it_decides() -> None:
    with jitrl.open(":memory:") as memory:
        fill(memory)
        records = list(memory.store.records())
        made = asked(memory)
        found = [memory.explain(f"Q#{step}") for step in range(2)]
        teachers = {c.episode for one in found for c in one.without if c.has_taught}
        assert teachers == {f"e{n}" for n in range(12)}
        changed = 0
        for key in ("e1", "e4", "e5", "e11"):
            gone = memory.replay(without=[row.id for row in memory.store.rows(key)])
            with jitrl.open(":memory:") as never:
                put(never, [r for r in records if r.episode.key != key])
                others = asked(never)
            for step, (other, mine) in enumerate(zip(others, made, strict=True)):
                entry = next(c for c in found[step].without if c.episode == key)
                assert entry.exact
                assert entry.action == other.action
                share = {c.action: c.probability for c in other.candidates}[mine.action]
                assert entry.probability == share
                changed += share != mine.chosen.probability
                assert (f"Q#{step}" in gone) == (other.action != mine.action)
                if other.action != mine.action:
                    break  # from here on, the steps are others
        assert changed >= 4


def test_a_memory_without_any_of_the_teachers_decides_otherwise() -> None:
    with jitrl.open(":memory:") as memory:
        fill(memory)
        asked(memory)
        rows = [row.id for n in range(12) for row in memory.store.rows(f"e{n}")]
        assert "Q#1" in memory.replay(without=rows)
        assert memory.replay(without=()) == []
        listed = {one.id: one.why for one in turned(memory.store.decisions(), RULE)}
        assert listed["Q#1"] == "lessons"


def test_teachers_that_were_not_looked_at_are_counted() -> None:
    with jitrl.open(":memory:") as memory:
        fill(memory)
        asked(memory)
        whole, some = memory.explain("Q#1"), memory.explain("Q#1", most=3)
        assert (len(some.without), some.others) == (3, len(whole.without) - 3)
        assert {c.episode for c in some.without} <= {c.episode for c in whole.without}
        assert memory.explain("Q#1", most=0).taught == whole.taught


def test_where_nothing_is_followed_nothing_is_explained() -> None:
    with jitrl.open(":memory:") as memory:
        fill(memory, 4)
        asked(memory)
        found = memory.explain("Q#1")
        assert (found.taught, found.exact) == (None, True)
        assert not any(c.has_taught for c in found.without)


def test_every_decision_of_a_life_with_lessons_is_given_again_to_the_last_digit() -> None:
    with jitrl.open(":memory:") as memory:
        for n in range(16):
            goal = f"{VERBS[n % 3]} the order {100 + n}"
            for attempt in range(2):
                live(memory, goal, f"{n}.{attempt}", n % 3, push=3.0 * (n % 4))
            if n == 8:
                memory.quarantine(episodes=["3.0", "5.1"])
            if n == 12:
                memory.restore(episodes=["3.0"])
                memory.outcome("7.0", 0.0)
        records: Mapping[str, Decision] = {r.id: r.decision for r in memory.store.decisions()}
        assert sum(any(c.transfer for c in d.candidates) for d in records.values()) > 20
        for id in list(records)[::4]:
            assert memory.explain(id, most=0).exact, id
        assert memory.replay(without=()) == []
