"""What callers send and are sent, with the limits of each value."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from jitrl.service.calls import LONGEST_SEEN, Answer, Call, Noted
from jitrl.service.ids import LONGEST, decision_id, episode_id
from jitrl.service.running import SELF
from jitrl.service.seats import Seat
from jitrl.types import LARGEST, Basis, EpisodeStatus, Mode, Row, RowStatus, State

CANDIDATES = 1000
"""Most candidates of a decision, and most other actions that may join."""

EPISODE_ID = rf"^([A-Za-z0-9_-][A-Za-z0-9._-]{{0,{LONGEST - 1}}}|~[A-Za-z0-9_-]{{2,1100}})$"
DECISION_ID = f"{EPISODE_ID[:-1]}:[0-9]{{1,9}}$"
_SAID = r"\S"  # something that is no blank

Text = Annotated[str, Field(max_length=10_000)]
Name = Annotated[str, Field(min_length=1, max_length=10_000)]
Page = Annotated[str, Field(min_length=1, max_length=500_000, pattern=_SAID)]
Step = Annotated[
    int,
    Field(ge=0, le=10**9 - 1),
    BeforeValidator(lambda v: int(v) if type(v) is float and v.is_integer() else v),
]
"""Number of a step; JSON does not tell 3.0 from 3."""
Number = Annotated[float, Field(ge=-LARGEST, le=LARGEST, allow_inf_nan=False)]


class In(BaseModel):
    """What is sent; an unknown name is refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Where(In):
    """A state in parts; similarity compares text and context, and place joins them as a word."""

    text: Annotated[Page, Field(description="What the agent sees.")]
    context: Annotated[str, Field(max_length=400_000, description="The goal, in words.")] = ""
    place: Annotated[Text, Field(description="URL pattern, name of a screen.")] = ""


class Start(In):
    """A run that begins."""

    task: Annotated[Name, Field(description="What is to be done; runs at one task share it.")]
    scope: Annotated[Text, Field(description="Runs of one scope learn from each other.")] = ""
    key: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=LONGEST,
            description="Names this run: starting it again finds it. Made up if missing.",
        ),
    ] = None
    goal: Annotated[Name | None, Field(description="The task in words, if `task` is an id.")] = None
    family: Annotated[Text, Field(description="Type of task.")] = ""
    state: Annotated[
        Page | Where | None,
        Field(description="Where it stands, if the answer is to say the rules told there."),
    ] = None
    actions: Annotated[
        list[Name], Field(max_length=CANDIDATES, description="Names of all that can be done there.")
    ] = Field(default_factory=list)


class Decide(In):
    """A step to be decided."""

    state: Annotated[Page | Where, Field(description="Where the agent stands.")]
    candidates: Annotated[
        dict[Name, Number],
        Field(
            min_length=1,
            max_length=CANDIDATES,
            description="Action to logit (natural log, up to a constant).",
        ),
    ]
    more: Annotated[
        list[Name],
        Field(
            max_length=CANDIDATES,
            description="Other actions that can be executed here; the memory may bring them in.",
        ),
    ] = Field(default_factory=list)
    step: Annotated[
        Step | None,
        Field(
            description="Number of the step, from 0; makes it safe to send the request again.",
        ),
    ] = None
    scorer: Annotated[Name, Field(description="How the logits were made, for the record.")] = (
        "caller"
    )
    notes: Annotated[
        bool,
        Field(
            description="Whether the answer says the rules told here, for a model that acts on it "
            "afterwards; one that scores is asked after `/notes`."
        ),
    ] = False
    seen: Annotated[
        str,
        Field(
            max_length=LONGEST_SEEN,
            description="What the agent saw, for people and judges; nothing is compared by it. It "
            "is redacted, and 2,000 characters are kept.",
        ),
    ] = ""


class Took(In):
    """What was done in place of the action just decided."""

    action: Annotated[Name, Field(description="What the agent did; the memory learns from it.")]
    step: Annotated[Step | None, Field(description="Number of that step, to be sure.")] = None


class Reward(In):
    """A reward of the step just decided."""

    reward: Number
    step: Annotated[Step | None, Field(description="Number of that step, to be sure.")] = None


class Report(In):
    """How an episode ended; ``null`` withdraws what was said."""

    value: Annotated[
        bool | Number | None,
        Field(description="Added to the last step's reward: true 1, false 0. null: withdrawn."),
    ]
    basis: Annotated[
        Basis, Field(description="What it rests on; all but the default need `report:trusted`.")
    ] = SELF
    evaluator: Annotated[Name, Field(description="Who found it out.")] = "outcome"
    told: Annotated[bool, Field(description="Whether they had seen the right answer.")] = False


class Close(In):
    """An episode that is over."""

    status: EpisodeStatus = "terminated"


class Why(In):
    """Why rows are taken out or let in again."""

    reason: Text = ""


class Out(BaseModel):
    """What is answered."""

    model_config = ConfigDict(extra="forbid")


def plain(state: State) -> dict[str, str]:
    """A state as it is answered."""
    return {"text": state.text, "context": state.context, "place": state.place}


class EpisodeOut(Out):
    """An episode. ``id`` is for addresses, ``key`` is what it was started with.

    ``notes`` and ``rules`` are those of its first step, if its start named the state there.
    """

    id: str
    key: str
    task: str
    scope: str
    status: Literal["running"] | EpisodeStatus
    holdout: bool
    steps: int
    notes: str = ""
    rules: list[str] = Field(default_factory=list)

    @staticmethod
    def of(seat: Seat, noted: Noted | None = None) -> EpisodeOut:
        """As the desk says it."""
        return EpisodeOut.model_construct(
            id=episode_id(seat.key),
            key=seat.key,
            task=seat.task,
            scope=seat.scope,
            status=seat.status,
            holdout=seat.holdout,
            steps=seat.steps,
            notes="" if noted is None else noted.notes,
            rules=[] if noted is None else list(noted.rules),
        )


class Choice(Out):
    """What to do.

    ``degraded`` says that the memory was not heard, and ``reason`` why: ``deadline``, ``error``;
    the action is the model's own then. ``rules`` are the ids of those told at this step, and
    ``notes`` says them, where they were asked for.
    """

    decision: str
    step: int
    action: str
    degraded: bool
    reason: str
    changed: bool
    probability: float | None
    prior: float | None
    propensity: float | None
    source: Literal["model", "memory", "caller"]
    mode: Mode
    holdout: bool
    version: int | None
    rules: list[str]
    notes: str

    @staticmethod
    def of(key: str, answer: Answer, call: Call) -> Choice:
        """As the desk answered."""
        made = answer.decision
        chosen = None if made is None else made.chosen
        is_degraded = bool(answer.degraded)
        return Choice.model_construct(
            decision=decision_id(key, answer.step),
            step=answer.step,
            action=answer.action,
            degraded=is_degraded,
            reason=answer.degraded or ("" if made is None else made.reason),
            changed=answer.action != call.own,
            probability=None if chosen is None else chosen.probability,
            prior=None if chosen is None else chosen.prior,
            propensity=None if chosen is None else chosen.propensity,
            source="caller" if chosen is None else chosen.source,
            mode="off" if made is None else made.mode,
            holdout=made is not None and made.holdout,
            version=None if made is None or is_degraded else made.version,
            rules=[] if made is None else [one.rule for one in made.notes if one.told],
            notes=answer.notes,
        )


class ReceiptOut(Out):
    """What was stored. ``duplicate``: nothing, because it was there."""

    episode: str
    version: int
    rows: int
    duplicate: bool


class RowOut(Out):
    """A row of the memory: a step and what it was worth."""

    id: int
    episode: str
    step: int
    task: str
    scope: str
    state: dict[str, str]
    action: str
    reward: float
    ret: float
    basis: Basis
    evaluator: str
    told: bool
    principal: str
    source: str
    status: RowStatus
    version: int

    @staticmethod
    def of(row: Row) -> RowOut:
        """As the memory has it."""
        return RowOut.model_construct(
            id=row.id,
            episode=episode_id(row.episode),
            step=row.step,
            task=row.task,
            scope=row.scope,
            state=plain(row.state),
            action=row.action,
            reward=row.reward,
            ret=row.ret,
            basis=row.basis,
            evaluator=row.evaluator,
            told=row.told,
            principal=row.principal,
            source=row.source,
            status=row.status,
            version=row.version,
        )


class RowsOut(Out):
    """A page of rows, the newest first; ``next`` is ``before`` of the next page, if any."""

    rows: list[RowOut]
    next: int | None


class Marked(Out):
    """How many rows have another status now, and the version of the memory."""

    status: Literal["active", "quarantined"]
    changed: int
    version: int


class Health(Out):
    """Whether it lives, or can serve."""

    status: Literal["ok", "starting", "failing"]
    detail: str = ""
