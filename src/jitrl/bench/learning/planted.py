"""How far single rows can change a decision: planted ones should not, honest ones should.

One page, some actions, a frozen prior. What happened there is learned through the agent's own
``learn``, as whole episodes: two steps that pay nothing lead to the page, and what is done there
ends them. Then the agent is asked once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from jitrl.agents.corrected import Corrected
from jitrl.bench.learning.arms import MAIN, Arm
from jitrl.bench.pool import Begun, Tell, each, silent, told, unsaid
from jitrl.config import Memory
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import (
    Basis,
    Candidate,
    Decision,
    Episode,
    Outcome,
    Prompt,
    Proposal,
    State,
    Task,
    Transition,
)

_NAMES = ("default", "kernel mean, sampled", "paper-web", "released-web")
ARMS = tuple(arm for arm in MAIN if arm.name in _NAMES)
PLANTED = 3.0
_PLANTED_ON: tuple[Basis, ...] = ("state_check", "import")
GAPS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_PAGE = State("the page where it is decided")
_WAY = (State("the entrance"), State("a corridor"))
_TASK = Task("page", "choose well", "page")


@dataclass(frozen=True, slots=True)
class Turned:
    """How often the choice changed.

    Attributes:
        case: What was done to the memory.
        share: Of ``trials`` decisions.
    """

    case: str
    rule: str
    share: float
    trials: int


@dataclass(frozen=True, slots=True)
class Case:
    """What is done to how many memories of an arm.

    Attributes:
        gap: How far a wrong prior is ahead; 0 for planted rows.
        rows: Planted rows; 0 for gaps.
        basis: What the planted rows rest on.
    """

    arm: Arm
    trials: int
    gap: float = 0.0
    rows: int = 0
    basis: Basis = "state_check"


def measure(
    what: str,
    *,
    trials: int = 400,
    workers: int = 1,
    tell: Tell = silent,
    begun: Begun = unsaid,
) -> list[Turned]:
    """The default rule and the published ones on the same memories.

    Args:
        what: ``planted`` or ``gaps``.
        begun: Called with the number of memories before the first is made.
    """
    if what == "gaps":
        cases = [Case(arm, trials, gap=size) for arm in ARMS for size in GAPS]
    else:
        kinds = [(basis, rows) for basis in _PLANTED_ON for rows in (1, 3, 10)]
        cases = [Case(arm, trials, rows=n, basis=basis) for arm in ARMS for basis, n in kinds]
    begun(sum(case.trials for case in cases))
    return each(run, cases, workers, tell)


def run(case: Case, tell: Tell = silent) -> Turned:
    """How often the choice changed in one case."""
    turns = _is_righted if case.gap else _is_turned
    turned = sum(turns(case, trial) for trial in told(range(case.trials), tell))
    name = f"gap {case.gap:g}" if case.gap else f"{case.rows} planted, basis {case.basis}"
    return Turned(name, case.arm.name, turned / case.trials, case.trials)


class Page:
    """A memory of one page under one rule."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._store = SQLiteStore(":memory:")
        self._agent = Corrected(self._store, EnvironmentRewards(), Memory(**settings))
        self._learned = 0

    def learn(
        self,
        actions: Sequence[str],
        rewards: Sequence[float],
        basis: Basis = "state_check",
        principal: str = "",
    ) -> None:
        """Take in one episode; its last reward comes as its outcome."""
        *shown, last = rewards
        way = zip(_WAY, (*_WAY[1:], _PAGE), strict=True)
        steps = (
            *(Transition(here, "go(on)", None, 0.0, there) for here, there in way),
            *(
                Transition(_PAGE, action, None, reward, _PAGE)
                for action, reward in zip(actions[:-1], shown, strict=True)
            ),
            Transition(_PAGE, actions[-1], None, 0.0, None),
        )
        outcome = Outcome(last, basis, "outcome", principal=principal)
        key = f"episode {self._learned}"
        self._agent.learn(Episode(key, _TASK.id, _TASK.scope, steps, outcome=outcome))
        self._learned += 1

    def ask(self, logits: Mapping[str, float], rng: np.random.Generator) -> Decision:
        """One decision on the page."""
        candidates = tuple(Candidate(action, z) for action, z in logits.items())
        acting = self._agent.episode()
        acting.begin(_TASK, key="asked", rng=rng)
        return acting.act(_PAGE, Prompt("", ""), Proposal(candidates, "made up", "made up"))

    def close(self) -> None:
        """Forget it."""
        self._store.close()


def _is_turned(case: Case, trial: int) -> bool:
    """Whether rows of +3 from one source change a decision against clear evidence.

    3 to 8 actions, prior logits of sd 1.5; every action was tried in 3 to 6 honest episodes, of
    which those of one action paid 1 and all others 0. The rows are planted on a wrong action. Of
    a trusted basis they are steps of one episode, otherwise episodes of one principal. Before
    and after, the same random numbers are used.
    """
    rng = np.random.default_rng([trial, 1])
    actions = [f"press({i})" for i in range(int(rng.integers(3, 9)))]
    logits = dict(zip(actions, (1.5 * rng.standard_normal(len(actions))).tolist(), strict=True))
    right, wrong = rng.choice(len(actions), 2, replace=False).tolist()
    with closing(Page(case.arm.memory)) as page:
        for i, action in enumerate(actions):
            for _ in range(int(rng.integers(3, 7))):
                page.learn([action], [float(i == right)])
        before = page.ask(logits, np.random.default_rng(trial)).action
        if case.basis == "import":
            for _ in range(case.rows):
                page.learn([actions[wrong]], [PLANTED], case.basis, "somebody")
        else:
            page.learn([actions[wrong]] * case.rows, [PLANTED] * case.rows, case.basis)
        return page.ask(logits, np.random.default_rng(trial)).action != before


def _is_righted(case: Case, trial: int) -> bool:
    """Whether two honest agreeing episodes turn a wrong prior.

    3 to 8 actions; the prior of a wrong action is ``gap`` above that of the right one, and
    nothing else has more than that one. Two episodes took the right action and were paid 1.
    """
    rng = np.random.default_rng([trial, 2])
    n = int(rng.integers(3, 9))
    right = (1.0 - case.gap) / n * float(rng.uniform(0.5, 1.0))
    left = 1.0 - case.gap - 2 * right
    others = rng.dirichlet(np.full(n - 2, 5.0)) * left
    others = np.minimum(others, right + case.gap)
    chances = np.array([right + case.gap, right, *others])
    actions = [f"press({i})" for i in rng.permutation(n).tolist()]
    logits = dict(zip(actions, np.log(chances / chances.sum()).tolist(), strict=True))
    with closing(Page(case.arm.memory)) as page:
        for _ in range(2):
            page.learn([actions[1]], [1.0])
        return page.ask(logits, np.random.default_rng(trial)).action == actions[1]
