"""Forward pass of a Llama-architecture network in plain numpy, float32 throughout.

RMSNorm, rotary positions on interleaved pairs, grouped-query attention and a SiLU-gated feed
forward, as in SmolLM2. Everything that can be multiplied into the weights once (norm gains, the
attention scale) is, at load. The pass takes any visibility among its new tokens, so a prompt and a
trie of continuations go through together. Tokens lie along the last axis: products of a few tokens
with large weights are then up to twice as fast, and no step needs a transposed copy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jitrl.errors import ModelError
from jitrl.models.gguf import GGUF


@dataclass(frozen=True, slots=True)
class Layer:
    """Weights of one block, output axis first.

    Attributes:
        qkv: Queries, keys and values one below the other, attention gain and scale folded in.
        out: Attention output.
        gate_up: Gate and up projection one below the other, feed-forward gain folded in.
        down: Feed-forward output.
    """

    qkv: np.ndarray
    out: np.ndarray
    gate_up: np.ndarray
    down: np.ndarray


@dataclass(frozen=True, slots=True)
class Weights:
    """Everything that a pass multiplies with, as arrays that must not be written to.

    Attributes:
        embedding, head: Shape [vocabulary, width] each; one array where they are tied.
        head_gain: Gain of the last norm, shape [width].
        blocks: The layers, first to last.
        turns: Radians per position of each pair of a head's axis, shape [head / 2].
        epsilon: Of the norms.
    """

    embedding: np.ndarray
    head: np.ndarray
    head_gain: np.ndarray
    blocks: tuple[Layer, ...]
    turns: np.ndarray
    epsilon: float


@dataclass(frozen=True, slots=True)
class Passed:
    """What a forward pass leaves.

    Attributes:
        hidden: Normed final states of the tokens read, shape [width, R].
        memory: Keys and values of the new tokens, shape [layers, 2, kv heads, head width, T].
    """

    hidden: np.ndarray
    memory: np.ndarray


class Llama:
    """A network loaded from a model file.

    Args:
        file: Its tensors are dequantised to float32 once, here.

    Raises:
        ModelError: If the file holds another architecture or lacks a tensor.
    """

    def __init__(self, file: GGUF) -> None:
        architecture = file.value("general.architecture")
        if architecture != "llama":
            raise ModelError(f"{file.path} holds a {architecture!r} model; only 'llama' is read")
        self.context = int(file.value("llama.context_length"))
        self.layers = int(file.value("llama.block_count"))
        self.width = int(file.value("llama.embedding_length"))
        self.heads = int(file.value("llama.attention.head_count"))
        self.kv_heads = int(file.value("llama.attention.head_count_kv"))
        self.head = self.width // self.heads
        self._epsilon = np.float32(file.value("llama.attention.layer_norm_rms_epsilon"))
        base = float(file.value("llama.rope.freq_base"))
        self._turns = base ** -(np.arange(0, self.head, 2) / self.head)
        self._embedding = file.tensor("token_embd.weight")
        is_tied = "output.weight" not in file.tensors
        self._head = self._embedding if is_tied else file.tensor("output.weight")
        self._head_gain = file.tensor("output_norm.weight")
        self._blocks = [self._load(file, f"blk.{i}.") for i in range(self.layers)]

    def _load(self, file: GGUF, prefix: str) -> Layer:
        def weight(name: str) -> np.ndarray:
            return file.tensor(f"{prefix}{name}.weight")

        qkv = np.concatenate([weight("attn_q"), weight("attn_k"), weight("attn_v")])
        qkv *= weight("attn_norm")
        qkv[: self.width] *= np.float32(self.head**-0.5)
        gate_up = np.concatenate([weight("ffn_gate"), weight("ffn_up")])
        gate_up *= weight("ffn_norm")
        return Layer(qkv, weight("attn_output"), gate_up, weight("ffn_down"))

    @property
    def weights(self) -> Weights:
        """The arrays themselves, for another library to calculate with."""
        return Weights(
            self._embedding,
            self._head,
            self._head_gain,
            tuple(self._blocks),
            self._turns,
            float(self._epsilon),
        )

    @property
    def size(self) -> int:
        """Bytes that the weights take in memory."""
        weights = [self._embedding]
        for block in self._blocks:
            weights += [block.qkv, block.out, block.gate_up, block.down]
        return sum(weight.nbytes for weight in weights)

    def forward(
        self,
        tokens: np.ndarray,
        positions: np.ndarray,
        visible: np.ndarray,
        past: np.ndarray | None,
        read: slice,
    ) -> Passed:
        """Run new tokens after a remembered prefix.

        Args:
            tokens: Shape [T].
            positions: Place of each token in its own sequence, shape [T].
            visible: Which new tokens (columns) each new token (rows) sees, shape [T, T]. The
                whole of ``past`` is seen by all.
            past: ``memory`` of the prefix, or ``None``.
            read: The tokens whose final state is wanted.
        """
        angles = self._turns[:, None] * positions
        sin, cos = np.sin(angles).astype(np.float32), np.cos(angles).astype(np.float32)
        bias = np.where(visible.T, np.float32(0), np.float32(-np.inf))
        count, rotated = len(tokens), self.heads + self.kv_heads
        memory = np.empty((self.layers, 2, self.kv_heads, self.head, count), np.float32)
        x = self._embedding[tokens].T
        for index, layer in enumerate(self._blocks):
            mixed = (layer.qkv @ self._norm(x)).reshape(-1, self.head, count)
            _rotate(mixed[:rotated], sin, cos)
            queries = mixed[: self.heads]
            memory[index, 0] = mixed[self.heads : rotated]
            memory[index, 1] = mixed[rotated:]
            if index == self.layers - 1:  # earlier tokens only serve the ones that are read
                queries, x, bias = queries[..., read], x[:, read], bias[:, read]
            keys, values = memory[index]
            if past is not None:
                keys = np.concatenate([past[index, 0], keys], axis=2)
                values = np.concatenate([past[index, 1], values], axis=2)
            x = x + layer.out @ self._attend(queries, keys, values, bias)
            x += layer.down @ self._gated(layer.gate_up @ self._norm(x))
        return Passed(self._norm(x) * self._head_gain[:, None], memory)

    def log_probabilities(
        self, hidden: np.ndarray, places: np.ndarray, tokens: np.ndarray
    ) -> np.ndarray:
        """``log p(tokens[i])`` after state ``hidden[:, places[i]]``, float64."""
        logits = self._head @ hidden
        top = logits.max(axis=0)
        picked = logits[tokens, places].astype(np.float64)
        logits -= top
        np.exp(logits, out=logits)
        norm = top + np.log(logits.sum(axis=0, dtype=np.float64))
        result: np.ndarray = picked - norm[places]
        return result

    def _norm(self, x: np.ndarray) -> np.ndarray:
        power = np.einsum("ij,ij->j", x, x) / np.float32(self.width)
        result: np.ndarray = x / np.sqrt(power + self._epsilon)
        return result

    def _attend(
        self, queries: np.ndarray, keys: np.ndarray, values: np.ndarray, bias: np.ndarray
    ) -> np.ndarray:
        """Grouped-query attention; ``bias`` holds the new tokens only, which come last."""
        rows = queries.shape[-1]
        grouped = queries.reshape(self.kv_heads, -1, self.head, rows)
        scores = keys.swapaxes(1, 2)[:, None] @ grouped  # [kv heads, group, seen, rows]
        scores[..., keys.shape[-1] - len(bias) :, :] += bias
        scores -= scores.max(axis=2, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=2, keepdims=True)
        mixed: np.ndarray = values[:, None] @ scores
        return mixed.reshape(self.width, rows)

    def _gated(self, both: np.ndarray) -> np.ndarray:
        """SiLU(gate) * up, where ``both`` holds gate over up."""
        gate, up = np.split(both, 2)
        sigmoid: np.ndarray = np.exp(-np.maximum(gate, np.float32(-80)))
        sigmoid += 1
        np.divide(gate, sigmoid, out=sigmoid)
        sigmoid *= up
        return sigmoid


def _rotate(x: np.ndarray, sin: np.ndarray, cos: np.ndarray) -> None:
    """Turn each pair (2i, 2i + 1) of axis 1 by its token's angle, in place."""
    even, odd = x[:, 0::2], x[:, 1::2]
    turned = even * cos - odd * sin
    odd *= cos
    odd += even * sin
    even[:] = turned
