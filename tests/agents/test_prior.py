import math
from dataclasses import replace

import numpy as np
import pytest
from made_agents import ALL, opened

from jitrl.agents.prior import chosen_from, own_choice, prior_of
from jitrl.errors import ConfigError, InputError
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Candidate, Prompt, Proposal, State, Task

TWO = Proposal((Candidate("a", 0.0), Candidate("b", math.log(3.0))), "made-up", "model")
WRONG = {
    "twice": (Candidate("a", 0.0), Candidate("a", 1.0)),
    "not finite": (Candidate("a", math.nan),),
    "none": (),
}


def test_the_prior_is_the_softmax_of_the_logits_over_the_temperature():
    decision = own_choice(TWO, prior_of("mine", 0.5, "sample"), np.random.default_rng(0))
    assert [c.propensity for c in decision.candidates] == pytest.approx([0.1, 0.9])
    assert decision.scorer == "made-up"


def test_a_choice_without_a_memory_is_no_share_of_a_correction():
    decision = own_choice(TWO, prior_of("mine", 1.0, "sample"), np.random.default_rng(0))
    assert decision.share == 1.0


def test_other_propensities_choose_by_the_same_draw():
    alone = own_choice(TWO, prior_of("mine", 1.0, "sample"), np.random.default_rng(0))
    assert (alone.draws[0] > 0.25, alone.action) == (True, "b")
    a, b = alone.candidates
    a = replace(a, propensity=0.75, probability=0.5, prior=1.0)
    b = replace(b, propensity=0.25, probability=0.5, prior=0.0)
    decision = chosen_from(alone, [a, b])
    assert (decision.action, decision.candidates, decision.draws) == ("a", (a, b), alone.draws)
    assert decision.kl == pytest.approx(0.5 * math.log(0.5) + 0.5 * math.log(0.5 / 1e-300))


def test_a_temperature_that_is_impossible_names_the_agent():
    with pytest.raises(ConfigError, match=r"^agent mine: .*temperature"):
        prior_of("mine", -1.0, "sample")


@pytest.mark.parametrize("candidates", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("label", [name for name in ALL if name not in ("ucb", "thompson")])
def test_candidates_that_cannot_be_chosen_from_are_an_error_of_input(label, candidates):
    with SQLiteStore(":memory:") as store:
        acting = opened(label, store, EnvironmentRewards()).episode()
        acting.begin(Task("t", "Win."), key="k", rng=np.random.default_rng(0))
        prompt = acting.advise(State("here"), Prompt("Win.", "here", (), ("a", "b")))
        with pytest.raises(InputError):
            acting.act(State("here"), prompt, Proposal(candidates, "made-up", "model"))
