"""The contract of environments finds one whose codec makes empty states."""

import pytest

from jitrl.envs.codecs.plain import PlainCodec
from jitrl.envs.toy import Toy
from jitrl.testing.environment import no_state_is_empty
from jitrl.types import State


class Blind(PlainCodec):
    def state(self, observation, history):
        return State(" \n")


class Unseen(Toy):
    """A world whose states hold no more than white space."""

    def __init__(self):
        super().__init__(tasks=2, size=2)
        self.codec = Blind()


def test_a_codec_that_makes_empty_states_breaks_the_contract():
    no_state_is_empty(lambda: Toy(tasks=2, size=2))
    with pytest.raises(AssertionError, match="a state is empty"):
        no_state_is_empty(Unseen)
