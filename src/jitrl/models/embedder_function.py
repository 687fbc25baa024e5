"""Embedders from functions of the user's own."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from jitrl.errors import ModelError
from jitrl.functions import own_function
from jitrl.language import counted


class FunctionEmbedder:
    """Vectors from ``function(texts)``, which returns one for each text, of any length but 0.

    What the function raises comes through. Its vectors are told apart by its name and a digest of
    the file it is defined in. What else it depends on, as a model, belongs into that file, too: a
    vector that is remembered is not asked for again.

    Args:
        path: Where to import it from: ``package.module:name``. A module that is not installed is
            looked for in the present folder.

    Raises:
        ConfigError: If the function cannot be imported or called.
    """

    def __init__(self, path: str) -> None:
        self._function = own_function(path)
        self.name = f"{path} {_digest(self._function)}".strip()

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """As :meth:`Embedder.embed`.

        Raises:
            ModelError: If it returned something else than a vector of numbers for each text.
        """
        given = self._function(list(texts))
        try:
            made = np.array(given, np.float32)
        except (TypeError, ValueError) as error:
            raise ModelError(f"{self.name} returned no vectors of numbers: {error}") from error
        if made.ndim != 2 or len(made) != len(texts) or not made.shape[1]:
            raise ModelError(
                f"{self.name} returned an array of shape {made.shape} for "
                f"{counted(len(texts), 'text')}; ({len(texts)}, D) is wanted"
            )
        if not np.isfinite(made).all():
            raise ModelError(f"{self.name} returned a number that is not finite")
        lengths = np.linalg.norm(made.astype(np.float64), axis=1, keepdims=True)
        scaled: np.ndarray = np.divide(made, lengths, out=np.zeros_like(made), where=lengths > 0)
        return scaled


def _digest(function: object) -> str:
    """Twelve hex digits of the file that defines a function; "" if there is none."""
    try:
        source = inspect.getsourcefile(function)  # type: ignore[arg-type]
        found = Path(source or "").read_bytes()
    except (TypeError, OSError):
        return ""
    return hashlib.sha256(found).hexdigest()[:12]
