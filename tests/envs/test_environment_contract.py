"""Our environments keep the contract that is shipped for plugins."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from jitrl.envs.toy import Toy
from jitrl.testing.environment import CHECKS, Factory

OURS: dict[str, Factory] = {
    "protocol": partial(Toy, "protocol", slip=0.2, tasks=3),
    "bandit": partial(Toy, "bandit", tasks=3),
    "maze": partial(Toy, "maze", slip=0.1),
    "mdp": partial(Toy, "mdp"),
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", OURS)
def test_the_contract_is_kept(name: str, check: Callable[[Factory], None]):
    check(OURS[name])
