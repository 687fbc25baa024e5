"""The arms of the learning results: every rule, baseline and disturbance by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from jitrl.config import Rewards

Prior = Literal["uniform", "misleading", "oracle"]


@dataclass(frozen=True, slots=True)
class Arm:
    """One agent in one setting.

    Attributes:
        agent: Entry point of ``jitrl.agents``.
        options: The agent's own options.
        memory: Settings of the memory that differ from the default ones.
        rewards: When the agent learns of rewards.
        prior: What the frozen model believes.
        p: Its probability of the action it favors; of no account for ``uniform``.
        slip: Probability that a uniformly drawn valid action happens instead.
        shift: Constant added to each step's reward, taken off again in the score.
        attempts: Episodes of each game and seed.
        against: Arm it is compared with; the first arm of the run if empty.
    """

    name: str
    agent: str = "jitrl"
    options: Mapping[str, Any] = field(default_factory=dict)
    memory: Mapping[str, Any] = field(default_factory=dict)
    rewards: Rewards = "after"
    prior: Prior = "uniform"
    p: float = 0.0
    slip: float = 0.0
    shift: float = 0.0
    attempts: int = 25
    against: str = ""


DEFAULT = Arm("default")
DURING = Arm("default, rewards during", rewards="during")
STATIC = Arm("static", agent="static")
TUNED_PAPER: Mapping[str, Any] = {
    "preset": "paper-web",
    "rule": {"beta": 10.0, "explore": 0.0},
    "retrieval": {"threshold": 0.9},
    "gamma": 0.8,
}
RULE_A: Mapping[str, Any] = {
    "rule": {
        "unit": "rows",
        "backup": 0.0,
        "optimism": 1.0,
        "backoff": None,
        "floor": 0.0,
        "temperature_prior": 3.0,
        "beta": 10.0,
        "novelty": 0.0,
        "repeat": 0.0,
        "repeat_action": 0.0,
        "choose": "sample",
    },
    "retrieval": {"threshold": 0.7, "k": 300},
    "gamma": 0.7,
}
"""A kernel mean over up to 300 rows, sampled: beta 10, untried actions at V."""

MAIN: tuple[Arm, ...] = (
    DEFAULT,
    DURING,
    Arm("kernel mean, sampled", memory=RULE_A),
    Arm("paper rule, best tuned", memory=TUNED_PAPER),
    Arm("paper-web", memory={"preset": "paper-web"}),
    Arm("released-web", memory={"preset": "released-web"}),
    Arm("ucb", agent="ucb"),
    Arm("thompson", agent="thompson"),
    STATIC,
)


def _oracle(p: float) -> tuple[Arm, ...]:
    alone = f"static, oracle prior {p:g}"
    known: Mapping[str, Any] = {"prior": "oracle", "p": p, "attempts": 1, "against": alone}
    return (
        Arm(f"default, oracle prior {p:g}", **known),
        Arm(alone, agent="static", **known),
    )


ROBUST: tuple[Arm, ...] = (
    DEFAULT,
    Arm("wrong prior .9", prior="misleading", p=0.9),
    Arm("slip .1", slip=0.1),
    Arm("rewards + 1", shift=1.0),
    Arm("rewards - 1", shift=-1.0),
    *(arm for p in (0.5, 0.7, 0.9) for arm in _oracle(p)),
)


def _without(name: str, **rule: Any) -> Arm:
    return Arm(name, memory={"rule": rule})


ABLATION: tuple[Arm, ...] = (
    DEFAULT,
    _without("kernel .01", kernel=0.01),
    _without("kernel .1", kernel=0.1),
    _without("no kernel", kernel=None),
    _without("no novelty", novelty=0.0),
    _without("no novelty behind actions", onward=0.0),
    _without("no repeat penalties", repeat=0.0, repeat_action=0.0),
    _without("sampled", choose="sample"),
    _without("mean returns only", backup=0.0),
    _without("backed-up values only", backup=1.0),
    _without("no back-off", backoff=None),
    Arm("gamma .5", memory={"gamma": 0.5}),
    Arm("gamma .9", memory={"gamma": 0.9}),
    _without("optimism 0", optimism=0.0),
    _without("optimism 1", optimism=1.0),
    _without("shrink .3", shrink=0.3),
    _without("no floor", floor=0.0),
)

SETS: Mapping[str, tuple[Arm, ...]] = {"main": MAIN, "robust": ROBUST, "ablation": ABLATION}


def fewer(arms: tuple[Arm, ...], attempts: int) -> tuple[Arm, ...]:
    """The same arms with at most so many attempts."""
    return tuple(replace(arm, attempts=min(arm.attempts, attempts)) for arm in arms)
