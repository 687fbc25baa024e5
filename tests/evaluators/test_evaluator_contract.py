"""Our evaluators keep the contract that is shipped for plugins."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from judged import Model, answer

from jitrl.evaluators.checks import Checks
from jitrl.evaluators.composite import Composite, Part
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.evaluators.judge import Judge
from jitrl.evaluators.outcome import TerminalOutcome
from jitrl.evaluators.question import Question
from jitrl.evaluators.simulated import Simulated
from jitrl.testing.evaluator import CHECKS, Factory


def judge(**options):
    return Judge(writer=Model(lambda request: answered(request)), **options)


def answered(request):
    steps = request.schema.partition('"minItems": ')[2].partition(",")[0]
    return answer([1] * int(steps), "success" if "verdict" in request.schema else None)


def both():
    made = {"environment": EnvironmentRewards, "simulated": Simulated}
    parts = {"environment": Part(0.5), "simulated": Part(0.5)}
    return Composite(parts, member=lambda name, options: made[name](**options))


MAKERS = {
    "environment": EnvironmentRewards,
    "outcome": TerminalOutcome,
    "checks": Checks,
    "function": partial(Checks, lambda episode: 0.5),
    "judge, blind": judge,
    "judge, told": partial(judge, mode="told"),
    "question": partial(
        Question, "Is order 7 canceled?", writer=Model(lambda request: '{"score": 7}')
    ),
    "composite": both,
    "simulated": partial(Simulated, reliability=0.7, bias=0.2, kind="steps"),
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_the_contract_is_kept(make: Factory, check: Callable[[Factory], None]):
    check(make)
