"""Trainable weights of low rank (LoRA) on the embedded model, and one gradient step on them.

After Hu et al., *LoRA: Low-Rank Adaptation of Large Language Models* (arXiv:2106.09685): beside a
frozen matrix W stands ``alpha / rank * B A`` with A random and B zero, so that untrained weights
change nothing. Here A reads a layer's normed states before the norm's gain, which is folded into W.
Only the last layers have such weights, as far as ``layers`` says.
"""

from __future__ import annotations

import math
import os
import threading
import weakref
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from jitrl.errors import ConfigError, StoreError
from jitrl.models.calls import Continue, Message
from jitrl.models.embedded import EmbeddedEndpoint, chat_tokens
from jitrl.models.llama_torch import TorchLlama
from jitrl.models.prompts import Language, Style
from jitrl.models.proposer import require
from jitrl.models.scorers import Length, offered
from jitrl.training import Example, Goal, Matrices, Stepped
from jitrl.types import Prompt

_NAMES: Mapping[Matrices, tuple[str, ...]] = {
    "attention": ("q", "k", "v", "out"),
    "all": ("q", "k", "v", "out", "gate", "up", "down"),
}
_Shown = tuple[tuple[Message, ...], tuple[str, ...]]
_DAMAGED = (zipfile.BadZipFile, zlib.error)
_LONGEST_GRADIENT = 1.0
_THREADS = 1  # of torch, for the whole process: with one, results repeat exactly
_REMEMBER = 768  # steps whose lower layers are kept, about .5 MB each
_DECAYS, _EPSILON = (0.9, 0.999), 1e-8


@dataclass(frozen=True, slots=True)
class Reading:
    """How the embedded model reads a step; the settings of :class:`Embedded` that say so."""

    path: Path | None = None
    length: Length = "sum"
    temperature: float = 1.0
    language: Language = "auto"
    history: int = 8


_networks: weakref.WeakValueDictionary[tuple[str, int, bool], TorchLlama] = (
    weakref.WeakValueDictionary()
)
_making = threading.Lock()
"""Runs at the same time share what the lower layers make of a step."""


class LoraFactory:
    """Makes trained weights that share one frozen network. Safe for threads.

    Args:
        reading: How the run's model reads a step.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._endpoint = EmbeddedEndpoint(reading.path)

    def __call__(
        self,
        *,
        rank: int,
        alpha: float,
        layers: int,
        matrices: Matrices,
        rate: float,
        seed: int,
        checkpoint: Path | None = None,
    ) -> Lora:
        """As :class:`TrainableFactory`.

        Args:
            checkpoint: File that weights are kept in; ``None``: nowhere.
        """
        require(rank >= 1, f"rank must be at least 1, got {rank}")
        require(0 < alpha < math.inf, f"alpha must be finite and above 0, got {alpha}")
        require(0 < rate < math.inf, f"rate must be finite and above 0, got {rate}")
        is_mean = self._reading.length == "mean"
        with _making:
            torch.set_num_threads(_THREADS)
            llama = self._endpoint.load().network
            count = llama.layers
            require(0 <= layers <= count, f"layers must be in [0, {count}], got {layers}")
            lower = count - layers if layers else 0
            key = self._endpoint.identity, lower, is_mean
            network = _networks.get(key)
            if network is None:
                network = _networks[key] = TorchLlama(llama, lower, _REMEMBER, is_mean)
        return Lora(
            network,
            self._reading,
            self._endpoint,
            _NAMES[matrices],
            rank,
            alpha / rank,
            rate,
            seed,
            checkpoint,
        )


class Lora:
    """One set of trained weights with its optimizer (Adam). Safe for threads."""

    def __init__(
        self,
        network: TorchLlama,
        reading: Reading,
        endpoint: EmbeddedEndpoint,
        names: Sequence[str],
        rank: int,
        scale: float,
        rate: float,
        seed: int,
        checkpoint: Path | None,
    ) -> None:
        self._network, self._reading, self._endpoint = network, reading, endpoint
        self._style = Style(reading.language, reading.history)
        self._names, self._rank, self._scale = names, rank, scale
        self._rate, self._seed, self._checkpoint = rate, seed, checkpoint
        self._lock = threading.RLock()
        self.reset()

    @property
    def size(self) -> int:
        """Trained numbers."""
        return sum(weight.numel() for weight in self._weights.values())

    def reset(self) -> None:
        """Forget all training."""
        self._weights: dict[str, Tensor] = {}
        for layer in self._network.layers:
            for i, name in enumerate(self._names):
                out, width = self._network.shapes[name]
                rng = np.random.default_rng([self._seed, layer, i])
                first = rng.normal(0.0, width**-0.5, (self._rank, width)).astype(np.float32)
                self._weights[f"{layer}.{name}.a"] = torch.from_numpy(first)
                self._weights[f"{layer}.{name}.b"] = torch.zeros(out, self._rank)
        for weight in self._weights.values():
            weight.requires_grad_(True)
        self._means = {n: torch.zeros_like(w) for n, w in self._weights.items()}
        self._squares = {n: torch.zeros_like(w) for n, w in self._weights.items()}
        self._steps = 0
        self._known: dict[_Shown, np.ndarray] = {}

    def corrections(self, prompt: Prompt) -> np.ndarray:
        """What the trained weights add to the frozen logits of ``prompt.actions``, [A], nats.

        The difference of the scores with and without them, divided by the prior temperature of
        the run's model, as its logits are.

        Raises:
            InputError: If there are no actions, two are equal, or the text is too long.
        """
        offered(prompt, "sequence")
        with self._lock:
            if not self._steps:
                return np.zeros(len(prompt.actions))
            shown = self._shown(prompt)
            if shown not in self._known:
                with torch.no_grad():
                    self._known[shown] = self._corrected(prompt).numpy().astype(np.float64)
            return self._known[shown].copy()

    def step(self, examples: Sequence[Example], goal: Goal) -> Stepped:
        """Take one gradient step on the weighted mean of ``examples``.

        Raises:
            ConfigError: If the objective is none.
            InputError: If a step is too long.
        """
        whole = sum(example.weight for example in examples)
        loss = kl = 0.0
        same = dict[_Shown, list[Example]]()
        for example in examples:
            same.setdefault(self._shown(example.prompt), []).append(example)
        with self._lock:
            for alike in same.values():  # one state at a time: memory is what batches cost
                corrections = self._corrected(alike[0].prompt)
                total = torch.zeros(())
                for example in alike:
                    own, apart = example_loss(corrections, example, goal)
                    total = total + (own + goal.kl * apart) * (example.weight / whole)
                    kl += float(apart.detach()) / len(examples)
                total.backward()
                loss += float(total.detach())
            return Stepped(loss, kl, self._move())

    def save(self, label: str) -> None:
        """Keep weights and optimizer under ``label``.

        Raises:
            StoreError: If the file cannot be written.
        """
        path = self._checkpoint
        if path is None:
            return
        arrays = {"label": np.array(label), "steps": np.array(self._steps)}
        for kind, tensors in self._tensors().items():
            arrays |= {f"{kind} {name}": t.detach().numpy() for name, t in tensors.items()}
        partial = path.with_name(path.name + ".partial")
        try:
            with partial.open("wb") as file:
                np.savez(file, **arrays)  # type: ignore[arg-type]
            os.replace(partial, path)
        except OSError as error:
            raise StoreError(f"weights cannot be kept in {path}: {error.strerror}") from error

    def restore(self) -> str:
        """Take what was kept last; "" if there is nothing, or not of these settings."""
        if self._checkpoint is None or not self._checkpoint.is_file():
            return ""
        try:
            with (
                self._checkpoint.open("rb") as raw,  # numpy leaves a damaged file open
                np.load(raw, allow_pickle=False) as file,
            ):
                kept: dict[str, Any] = {name: file[name] for name in file.files}
            label, steps = str(kept["label"]), int(kept["steps"])
        except (OSError, ValueError, EOFError, LookupError, TypeError, RuntimeError, *_DAMAGED):
            return ""  # the journal holds what it takes to make it anew
        with self._lock, torch.no_grad():
            targets = {f"{k} {n}": t for k, ts in self._tensors().items() for n, t in ts.items()}
            shapes = {name: tuple(t.shape) for name, t in targets.items()}
            if shapes != {n: a.shape for n, a in kept.items() if n not in ("label", "steps")}:
                return ""
            for name, tensor in targets.items():
                tensor.copy_(torch.from_numpy(kept[name]))
            self._steps = steps
            self._known.clear()
        return label

    def _tensors(self) -> dict[str, dict[str, Tensor]]:
        return {"weight": self._weights, "mean": self._means, "square": self._squares}

    def _shown(self, prompt: Prompt) -> _Shown:
        """All that the model sees of a step."""
        return self._style.messages(prompt), prompt.actions

    def _corrected(self, prompt: Prompt) -> Tensor:
        """The corrections, with gradients where these are recorded."""
        tokenizer = self._endpoint.load().tokenizer
        lead = self._style.template(prompt).action_lead
        asked = chat_tokens(tokenizer, Continue(self._style.messages(prompt), lead, ()))
        step = self._network.step(asked, [tokenizer.encode(f" {a}") for a in prompt.actions])
        return (self._network.scores(step, self._change) - step.plain) / self._reading.temperature

    def _change(self, layer: int, name: str, x: Tensor) -> Tensor | None:
        if name not in self._names:
            return None
        a, b = self._weights[f"{layer}.{name}.a"], self._weights[f"{layer}.{name}.b"]
        return (x @ a.T) @ b.T * self._scale

    def _move(self) -> float:
        """One step of Adam on the gradients gathered so far; returns their norm."""
        with torch.no_grad():
            gradients = {n: w.grad for n, w in self._weights.items() if w.grad is not None}
            norm = math.sqrt(sum(float(g.square().sum()) for g in gradients.values()))
            cut = min(1.0, _LONGEST_GRADIENT / norm) if norm > 0 else 1.0
            self._steps += 1
            first, second = (1.0 - decay**self._steps for decay in _DECAYS)
            for name, gradient in gradients.items():
                mean, square = self._means[name], self._squares[name]
                mean.lerp_(gradient * cut, 1.0 - _DECAYS[0])
                square.lerp_((gradient * cut).square(), 1.0 - _DECAYS[1])
                ahead = (mean / first) / ((square / second).sqrt() + _EPSILON)
                self._weights[name] -= self._rate * ahead
                self._weights[name].grad = None
            self._known.clear()
        return norm


def example_loss(corrections: Tensor, example: Example, goal: Goal) -> tuple[Tensor, Tensor]:
    """Loss of one example without the penalty, and ``KL(pi || frozen)``."""
    base = torch.tensor(example.base) / goal.temperature
    frozen = torch.log_softmax(base, 0)
    policy = torch.log_softmax(base + corrections / goal.temperature, 0)
    apart = (policy.exp() * (policy - frozen)).sum()
    own, worth = policy[example.chosen], example.advantage
    if goal.objective == "likelihood":
        return -worth * own, apart
    log_ratio = own - example.reference
    if goal.objective == "squared":
        return (goal.beta * log_ratio - worth).square(), apart
    if goal.objective != "clipped":
        raise ConfigError(f"objective {goal.objective!r} is none of likelihood, clipped, squared")
    ratio = log_ratio.exp()
    kept = ratio.clamp(1.0 - goal.clip, 1.0 + goal.clip)
    return -torch.minimum(ratio * worth, kept * worth), apart
