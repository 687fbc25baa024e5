import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitrl.envs.turns import Turns
from jitrl.errors import InputError
from jitrl.types import Observation, Task

TASK = Task("game:1", "Win.")


def room(score=0.0, actions=("east", "west")):
    return Observation("A room.", TASK.goal, actions, info={"score": score})


def test_a_step_pays_the_change_of_the_score_and_the_shift():
    turns = Turns(10, shift=-0.5)
    assert turns.begin(TASK, room(2.0)).reward == 0.0
    assert turns.taken(room(5.0), over=False).reward == 2.5
    assert turns.taken(room(4.0), over=False).reward == -1.5


@given(st.lists(st.integers(-50, 50), min_size=2))
def test_the_rewards_sum_to_the_change_of_the_score(scores):
    turns = Turns(len(scores))
    turns.begin(TASK, room(scores[0]))
    total = sum(turns.taken(room(score), over=False).reward for score in scores[1:])
    assert total == scores[-1] - scores[0]


def test_a_game_is_cut_off_at_the_limit_unless_it_ends_there():
    turns = Turns(2)
    turns.begin(TASK, room())
    assert not turns.taken(room(), over=False).truncated
    last = turns.taken(room(), over=False)
    assert (last.terminated, last.truncated) == (False, True)
    turns.begin(TASK, room())
    assert not turns.taken(room(), over=False).truncated
    last = turns.taken(room(), over=True)
    assert (last.terminated, last.truncated) == (True, False)


@pytest.mark.parametrize("how", ["never begun", "over", "cut off", "given up"])
def test_no_action_is_taken_where_no_game_is_under_way(how):
    turns = Turns(1)
    if how != "never begun":
        turns.begin(TASK, room())
        turns.end() if how == "given up" else turns.taken(room(), over=how == "over")
    with pytest.raises(InputError, match=r"no episode is under way, so 'east' .* call reset"):
        turns.check("east")


def test_what_is_not_offered_now_is_refused_with_what_is():
    turns = Turns(3)
    turns.begin(TASK, room())
    assert turns.check("east") is TASK
    with pytest.raises(InputError, match=r"'game:1' has no 'up' now; it has \('east', 'west'\)"):
        turns.check("up")
    turns.taken(room(actions=("up",)), over=False)
    assert turns.check("up") is TASK


def test_of_many_actions_only_the_first_are_listed():
    turns = Turns(3)
    turns.begin(TASK, room(actions=tuple(f"push {i}" for i in range(500))))
    with pytest.raises(InputError, match=r"it has 500, such as .*'push 7'\)$"):
        turns.check("pull")
