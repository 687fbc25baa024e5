"""The borders: protocols that adapters fulfil and the rest of the house relies on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np

from jitrl.types import (
    Candidate,
    Decision,
    Episode,
    Judgment,
    Observation,
    Outcome,
    Prompt,
    Proposal,
    Row,
    RuleChange,
    State,
    Task,
    TimeStep,
    Writing,
)

T = TypeVar("T")


@runtime_checkable
class Environment(Protocol):
    """A world to act in. ``step`` takes an action in the environment's own syntax.

    One whose episodes may be played again declares ``is_replayable = True`` on the class (or on the
    function) that its entry point names: ``reset`` takes back all that an episode changed, and the
    same task, seed and actions give the same episode. Nothing is played again where it is missing,
    as on a live site.
    """

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
    """Turns raw observations into comparable states and canonical actions, and back.

    A codec may declare as ``features`` what transfer to other tasks looks at in its steps: ``page``
    (places, elements, what lies behind them) or ``words`` (verbs and objects).

    It may have a method ``reading(observation) -> str``: what the observation says that is no part
    of the state, such as the page of a book. What was read by an action that changed nothing stays
    known to transfer until the episode ends.
    """

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


class Embedder(Protocol):
    """Turns texts into vectors whose product says how alike they are. Safe for threads.

    Attributes:
        name: What tells its vectors from all others: the model with its version or digest. Two of
            one name give a text the same vector.
    """

    name: str

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Float32 vectors of length 1, shape [N, D]; none of the texts is empty.

        The vector of a text does not depend on the texts beside it. Where nothing can be said of
        one, its vector is 0, which is similar to nothing.

        Raises:
            ModelError: If the model failed.
        """
        ...


class Writer(Protocol):
    """A model that writes: judgments, reflections, workflows. Safe for threads."""

    name: str

    def write(self, writing: Writing, read: Callable[[str], T]) -> T:
        """The answer as ``read`` makes it out; asked once more if that fails.

        It fails with a ``ValueError``, or where the answer nests too deep or holds a number too
        large for whatever reads it.

        Raises:
            UnreadableAnswer: If the second answer could not be read either.
            ModelError: If the provider failed after all retries.
            BudgetExceeded: If a call would pass a limit.
        """
        ...


class Hint(Protocol):
    """What an environment that knows the right action says of the episode it plays.

    To be asked in the thread that plays the episode, before its next step.
    """

    def __call__(self, task: Task, history: Sequence[str]) -> str | None:
        """The right canonical action after those in ``history``; ``None`` if it knows none."""
        ...


class Evaluator(Protocol):
    """Scores the steps of a finished episode.

    One with an attribute ``reads_pages`` that is true finds what a model was shown of each page,
    the one after the last action included, in ``Episode.info["pages"]``, shape [T + 1], where a
    run played the episode. An episode of the library has none: there ``State.text`` is the page.

    One with an attribute ``relays`` that is true passes on what it was told: its judgment rests on
    the word of who told the outcome, or of the agent that gave the rewards.

    Entry points of ``jitrl.evaluators`` are called with those of ``writer`` (a function that makes
    the ``Writer``) and ``member`` (a function that makes the evaluator of a name and options) that
    they have a parameter for.
    """

    name: str
    told: bool

    def judge(self, episode: Episode) -> Judgment:
        """Rewards per step, or why there are none."""
        ...


ChangeKind = Literal["append", "quarantine", "restore", "retire", "rules", "purge"]


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of a memory's version stream.

    Attributes:
        rows: The rows appended, or those whose status changed (with their new status).
        rules: What an entry of the kind ``rules`` did to each rule; it has no rows.

    An entry of the kind ``purge`` has neither: rows that entries before it brought are gone from
    the stream. Whoever holds some reads again from the start.
    """

    version: int
    kind: ChangeKind
    episode: str
    rows: tuple[Row, ...]
    reason: str = ""
    principal: str = ""
    at: float = 0.0
    rules: tuple[RuleChange, ...] = ()


@dataclass(frozen=True, slots=True)
class Receipt:
    """What committing an episode did.

    Attributes:
        duplicate: The key was already stored; nothing was written.
        objection: Why its rows start in quarantine; "" if they do not.
    """

    key: str
    version: int
    rows: int
    duplicate: bool = False
    objection: str = ""


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


@dataclass(frozen=True, slots=True)
class Asked:
    """One step of a journaled episode as it was asked; see ``Outline``.

    Attributes:
        candidates: What could be chosen from; empty where the step was decided elsewhere.
    """

    state: State
    action: str
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Outline:
    """A journaled episode without what its decisions were made of."""

    key: str
    task: str
    info: Mapping[str, Any]
    steps: tuple[Asked, ...]


class Store(Protocol):
    """Durable truth: journal, outcomes, derived rows, version stream. Safe for threads."""

    def commit(self, episode: Episode, judgment: Judgment, rows: Sequence[Row]) -> Receipt:
        """Write an episode, its judgment and rows in one transaction, once per key."""
        ...

    def rederive(
        self,
        key: str,
        outcome: Outcome | None,
        judgment: Judgment,
        rows: Sequence[Row],
        *,
        principal: str = "",
    ) -> Receipt:
        """Add an outcome entry (``None`` withdraws), retire the episode's rows, append ``rows``.

        ``principal`` is who withdraws; an outcome names its own.
        """
        ...

    def episode(self, key: str) -> Episode:
        """The journaled episode with its present outcome.

        Raises:
            StoreError: If there is none of that key.
        """
        ...

    def outline(self, key: str) -> Outline:
        """The states, actions and candidates of an episode; much faster than all of it.

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

    def advise(self, state: State, prompt: Prompt) -> Prompt:
        """The prompt as the model is to see it: an agent may add notes, and nothing else."""
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
    ``settings`` (of the memory), ``embedder`` (a function that makes the ``Embedder`` of a name),
    ``writer`` (a function that makes the ``Writer``), ``hint`` (a function that makes the
    environment's ``Hint``), ``trainable`` (a factory of weights on top of the run's model) and
    ``replays`` (which opens an environment to play episodes again in, see ``ports.replay``) that
    they have a parameter for.

    One that may have to learn of an episode that was stored by a process which was killed has a
    method ``resume()``; a run calls it before it plays, also where no episode is left to play.
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
