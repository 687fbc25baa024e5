"""The embedded network in torch: the same arrays, with gradients through its last layers.

The lower layers have no trained weights, so what they make of a step never changes: it is computed
once and kept, and a pass with gradients begins above them. That is exact, not an approximation. As
in the numpy pass, the prompt and a trie of all candidates go through together.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from jitrl.errors import InputError, MissingExtra
from jitrl.models import trie
from jitrl.models.llama import Layer, Llama

try:
    import torch
    from torch import Tensor
    from torch.nn import functional
except ModuleNotFoundError as missing:
    raise MissingExtra(
        "training weights needs torch: pip install 'jitrl[lora]' (on Linux, for a build without "
        "CUDA: pip install torch --index-url https://download.pytorch.org/whl/cpu)"
    ) from missing

Change = Callable[[int, str, "Tensor"], "Tensor | None"]
"""From a layer, the name of one of its matrices and its input, [T, in], to what is added to the
product, [T, out]; ``None`` adds nothing."""

NAMES = ("q", "k", "v", "out", "gate", "up", "down")


def unchanged(layer: int, name: str, x: Tensor) -> Tensor | None:
    """The frozen network."""
    return None


@dataclass(frozen=True, slots=True)
class Step:
    """A prompt with its candidates, as far up as nothing is trained.

    Attributes:
        x: Hidden states below the first trained layer, shape [T, width].
        sin, cos: Of the positions, shape [T, 1, head / 2].
        bias: 0 where a token (row) sees another, else -inf, shape [T, T].
        first: Place of the first node of the trie.
        readers, tokens, owners: For each token of each candidate, the node that predicts it, the
            token, and the candidate.
        reduce: Weights that make a candidate's score of its tokens' log-probabilities.
        plain: Scores of the candidates under the frozen network, shape [A].
    """

    x: Tensor
    sin: Tensor
    cos: Tensor
    bias: Tensor
    first: int
    readers: Tensor
    tokens: Tensor
    owners: Tensor
    reduce: Tensor
    count: int
    plain: Tensor


class TorchLlama:
    """A loaded network, its weights shared with numpy. Safe for threads.

    Args:
        network: The loaded network.
        lower: So many layers from the bottom are never trained.
        remember: Steps that are kept, the latest used (about .5 MB for each 200 tokens).
        is_mean: Score candidates by the mean of their tokens' log-probabilities, not the sum.
    """

    def __init__(self, network: Llama, lower: int, remember: int, is_mean: bool) -> None:
        weights = network.weights
        self.context, self.width, self.lower = network.context, network.width, lower
        self._heads, self._kv, self._head = network.heads, network.kv_heads, network.head
        self._turns, self._epsilon = weights.turns, weights.epsilon
        self._embedding = torch.from_numpy(weights.embedding)
        self._out, self._gain = torch.from_numpy(weights.head), torch.from_numpy(weights.head_gain)
        self._blocks = [_block(layer) for layer in weights.blocks]
        self._remember, self._is_mean = remember, is_mean
        self.shapes = self._shapes()
        self._kept: OrderedDict[tuple[tuple[int, ...], ...], Step] = OrderedDict()
        self._lock = threading.Lock()

    def _shapes(self) -> Mapping[str, tuple[int, int]]:
        """Output and input width of each matrix of a layer."""
        inner = self._blocks[0].gate_up.shape[0] // 2
        kv = self._kv * self._head
        return {
            "q": (self.width, self.width),
            "k": (kv, self.width),
            "v": (kv, self.width),
            "out": (self.width, self.width),
            "gate": (inner, self.width),
            "up": (inner, self.width),
            "down": (self.width, inner),
        }

    @property
    def layers(self) -> range:
        """The layers that may be trained."""
        return range(self.lower, len(self._blocks))

    def step(self, prompt: Sequence[int], candidates: Sequence[Sequence[int]]) -> Step:
        """Everything below the trained layers, kept from the last time or computed.

        Raises:
            InputError: If prompt and longest candidate exceed the network's context.
        """
        key = (tuple(prompt), *map(tuple, candidates))
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = self._made(prompt, candidates)
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > self._remember:
                self._kept.popitem(last=False)
        return made

    def scores(self, step: Step, change: Change) -> Tensor:
        """Scores of the candidates with ``change`` in the trained layers, shape [A]."""
        x = step.x
        for layer in self.layers:
            x = self._layer(x, layer, step, change, step.first if layer == self.layers[-1] else 0)
        logits = (self._norm(x) * self._gain) @ self._out.T  # [nodes, vocabulary]
        found = logits[step.readers, step.tokens] - torch.logsumexp(logits, 1)[step.readers]
        return torch.zeros(step.count).index_add(0, step.owners, found * step.reduce)

    def _made(self, prompt: Sequence[int], candidates: Sequence[Sequence[int]]) -> Step:
        longest = len(prompt) + max(map(len, candidates))
        if longest > self.context:
            raise InputError(
                f"prompt and longest action have {longest} tokens, the model's context is "
                f"{self.context}: shorten the observation or the history"
            )
        tree = trie.build(prompt[-1], candidates)
        body = len(prompt) - 1
        places = np.concatenate([np.arange(body), body + tree.depths])
        angles = (places[:, None] * self._turns)[:, None, :]
        tokens = np.concatenate([np.array(prompt[:-1], np.int64), tree.tokens])
        lengths = np.array([len(c) for c in candidates])
        owners = np.repeat(np.arange(len(candidates)), lengths)
        step = Step(
            x=self._embedding[torch.from_numpy(tokens)],
            sin=torch.from_numpy(np.sin(angles).astype(np.float32)),
            cos=torch.from_numpy(np.cos(angles).astype(np.float32)),
            bias=torch.from_numpy(np.where(tree.behind(body), np.float32(0), np.float32(-np.inf))),
            first=body,
            readers=torch.tensor([node for path in tree.readers for node in path]),
            tokens=torch.tensor([token for candidate in candidates for token in candidate]),
            owners=torch.from_numpy(owners),
            reduce=torch.from_numpy(
                (1.0 / lengths[owners] if self._is_mean else np.ones(len(owners))).astype(
                    np.float32
                )
            ),
            count=len(candidates),
            plain=torch.empty(0),
        )
        with torch.no_grad():
            x = step.x
            for layer in range(self.lower):
                x = self._layer(x, layer, step, unchanged, 0)
            step = replace(step, x=x)
            return replace(step, plain=self.scores(step, unchanged))

    def _layer(self, x: Tensor, layer: int, step: Step, change: Change, first: int) -> Tensor:
        """One block; tokens before ``first`` only serve as keys and values."""
        block, turned = self._blocks[layer], self._heads + self._kv
        y = self._norm(x)
        mixed = self._added(y @ block.qkv.T, layer, ("q", "k", "v"), y, change)
        mixed = mixed.view(len(x), turned + self._kv, self._head)
        both = _turned(mixed[:, :turned], step.sin, step.cos)
        queries = both[first:, : self._heads].transpose(0, 1)
        queries = queries.reshape(self._kv, -1, len(x) - first, self._head)
        keys = both[:, self._heads :].permute(1, 2, 0)[:, None]
        values = mixed[:, turned:].transpose(0, 1)[:, None]
        chances = torch.softmax(queries @ keys + step.bias[first:], -1)
        seen = (chances @ values).reshape(self._heads, -1, self._head)
        seen = seen.transpose(0, 1).reshape(-1, self.width)
        x = x[first:] + self._added(seen @ block.out.T, layer, ("out",), seen, change)
        y = self._norm(x)
        gate, up = self._added(y @ block.gate_up.T, layer, ("gate", "up"), y, change).chunk(2, 1)
        inner = functional.silu(gate) * up
        return x + self._added(inner @ block.down.T, layer, ("down",), inner, change)

    def _added(
        self, product: Tensor, layer: int, names: Sequence[str], x: Tensor, change: Change
    ) -> Tensor:
        """``product`` of one or several stacked matrices with what ``change`` adds to each."""
        added = [change(layer, name, x) for name in names]
        if all(more is None for more in added):
            return product
        parts = list(product.split([self.shapes[name][0] for name in names], 1))
        for i, more in enumerate(added):
            if more is not None:  # the scale of attention is folded into the frozen queries
                parts[i] = parts[i] + (more * self._head**-0.5 if names[i] == "q" else more)
        return torch.cat(parts, 1)

    def _norm(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.square().mean(1, keepdim=True) + self._epsilon)


@dataclass(frozen=True, slots=True)
class _Block:
    qkv: Tensor
    out: Tensor
    gate_up: Tensor
    down: Tensor


def _block(layer: Layer) -> _Block:
    return _Block(*map(torch.from_numpy, (layer.qkv, layer.out, layer.gate_up, layer.down)))


def _turned(x: Tensor, sin: Tensor, cos: Tensor) -> Tensor:
    """Each pair (2i, 2i + 1) of the last axis turned by its token's angle."""
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, odd * cos + even * sin], -1).flatten(-2)
