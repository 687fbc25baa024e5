import dataclasses

import numpy as np
import pytest
from scipy.stats import norm

from jitrl import registry
from jitrl.agents.tabular import Tally, posterior_best, thompson, ucb, upper_bound
from jitrl.envs.toy import Toy, ToyPrior
from jitrl.errors import ConfigError
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.run.loop import Trial, play
from jitrl.stores.sqlite import SQLiteStore

UNIFORM = np.full(3, 1 / 3)


@pytest.fixture
def store():
    with SQLiteStore(":memory:") as opened:
        yield opened


def live(agent, world, attempts, *, seed=0, exclude=frozenset()):
    """Scores of ``attempts`` learned episodes at the first task."""
    task, prior, scores = world.tasks()[0], ToyPrior(sd=0.0), []
    for attempt in range(attempts):
        acting = agent.episode(exclude=exclude)
        episode = play(Trial(task, 0, attempt, seed), world, prior, acting)
        acting.learn(episode)
        scores.append(episode.info["score"])
    return scores


def test_an_untried_action_goes_before_all_others():
    tallies = [Tally(3, 3.0), Tally(), Tally(1, 0.0)]
    assert upper_bound(tallies, UNIFORM, 1.0).tolist() == [0.0, 1.0, 0.0]


def test_untried_actions_share_the_choice_as_the_prior_does():
    tallies = [Tally(3, 3.0), Tally(), Tally()]
    chance = upper_bound(tallies, np.array([0.5, 0.4, 0.1]), 1.0)
    assert chance.tolist() == pytest.approx([0.0, 0.8, 0.2])


def test_the_bound_of_a_rarely_tried_action_is_wider():
    tallies = [Tally(100, 60.0), Tally(2, 1.0)]
    narrow = upper_bound(tallies, np.full(2, 0.5), 0.001)
    wide = upper_bound(tallies, np.full(2, 0.5), 1.0)
    assert narrow.tolist() == [1.0, 0.0]
    assert wide.tolist() == [0.0, 1.0]


def test_the_chance_to_be_best_of_two_is_that_of_their_difference():
    tallies = [Tally(3, 2.4), Tally(1, 0.5)]
    chance = posterior_best(tallies, np.full(2, 0.5), 0.5)
    ahead = (2.4 / 4 - 0.5 / 2) / np.hypot(0.5 / 2, 0.5 / np.sqrt(2))
    assert chance[0] == pytest.approx(norm.cdf(ahead), abs=2e-4)


def test_equal_posteriors_share_the_chance_to_be_best():
    assert posterior_best([Tally()] * 3, UNIFORM, 0.3).tolist() == pytest.approx([1 / 3] * 3)


def test_chances_to_be_best_are_those_of_drawn_samples():
    tallies = [Tally(5, 2.0), Tally(2, 1.2), Tally(0, 0.0), Tally(0, 0.0)]
    n = np.array([t.n for t in tallies]) + 1
    rng = np.random.default_rng(0)
    drawn = rng.normal([t.total for t in tallies] / n, 0.4 / np.sqrt(n), (200_000, 4))
    share = np.bincount(drawn.argmax(axis=1), minlength=4) / len(drawn)
    assert posterior_best(tallies, np.full(4, 0.25), 0.4) == pytest.approx(share, abs=0.005)


@pytest.mark.parametrize(("name", "options"), [("ucb", {"width": 0.3}), ("thompson", {"sd": 0.5})])
def test_it_is_found_by_name_and_learns_the_best_arm(name, options, store):
    world = Toy("bandit", seed=3, choices=3)
    agent = registry.create(
        "agents", name, options, store=store, evaluator=EnvironmentRewards(), settings=None
    )
    scores = live(agent, world, 200)
    best = world.best_return(world.tasks()[0])
    assert np.mean(scores[-100:]) > 0.8 * best
    assert len(list(store.episodes())) == 200


def test_what_is_excluded_is_not_looked_at_but_counted(store):
    world = Toy("bandit", seed=3, choices=3)
    agent = ucb(store, EnvironmentRewards())
    live(agent, world, 5)
    task = world.tasks()[0]
    acting = agent.episode(exclude=frozenset({task.id}))
    episode = play(Trial(task, 0, 9, 0), world, ToyPrior(sd=0.0), acting)
    decision = episode.steps[0].decision
    assert decision.excluded == 5
    assert [c.visits for c in decision.candidates] == [0.0] * 3


def test_quarantined_rows_count_no_more(store):
    world = Toy("bandit", seed=3, choices=3)
    agent = thompson(store, EnvironmentRewards())
    live(agent, world, 4)
    first = next(store.episodes()).key
    store.set_status("quarantined", episodes=[first])
    acting = agent.episode()
    episode = play(Trial(world.tasks()[0], 0, 9, 0), world, ToyPrior(sd=0.0), acting)
    assert sum(c.visits for c in episode.steps[0].decision.candidates) == 3


def test_an_episode_sees_the_memory_as_it_stood_at_the_given_version(store):
    world = Toy("bandit", seed=3, choices=3)
    agent = ucb(store, EnvironmentRewards())
    live(agent, world, 2)
    then = store.head()
    other = ucb(store, EnvironmentRewards())
    live(agent, world, 1, seed=1)
    acting = other.episode(until=then)
    episode = play(Trial(world.tasks()[0], 0, 9, 0), world, ToyPrior(sd=0.0), acting)
    assert sum(c.visits for c in episode.steps[0].decision.candidates) == 2


def test_a_version_is_seen_as_it_was_though_others_have_seen_a_later_one(store):
    world, agent = Toy("bandit", choices=3, seed=2), ucb(store, EnvironmentRewards())
    live(agent, world, 3)
    trial, then = Trial(world.tasks()[0], 0, 99, 0), store.head()
    before = play(trial, world, ToyPrior(sd=0.0), agent.episode(until=then)).steps[0].decision
    live(agent, world, 3, seed=1)
    late = play(trial, world, ToyPrior(sd=0.0), agent.episode(until=then)).steps[0].decision
    assert late == before
    assert late.version == then


def test_its_decisions_hold_the_chance_of_the_choice(store):
    world = Toy("bandit", seed=3, choices=3)
    agent = thompson(store, EnvironmentRewards())
    live(agent, world, 3)
    for kept in store.episodes():
        decision = kept.steps[0].decision
        assert sum(c.propensity for c in decision.candidates) == pytest.approx(1.0)
        assert decision.chosen.propensity > 0


@pytest.mark.parametrize(
    ("make", "options"), [(ucb, {"gamma": 1.5}), (ucb, {"width": 0.0}), (thompson, {"sd": -1.0})]
)
def test_a_setting_out_of_range_is_refused(make, options, store):
    with pytest.raises(ConfigError, match=next(iter(options))):
        make(store, EnvironmentRewards(), **options)


def test_scopes_do_not_mix(store):
    world = Toy("bandit", seed=3, choices=3)
    agent = ucb(store, EnvironmentRewards())
    live(agent, world, 3)
    task = dataclasses.replace(world.tasks()[0], scope="elsewhere")
    acting = agent.episode()
    acting.begin(task, key="k", rng=np.random.default_rng(0))
    assert agent.table("elsewhere", frozenset(), None).tallies == {}
