"""Embedder ``wordllama``: the mean of static word vectors, a hundred times faster than a model."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from jitrl.errors import MissingExtra, ModelError
from jitrl.models.embedded import sha256

_WEIGHTS = "l2_supercat_256.safetensors"


class WordLlamaEmbedder:
    """Vectors of 256 numbers from the package ``wordllama``, whose wheel holds them.

    Nothing is downloaded. The package says MIT; its vectors were trained on top of the token
    embeddings of Llama 2, so look at the terms of both before you ship them.

    Raises:
        MissingExtra: If the package is not installed.
        ModelError: If it lacks its vectors.
    """

    def __init__(self) -> None:
        module = _imported()
        folder = Path(str(module.__file__)).parent
        try:
            # The package itself looks for its own files in a folder that does not exist, and would
            # go on to download them; as a cache, the folder where they are is found.
            self._model = module.WordLlama.load(cache_dir=folder, disable_download=True)
        except (FileNotFoundError, ValueError) as error:
            raise ModelError(
                f"wordllama in {folder} lacks its vectors: {error}; pip install --force-reinstall "
                "wordllama"
            ) from error
        digest = sha256(folder / "weights" / _WEIGHTS)
        self.name = f"wordllama {metadata.version('wordllama')} {digest}"

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """As :meth:`Embedder.embed`; each text by itself, since a batch is padded."""
        made = np.zeros((len(texts), self._model.embedding.shape[1]), np.float32)
        for row, text in zip(made, texts, strict=True):
            tokens = self._model.tokenize(text)[0].ids
            if tokens:
                row += self._model.embedding[tokens].mean(axis=0)
                row /= max(float(np.linalg.norm(row)), np.finfo(np.float32).tiny)
        return made


def _imported() -> Any:
    """The package, whose import would otherwise send every log of the process to the terminal."""
    root, nothing = logging.getLogger(), logging.NullHandler()
    root.addHandler(nothing)
    try:
        return importlib.import_module("wordllama")
    except ModuleNotFoundError as error:
        if error.name != "wordllama":
            raise
        raise MissingExtra(
            "the embedder wordllama needs its package: pip install 'jitrl[wordllama]', or use "
            "memory.retrieval.embedder = 'embedded'"
        ) from error
    finally:
        root.removeHandler(nothing)
