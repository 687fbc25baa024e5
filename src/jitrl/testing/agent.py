"""Contract of agents, as checks that any implementation can be put to.

Usage, in a test module of a plugin::

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    def test_my_agent_keeps_the_contract(check):
        check(lambda store, evaluator: MyAgent(store, evaluator))

The world has two tasks of two stages, and the model is one that any word of a prompt moves: so a
difference in what an agent knows, or says, is a difference in its episodes.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from jitrl.envs.toy import Toy
from jitrl.errors import ConfigError, InputError
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.ports import Agent, Environment, Evaluator, Store
from jitrl.run.loop import Trial, play
from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.store_samples import in_threads
from jitrl.types import Candidate, Episode, Judgment, Prompt, Proposal, State, Unscored

Factory = Callable[[Store, Evaluator], Agent]
"""Opens the agent on a store, with the evaluator that scores its episodes."""

_ATTEMPTS = 8
_IMPOSSIBLE = (
    (),
    (Candidate("push0", 0.0), Candidate("push0", 1.0)),
    (Candidate("push0", 0.0), Candidate("push1", math.nan)),
    (Candidate("push0", math.inf), Candidate("push1", 0.0)),
)


class Attentive:
    """A model with a made-up logit for each action under each prompt, notes included."""

    name = "attentive"

    def propose(self, prompt: Prompt, rng: np.random.Generator) -> Proposal:
        """The actions of the prompt; ``rng`` is not used."""
        whole = "\x1f".join((prompt.goal, prompt.observation, *prompt.history, prompt.notes))
        candidates = tuple(Candidate(a, _made_up(f"{whole}\x1f{a}")) for a in prompt.actions)
        return Proposal(candidates, "made-up", self.name)


@dataclass(slots=True)
class Selective:
    """The environment's rewards, but for the episodes that it cannot judge."""

    unscored: Collection[str] = ()
    name: str = "environment"
    told: bool = False
    inner: EnvironmentRewards = field(default_factory=EnvironmentRewards)

    def judge(self, episode: Episode) -> Judgment:
        """Rewards per step; ``Unscored`` for those in ``unscored``."""
        if episode.key in self.unscored:
            return Unscored("could not be judged", self.name)
        return self.inner.judge(episode)


@dataclass(slots=True)
class Life:
    """An agent on an empty store, and the episodes it lives through."""

    store: Store
    make: Factory
    evaluator: Evaluator
    world: Environment = field(default_factory=lambda: _world())
    agent: Agent = field(init=False)

    def __post_init__(self) -> None:
        self.agent = self.make(self.store, self.evaluator)

    def episode(
        self,
        task: int,
        attempt: int,
        *,
        agent: Agent | None = None,
        exclude: Collection[int] = (),
        until: int | None = None,
        is_learned: bool = True,
    ) -> Episode:
        """Play one episode of the task at this place, and learn from it unless told otherwise."""
        tasks = self.world.tasks()
        acting = (agent or self.agent).episode(
            exclude=frozenset(tasks[i].id for i in exclude), until=until
        )
        trial = Trial(tasks[task], task, attempt, 0)
        played = play(trial, self.world, Attentive(), acting)
        if is_learned:
            acting.learn(played)
        return played

    def live(self, attempts: int = _ATTEMPTS, *, first: int = 0) -> list[Episode]:
        """Both tasks in turn."""
        return [self.episode(t, first + a) for a in range(attempts) for t in range(2)]

    def reopened(self) -> Agent:
        """Another agent on the same store."""
        return self.make(self.store, self.evaluator)


@contextmanager
def living(make: Factory, evaluator: Evaluator | None = None) -> Iterator[Life]:
    """A life that is over after the block."""
    with SQLiteStore(":memory:") as store:
        yield Life(store, make, evaluator or Selective())


def an_episode_is_journaled_once_under_the_agents_name(make: Factory) -> None:
    """The second commit of a key is a duplicate, and the journal says who acted."""
    with living(make) as life:
        acting = life.agent.episode()
        assert acting.name, "the agent has no name"
        played = play(Trial(life.world.tasks()[0], 0, 0, 0), life.world, Attentive(), acting)
        first, again = acting.learn(played), acting.learn(played)
        assert (first.duplicate, again.duplicate) == (False, True)
        (kept,) = life.store.episodes()
        assert (kept.key, kept.agent) == (played.key, acting.name)
        assert [s.action for s in kept.steps] == [s.action for s in played.steps]
        missing = {name for name in played.info if name not in kept.info}
        assert not missing, f"learning lost {missing} of what was recorded"


def decisions_have_finite_numbers_and_propensities_that_add_up(make: Factory) -> None:
    """Each candidate has its chance, and what was chosen had one."""
    with living(make) as life:
        for episode in life.live():
            for step in episode.steps:
                decision = step.decision
                assert decision is not None, "a step was not decided"
                for c in decision.candidates:
                    numbers = (c.logit, c.prior, c.corrected, c.correction, c.bonus, c.q)
                    assert all(map(math.isfinite, numbers)), f"{c} has a number that is not finite"
                    assert 0.0 <= c.propensity <= 1.0 + 1e-9, f"propensity {c.propensity}"
                    assert 0.0 <= c.probability <= 1.0 + 1e-9, f"probability {c.probability}"
                for what in ("propensity", "prior"):
                    total = sum(getattr(c, what) for c in decision.candidates)
                    assert abs(total - 1.0) < 1e-6, f"{what} adds up to {total}"
                assert decision.chosen.propensity > 0.0, "what was chosen had no chance"
                assert all(math.isfinite(x) for x in (decision.value, decision.kl, decision.scale))


def the_same_life_gives_the_same_episodes(make: Factory) -> None:
    """Chance comes from the episode's generator alone."""
    with living(make) as one, living(make) as other:
        assert _traces(one.live()) == _traces(other.live())


def an_agent_resumes_from_the_journal_alone(make: Factory) -> None:
    """One that was opened just now acts and learns like the one that lived through it all."""
    with living(make) as one, living(make) as other:
        whole = _traces(one.live())
        halves = _traces(other.live(_ATTEMPTS // 2))
        other.agent = other.reopened()
        assert whole == halves + _traces(other.live(_ATTEMPTS // 2, first=_ATTEMPTS // 2))


def what_came_after_until_makes_no_difference(make: Factory) -> None:
    """An agent that is opened later sees the memory as it stood."""
    with living(make) as life:
        life.live(_ATTEMPTS // 2)
        then = life.store.head()
        before = [life.episode(t, 99, until=then, is_learned=False) for t in range(2)]
        life.live(_ATTEMPTS // 2, first=_ATTEMPTS // 2)
        agent = life.reopened()
        after = [life.episode(t, 99, agent=agent, until=then, is_learned=False) for t in range(2)]
        assert _traces(before) == _traces(after)


def an_episode_that_is_overtaken_stays_as_it_was(make: Factory) -> None:
    """Where others are learned meanwhile, and acted on, it sees what it may and no more."""
    with living(make) as life:
        life.live(_ATTEMPTS // 2)
        then = life.store.head()
        before = [life.episode(t, 99, until=then, is_learned=False) for t in range(2)]
        acting = [life.agent.episode(until=then) for _ in range(2)]
        life.live(_ATTEMPTS // 2, first=_ATTEMPTS // 2)
        trials = [Trial(task, i, 99, 0) for i, task in enumerate(life.world.tasks())]
        for trial, agent, alone in zip(trials, acting, before, strict=True):
            late = play(trial, life.world, Attentive(), agent)
            assert _traces([alone]) == _traces([late])


def candidates_that_cannot_be_chosen_from_are_refused(make: Factory) -> None:
    """None at all, one that occurs twice, and a logit that is not finite are ``InputError``."""
    for candidates in _IMPOSSIBLE:
        with living(make) as life:
            acting, task = life.agent.episode(), life.world.tasks()[0]
            acting.begin(task, key="k", rng=np.random.default_rng(0))
            actions = tuple(dict.fromkeys(c.action for c in candidates))
            prompt = acting.advise(State("s"), Prompt(task.goal, "s", actions=actions))
            try:
                acting.act(State("s"), prompt, Proposal(candidates, "made-up", "attentive"))
            except InputError:
                continue
            raise AssertionError(f"it chose from {candidates}")


def tasks_that_are_excluded_make_no_difference(make: Factory) -> None:
    """A task lives as if the other one were not there; or the agent refuses to leave any out."""
    if _leaves_no_task_out(make):
        return
    with living(make) as both, living(make) as alone:
        together = []
        for attempt in range(_ATTEMPTS):
            both.episode(1, attempt, exclude=[0])
            together.append(both.episode(0, attempt, exclude=[1]))
        apart = [alone.episode(0, attempt, exclude=[1]) for attempt in range(_ATTEMPTS)]
        assert _traces(together) == _traces(apart)


def a_task_that_may_not_use_itself_starts_afresh(make: Factory) -> None:
    """With its own episodes excluded and no others there, a task is played as at first.

    Or the agent refuses to leave any out.
    """
    if _leaves_no_task_out(make):
        return
    with living(make) as life:
        first = _traces([life.episode(0, 99, is_learned=False)])
        for attempt in range(_ATTEMPTS):
            life.episode(0, attempt)
        agent = life.reopened()
        now = life.episode(0, 99, agent=agent, exclude=[0], is_learned=False)
        assert first == _traces([now])


def an_unscored_episode_teaches_nothing(make: Factory) -> None:
    """It is journaled, leaves no rows, and later episodes are what they would have been."""
    unscored = Selective({f"protocol:{t}/{a}/0" for t in range(2) for a in (50, 51)})
    with living(make, unscored) as one, living(make) as other:
        for attempt in range(2):
            one.live(2, first=2 * attempt)
            other.live(2, first=2 * attempt)
            before = one.store.head()
            one.live(1, first=50 + attempt)
            assert not any(change.rows for change in one.store.changes(before)), "it has rows"
        assert len(list(one.store.episodes())) == len(list(other.store.episodes())) + 4
        assert _traces(one.live(2, first=6)) == _traces(other.live(2, first=6))


def a_quarantined_episode_teaches_nothing(make: Factory) -> None:
    """With all episodes in quarantine the agent is as it was at first."""
    with living(make) as life:
        first = _traces([life.episode(t, 99, is_learned=False) for t in range(2)])
        keys = [episode.key for episode in life.live(4)]
        if any(change.rows for change in life.store.changes(0)):
            life.store.set_status("quarantined", episodes=keys)
        agent = life.reopened()
        now = [life.episode(t, 99, agent=agent, is_learned=False) for t in range(2)]
        assert first == _traces(now)


def episodes_in_threads_are_those_of_one_after_the_other(make: Factory) -> None:
    """In rounds all tasks act on the memory as it stood, in whatever order."""
    with living(make) as life:
        life.live(4)
        then = life.store.head()
        agents = [life.agent.episode(until=then) for _ in range(4)]
        trials = [Trial(life.world.tasks()[i % 2], i % 2, 10 + i, 0) for i in range(4)]
        played: dict[int, Episode] = {}

        def one(i: int) -> None:
            played[i] = play(trials[i], _world(), Attentive(), agents[i])

        in_threads(one, 4)
        serial = [life.episode(i % 2, 10 + i, until=then, is_learned=False) for i in range(4)]
        assert _traces([played[i] for i in range(4)]) == _traces(serial)


CHECKS: tuple[Callable[[Factory], None], ...] = (
    an_episode_is_journaled_once_under_the_agents_name,
    decisions_have_finite_numbers_and_propensities_that_add_up,
    candidates_that_cannot_be_chosen_from_are_refused,
    the_same_life_gives_the_same_episodes,
    an_agent_resumes_from_the_journal_alone,
    what_came_after_until_makes_no_difference,
    an_episode_that_is_overtaken_stays_as_it_was,
    tasks_that_are_excluded_make_no_difference,
    a_task_that_may_not_use_itself_starts_afresh,
    an_unscored_episode_teaches_nothing,
    a_quarantined_episode_teaches_nothing,
    episodes_in_threads_are_those_of_one_after_the_other,
)


def _leaves_no_task_out(make: Factory) -> bool:
    """Whether the agent refuses, from the first, to act without what it learned of some tasks."""
    with living(make) as life:
        try:
            life.agent.episode(exclude=frozenset({life.world.tasks()[0].id}))
        except ConfigError:
            return True
    return False


def _traces(episodes: Collection[Episode]) -> list[Any]:
    """What was done, and with which numbers."""
    return [
        [(step.state, step.action, step.decision and step.decision.candidates) for step in e.steps]
        for e in episodes
    ]


def _world() -> Environment:
    toy = Toy("protocol", size=2, choices=3, tasks=2, seed=1)
    return cast(Environment, toy)  # whose codec is a PlainCodec, and stays one


def _made_up(text: str) -> float:
    digest = hashlib.sha256(text.encode("utf-8", "replace")).digest()
    return float(np.random.default_rng(int.from_bytes(digest[:16])).normal(scale=0.7))
