"""Decisions made again: as they were, and without each of their reasons."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import jitrl
from jitrl.analysis.explain import memorys
from jitrl.envs.toy import Toy, ToyPrior
from jitrl.errors import ConfigError, InputError, StoreError
from jitrl.memory.explain import explain
from jitrl.memory.replay import replay
from jitrl.ports import Change
from jitrl.stores.records import EpisodeRecord
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Decision, Prompt, State


def play(
    memory: jitrl.JitRL,
    episodes: int,
    *,
    during: bool = False,
    slip: float = 0.1,
    seed: int = 1,
    first: int = 0,
) -> None:
    """Episodes in a small maze, rewarded at each step or at the end."""
    world, prior = Toy("maze", size=3, seed=seed, slip=slip, steps=20), ToyPrior()
    task = world.tasks()[0]
    for number in range(first, first + episodes):
        now, total, history = world.reset(task, seed=number), 0.0, list[str]()
        with memory.episode(task.id, key=f"e{number}") as episode:
            while not (now.terminated or now.truncated):
                state = world.codec.state(now.observation, history)
                actions = world.codec.actions(now.observation)
                prompt = Prompt(task.goal, now.observation.text, (), actions)
                proposal = prior.propose(prompt, None)  # type: ignore[arg-type]
                decision = episode.decide(state, proposal.candidates)
                now = world.step(world.codec.ground(decision.action, now.observation))
                history.append(decision.action)
                total += now.reward
                if during:
                    episode.reward(now.reward - 0.1)
            episode.finish(None if during else total)


def ids(memory: jitrl.JitRL) -> list[str]:
    return [record.id for record in memory.store.decisions()]


@pytest.mark.parametrize("preset", ["default", "paper-text", "released-text"])
@pytest.mark.parametrize("during", [False, True])
def test_the_journal_gives_every_decision_again_to_the_last_digit(
    preset: str, during: bool
) -> None:
    with jitrl.open(":memory:", preset=preset) as memory:
        play(memory, 4, during=during)
        memory.quarantine(episodes=["e1"])
        memory.outcome("e0", 1.0)
        play(memory, 3, during=during, first=4)
        memory.restore(episodes=["e1"])
        play(memory, 1, during=during, first=7)
        found = ids(memory)
        assert len(found) > 20
        for id in found[::5] + found[-10:]:
            assert memory.explain(id).exact, id
        assert memory.replay(without=()) == []


def test_what_would_have_been_chosen_is_what_a_memory_without_the_episode_chooses() -> None:
    with jitrl.open(":memory:") as memory:
        play(memory, 6)
        last = [id for id in ids(memory) if id.startswith("e5#")]
        explanations = [memory.explain(id) for id in last]
    assert any(e.without for e in explanations)
    for left_out in {c.episode for e in explanations for c in e.without}:
        # The same life, but that one episode is kept out before the last one begins.
        with jitrl.open(":memory:") as other:
            play(other, 5)
            other.quarantine(episodes=[left_out])
            play(other, 1, first=5)
            first = other.store.decision("e5#0").decision
        told = next((c for c in explanations[0].without if c.episode == left_out), None)
        if told is not None:
            assert told.action == first.action
            chosen = explanations[0].decision.action
            assert told.probability == next(
                c.probability for c in first.candidates if c.action == chosen
            )


def test_a_planted_row_is_found_undone_and_replayed(tmp_path: Path) -> None:
    state, logits = "S: the settings page", {"open": 0.9, "delete_all": 0.1}
    with jitrl.open(tmp_path / "m.db", preset="paper-web", rule={"explore": 0.0}) as memory:

        def asked(key: str) -> float:
            with memory.episode("t", key=key) as episode:
                decision = episode.decide(state, logits)
            return next(c.probability for c in decision.candidates if c.action == "open")

        before = [asked(f"before{i}") for i in range(8)]
        with memory.episode("t", key="planted") as episode:
            episode.decide(state, {"delete_all": 0.0})
            episode.finish(3.0, basis="import")
        turned = [asked(f"after{i}") for i in range(8)]
        assert before[0] == pytest.approx(0.69, abs=0.005)
        assert turned[0] == pytest.approx(0.45, abs=0.005)
        rows = [row.id for row in memory.store.rows("planted")]
        journal = list(memory.store.records())
        head = memory.store.head()
        found = memory.replay(without=rows)
        expected = []
        for record in memory.store.decisions():
            other = memory.explain(record.id)
            without = other.without[0].action if other.without else record.decision.action
            if without != record.decision.action:
                expected.append(record.id)
        assert found == expected
        assert all(id.startswith("after") for id in found)
        assert (list(memory.store.records()), memory.store.head()) == (journal, head)
        assert memory.quarantine(rows=rows) == 1
        assert [asked(f"later{i}") for i in range(8)] == before


def test_the_default_is_hardly_moved_by_the_planted_row() -> None:
    with jitrl.open(":memory:") as memory:
        with memory.episode("t") as episode:
            episode.decide("S", {"delete_all": 0.0})
            episode.finish(3.0, basis="import")
        with memory.episode("t") as episode:
            decision = episode.decide("S", {"open": 0.9, "delete_all": 0.1})
        open_ = decision.candidates[0]
        assert open_.prior - open_.probability < 0.05


def test_held_out_and_shadow_decisions_are_explained_and_never_replayed() -> None:
    with jitrl.open(":memory:", mode="shadow") as memory:
        play(memory, 3)
        assert all(memory.explain(id).exact for id in ids(memory))
        assert memory.replay(without=range(1, 50)) == []
    with jitrl.open(":memory:", holdout=1.0) as memory:
        play(memory, 2)
        explanation = memory.explain(ids(memory)[-1])
        assert explanation.exact
        assert explanation.without == ()
        assert explanation.alone.action == explanation.decision.action


def test_a_decision_of_another_rule_is_not_explained_by_this_one(tmp_path: Path) -> None:
    with jitrl.open(tmp_path / "m.db") as memory:
        play(memory, 1)
    with jitrl.open(tmp_path / "m.db", rule={"beta": 1.0}) as memory:
        with pytest.raises(ConfigError, match="was made under rule"):
            memory.explain("e0#0")
        with pytest.raises(StoreError, match="no episode 'e9'"):
            memory.explain("e9#0")


# --- against memories that never held an episode ------------------------------------------------

ACTIONS = [f"act {i}" for i in range(5)]
WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi"
RULES: dict[str, dict[str, Any]] = {
    "default": {},
    "sampled": {"rule": {"choose": "sample", "beta": 3.0, "novelty": 3.0}},
    "shadow": {"mode": "shadow"},
    "paper-text": {"preset": "paper-text", "rule": {"explore": 0.7}},
    "paper-web": {"preset": "paper-web", "rule": {"explore": 1.0}, "retrieval": {"k": 8}},
    "released-web": {"preset": "released-web"},
}


def lived(memory: jitrl.JitRL, key: str, rng: random.Random, steps: int = 3) -> list[Decision]:
    """An episode whose pages, candidates and rewards come from ``rng``, whatever is chosen."""
    found = []
    with memory.episode("t", key=key) as episode:
        for _ in range(steps):
            state = State(f"page {rng.randrange(4)} {WORDS}", "a goal")
            proposed = rng.sample(ACTIONS, rng.randrange(2, 5))
            logits = {action: round(rng.gauss(0, 1), 3) for action in proposed}
            allowed = ACTIONS if rng.random() < 0.5 else None
            found.append(episode.decide(state, logits, allowed=allowed))
            if rng.random() < 0.3:
                episode.reward(rng.choice([0.25, -0.5, 1.0]))
        basis = rng.choice(["test", "test", "llm_judge"])
        episode.finish(rng.choice([0, 0, 1]), basis=basis)  # type: ignore[arg-type]
    return found


def holding(records: list[EpisodeRecord], settings: Mapping[str, Any]) -> jitrl.JitRL:
    """A memory with these episodes."""
    memory = jitrl.open(":memory:", **settings)
    for record in records:
        memory.store.commit_record(record, memory.agent.derive(record.episode, record.judgment))
    return memory


def told(memory: jitrl.JitRL, decision: Decision, taken: str) -> tuple[str, float]:
    """What the memory chose, and the probability of ``taken``."""
    mine = memorys(decision, memory.agent.preset.rule).action
    return mine, sum(c.probability for c in decision.candidates if c.action == taken)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("seed", range(3))
def test_without_an_episode_is_what_a_memory_that_never_held_it_decides(
    name: str, seed: int
) -> None:
    rng = random.Random(seed)
    compared = [0, 0]
    with jitrl.open(":memory:", **RULES[name]) as memory:
        for number in range(10):
            lived(memory, f"e{number}", rng)
        records, start = list(memory.store.records()), rng.getstate()
        made = lived(memory, "Q", rng)
        found = [memory.explain(f"Q#{step}") for step in range(len(made))]
        assert all(e.exact for e in found)
        for left_out in range(10):
            key = f"e{left_out}"
            never = holding([r for r in records if r.episode.key != key], RULES[name])
            undone = holding(records, RULES[name])
            undone.quarantine(episodes=[key])
            gone = memory.replay(without=[row.id for row in memory.store.rows(key)])
            with never, undone:
                rng.setstate(start)
                others = lived(never, "Q", rng)
                rng.setstate(start)
                again = lived(undone, "Q", rng)
            for step, (other, mine) in enumerate(zip(others, made, strict=True)):
                assert told(memory, again[step], mine.action) == told(memory, other, mine.action)
                if memory.settings.mode == "act":
                    assert (f"Q#{step}" in gone) == (other.action != mine.action)
                entry = next((c for c in found[step].without if c.episode == key), None)
                if entry is not None:
                    assert entry.exact
                    assert (entry.action, entry.probability) == told(memory, other, mine.action)
                    compared[step > 0] += 1
                if other.action != mine.action:
                    break  # from here on, the steps are others
    assert compared[0] >= 3
    assert compared[1] >= 3


def test_a_decision_that_does_not_say_what_it_needs_gives_no_exact_entry() -> None:
    settings = {"preset": "paper-web", "rule": {"explore": 1.0}, "retrieval": {"k": 2}}
    logits = {"a": 0.0, "b": 0.1}
    with jitrl.open(":memory:", **settings) as memory:
        for key, action in (("e0", "x"), ("e1", "a"), ("e2", "b")):
            with memory.episode("t", key=key) as episode:
                episode.decide("s", {action: 0.0}, allowed=[action])
                episode.finish(1.0)
        with memory.episode("t", key="Q") as episode:
            decision = episode.decide("s", logits)
        new, records = memory.explain("Q#0"), list(memory.store.records())
    assert decision.allowed == "any"
    assert [c.exact for c in new.without] == [True, True]
    # Left alone, a or b is untried and takes another draw, and x is near enough to join.
    for lost in ({"seed": None}, {"allowed": None}):
        older = replace(decision, **lost)
        step = replace(records[-1].episode.steps[0], decision=older)
        last = replace(records[-1], episode=replace(records[-1].episode, steps=(step,)))
        with holding([*records[:-1], last], settings) as memory:
            old = memory.explain("Q#0")
        assert old.exact
        assert [c.exact for c in old.without] == [False, False]


def test_only_what_can_matter_later_is_journaled() -> None:
    with jitrl.open(":memory:") as memory, memory.episode("t") as episode:
        decision = episode.decide("s", {"a": 0.0, "b": 1.0}, allowed=["a", "c", "b", "d"])
    assert (decision.seed, decision.allowed) == (None, ("c", "d"))
    off = jitrl.open(":memory:", preset="paper-text", mode="off")
    with off, off.episode("t") as episode:
        decision = episode.decide("s", {"a": 0.0})
    assert (decision.seed, decision.allowed) == (None, None)


# --- many near episodes -------------------------------------------------------------------------


def crowd(memory: jitrl.JitRL, size: int = 11) -> None:
    """Two lucky ends of b, then many of b without success and many of a with little."""
    ends = [("b", 1.0)] * 2 + [("b", 0.0)] * (size - 2)
    ends += [("a", 0.1 if i % 2 else 0.0) for i in range(size)]
    for number, (action, end) in enumerate(ends):
        with memory.episode("t", key=f"e{number}") as episode:
            episode.decide("s", {action: 0.0})
            episode.finish(end)
    with memory.episode("t", key="Q") as episode:
        episode.decide("s", {"a": 0.0, "b": 0.0})


def test_an_episode_that_turns_the_decision_is_found_however_old_it_is() -> None:
    with jitrl.open(":memory:") as memory:
        crowd(memory)
        found = memory.explain("Q#0", most=50)
        assert (len(found.without), found.others) == (22, 0)
        turning = {c.episode for c in found.without if c.action != found.decision.action}
        assert turning == {"e0", "e1"}
        assert set(found.owners.values()) == {c.episode for c in found.without}
        few = memory.explain("Q#0", most=3)
        assert (len(few.without), few.others) == (3, 19)
        assert {c.episode for c in few.without} >= turning
        assert set(few.without) <= set(found.without)
        none = memory.explain("Q#0", most=0)
        assert (none.without, none.others, none.exact) == ((), 22, True)


@pytest.mark.parametrize("most", [-1, 2.5, True, "3"])
def test_how_many_to_look_at_must_be_a_count(most: Any) -> None:
    with jitrl.open(":memory:") as memory:
        crowd(memory, 3)
        with pytest.raises(InputError, match="most is"):
            memory.explain("Q#0", most=most)


class Counting(SQLiteStore):
    """Counts how often its stream is read."""

    reads = 0

    def changes(self, after: int, *, scope: str | None = None) -> Iterator[Change]:
        self.reads += 1
        return super().changes(after, scope=scope)


def test_the_stream_is_read_once_however_many_episodes_are_near(tmp_path: Path) -> None:
    with jitrl.open(tmp_path / "m.db") as memory:
        crowd(memory)
        with Counting(tmp_path / "m.db", readonly=True) as store:
            explained = explain(memory.agent, store, "Q#0")
            assert (len(explained.without), store.reads) == (20, 1)
            assert replay(memory.agent, store, [1]).turned
            assert store.reads == 3  # once to find the row


def test_each_episode_that_is_looked_at_is_told_of() -> None:
    told_of = []
    with jitrl.open(":memory:") as memory:
        crowd(memory, 3)
        explain(memory.agent, memory.store, "Q#0", progress=lambda *done: told_of.append(done))
    assert told_of == [(n, 6) for n in range(6)]


def test_other_trusted_bases_than_those_remembered_are_refused_with_what_to_do(
    tmp_path: Path,
) -> None:
    file = tmp_path / "memory.db"
    bases = ["human", "state_check", "test", "user_feedback"]
    with closing(jitrl.open(file, trusted=bases)) as memory:
        for i in range(4):
            with memory.episode("t", key=f"e{i}") as episode:
                episode.decide("s", {"x": float(i % 2), "y": 0.5})
                episode.finish(outcome=float(i % 2), basis="user_feedback")
        assert memory.replay(without=[]) == []
    with closing(jitrl.open(file)) as memory:
        for ask in (lambda: memory.replay(without=[]), lambda: memory.explain("e3#0")):
            with pytest.raises(ConfigError, match=r"open it with trusted=\['human', "):
                ask()
