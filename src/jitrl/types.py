"""The vocabulary: frozen data that every other module speaks in.

Array suffixes in docstrings: [T] steps, [K] neighbors, [A] candidates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Basis = Literal[
    "test",
    "state_check",
    "human",
    "user_feedback",
    "llm_judge",
    "agent_self_report",
    "import",
]
"""What an outcome rests on. The first three are trusted unless the settings say otherwise."""

BASES: tuple[Basis, ...] = (
    "test",
    "state_check",
    "human",
    "user_feedback",
    "llm_judge",
    "agent_self_report",
    "import",
)
TRUSTED_BASES: frozenset[str] = frozenset({"test", "state_check", "human"})

RowStatus = Literal["active", "quarantined", "retired"]
EpisodeStatus = Literal["terminated", "truncated", "aborted"]
Mode = Literal["off", "shadow", "act"]
CandidateSource = Literal["model", "memory", "caller"]


# --- where the agent stands -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class State:
    """Comparable key of where the agent stands, made by a codec.

    Attributes:
        text: What similarity compares.
        context: A second text (goal, history). It joins ``text`` in one bag, or is compared
            apart with its own weight, as the retrieval settings say.
        place: A key (page, room) that joins the bag as one token, or that must be equal, as the
            retrieval settings say.
    """

    text: str
    context: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An action with the frozen model's logit for it.

    Attributes:
        action: Canonical text, equal for equal actions: ``click(<link[Reviews]>)``.
        logit: The model's score z in nats, up to a constant shared by all candidates of a step.
        source: Who proposed it.
    """

    action: str
    logit: float
    source: CandidateSource = "model"


# --- what an environment shows ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to do in an environment; ``id`` is unique in it.

    Attributes:
        family: Template the task was made from; transfer by family leaves all of it out.
        params: Values that fill the template.
    """

    id: str
    goal: str
    scope: str = ""
    family: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Observation:
    """Raw view of the environment.

    Attributes:
        text: The page or room as the environment prints it (element ids may change each load).
        goal: What the agent is asked to do.
        actions: Valid actions in the environment's own syntax; empty if it does not list them.
        url: Address of the page, where there is one.
        info: Further values a codec may use; never shown to an agent.
    """

    text: str
    goal: str
    actions: tuple[str, ...] = ()
    url: str = ""
    info: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TimeStep:
    """What ``reset`` and ``step`` return. ``reward`` belongs to the action just taken."""

    observation: Observation
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked at one step, free of changing ids.

    Attributes:
        goal: The task in words.
        observation: The codec's text of the page or room.
        history: Canonical actions taken in this episode, oldest first.
        actions: Canonical actions to be scored; empty where the model must propose.
        notes: Text that an agent adds (rules, past episodes); empty for score correction.
    """

    goal: str
    observation: str
    history: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    notes: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """Scored candidates of one step, and how z was made.

    Attributes:
        scorer: Name of the scorer that made z (``sequence``, ``letters``, ``verbalized`` …).
        model: Name and version of the frozen model.
        calls: Model calls this proposal cost (0 when it came from a cache).
    """

    candidates: tuple[Candidate, ...]
    scorer: str
    model: str
    calls: int = 0


# --- what the memory answers ------------------------------------------------------------------


class Neighbor(NamedTuple):
    """What the memory holds of one action in one similar state (a cell), or a single row of it.

    Attributes:
        action: Canonical action text.
        similarity: In [0, 1]; 1.0 only for the same state.
        ret: Mean return-to-go, centred where the memory centres rewards.
        visits: Rows it stands for.
        sources: Distinct sources (episodes of trusted bases, principals of others).
        value: Q of this (state, action) backed up through the memory's graph; ``None`` where no
            graph is kept, and then ``ret`` stands alone.
        reward: Mean immediate reward, centred.
        terminal: Share of the rows that ended their task.
        onward: Best novelty that lies behind this action, in [0, 1].
        taken: How often the present episode took this action in this very state.
        trusted: Whether the rows rest on a trusted basis.
        rows: Newest row ids, at most 8, newest last; empty for steps of the present episode.
        state: The memory's id of the state; -1 if it has none.
    """

    action: str
    similarity: float
    ret: float
    visits: float = 1.0
    sources: float = 1.0
    value: float | None = None
    reward: float = 0.0
    terminal: float = 0.0
    onward: float = 0.0
    taken: int = 0
    trusted: bool = True
    rows: tuple[int, ...] = ()
    state: int = -1


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """Everything a decision is given from the memory and from the present episode.

    Attributes:
        neighbors: Shape [K], most similar first.
        version: Version of the memory this was read at.
        reach: Range of centred rewards in the scope that two sources bear out, reward units.
        excluded: Rows left out because the protocol forbids them (own task in transfer mode).
        repeats: How often the present episode took each action, in any state.
    """

    neighbors: tuple[Neighbor, ...] = ()
    version: int = 0
    reach: float = 0.0
    excluded: int = 0
    repeats: Mapping[str, int] = field(default_factory=dict)


# --- a decision and its reasons ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Weighed:
    """One candidate with every number that went into its probability.

    Attributes:
        logit: z as the model gave it (or as the rule sets it for memory-only actions).
        prior: Probability under the frozen model alone.
        visits: Rows of the neighborhood that took this action.
        q: Estimated return of the action, return units.
        advantage: A = q - V, return units.
        scaled: A after normalising.
        bonus: What exploration adds, in nats.
        correction: Everything added to z, in nats.
        corrected: z', nats.
        probability: Under the corrected policy (softmax of z').
        propensity: Chance that the rule picks it here (1 or 0, or shares of ties, for argmax).
        novelty: How untried the action is in states like this one, in [0, 1].
    """

    action: str
    logit: float
    source: CandidateSource
    prior: float
    visits: float
    q: float
    advantage: float
    scaled: float
    bonus: float
    correction: float
    corrected: float
    probability: float
    propensity: float
    novelty: float = 0.0


@dataclass(frozen=True, slots=True)
class Decision:
    """One choice with every number that made it; views render it, nothing recomputes it.

    Attributes:
        action: The choice.
        candidates: Shape [A], in the order proposed, memory-only ones last.
        neighbors: Shape [K].
        value: V of the state, return units.
        scale: What advantages were divided by.
        kl: KL(corrected || prior), nats.
        draws: Uniform numbers consumed, in order; the same draws give the same choice.
        rule: Digest of the update rule.
        version: Memory version read.
        scorer: How z was made.
        mode: ``act``, ``shadow`` (computed, not followed) or ``off``.
        holdout: True when this episode is in the share that acts without memory.
        reason: Why the memory had no say (``empty``, ``off``, ``holdout`` …); "" otherwise.
    """

    action: str
    candidates: tuple[Weighed, ...]
    neighbors: tuple[Neighbor, ...] = ()
    value: float = 0.0
    scale: float = 0.0
    kl: float = 0.0
    draws: tuple[float, ...] = ()
    rule: str = ""
    version: int = 0
    scorer: str = ""
    mode: Mode = "act"
    holdout: bool = False
    reason: str = ""
    excluded: int = 0

    @property
    def chosen(self) -> Weighed:
        """The candidate that was picked."""
        return next(c for c in self.candidates if c.action == self.action)

    @property
    def unaided(self) -> str:
        """The frozen model's most probable action (ties: the first)."""
        return max(self.candidates, key=lambda c: c.prior).action

    @property
    def changed(self) -> bool:
        """Whether the choice differs from the frozen model's most probable action."""
        return self.action != self.unaided


# --- what happened ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an episode ended, from whom, and on what basis.

    Attributes:
        value: Added to the last step's reward (True counts 1, False 0).
        basis: What it rests on.
        evaluator: Name of the evaluator that said so.
        told: Whether that evaluator had seen the gold outcome.
        principal: Who is answerable for it; the source of untrusted rows.
    """

    value: float
    basis: Basis = "test"
    evaluator: str = "outcome"
    told: bool = False
    principal: str = ""


@dataclass(frozen=True, slots=True)
class Transition:
    """One decided step of an episode.

    Attributes:
        reward: Reward given during the episode for this step; ``None`` when none was given.
        next_state: State after the action; ``None`` at the end or when it is not known.
        novelty: How new the newest action was that the state still held when it was left, [0, 1].
    """

    state: State
    action: str
    decision: Decision | None = None
    reward: float | None = None
    next_state: State | None = None
    novelty: float = 0.0


@dataclass(frozen=True, slots=True)
class Episode:
    """A finished run as the journal keeps it.

    Attributes:
        key: Idempotency key; an episode is stored once per key.
        terminated: The task ended by itself (else it was cut off).
        holdout: Acted without memory on purpose; learned from like any other.
    """

    key: str
    task: str
    scope: str
    steps: tuple[Transition, ...]
    status: EpisodeStatus = "terminated"
    outcome: Outcome | None = None
    agent: str = "jitrl"
    config: str = ""
    principal: str = ""
    holdout: bool = False
    started: float = 0.0
    finished: float = 0.0
    info: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scored:
    """Step rewards, shape [T], in the evaluator's own units."""

    rewards: tuple[float, ...]
    evaluator: str
    basis: Basis = "test"
    told: bool = False


@dataclass(frozen=True, slots=True)
class Unscored:
    """Could not judge. Nothing is learned from the episode, and it is counted."""

    reason: str
    evaluator: str = ""


Judgment = Scored | Unscored


@dataclass(frozen=True, slots=True)
class Row:
    """One memory row, derived from a step of an episode and a judgment.

    Attributes:
        id: 0 until it is stored; unique in a memory file.
        version: Version of the memory that brought it.
        step: Index in the episode.
        state: The state acted in.
        next_state: The state that followed; ``None`` if the task ended there or it is unknown.
        terminal: Whether the task ended with this step.
        source: Episode for trusted bases, principal for others; influence is bounded per source.
        digest: Digest of evaluator, gamma and schema that derived it.
        novelty: How new the newest action was that the state still held when it was left, [0, 1].
        state_id, next_state_id: The store's ids of the two states (0: not stored, or no state).
    """

    episode: str
    step: int
    task: str
    scope: str
    state: State
    action: str
    reward: float
    ret: float
    next_state: State | None
    terminal: bool
    evaluator: str
    told: bool
    basis: Basis
    principal: str
    source: str
    digest: str
    novelty: float = 0.0
    status: RowStatus = "active"
    id: int = 0
    version: int = 0
    state_id: int = 0
    next_state_id: int = 0

    @property
    def trusted(self) -> bool:
        """Whether the basis is one of the trusted ones."""
        return self.basis in TRUSTED_BASES
