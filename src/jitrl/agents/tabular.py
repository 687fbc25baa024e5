"""Agents ``ucb`` and ``thompson``: a table of returns for each exact state and action.

Textbook baselines on the same state keys, rewards and journal as the agent ``jitrl``. They look
at nothing but returns-to-go of the very state: no similar states, no values backed up through a
graph, no evidence of the running episode.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from jitrl.agents.prior import chosen_from, own_choice
from jitrl.core.credit import derive_rows
from jitrl.core.rule import UpdateRule
from jitrl.errors import ConfigError
from jitrl.memory.stream import changes, newest
from jitrl.ports import Evaluator, Receipt, Store
from jitrl.types import Decision, Episode, Prompt, Proposal, State, Task

_PRIOR = UpdateRule()
_GRID = 400  # points of the integral over the best action's value


@dataclass(slots=True)
class Tally:
    """Returns of one action in one state."""

    n: int = 0
    total: float = 0.0

    @property
    def mean(self) -> float:
        """Their mean; 0 before the first."""
        return self.total / self.n if self.n else 0.0


def upper_bound(tallies: Sequence[Tally], prior: np.ndarray, width: float) -> np.ndarray:
    """UCB1: the largest ``mean + width * sqrt(2 ln N / n)``; first whatever is untried.

    Equal ones share the choice as the prior does.

    Source: Auer, Cesa-Bianchi, Fischer, *Finite-time analysis of the multiarmed bandit problem*
    (2002), with rewards in [0, 1] at ``width`` 1.
    """
    n = np.array([t.n for t in tallies], float)
    if (n == 0).any():
        best = n == 0
    else:
        means = np.array([t.mean for t in tallies])
        score = means + width * np.sqrt(2.0 * np.log(max(n.sum(), 1.0)) / n)
        best = score >= score.max() - 1e-12
    share = np.where(best, prior, 0.0)
    return np.asarray(share / share.sum())


def posterior_best(tallies: Sequence[Tally], prior: np.ndarray, sd: float) -> np.ndarray:
    """Thompson sampling: the chance that each action is the best under the posterior.

    Each mean return has the posterior ``N(total / (n + 1), sd^2 / (n + 1))``: returns of a known
    ``sd``, and one pseudo-return of 0. A draw from these chances is a Thompson sample, and they
    are its propensities. The frozen model's prior plays no part.
    """
    n = np.array([t.n for t in tallies], float) + 1.0
    mean, spread = np.array([t.total for t in tallies]) / n, sd / np.sqrt(n)
    kinds, kind_of = np.unique(np.stack([mean, spread]), axis=1, return_inverse=True)
    times = np.bincount(kind_of.ravel())
    grid = np.linspace((mean - 6 * spread).min(), (mean + 6 * spread).max(), _GRID)
    z = (grid[None, :] - kinds[0][:, None]) / kinds[1][:, None]
    below = 0.5 * (1.0 + _erf(z / math.sqrt(2.0)))
    density = np.exp(-0.5 * z**2) / kinds[1][:, None]
    log_all = (times[:, None] * np.log(np.maximum(below, 1e-300))).sum(axis=0)
    others = np.exp(log_all[None, :] - np.log(np.maximum(below, 1e-300)))
    chance = (density * others).sum(axis=1)[kind_of.ravel()]
    return np.asarray(chance / chance.sum())


def _erf(x: np.ndarray) -> np.ndarray:
    """The error function to 1.5e-7 (Abramowitz and Stegun, 7.1.26)."""
    t = 1.0 / (1.0 + 0.3275911 * np.abs(x))
    terms = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
    series = np.zeros_like(x)
    for term in terms:
        series = (series + term) * t
    return np.asarray(np.sign(x) * (1.0 - series * np.exp(-(x**2))))


def ucb(
    store: Store,
    evaluator: Evaluator,
    *,
    gamma: float = 0.6,
    width: float = 0.0001,
) -> Tabular:
    """UCB1 in each state.

    Args:
        gamma: Discount of the returns, in [0, 1].
        width: Weight of the confidence bound, return units.
    """
    return Tabular("ucb", store, evaluator, gamma, upper_bound, width=width)


def thompson(
    store: Store,
    evaluator: Evaluator,
    *,
    gamma: float = 0.6,
    sd: float = 0.0001,
) -> Tabular:
    """Thompson sampling in each state.

    Args:
        gamma: Discount of the returns, in [0, 1].
        sd: Standard deviation of a return, return units.
    """
    return Tabular("thompson", store, evaluator, gamma, posterior_best, sd=sd)


class Tabular:
    """A table for each scope, made of the rows in ``store``. Safe for threads.

    Args:
        policy: From tallies, shape [A], the prior, shape [A], and ``spread`` to the chance of each
            action, shape [A].
    """

    def __init__(
        self,
        name: str,
        store: Store,
        evaluator: Evaluator,
        gamma: float,
        policy: Callable[..., np.ndarray],
        **spread: float,
    ) -> None:
        if not 0.0 <= gamma <= 1.0:
            raise ConfigError(f"agent {name}: gamma must be in [0, 1], got {gamma}")
        for what, value in spread.items():
            if not (math.isfinite(value) and value > 0):
                raise ConfigError(f"agent {name}: {what} must be a number above 0, got {value}")
        self.name, self.policy = name, partial(policy, **spread)
        self._store, self._evaluator, self._gamma = store, evaluator, gamma
        self._tables: dict[tuple[str, frozenset[str]], Table] = {}
        self._lock = threading.Lock()

    def episode(
        self, *, exclude: frozenset[str] = frozenset(), until: int | None = None
    ) -> TabularEpisode:
        """An agent for one episode.

        Args:
            exclude: Tasks whose rows it must not use; each decision counts them.
            until: Newest version of the memory it may see; ``None``: all.
        """
        return TabularEpisode(self, exclude, until)

    def table(self, scope: str, exclude: frozenset[str], until: int | None) -> Table:
        """The table of a scope, with what was committed since it was last asked for."""
        with self._lock:
            head = newest(self._store, until)
            table = self._tables.setdefault((scope, exclude), Table())
            if head < table.version:  # others have asked for a later one
                table = Table()
            table.refresh(self._store, scope, exclude, head)
            return table

    def learn(self, episode: Episode) -> Receipt:
        """Judge, derive, and commit."""
        judgment = self._evaluator.judge(episode)
        rows = derive_rows(episode, judgment, gamma=self._gamma)
        return self._store.commit(episode, judgment, rows)


@dataclass(slots=True)
class Table:
    """Tallies of one scope up to a version of the memory."""

    version: int = 0
    tallies: dict[tuple[State, str], Tally] = field(default_factory=dict)
    left_out: dict[State, int] = field(default_factory=dict)
    inactive: set[int] = field(default_factory=set)

    def refresh(self, store: Store, scope: str, exclude: frozenset[str], head: int) -> None:
        """Take in what was committed up to ``head``; start over if a row changed its status."""
        if head == self.version:
            return
        known = list(changes(store, self.version, head, scope, self.inactive))
        if any(change.kind != "append" for change in known):
            self.tallies.clear()
            self.left_out.clear()
            known = list(changes(store, 0, head, scope))
        for change in known:
            for row in change.rows if change.kind == "append" else ():
                if row.task in exclude:
                    self.left_out[row.state] = self.left_out.get(row.state, 0) + 1
                elif row.id not in self.inactive:
                    tally = self.tallies.setdefault((row.state, row.action), Tally())
                    tally.n, tally.total = tally.n + 1, tally.total + row.ret
        self.version = head


class TabularEpisode:
    """One episode of a tabular agent."""

    def __init__(self, agent: Tabular, exclude: frozenset[str], until: int | None) -> None:
        self.name = agent.name
        self._agent, self._exclude, self._until = agent, exclude, until
        self._scope, self._rng = "", np.random.default_rng(0)

    def begin(self, task: Task, *, key: str, rng: np.random.Generator) -> None:
        """The episode starts."""
        self._scope, self._rng = task.scope, rng

    def advise(self, state: State, prompt: Prompt) -> Prompt:
        """The prompt as it is."""
        return prompt

    def act(self, state: State, prompt: Prompt, proposal: Proposal) -> Decision:
        """Choose by what the table holds of this very state.

        Raises:
            InputError: If there are no candidates, one occurs twice, or a logit is not finite.
        """
        alone = own_choice(proposal, _PRIOR, self._rng)
        table = self._agent.table(self._scope, self._exclude, self._until)
        tallies = [table.tallies.get((state, c.action), Tally()) for c in proposal.candidates]
        prior = np.array([c.prior for c in alone.candidates])
        chance = self._agent.policy(tallies, prior)
        n = sum(t.n for t in tallies)
        value = sum(t.total for t in tallies) / n if n else 0.0
        decision = chosen_from(
            alone,
            (
                replace(
                    c,
                    visits=float(t.n),
                    q=t.mean,
                    advantage=t.mean - value,
                    scaled=t.mean - value,
                    probability=p,
                    propensity=p,
                    novelty=1.0 / (1.0 + t.n),
                )
                for c, t, p in zip(alone.candidates, tallies, chance.tolist(), strict=True)
            ),
        )
        return replace(
            decision,
            value=value,
            rule="",
            version=table.version,
            excluded=table.left_out.get(state, 0),
            reason="" if n else "empty",
        )

    def observe(self, reward: float | None, next_state: State | None) -> None:
        """Nothing follows from it before the episode is learned."""

    def learn(self, episode: Episode) -> Receipt:
        """The episode is over: judge it, derive its rows, and commit them."""
        return self._agent.learn(episode)
