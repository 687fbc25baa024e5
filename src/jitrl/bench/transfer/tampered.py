"""Memories that were tampered with: every episode of a store, changed, in a store of its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from jitrl.agents.corrected import Corrected
from jitrl.bench.transfer.arms import Learned
from jitrl.config import Memory
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Basis, Episode, Outcome, State

_LINK = re.compile(r"<link\[([^\]\d]*)\]>")  # values have digits; those are not of the menu


def tampered(store: SQLiteStore, how: Learned, seed: int) -> SQLiteStore:
    """What a memory would hold if it had been made of changed episodes.

    ``goals shuffled``: each task has the goal of another one. ``another menu``: the labels of
    links change places, everywhere in the same way. ``N % planted``: in that share of the tasks,
    an episode more that was rewarded for one and the same wrong first step; ``untrusted``: on a
    basis that is not trusted.

    Args:
        store: What happened; it stays as it is.
        how: Neither ``nothing`` nor ``as it is``.
    """
    rng, episodes = Random(seed), list(store.episodes())
    if how == "goals shuffled":
        changed = _shuffled(episodes, rng)
    elif how == "another menu":
        changed = _relabeled(episodes, rng)
    else:
        basis: Basis = "import" if how.endswith("untrusted") else "state_check"
        changed = [*episodes, *_planted(episodes, rng, 0.1 if how[0] == "1" else 0.3, basis)]
    made = SQLiteStore(":memory:")
    agent = Corrected(made, EnvironmentRewards(), Memory())
    with made.batch():
        for episode in changed:
            agent.learn(episode)
    return made


def _shuffled(episodes: Sequence[Episode], rng: Random) -> list[Episode]:
    goals = {e.task: str(e.info["goal"]) for e in episodes}
    others = list(goals.values())
    rng.shuffle(others)
    mine = dict(zip(goals, [*others[1:], others[0]], strict=True))
    return [
        replace(
            _with_states(e, mine[e.task]),
            info={**e.info, "goal": mine[e.task]},
        )
        for e in episodes
    ]


def _with_states(episode: Episode, goal: str) -> Episode:
    """The episode with another goal in its states."""

    def moved(state: State | None) -> Any:
        return None if state is None else replace(state, context=goal)

    steps = (
        replace(step, state=moved(step.state), next_state=moved(step.next_state))
        for step in episode.steps
    )
    return replace(episode, steps=tuple(steps))


def _relabeled(episodes: Sequence[Episode], rng: Random) -> list[Episode]:
    offered = {
        c.action for e in episodes for s in e.steps if s.decision for c in s.decision.candidates
    }
    labels = sorted({label for action in offered for label in _LINK.findall(action)})
    others = labels[:]
    rng.shuffle(others)
    new = dict(zip(labels, others, strict=True))
    return [_renamed(e, new) for e in episodes]


def _renamed(episode: Episode, new: Mapping[str, str]) -> Episode:
    def action(text: str) -> str:
        return _LINK.sub(lambda found: f"<link[{new[found[1]]}]>", text)

    steps = []
    for step in episode.steps:
        decision = step.decision
        if decision is not None:
            decision = replace(
                decision,
                action=action(decision.action),
                candidates=tuple(replace(c, action=action(c.action)) for c in decision.candidates),
            )
        steps.append(replace(step, action=action(step.action), decision=decision))
    return replace(episode, steps=tuple(steps))


def _planted(episodes: Sequence[Episode], rng: Random, share: float, basis: Basis) -> list[Episode]:
    """One episode more in a share of the tasks: its first step is the wrong one, and is paid."""
    first = {e.task: e for e in reversed(episodes)}
    begun = Counter(e.steps[0].action for e in episodes if e.info["score"] > 0)
    decision = episodes[0].steps[0].decision
    offered = sorted(c.action for c in decision.candidates) if decision else []
    wrong = min(offered, key=lambda action: begun[action])
    tasks = rng.sample(sorted(first), round(share * len(first)))
    made = []
    for task in tasks:
        old = first[task]
        start = old.steps[0]
        done = replace(start, action=wrong, reward=None, next_state=None)
        if start.decision is not None:
            done = replace(done, decision=replace(start.decision, action=wrong))
        outcome = Outcome(1.0, basis, "planted", principal="somebody")
        made.append(
            replace(old, key=f"{task}/planted", steps=(done,), status="terminated", outcome=outcome)
        )
    return made
