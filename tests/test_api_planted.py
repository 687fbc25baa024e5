"""Planted rows do not turn what is clear, and honest ones turn what is wrong."""

from __future__ import annotations

import math
from typing import Any

import jitrl


def evidence(memory: jitrl.JitRL, good: str, bad: str, times: int = 3) -> None:
    """Clear evidence: episodes in which ``good`` succeeded and ``bad`` failed."""
    for i in range(times):
        for action in (good, bad):
            with memory.episode("t", key=f"{good}/{action}/{i}") as episode:
                episode.decide(f"the {good} page", {action: 0.0})
                episode.finish(action == good)


def turned(plant: Any, count: int = 25) -> float:
    """Share of decisions that ``plant(memory, page, bad)`` turns from good to bad."""
    before = after = 0
    for i in range(count):
        good, bad = f"good{i}", f"bad{i}"
        with jitrl.open(":memory:", seed=i) as memory:
            evidence(memory, good, bad)
            for planted in (False, True):
                if planted:
                    plant(memory, f"the {good} page", bad)
                with memory.episode("t", key=f"asked{planted}") as episode:
                    decision = episode.decide(f"the {good} page", {good: 0.0, bad: 0.5})
                if planted:
                    after += decision.action == good
                else:
                    before += decision.action == good
    assert before == count
    return 1 - after / count


def test_one_planted_row_turns_no_clear_decision_whatever_its_basis() -> None:
    for basis in ("test", "import"):

        def plant(memory: jitrl.JitRL, page: str, bad: str, basis: Any = basis) -> None:
            with memory.episode("t") as episode:
                episode.decide(page, {bad: 0.0})
                episode.finish(3.0, basis=basis)

        assert turned(plant, 12) == 0.0


def test_ten_planted_rows_of_one_source_turn_no_clear_decision() -> None:
    def episodes(memory: jitrl.JitRL, page: str, bad: str) -> None:
        for _ in range(10):
            with memory.episode("t") as episode:
                episode.decide(page, {bad: 0.0})
                episode.finish(3.0, basis="user_feedback", principal="mallory")

    def steps(memory: jitrl.JitRL, page: str, bad: str) -> None:
        with memory.episode("t") as episode:
            for _ in range(10):
                episode.decide(page, {bad: 0.0})
                episode.reward(3.0)
            episode.finish(0.0)

    assert turned(episodes, 12) == 0.0
    assert turned(steps, 12) == 0.0


def test_two_honest_episodes_turn_a_wrong_prior_of_gap_a_fifth() -> None:
    right, runs = 0, 40
    for i in range(runs):
        with jitrl.open(":memory:", seed=i) as memory:
            for turn in range(2):
                with memory.episode("t", key=f"{i}/{turn}") as episode:
                    episode.decide("the entrance", {"go on": 0.0})
                    episode.decide("a corridor", {"go on": 0.0})
                    episode.decide("a plain page", {"right": 0.0})
                    episode.finish(True)
            with memory.episode("t", key=f"{i}/asked") as episode:
                logits = {"wrong": math.log(0.6), "right": math.log(0.4)}
                right += episode.decide("a plain page", logits).action == "right"
    assert right / runs >= 0.85
