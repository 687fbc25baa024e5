"""Weights to train, made from the settings of a run's model and lent to the agent that asks."""

from __future__ import annotations

import importlib
import threading
from pathlib import Path
from typing import Any

import msgspec

from jitrl.config import Model
from jitrl.errors import ConfigError
from jitrl.ports import Store
from jitrl.training import Matrices, Trainable

_READING = ("path", "length", "temperature", "language", "history")
"""Options of the embedded model that say how a step is read; its own checks come before."""


class Weights:
    """Makes weights on top of the model that ``model`` names; torch is loaded at the first call."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._factory: Any = None
        self._lock = threading.Lock()

    def __call__(
        self,
        store: Store,
        *,
        rank: int,
        alpha: float,
        layers: int,
        matrices: Matrices,
        rate: float,
        seed: int,
    ) -> Trainable:
        """As :class:`TrainableFactory`; kept beside the file of ``store``.

        Raises:
            ConfigError: If the model cannot be trained, or a setting is impossible.
            MissingExtra: If torch is missing.
        """
        with self._lock:
            if self._factory is None:
                self._factory = self._made()
        path = getattr(store, "path", ":memory:")
        made: Trainable = self._factory(
            rank=rank,
            alpha=alpha,
            layers=layers,
            matrices=matrices,
            rate=rate,
            seed=seed,
            checkpoint=None if path == ":memory:" else Path(path).with_suffix(".weights.npz"),
        )
        return made

    def _made(self) -> Any:
        name, options = self._model.name, self._model.options
        if name != "embedded":
            raise ConfigError(
                f"model {name!r} cannot be trained: its weights are not here; "
                "the agent needs model = embedded"
            )
        if options.get("scorer", "sequence") != "sequence":
            raise ConfigError(
                f"scorer {options['scorer']!r} cannot be trained; use scorer = sequence"
            )
        lora = importlib.import_module("jitrl.models.lora")
        reading = {key: options[key] for key in _READING if key in options}
        return lora.LoraFactory(
            msgspec.convert(reading, lora.Reading, strict=False, dec_hook=lambda t, v: t(v))
        )
