"""Decisions made again: as they were, and without each of their reasons."""

from __future__ import annotations

from pathlib import Path

import pytest

import jitrl
from jitrl.envs.toy import Toy, ToyPrior
from jitrl.errors import ConfigError, StoreError
from jitrl.types import Prompt


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
