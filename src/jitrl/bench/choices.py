"""Experiments on the choices that a correction of scores rests on: arms by name, and worlds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SCHEMA = "jitrl.bench.choices/1"
DEFAULT = "default"
STATIC = "static"


@dataclass(frozen=True, slots=True)
class Choice:
    """One question, and the arms that answer it.

    Attributes:
        arms: As ``jitrl compare --arm`` takes them; the first is what the others differ from.
        differ: Terms of comparison in which the arms differ on purpose.
        values: Labels of the arms that are values of one setting, in their order; empty if none.
        extras: Label of an arm to the package that it needs; without it, the arm is left out.
    """

    asks: str
    arms: tuple[str, ...]
    differ: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    extras: Mapping[str, str] = field(default_factory=dict)


World = Mapping[str, Mapping[str, Any]]
"""Settings of an experiment, by group, that are not given on the command line."""


def _curve(asks: str, setting: str, values: tuple[str, ...], default: str) -> Choice:
    """Values of one setting of the memory, each an arm, beside the default and the static agent."""
    name = setting.rpartition(".")[2]
    labels = {value: f"{name} {value}" for value in values}
    arms = tuple(
        f"{labels[value]}=jitrl,memory.{setting}={value}" for value in values if value != default
    )
    order = tuple(DEFAULT if value == default else labels[value] for value in values)
    return Choice(asks, (f"{DEFAULT}=jitrl", STATIC, *arms), values=order)


_ROWS = "memory.rule.transfer=0"
"""No lessons of other tasks: only neighbors reach the choice. `prompt-update` says what the
neighbors are, not what lessons are, and finds none of other tasks as long as there are lessons."""
_RETRIEVAL = "memory.retrieval"
_RULE = "memory.rule"
_EMBEDDED = (
    f"embedded=jitrl,{_RETRIEVAL}.kind=embedding,{_RETRIEVAL}.threshold=0.99,"
    f"{_RULE}.kernel=0.005,{_RULE}.backoff=0.02,{_RULE}.novelty_kernel=0.01",
    f"wordllama=jitrl,{_RETRIEVAL}.kind=embedding,{_RETRIEVAL}.embedder=wordllama,"
    f"{_RETRIEVAL}.threshold=0.7,"
    f"{_RULE}.kernel=0.1,{_RULE}.backoff=0.3,{_RULE}.novelty_kernel=0.15",
)
"""Threshold and widths of kernels fit the spread of each embedder's cosines: the best of several on
tasks that no world below has."""

CHOICES: Mapping[str, Choice] = {
    "update": Choice(
        "Does it help more to correct scores or to tell the model in its prompt?",
        (
            f"rows in scores=jitrl,{_ROWS}",
            f"rows in prompt=prompt-update,{_ROWS}",
            f"best row in prompt=prompt-update,{_ROWS},run.options.say=best",
            STATIC,
            "oracle-hint",
            f"{DEFAULT}=jitrl",
        ),
    ),
    "similarity": Choice(
        "Are states alike by common words, by an embedding, or only if they are the same?",
        (
            f"{DEFAULT}=jitrl",
            STATIC,
            f"exact=jitrl,{_RETRIEVAL}.threshold=1",
            *_EMBEDDED,
            f"{DEFAULT} rows only=jitrl,{_ROWS}",
            f"exact rows only=jitrl,{_ROWS},{_RETRIEVAL}.threshold=1",
            *(f"{arm.replace('=', ' rows only=', 1)},{_ROWS}" for arm in _EMBEDDED),
        ),
        extras={"wordllama": "wordllama", "wordllama rows only": "wordllama"},
    ),
    "choose": Choice(
        "Take the best corrected action, or sample?",
        (
            f"{DEFAULT}=jitrl",
            STATIC,
            *(
                f"sampled {t}=jitrl,memory.rule.choose=sample,memory.rule.temperature={t}"
                for t in ("1", "5", "20")
            ),
        ),
    ),
    "scores": Choice(
        "Log-probabilities of tokens, or scores that the model states?",
        tuple(
            f"{agent} {scorer}={agent},model.options.scorer={scorer}"
            for agent in ("jitrl", "static")
            for scorer in ("letters", "verbalized", "sampling")
        ),
        differ=("model",),
    ),
    "k": _curve(
        "How many rows may a decision use?",
        "retrieval.k",
        ("1", "3", "10", "30", "100", "null"),
        "null",
    ),
    "beta": _curve(
        "How much weighs an advantage against the model's logits?",
        "rule.beta",
        ("0", "1", "3", "10", "30", "90", "300"),
        "90",
    ),
    "gamma": _curve(
        "How far back does a reward reach?",
        "gamma",
        ("0", "0.3", "0.5", "0.6", "0.7", "0.8", "0.9", "0.99"),
        "0.6",
    ),
    "threshold": _curve(
        "How alike must states be?",
        "retrieval.threshold",
        ("0.2", "0.35", "0.5", "0.65", "0.8", "0.9", "0.99"),
        "0.5",
    ),
    "novelty": _curve(
        "How much is an untried action worth?",
        "rule.novelty",
        ("0", "3", "10", "30", "100"),
        "30",
    ),
    "warmup": _curve(
        "How many visits until the correction counts in full?",
        "rule.warmup",
        ("1", "3", "10", "30", "100"),
        "10",
    ),
}

_UNIFORM = {"name": "scripted"}
WORLDS: Mapping[str, World] = {
    "backoffice": {
        "environment": {
            "name": "backoffice",
            "options": {"templates": ["find:list"], "instances": 12},
        },
        "model": _UNIFORM,
        "run": {"tasks": 12, "attempts": 10, "seeds": 3, "max_steps": 8},
    },
    "text": {
        "environment": {
            "name": "textworld-express",
            "options": {"games": ["twc", "cook", "coin"], "seeds": list(range(40, 46))},
        },
        "model": _UNIFORM,
        "run": {"attempts": 10, "seeds": 2},
    },
}
"""Small enough that eight arms take minutes on two cores; every setting can be given instead."""


def given(world: World, flags: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The settings of ``world`` with those of the command line over them.

    Options of another environment or model than the world's do not mix with the world's own.
    """
    merged: dict[str, dict[str, Any]] = {}
    for group in {**world, **flags}:
        mine, theirs = dict(world.get(group, {})), flags.get(group, {})
        if "name" in theirs and theirs["name"] != mine.get("name"):
            mine.pop("options", None)
        merged[group] = {**mine, **theirs}
    return merged


def fitting(asked: Mapping[str, Mapping[str, Any]], tasks: int) -> dict[str, dict[str, Any]]:
    """``asked`` with no more tasks than the environment has."""
    fitted = {group: dict(table) for group, table in asked.items()}
    most = fitted.get("run", {}).get("tasks")
    if isinstance(most, int):
        fitted["run"]["tasks"] = min(most, tasks)
    return fitted
