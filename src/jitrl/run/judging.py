"""Who judges and who writes, by their names in the settings or handed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any, cast

from jitrl import registry
from jitrl.config import Settings
from jitrl.errors import ConfigError
from jitrl.evaluators.checks import Checks, Function
from jitrl.models.calls import Meter
from jitrl.ports import Evaluator, Writer
from jitrl.run.folder import ledger
from jitrl.run.ledger import Phase


def evaluator_of(settings: Settings, meter: Meter | None = None) -> Evaluator:
    """The evaluator that ``settings`` name.

    Args:
        meter: Counts the calls of a model that judges.

    Raises:
        ConfigError: If it does not exist, or does not take its options.
    """
    memory = settings.memory
    return evaluator_named(
        memory.evaluator, memory.evaluator_options, partial(written, settings, meter)
    )


def evaluator_named(
    name: str, options: Mapping[str, Any], writer: Callable[[], Writer]
) -> Evaluator:
    """The evaluator of a name and options; ``writer`` is lent to it and to its members.

    Raises:
        ConfigError: If it does not exist, or does not take its options.
    """

    def member(name: str, options: Mapping[str, Any]) -> Evaluator:
        return evaluator_named(name, options, writer)

    made = registry.create("evaluators", name, options, writer=writer, member=member)
    return cast(Evaluator, made)


def handed(given: Evaluator | Function) -> Evaluator:
    """The evaluator that was handed in, or the checks that a function makes.

    Raises:
        ConfigError: If it is neither.
    """
    if hasattr(given, "judge"):
        for attribute, kind in (("name", str), ("told", bool)):
            if not isinstance(getattr(given, attribute, None), kind):
                raise ConfigError(
                    f"evaluator {given!r} has no {attribute} that is a {kind.__name__}; an "
                    "evaluator says who it is and whether it is told the outcome"
                )
        return cast(Evaluator, given)
    if not callable(given):
        raise ConfigError(
            f"evaluator is {given!r}; it must be a name, an object with judge(episode), or a "
            "function of the episode"
        )
    return Checks(given)


def lent(settings: Settings, path: str, phase: Phase, undo: ExitStack) -> Writer:
    """The model that writes for the memory in a file; what it costs counts in its folder's ledger.

    Args:
        undo: Closes the ledger.

    Raises:
        ConfigError: As ``written``.
    """
    folder = None if path == ":memory:" else Path(path).parent
    counted = undo.enter_context(closing(ledger(folder, settings.budget)))
    return written(settings, counted.meter(phase))


def written(settings: Settings, meter: Meter | None = None) -> Writer:
    """The model that writes: the one of ``[writer]``, else the frozen model itself.

    Raises:
        ConfigError: If it does not exist, does not take its options, or does not write.
    """
    named = settings.writer if settings.writer.name else settings.model
    made = registry.create("models", named.name, named.options, meter=meter)
    if not hasattr(made, "writer"):
        raise ConfigError(
            f"model {named.name!r} does not write text; name one that does: --set "
            "writer.name=openai --set writer.options=model=NAME, or [writer] of jitrl.toml"
        )
    return cast(Writer, made.writer())
