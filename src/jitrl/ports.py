"""The borders: protocols that adapters fulfil and the rest of the house relies on."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from jitrl.types import (
    Decision,
    Episode,
    Judgment,
    Neighborhood,
    Observation,
    Outcome,
    Prompt,
    Proposal,
    Row,
    State,
    Task,
    TimeStep,
)


@runtime_checkable
class Environment(Protocol):
    """A world to act in. ``step`` takes an action in the environment's own syntax."""

    name: str
    codec: Codec

    def tasks(self) -> Sequence[Task]:
        """All tasks, in a fixed order."""
        ...

    def reset(self, task: Task, *, seed: int = 0) -> TimeStep:
        """Start ``task`` afresh; the same task and seed give the same episode."""
        ...

    def step(self, action: str) -> TimeStep:
        """Take one action.

        Raises:
            InputError: If the action is not valid here, or the episode is over.
        """
        ...

    def close(self) -> None:
        """Free what the environment holds; may be called twice."""
        ...


class Codec(Protocol):
    """Turns raw observations into comparable states and canonical actions, and back."""

    name: str

    def state(self, observation: Observation, history: Sequence[str]) -> State:
        """Comparable key of ``observation`` after the canonical actions in ``history``."""
        ...

    def actions(self, observation: Observation) -> tuple[str, ...]:
        """Canonical text of each valid action, without duplicates, in page order."""
        ...

    def ground(self, action: str, observation: Observation) -> str:
        """The raw action that ``action`` stands for on the present page.

        Raises:
            GroundingError: If the page has no counterpart.
        """
        ...

    def text(self, observation: Observation) -> str:
        """What a model is shown: the observation without changing ids."""
        ...


class Proposer(Protocol):
    """A frozen model behind a scorer: gives z for the candidates of a step."""

    name: str

    def propose(self, prompt: Prompt, rng: np.random.Generator) -> Proposal:
        """Candidates with logits.

        Raises:
            ModelError: If the provider failed after all retries.
            BudgetExceeded: If the call would pass a limit.
        """
        ...


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


class Evaluator(Protocol):
    """Scores the steps of a finished episode."""

    name: str
    told: bool

    def judge(self, episode: Episode) -> Judgment:
        """Rewards per step, or why there are none."""
        ...


ChangeKind = Literal["append", "quarantine", "restore", "retire"]


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of a memory's version stream.

    Attributes:
        rows: The rows appended, or those whose status changed (with their new status).
    """

    version: int
    kind: ChangeKind
    episode: str
    rows: tuple[Row, ...]
    reason: str = ""
    principal: str = ""
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class Receipt:
    """What committing an episode did.

    Attributes:
        duplicate: The key was already stored; nothing was written.
    """

    key: str
    version: int
    rows: int
    duplicate: bool = False


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """A journaled decision and where it was made.

    Attributes:
        id: ``EPISODE_KEY#STEP``.
        action: What was done; differs from ``decision.action`` where the memory was only shadowing.
    """

    id: str
    episode: str
    step: int
    task: str
    scope: str
    state: State
    action: str
    decision: Decision


class Store(Protocol):
    """Durable truth: journal, outcomes, derived rows, version stream. Safe for threads."""

    def commit(self, episode: Episode, judgment: Judgment, rows: Sequence[Row]) -> Receipt:
        """Write an episode, its judgment and rows in one transaction, once per key."""
        ...

    def rederive(
        self, key: str, outcome: Outcome | None, judgment: Judgment, rows: Sequence[Row]
    ) -> Receipt:
        """Add an outcome entry (``None`` withdraws), retire the episode's rows, append ``rows``."""
        ...

    def episode(self, key: str) -> Episode:
        """The journaled episode with its present outcome.

        Raises:
            StoreError: If there is none of that key.
        """
        ...

    def episodes(self, *, scope: str | None = None, task: str | None = None) -> Iterator[Episode]:
        """Journaled episodes in the order they were committed."""
        ...

    def head(self) -> int:
        """Newest version; cheap enough to ask at every query."""
        ...

    def changes(self, after: int, *, scope: str | None = None) -> Iterator[Change]:
        """Entries of the version stream later than ``after``, in order."""
        ...

    def set_status(
        self,
        status: Literal["active", "quarantined"],
        *,
        rows: Collection[int] = (),
        episodes: Collection[str] = (),
        reason: str = "",
        principal: str = "",
    ) -> int:
        """Quarantine or restore rows; returns how many changed."""
        ...

    def close(self) -> None:
        """Release the file; may be called twice."""
        ...


class MemoryReader(Protocol):
    """What a policy may do with a memory in one episode."""

    def neighborhood(self, state: State) -> Neighborhood:
        """What the memory, and the episode so far, hold about states like this one."""
        ...


class MemoryWriter(Protocol):
    """What a learner may do with a memory."""

    def learn(self, episode: Episode) -> Receipt:
        """Judge, derive, admit and commit one finished episode."""
        ...


class EpisodeAgent(MemoryWriter, Protocol):
    """Chooses in one episode, and learns from it when it is over."""

    name: str

    def begin(self, task: Task, *, key: str, rng: np.random.Generator) -> None:
        """The episode starts."""
        ...

    def act(self, state: State, prompt: Prompt, proposal: Proposal) -> Decision:
        """Choose one of the proposed candidates."""
        ...

    def observe(self, reward: float | None, next_state: State | None) -> None:
        """What the last action brought, as far as the protocol shows it to the agent."""
        ...


class Agent(Protocol):
    """An agent with its memory; its episodes may run in threads.

    Entry points of ``jitrl.agents`` are called with those of ``store``, ``evaluator``,
    ``settings`` (of the memory) and ``trainable`` (a factory of weights on top of the run's model)
    that they have a parameter for.
    """

    def episode(
        self, *, exclude: frozenset[str] = frozenset(), until: int | None = None
    ) -> EpisodeAgent:
        """An agent for one episode.

        Args:
            exclude: Tasks whose rows it must not use; each decision counts them.
            until: Newest version of the memory it may see; ``None``: all.
        """
        ...
