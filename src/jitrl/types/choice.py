"""What a decision is made of: candidates, neighbors, and every number that weighed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

from jitrl.types.neighbors import Neighbor

Mode = Literal["off", "shadow", "act"]
CandidateSource = Literal["model", "memory", "caller"]
Risk = Literal["read", "write", "irreversible"]
"""What an action may do to the world: nothing, something, or something that stays done."""

RISKS: tuple[Risk, ...] = get_args(Risk)

DEGRADED = "degraded"
"""``Decision.reason`` where the memory should have been asked and could not be, or not in time."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An action with the frozen model's logit for it.

    Attributes:
        action: Canonical text, equal for equal actions: ``click(<link[Reviews]>)``.
        logit: The model's score z in nats, up to a constant shared by all candidates of a step.
        source: Who proposed it.
        risk: What it may do; how far a memory may speak for it depends on that.
    """

    action: str
    logit: float
    source: CandidateSource = "model"
    risk: Risk = "read"


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked at one step, free of changing ids.

    Attributes:
        goal: The task in words.
        observation: The codec's text of the page or room.
        history: Canonical actions taken in this episode, oldest first.
        actions: Canonical actions to be scored; empty where the model must propose.
        notes: Text that an agent adds (rules, past episodes); empty for score correction.
        features: What the codec declares of its steps, for transfer; never shown to a model.
        read: What the episode has read so far, oldest first, for transfer; never shown to a model.
    """

    goal: str
    observation: str
    history: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    notes: str = ""
    features: str = ""
    read: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Writing:
    """What a model is asked to write.

    Attributes:
        system: Who it is and how it answers.
        text: The question.
        schema: JSON schema of the answer as text; "" for free text.
        temperature: Of its sampling; at 0 all samples of a question are alike.
        sample: Which of several samples of one question this is.
        max_tokens: Most tokens of the answer.
    """

    system: str
    text: str
    schema: str = ""
    temperature: float = 0.0
    sample: int = 0
    max_tokens: int = 1024


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


class Lesson(NamedTuple):
    """How far a decision follows what other tasks taught.

    Attributes:
        strength: c, by how well tasks that were held out were predicted.
        trust: What failed attempts at this task leave of it, in (0, 1].
        likeness: Of the goal to the nearest solved task's, in [0, 1].
        tasks: Solved tasks that were learned from.
        version: Of the memory that was learned from, where that was not the newest that was due
            yet: something newer was still being learned. Else 0.
    """

    strength: float
    trust: float
    likeness: float
    tasks: int
    version: int = 0


class Capped(NamedTuple):
    """What a limit kept the memory from doing for an action.

    Attributes:
        limit: ``write`` or ``irreversible``: most that the memory may say for such an action.
            ``support``: too few episodes bear out a writing action that only the memory knows.
        nats: So much less was added to its logit; 0 where the action was left out.
    """

    action: str
    limit: Literal["write", "irreversible", "support"]
    nats: float = 0.0


class Spoken(NamedTuple):
    """A rule whose condition held where notes were asked for.

    Attributes:
        rule: Its id.
        told: Whether it stood in the prompt; else it was held out.
        chance: That it would; settled where it first spoke in the episode, and not again.
        obeyed: Whether what was done is as it says; ``None`` where nobody can tell.
    """

    rule: str
    told: bool
    chance: float
    obeyed: bool | None = None


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """Everything a decision is given from the memory and from the present episode.

    Attributes:
        neighbors: Shape [K], most similar first; a memory gives them as ``Neighbors``.
        version: Version of the memory this was read at.
        reach: Range of centred rewards in the scope that two sources bear out, reward units.
        excluded: Rows left out because the protocol forbids them (own task in transfer mode).
        repeats: How often the present episode took each action, in any state.
        transfer: What other tasks' solutions add to each action, nats.
        lesson: How far they are followed; ``None`` where nothing was learned from them.
        support: Trusted episodes that took each action that was asked about, in states like this.
        silenced: Rows near by that had no say because their source had its vote already.
    """

    neighbors: Sequence[Neighbor] = ()
    version: int = 0
    reach: float = 0.0
    excluded: int = 0
    repeats: Mapping[str, int] = field(default_factory=dict)
    transfer: Mapping[str, float] = field(default_factory=dict)
    lesson: Lesson | None = None
    support: Mapping[str, int] = field(default_factory=dict)
    silenced: int = 0


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
        bonus: What exploration adds and repeats take off, times the decision's ``share``, and what
            untrusted rows nudge; in nats.
        correction: Everything added to z, in nats.
        corrected: z', nats.
        probability: Under the corrected policy: softmax of z', where the rule samples at its
            temperature and from what it samples.
        propensity: Chance that the rule picks it here (1 or 0, or shares of ties, for argmax).
        novelty: How untried the action is in states like this one, in [0, 1].
        transfer: What other tasks' solutions add, in nats.
        risk: What the action may do, as it was marked.
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
    transfer: float = 0.0
    risk: Risk = "read"


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
        seed: Where its generator stood before the first draw, 64 hex digits; ``None`` where nothing
            but the choice can be drawn, or in what older versions wrote.
        allowed: Actions that the memory could have brought, but for the candidates; ``any``: all.
            ``None`` where it brings none, or in what older versions wrote.
        lesson: How far it follows other tasks' solutions; ``None`` where it does not.
        share: Of beta, novelty and repeats that counted, by the rule's ``warmup``, in (0, 1].
        capped: What limits kept the memory from doing, by action.
        marked: Actions that the memory could have brought and that were marked as more than
            reading, and how.
        silenced: As ``Neighborhood.silenced``.
        notes: Rules that spoke here, told or held out; none where nobody asked for notes.
    """

    action: str
    candidates: tuple[Weighed, ...]
    neighbors: Sequence[Neighbor] = ()
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
    seed: str | None = None
    allowed: tuple[str, ...] | Literal["any"] | None = None
    lesson: Lesson | None = None
    share: float = 1.0
    capped: tuple[Capped, ...] = ()
    marked: tuple[tuple[str, Risk], ...] = ()
    silenced: int = 0
    notes: tuple[Spoken, ...] = ()

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
