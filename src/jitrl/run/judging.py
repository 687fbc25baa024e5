"""Who judges and who writes, by their names in the settings."""

from __future__ import annotations

from functools import partial
from typing import cast

from jitrl import registry
from jitrl.config import Settings
from jitrl.errors import ConfigError
from jitrl.models.calls import Meter
from jitrl.ports import Evaluator, Writer


def evaluator_of(settings: Settings, meter: Meter | None = None) -> Evaluator:
    """The evaluator that ``settings`` name.

    Args:
        meter: Counts the calls of a model that judges.

    Raises:
        ConfigError: If it does not exist, or does not take its options.
    """
    memory = settings.memory
    lent = {"writer": partial(written, settings, meter)}
    made = registry.create("evaluators", memory.evaluator, memory.evaluator_options, **lent)
    return cast(Evaluator, made)


def written(settings: Settings, meter: Meter | None = None) -> Writer:
    """The model that writes: the one of ``[writer]``, else the frozen model itself.

    Raises:
        ConfigError: If it does not exist, does not take its options, or does not write.
    """
    named = settings.writer if settings.writer.name else settings.model
    made = registry.create("models", named.name, named.options, meter=meter)
    if not hasattr(made, "writer"):
        raise ConfigError(
            f"model {named.name!r} does not write text; name one that does in [writer], such as "
            'name = "openai" with options.model'
        )
    return cast(Writer, made.writer())
