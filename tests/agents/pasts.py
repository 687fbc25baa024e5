"""Past episodes out of thin air, and a store that holds some."""

from jitrl.agents.past import PastEpisode
from jitrl.core.credit import derive_rows
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.types import Episode, State, Transition


def episode(key, *steps, task="t", goal="Win.", scope="s", info=None, ended=True, rewards=None):
    """An episode of steps ``place:action``; the last one is paid 1 unless ``rewards`` say more."""
    pairs = [step.split(":") for step in steps]
    paid = rewards or [0.0] * (len(pairs) - 1) + [1.0]
    states = [State(place) for place, _ in pairs]
    made = tuple(
        Transition(states[t], action, None, paid[t], states[t + 1] if t + 1 < len(pairs) else None)
        for t, (_, action) in enumerate(pairs)
    )
    status = "terminated" if ended else "truncated"
    return Episode(key, task, scope, made, status, info={"goal": goal, **(info or {})})


def past(key, *steps, **more):
    """The same as one that was read back."""
    made = episode(key, *steps, **more)
    rows = derive_rows(made, EnvironmentRewards().judge(made), gamma=0.5)
    return PastEpisode(rows, made.info["goal"], made.info)


def put(store, *episodes):
    """Commit them with the environment's rewards."""
    for one in episodes:
        judgment = EnvironmentRewards().judge(one)
        store.commit(one, judgment, derive_rows(one, judgment, gamma=0.5))
