"""Model ``callable``: logits from a function of the user's own."""

from __future__ import annotations

import importlib
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from jitrl.errors import ConfigError, ModelError
from jitrl.models.calls import Answer, Meter, Rate, Request
from jitrl.models.proposer import ScoringProposer
from jitrl.models.scorers import Given
from jitrl.types import Candidate, Prompt

Function = Callable[[Prompt], Mapping[str, float] | Iterable[Candidate]]


class CallableModel(ScoringProposer):
    """A proposer around ``function(prompt)``, which returns action → logit or candidates.

    What the function raises comes through.

    Args:
        function: The function itself, or where to import it from: ``package.module:name``. A module
            that is not installed is looked for in the present folder.
        name: What the model is called in records; the function's own name if empty.
        temperature: Prior temperature: z is divided by it.
        cache, replay: File of answers to use, or to answer from alone. The function's name is all
            that tells its answers apart there: give a changed function another name.
        meter: Counts calls and holds the budget.

    Raises:
        ConfigError: If the function cannot be imported or called.
    """

    def __init__(
        self,
        function: Any,
        *,
        name: str = "",
        temperature: float = 1.0,
        cache: Path | None = None,
        replay: Path | None = None,
        meter: Meter | None = None,
    ) -> None:
        called = imported(function) if isinstance(function, str) else function
        if not callable(called):
            raise ConfigError(f"function is {called!r}, which cannot be called")
        name = name or getattr(called, "__name__", type(called).__name__)
        super().__init__(
            name,
            FunctionEndpoint(name, called),
            [Given("callable")],
            temperature=temperature,
            cache=cache,
            replay=replay,
            meter=meter,
        )


class FunctionEndpoint:
    """Answers :class:`Rate` requests with a function. Its calls cost no money."""

    local = True

    def __init__(self, model: str, function: Function) -> None:
        self.model = self.identity = model
        self._function = function

    def answer(self, request: Request, timeout: float) -> Answer:
        """As :meth:`Endpoint.answer`; the function is not cut off.

        Raises:
            ModelError: If it returned something else than one finite logit for each action.
        """
        if not isinstance(request, Rate):
            raise ConfigError(f"{self.model} is a function: it gives logits, not text")
        return Answer(logits=_logits(self.model, self._function(request.prompt), request.prompt))


def _logits(model: str, given: Any, prompt: Prompt) -> dict[str, float]:
    if not isinstance(given, Mapping):
        if not isinstance(given, Iterable) or isinstance(given, str):
            raise ModelError(
                f"{model} returned {given!r}; a mapping of action to logit, or candidates, are "
                "wanted"
            )
        listed = list(given)
        if not all(isinstance(one, Candidate) for one in listed):
            raise ModelError(f"{model} returned a list with something else than candidates")
        given = {one.action: one.logit for one in listed}
        if len(given) < len(listed):
            raise ModelError(f"{model} returned the same action twice")
    for action, logit in given.items():
        if not isinstance(action, str) or not action.strip():
            raise ModelError(f"{model} returned {action!r} as an action; actions are texts")
        if not isinstance(logit, float | int | np.number) or not math.isfinite(logit):
            raise ModelError(f"{model} gave {action!r} the logit {logit!r}; it must be finite")
    wanted = prompt.actions or tuple(given)
    if not given or set(given) != set(wanted):
        raise ModelError(
            f"{model} gave logits for {sorted(given)}, the step has {sorted(wanted) or 'none'}"
        )
    return {action: float(given[action]) for action in wanted}


def imported(path: str) -> Any:
    """What ``package.module:name`` names; a module may lie in the present folder.

    Raises:
        ConfigError: If it cannot be imported.
    """
    module, _, name = path.partition(":")
    try:
        return getattr(_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(
            f"function {path!r} cannot be imported: {error}; write it as package.module:name"
        ) from error


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0] or os.getcwd() in sys.path:
            raise
    sys.path.append(os.getcwd())  # last, so that no file there hides an installed package
    importlib.invalidate_caches()
    return importlib.import_module(name)
