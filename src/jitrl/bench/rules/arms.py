"""The arms of the results on rules: which agent, with which settings, and what is planted.

All of them follow the default settings as they are now, but for what their names say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from jitrl.bench.rules.planted import Kind

What = Literal["together", "gates", "settings"]


@dataclass(frozen=True, slots=True)
class Arm:
    """One agent, and the book it begins with.

    Attributes:
        agent: Entry point of ``jitrl.agents``.
        options: Its options that differ from the default ones.
        planted: The kind of rules that are in its book from the start; "" for none.
        is_trusted: Whether they are active from the start, as if somebody vouched for them.
        against: Name of the arm that it is compared with; "" for the first one.
    """

    name: str
    agent: str = "rulebook"
    options: Mapping[str, Any] = field(default_factory=dict)
    planted: Kind | Literal[""] = ""
    is_trusted: bool = False
    against: str = ""


_BAD: tuple[Kind, ...] = ("harmful", "lucky", "idle")
NONE, RULES = Arm("none", "static"), Arm("rules")
_DEFAULT = Arm("default")
_HARMED = Arm("harmed book", planted="harmful", is_trusted=True, against="default")
_CROWDED = Arm(
    "crowded book",
    options={"tokens": 600},  # room for all that may be told
    planted="crowd",
    is_trusted=True,
    against="default",
)


def _settings(
    name: str, *values: float, of: str = "", on: Arm = _DEFAULT, where: str = ""
) -> tuple[Arm, ...]:
    """Arms that differ from ``on`` in one option, or in one setting of its gates."""
    return tuple(
        replace(
            on,
            name=f"{name} {value:g}{where}",
            options={**on.options, **({of: {name: value}} if of else {name: value})},
            against=on.name,
        )
        for value in values
    )


def _planted(kind: Kind, is_on: bool) -> Arm:
    """An arm whose book begins with rules of a kind, against the same without them."""
    options = {} if is_on else {"gates": False}
    against = "rules" if is_on else "gates off"
    name = f"planted {kind}, gates {'on' if is_on else 'off'}"
    return Arm(name, options=options, planted=kind, against=against)


SETS: Mapping[What, tuple[Arm, ...]] = {
    "together": (
        NONE,
        RULES,
        Arm("scores", "jitrl"),
        Arm("both", options={"scores": True}, against="scores"),
    ),
    "gates": (
        NONE,
        RULES,
        Arm("gates off", options={"gates": False}, against="rules"),
        *(_planted(kind, is_on) for kind in _BAD for is_on in (True, False)),
        Arm("planted harmful, trusted", planted="harmful", is_trusted=True, against="rules"),
    ),
    "settings": (
        _DEFAULT,
        NONE,
        *_settings("attempts", 4, 6, 10),
        *_settings("told", 1, 4, 5, 6),
        *_settings("threshold", 0.5, 1.0),
        *_settings("gap", 0.1, 0.5),
        *_settings("holdout", 0.1, 0.4),
        *_settings("temperature", 0.7, 0.8, 0.9),
        _HARMED,
        *_settings("bottom", 0.0, 0.05, 0.2, of="gates", on=_HARMED, where=", harmed book"),
        *_settings("told", 1, 4, 5, 6, on=_HARMED, where=", harmed book"),
        _CROWDED,
        *_settings("told", 1, 2, 4, 5, 6, on=_CROWDED, where=", crowded book"),
    ),
}
