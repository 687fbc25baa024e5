"""The border to a model whose weights are trained: what it is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from jitrl.types import Prompt

Objective = Literal["likelihood", "clipped", "squared"]
Matrices = Literal["attention", "all"]


@dataclass(frozen=True, slots=True)
class Example:
    """A decision that weights are trained on.

    Attributes:
        prompt: What the model was asked; its ``actions`` are the candidates, shape [A].
        base: Logits z of the frozen model for them, shape [A], nats.
        chosen: Place of the action that was taken.
        advantage: How much better than expected it went; what 1 means is the objective's.
        reference: Log-probability of the action under the policy that the update must stay near.
        weight: Share in the loss.
    """

    prompt: Prompt
    base: tuple[float, ...]
    chosen: int
    advantage: float = 1.0
    reference: float = 0.0
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Goal:
    """What a gradient step minimises, of the policy ``pi = softmax((base + correction) / T)``.

    Attributes:
        objective: ``likelihood``: ``-A log pi(a)``. ``clipped``: ``-min(rho A, clip(rho) A)`` with
            ``rho = pi(a) / exp(reference)``. ``squared``: ``(beta log rho - A)^2``.
        temperature: T.
        kl: Weight of ``KL(pi || frozen)``, which is added.
        clip: ``rho`` is kept within ``1 - clip`` and ``1 + clip``.
        beta: Of ``squared``.
    """

    objective: Objective
    temperature: float = 1.0
    kl: float = 0.0
    clip: float = 0.2
    beta: float = 1.0


@dataclass(frozen=True, slots=True)
class Stepped:
    """What a gradient step found, before it moved the weights.

    Attributes:
        loss: Weighted mean over the examples.
        kl: Mean ``KL(pi || frozen)``, nats.
        norm: Of the gradient, before it was cut.
    """

    loss: float
    kl: float
    norm: float


class Trainable(Protocol):
    """A model with weights of its own on top of frozen ones."""

    def corrections(self, prompt: Prompt) -> np.ndarray:
        """What the trained weights add to the frozen logits of ``prompt.actions``, [A], nats."""
        ...

    def step(self, examples: Sequence[Example], goal: Goal) -> Stepped:
        """Take one gradient step on the weighted mean of ``examples``."""
        ...

    def reset(self) -> None:
        """Forget all training."""
        ...

    def save(self, label: str) -> None:
        """Keep weights and optimizer under ``label``, if there is a place to keep them."""
        ...

    def restore(self) -> str:
        """Take what was kept last; returns its label, "" if there is nothing that fits."""
        ...


class TrainableFactory(Protocol):
    """Makes a model to train, as untrained as the frozen one."""

    def __call__(
        self, *, rank: int, alpha: float, layers: int, matrices: Matrices, rate: float, seed: int
    ) -> Trainable:
        """Weights of low rank beside those of the frozen model.

        Args:
            rank: Of each added product of two matrices.
            alpha: The product is multiplied by ``alpha / rank``.
            layers: So many of the last layers get one; 0: all.
            matrices: Which matrices of a layer get one.
            rate: Learning rate.
            seed: Of the initial weights.

        Raises:
            ConfigError: If a setting is impossible, or the model cannot be trained.
        """
        ...
