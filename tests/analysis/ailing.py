"""Cases out of thin air, for tests of what the doctor says about them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from jitrl import presets
from jitrl.analysis.doctor.case import Attempt, Book, Case, Choice, Journal, Rows
from jitrl.core.sentences import rule_id
from jitrl.run.folder import Record
from jitrl.stores.records import RuleRecord
from jitrl.stores.stats import Stats
from jitrl.types import Contrast, Rule, RuleChange, RuleUse, ScoredUse, State


def choice(state="s", **changed):
    """A decision with a neighbor, in which the model and the memory agree."""
    values = {
        "state": State(state),
        "mode": "act",
        "options": 3,
        "known": 4,
        "reached": 2,
        "version": 1,
        "turned": None,
        "is_memorys": False,
        "push": 2.0,
        "spread": 3.0,
        "is_outweighed": False,
        "rows": (),
    }
    return Choice(**values | changed)


def attempt(i, score=0.0, **changed):
    """Episode number ``i``, judged by its score; ``t0`` unless another task is named."""
    values = {
        "key": f"e{i}",
        "task": "t0",
        "family": "",
        "scope": "",
        "seed": 0,
        "number": i,
        "score": score,
        "judged": score,
        "reason": "",
        "basis": "test",
        "is_waiting": False,
        "delay": None,
        "is_held": False,
        "finished": float(i),
        "choices": (),
    }
    return Attempt(**values | changed)


def grid(scores, family="", scope="", task="t", choices=()):
    """Attempts of ``scores`` [T, K], tasks in turn at each attempt."""
    scores = np.asarray(scores, float)
    return [
        attempt(
            k,
            float(scores[t, k]),
            key=f"{family}{task}{t}/{k}",
            task=f"{family}{task}{t}",
            family=family,
            scope=scope,
            choices=choices,
        )
        for k in range(scores.shape[1])
        for t in range(len(scores))
    ]


def rows(*listed):
    """Rows of (state, action, return, episode), by numbers; all of version 1."""
    table = np.array([(s, a, e) for s, a, _, e in listed], np.int64).reshape(-1, 3)
    keys = tuple(f"e{i}" for i in range(int(table[:, 2].max(initial=-1)) + 1))
    returns = np.array([ret for _, _, ret, _ in listed], float)
    return Rows(table[:, 0], table[:, 1], returns, np.ones(len(table), np.int64), table[:, 2], keys)


def rule(n, *changes, status="active", text="", **more):
    """A rule with a history of (version, status) or (version, status, evidence)."""
    text = text or f"When you see item {n}, take it"
    history = tuple(
        RuleChange(rule_id(text), version, now, evidence=tuple(evidence))
        for version, now, *rest in changes or [(1, status)]
        for evidence in (rest or [()])
    )
    made = Rule(rule_id(text), text, status=history[-1].status, created=0.0, **more)
    return RuleRecord(made, history)


def used(record, n, told, score, task="t0", chance=0.5, occasions=2, obeyed=1, unknown=0):
    """A use of a rule in episode number ``n``."""
    use = RuleUse(
        record.rule.id, f"e{n}", told, chance, occasions, obeyed if occasions else 0, unknown
    )
    return ScoredUse(use, score, task, n)


def distilled(n, task="t0", version=1):
    """Contrast number ``n``."""
    return Contrast(f"c{n}", "", task, good=("g",), scores=(1.0,), version=version)


def book(records=(), uses=(), contrasts=()):
    """A rulebook; uses go to the rules they name."""
    by_rule = {}
    for one in uses:
        by_rule.setdefault(one.use.rule, []).append(one)
    return Book(tuple(records), {id: tuple(some) for id, some in by_rule.items()}, tuple(contrasts))


def case(
    attempts=(),
    *,
    held=None,
    states=None,
    mixed=(),
    base=None,
    spent=None,
    rules=None,
    arms=None,
    **preset,
):
    """A memory of these attempts, or (with ``base``) a run that is held against it."""
    held = held if held is not None else rows()
    states = states or {int(i): State(f"state {i}") for i in held.state}
    stats = Stats(
        *("m", 1, {}, 0, {}, 0, {}, {}, {}, {}, {}, {}, len(states), 0, 0, {}, 0, 0, 0, 0),
        mixed=tuple(mixed),
    )
    journal = Journal(
        Path("m.db"),
        stats,
        tuple(attempts),
        held,
        states,
        dict.fromkeys(states, ""),
        {i: f"e{i}" for i in range(1, 9)},
        rules or book(),
    )
    changed = presets.load("default").changed(retrieval=preset)
    return Case("m", "memory", (journal,), changed, spent=spent, base=base, arms=arms or {})


def run_of(agent, attempts=(), options=None, **changed):
    """A run of an agent with these attempts."""
    run = {"agent": agent, "options": options or {}, "attempts": 1, "tasks": [], "seeds": [0]}
    record = Record("", {"run": run}, {}, False, [])
    return replace(case(attempts, **changed), place="run", record=record, path=Path("runs/one"))


def many(n=40, choices=(), **changed):
    """``n`` attempts at one task, every other one a success."""
    return [attempt(i, float(i % 2), choices=choices, **changed) for i in range(n)]


def tally(finding):
    """Status and form, for short comparisons."""
    return finding.status, finding.form
