"""What makes vectors of states, by its name in the settings."""

from __future__ import annotations

from typing import cast

from jitrl import presets, registry
from jitrl.config import Memory
from jitrl.models.embedder_function import FunctionEmbedder
from jitrl.models.vectors import Remembered, beside
from jitrl.ports import Embedder


def embedder_of(name: str) -> Embedder:
    """The embedder of a name, or around a function ``package.module:name``; it remembers nothing.

    Raises:
        ConfigError: If it does not exist or cannot be loaded.
        MissingExtra: If it needs an optional package.
        ModelError: If its model file is missing.
    """
    if ":" in name:
        return FunctionEmbedder(name)
    return cast(Embedder, registry.create("embedders", name, {}))


def remembered(path: str, name: str) -> Embedder:
    """The embedder of ``name``, with its vectors in a file beside the memory file at ``path``.

    Raises:
        ConfigError, MissingExtra, ModelError: As ``embedder_of``.
        StoreError: If the file of vectors cannot be used.
    """
    return Remembered(embedder_of(name), beside(path))


def identity(memory: Memory) -> str:
    """Name of the embedder that ``memory`` searches with; "" where it compares words.

    Raises:
        ConfigError: If a setting of the memory has an impossible value.
        ConfigError, MissingExtra, ModelError: As ``embedder_of``.
    """
    retrieval = presets.load(memory.preset).changed(memory.rule, memory.retrieval).retrieval
    return embedder_of(retrieval.embedder).name if retrieval.kind == "embedding" else ""
