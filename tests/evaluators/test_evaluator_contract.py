"""Our evaluators keep the contract that is shipped for plugins."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.evaluators.outcome import TerminalOutcome
from jitrl.testing.evaluator import CHECKS, Factory


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("make", [EnvironmentRewards, TerminalOutcome])
def test_the_contract_is_kept(make: Factory, check: Callable[[Factory], None]):
    check(make)
