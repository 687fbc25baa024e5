"""A small agent that learns, for tests of experiments: mean return of each state and action."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np

from jitrl.agents.static import Static
from jitrl.core.credit import derive_rows
from jitrl.types import Candidate


class Tabular:
    """Adds ten times the mean return of (state, action) to the model's logits."""

    def __init__(self, store, evaluator, settings=None):
        self.store, self.evaluator = store, evaluator

    def episode(self, *, exclude=frozenset(), until=None):
        return TabularAgent(self.store, self.evaluator, exclude, until)


class TabularAgent:
    name = "tabular"

    def __init__(self, store, evaluator, exclude, until):
        self.store, self.evaluator = store, evaluator
        self.exclude, self.until = exclude, until
        self.frozen = Static(store, evaluator).episode()

    def begin(self, task, *, key, rng):
        self.frozen.begin(task, key=key, rng=rng)

    def advise(self, state, prompt):
        return prompt

    def act(self, state, prompt, proposal):
        returns, left_out = defaultdict(list), 0
        for change in self.store.changes(0):
            if self.until is not None and change.version > self.until:
                break
            for row in change.rows:
                if row.state == state:
                    left_out += row.task in self.exclude
                    if row.task not in self.exclude:
                        returns[row.action].append(row.ret)
        candidates = tuple(
            Candidate(c.action, c.logit + 10 * float(np.mean(returns.get(c.action, [0.0]))))
            for c in proposal.candidates
        )
        decision = self.frozen.act(state, prompt, replace(proposal, candidates=candidates))
        return replace(decision, excluded=left_out)

    def observe(self, reward, next_state):
        pass

    def learn(self, episode):
        judgment = self.evaluator.judge(episode)
        return self.store.commit(episode, judgment, derive_rows(episode, judgment, gamma=1.0))
