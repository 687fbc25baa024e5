"""The arms of the learning results: every rule, baseline and disturbance by name.

``default`` and what is said to differ from it follow the default settings as they are now: so do
all arms of ``ROBUST`` and ``ABLATION``. The other rules are fixed: the kernel mean names every
setting, presets that are not the default are whole, and so are options of the tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from jitrl.bench.arms import TABLES
from jitrl.bench.priors import Belief
from jitrl.config import Memory, Rewards, checked
from jitrl.config_values import convert, plain
from jitrl.errors import InputError
from jitrl.presets import load

SCHEMA = "jitrl.bench.learn/2"


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
    prior: Belief = "uniform"
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
KERNEL_MEAN: Mapping[str, Any] = {
    "rule": {
        "unit": "rows",
        "kernel": 0.03,
        "backup": 0.0,
        "shrink": 1.0,
        "untried": "share",
        "optimism": 1.0,
        "explore": 0.0,
        "explore_rate": 0.65,
        "bonus": 0.0,
        "backoff": None,
        "baseline": "neighbors",
        "normalize": "max_abs",
        "floor": 0.0,
        "eps": 1e-8,
        "prior": "logit",
        "temperature_prior": 3.0,
        "beta": 10.0,
        "warmup": 1.0,
        "novelty": 0.0,
        "novelty_kernel": 0.05,
        "onward": 0.8,
        "repeat": 0.0,
        "repeat_action": 0.0,
        "episode": True,
        "untrusted": 0.2,
        "memory_only": "lowest",
        "choose": "sample",
        "temperature": 1.0,
        "kl_cap": None,
        "transfer": 1.0,
    },
    "retrieval": {
        "kind": "set",
        "ngram": 1,
        "context_weight": None,
        "context_ngram": None,
        "match_place": False,
        "threshold": 0.7,
        "k": 300,
        "cap": 0.999,
    },
    "gamma": 0.7,
}
"""Over up to 300 rows, sampled: beta 10, untried actions at V."""

MAIN: tuple[Arm, ...] = (
    DEFAULT,
    DURING,
    Arm("kernel mean, sampled", memory=KERNEL_MEAN),
    Arm("paper rule, best tuned", memory=TUNED_PAPER),
    Arm("paper-web", memory={"preset": "paper-web"}),
    Arm("released-web", memory={"preset": "released-web"}),
    *(Arm(agent, agent=agent, options=options) for agent, options in TABLES.items()),
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
    _without("untried at 0", untried="draw"),
    _without("nothing of the running episode", episode=False),
    _without("shrink .3", shrink=0.3),
    _without("no floor", floor=0.0),
)

SETS: Mapping[str, tuple[Arm, ...]] = {"main": MAIN, "robust": ROBUST, "ablation": ABLATION}


def changed(arms: tuple[Arm, ...], changes: Sequence[str]) -> tuple[Arm, ...]:
    """Each arm, and each arm with each of the changes, compared with the arm it came from.

    Args:
        changes: Settings of the memory, as ``rule.kernel=0.01, gamma=0.5``.

    Raises:
        InputError: If a change is not of that form.
        ConfigError: If a setting does not exist or cannot have that value.
    """
    found = list(arms)
    for arm in arms:
        for text in dict.fromkeys(changes):
            memory = _merged(arm.memory, text)
            named = checked(convert(memory, Memory, f"--set {text!r}"))
            load(named.preset).changed(named.rule, named.retrieval, named.gamma, named.admission)
            name = f"{arm.name}, {text}" if len(arms) > 1 else text
            found.append(replace(arm, name=name, memory=memory, against=arm.name))
    return tuple(found)


def _merged(memory: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Settings of a memory with the changes that ``text`` names."""
    merged: dict[str, Any] = {
        k: dict(v) if isinstance(v, Mapping) else v for k, v in memory.items()
    }
    for part in text.split(","):
        name, is_change, value = part.strip().partition("=")
        group, dot, setting = name.partition(".")
        if not is_change or not name:
            raise InputError(f"--set {text!r} is not of the form rule.kernel=0.01, gamma=0.5")
        if dot:
            merged.setdefault(group, {})[setting] = plain(value)
        else:
            merged[group] = plain(value)
    return merged


def fewer(arms: tuple[Arm, ...], attempts: int) -> tuple[Arm, ...]:
    """The same arms with at most so many attempts."""
    return tuple(replace(arm, attempts=min(arm.attempts, attempts)) for arm in arms)
