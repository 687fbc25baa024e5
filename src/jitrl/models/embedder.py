"""Embedder ``embedded``: the mean of SmolLM2's last hidden states, in this process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from jitrl.models.embedded import EmbeddedEndpoint

WINDOW = 512  # tokens that see each other; time would grow with the square of longer ones
MOST = 2048  # tokens of a text that are read


class EmbeddedEmbedder:
    """Vectors from the embedded model, 576 numbers each; .12 s for a text of 27 tokens.

    A text is cut into windows of 512 tokens, each runs by itself, and the normed states of the last
    layer are averaged over all tokens. What comes after 2,048 tokens is not read. The vectors of
    such a model lie close together (cosines of .91 and more between pages of one shop), so a
    threshold that fits words does not fit them.

    Args:
        path: A model file of your own, as for the model ``embedded``.

    Raises:
        ModelError: If there is no model file.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._endpoint = EmbeddedEndpoint(path)
        self._endpoint.locate()
        self.name = f"embedded/1 {self._endpoint.identity}"

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """As :meth:`Embedder.embed`; each text runs by itself."""
        loaded = self._endpoint.load()
        made = np.zeros((len(texts), loaded.network.width), np.float32)
        for row, text in zip(made, texts, strict=True):
            tokens = np.array(loaded.tokenizer.encode(text)[:MOST], np.int64)
            for start in range(0, len(tokens), WINDOW):
                window = tokens[start : start + WINDOW]
                count = len(window)
                visible = np.tri(count, dtype=bool)
                passed = loaded.network.forward(
                    window, np.arange(count), visible, None, slice(None)
                )
                row += passed.hidden.sum(axis=1)
            length = float(np.linalg.norm(row))
            if length > 0.0:
                row /= length
        return made
