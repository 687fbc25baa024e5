"""Actions that only the memory knows join the model's only where the environment offers them."""

import numpy as np

from jitrl.agents.corrected import Corrected
from jitrl.config import Memory
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Candidate, Episode, Outcome, Prompt, Proposal, State, Task, Transition

HERE, TASK = State("a room with a door"), Task("t", "leave", "s")


def offered(actions):
    """Candidates of a decision, the model proposing ``wait`` and the memory knowing ``open``."""
    with SQLiteStore(":memory:") as store:
        agent = Corrected(store, EnvironmentRewards(), Memory(preset="paper-web"))
        steps = (Transition(HERE, "open"),)
        agent.learn(Episode("e", "t", "s", steps, outcome=Outcome(1.0)))
        acting = agent.episode()
        acting.begin(TASK, key="k", rng=np.random.default_rng(0))
        proposal = Proposal((Candidate("wait", 0.0),), "made up", "made up")
        decision = acting.act(HERE, Prompt("leave", "a room", (), actions), proposal)
        return [c.action for c in decision.candidates]


def test_an_action_of_the_memory_that_is_not_offered_does_not_join():
    assert offered(("wait", "sit")) == ["wait"]


def test_an_action_of_the_memory_that_is_offered_joins():
    assert offered(("wait", "open")) == ["wait", "open"]


def test_where_nothing_is_listed_the_rule_decides():
    assert offered(()) == ["wait", "open"]
