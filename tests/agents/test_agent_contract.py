from functools import partial

import pytest
from made_agents import ALL, opened

from jitrl import registry
from jitrl.testing.agent import CHECKS


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("label", ALL)
def test_every_agent_keeps_the_contract(label, check):
    check(partial(opened, label))


def test_every_agent_without_weights_of_its_own_is_put_to_the_contract():
    # The agent gradient is put to it where torch is (tests/models/test_gradient.py).
    named = {label.removesuffix("-model") for label in ALL}
    assert named | {"gradient"} == set(registry.names("agents"))
