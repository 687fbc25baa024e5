"""The demo: a frozen model with and without a memory, side by side, on equal terms.

Its tasks were chosen by the frozen model's prior alone, not by how the arms did: of the templates
``find:list`` and ``find:narrow`` (paths of 2 and 3 steps) the first six instances each whose path
the prior at temperature 1.5 follows with a chance of 1 to 10 %. Below that no arm succeeds within
the time of a demo, above it there is little to learn.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import cast

import numpy as np

from jitrl.agents.corrected import Corrected
from jitrl.agents.static import Static
from jitrl.analysis.compare import Comparison, compare
from jitrl.analysis.explain import turned
from jitrl.analysis.results import read
from jitrl.config import Budget, Environment, Model, Run, Settings
from jitrl.core.stats import Difference, paired_difference
from jitrl.errors import JitRLError
from jitrl.memory.explain import Explanation, explain
from jitrl.models.calls import Meter
from jitrl.ports import Agent, Proposer
from jitrl.run import experiment
from jitrl.run import folder as folders
from jitrl.run.compose import compose
from jitrl.run.judging import evaluator_of
from jitrl.run.loop import Stopped, Trial, play
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Prompt, Proposal

TASKS = (
    *(f"find:list:{i}" for i in (1, 2, 3, 6, 8, 9)),
    *(f"find:narrow:{i}" for i in (0, 1, 3, 4, 5, 6)),
)
UNSEEN = (
    *(f"find:list:{i}" for i in (11, 12, 16)),
    *(f"find:narrow:{i}" for i in (7, 8, 9, 10, 11)),
    *(f"reports:uses:{i}" for i in range(4)),
)
"""Tasks of the first attempts: the next instances by the same choice, and a new template."""

STATIC, ARGMAX, JITRL = "static", "static, argmax", "jitrl"
"""The arms; ``static`` samples from the prior, as JitRL's correction is one of that prior."""

_TEMPLATES = ("find:list", "find:narrow", "reports:uses")
_TRIED = 12  # changed decisions among which the one to be explained is looked for


@dataclass(frozen=True, slots=True)
class Plan:
    """How large a demo is; ``steps`` is the step limit of an episode.

    Both arms are given z / 1.5: the small model is over-confident, and at this temperature its
    samples still succeed now and then. The rule is the default one, with nothing changed.
    """

    folder: Path
    seed: int = 0
    tasks: tuple[str, ...] = TASKS
    unseen: tuple[str, ...] = UNSEEN
    attempts: int = 10
    steps: int = 8
    model: Model = field(
        default_factory=lambda: Model(
            name="embedded",
            options={"calibrate": True, "length": "sum", "temperature": 1.5, "history": 0},
        )
    )

    def settings(self, arm: str) -> Settings:
        """Those of one arm: tasks, model, scores and chances are the same for all."""
        scores = {"cache": str(self.folder / "scores.db")}
        options = {"choose": "argmax"} if arm == ARGMAX else {}
        return Settings(
            environment=Environment(
                name="backoffice",
                options={"templates": _TEMPLATES, "instances": 17, "steps": self.steps},
            ),
            model=Model(name=self.model.name, options=self.model.options | scores),
            run=Run(
                agent="jitrl" if arm == JITRL else "static",
                options=options,
                tasks=self.tasks,
                attempts=self.attempts,
                seeds=(self.seed,),
            ),
        )

    def store(self, arm: str) -> Path:
        """The journal of an arm."""
        return folders.store_path(self.folder / arm, self.seed)


Watch = Callable[[str, experiment.Progress], None]


@dataclass(frozen=True, slots=True)
class FirstAttempts:
    """Scores of each unseen task's first attempt, shape [T], and their paired difference."""

    tasks: tuple[str, ...]
    static: tuple[float, ...]
    jitrl: tuple[float, ...]
    difference: Difference


def is_played(plan: Plan) -> bool:
    """Whether nothing of the race is left to play."""
    try:
        for arm in (STATIC, ARGMAX, JITRL):
            read(plan.folder / arm, arm)
    except JitRLError:
        return False
    return True


def race(plan: Plan, watch: Watch) -> Comparison:
    """Play the arms at the same time, one thread each, with one file of scores.

    Args:
        watch: Called with the arm after each of its episodes, from several threads.

    Raises:
        KeyboardInterrupt: When interrupted, once the present steps are over.
    """
    stop = threading.Event()

    def run(*arms: str) -> None:
        for arm in arms:
            settings = plan.settings(arm)
            parts = compose(settings)

            def proposer(meter: Meter, parts: experiment.Parts = parts) -> Proposer:
                return _Stoppable(parts.proposer(meter), stop)

            parts = replace(parts, proposer=proposer)
            experiment.run(settings, plan.folder / arm, parts, watch=partial(watch, arm))

    with ThreadPoolExecutor(2, "jitrl-demo") as pool:
        try:
            experiment.wait_for({pool.submit(run, JITRL), pool.submit(run, STATIC, ARGMAX)})
        finally:
            stop.set()
    results = [read(plan.folder / arm, arm) for arm in (STATIC, ARGMAX, JITRL)]
    return compare(results, base=STATIC)


class _Stoppable:
    """A proposer that gives up once ``stop`` is set."""

    def __init__(self, proposer: Proposer, stop: threading.Event) -> None:
        self.name = proposer.name
        self._proposer, self._stop = proposer, stop

    def propose(self, prompt: Prompt, rng: np.random.Generator) -> Proposal:
        if self._stop.is_set():
            raise Stopped("the demo was stopped; the same folder resumes it")
        return self._proposer.propose(prompt, rng)


def first_attempts(plan: Plan, watch: Callable[[str], None]) -> FirstAttempts:
    """Play each unseen task once with each arm; the memory is what the race has taught it.

    Nothing is learned here, so that each of them is a first attempt.

    Args:
        watch: Called with the arm after each episode, from several threads.
    """
    settings = plan.settings(JITRL)
    evaluator = compose(settings).evaluator(None)

    def run(arm: str) -> tuple[float, ...]:
        with closing(SQLiteStore(plan.store(arm), readonly=True)) as store:
            agent = cast(
                Agent,
                Corrected(store, evaluator, settings.memory)
                if arm == JITRL
                else Static(store, evaluator),
            )
            return tuple(_scores(plan, settings, agent, lambda: watch(arm)))

    with ThreadPoolExecutor(2, "jitrl-demo") as pool:
        jitrl, static = pool.map(run, (JITRL, STATIC))
    columns = (np.array(scores)[:, None, None] for scores in (jitrl, static))
    return FirstAttempts(plan.unseen, static, jitrl, paired_difference(*columns))


def _scores(
    plan: Plan, settings: Settings, agent: Agent, moved: Callable[[], None]
) -> Iterator[float]:
    """Score of each unseen task in turn."""
    parts = compose(settings)
    with (
        closing(parts.environment()) as environment,
        closing(folders.ledger(plan.folder, Budget())) as ledger,
    ):
        proposer: Proposer = parts.proposer(ledger.meter("act"))
        place = {task.id: (i, task) for i, task in enumerate(environment.tasks())}
        for id in plan.unseen:
            index, task = place[id]
            trial = Trial(task, index, 0, plan.seed)
            yield play(trial, environment, proposer, agent.episode()).info["score"]
            moved()


def turning_point(plan: Plan) -> Explanation | None:
    """A decision that memory changed: the first one that one earlier episode decided.

    Of the decisions in which returns outweighed the model, in an episode that succeeded, for an
    action that had been taken in this very state.
    """
    settings = plan.settings(JITRL)
    evaluator = evaluator_of(settings)
    best: Explanation | None = None
    with closing(SQLiteStore(plan.store(JITRL), readonly=True)) as store:
        agent = Corrected(store, evaluator, settings.memory)
        won = {e.key for e in store.episodes() if e.info["score"] > 0}
        found = [t.id for t in turned(store.decisions(), agent.preset.rule) if t.why == "returns"]
        known = (id for id in found if id.partition("#")[0] in won and _taken_here(store, id))
        for id in islice(known, _TRIED):
            explanation = explain(agent, store, id)
            best = best or explanation
            if any(other.action != explanation.decision.action for other in explanation.without):
                return explanation
    return best


def _taken_here(store: SQLiteStore, id: str) -> bool:
    """Whether memory knew the chosen action from the very state of the decision."""
    decision = store.decision(id).decision
    near = (n for n in decision.neighbors if n.similarity == 1.0 and n.rows)
    return any(n.action == decision.action for n in near)


def quick(plan: Plan) -> Plan:
    """A smaller one for a first look: the fewest tasks that an interval needs."""
    return replace(plan, tasks=(*TASKS[:3], *TASKS[6:9]), unseen=UNSEEN[:6], attempts=4)
