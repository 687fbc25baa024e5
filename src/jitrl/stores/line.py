"""One line of an export: its schema, how an episode is written and how it is read."""

from __future__ import annotations

import math
from dataclasses import MISSING, fields, is_dataclass
from typing import Annotated, Any, get_type_hints

import msgspec

from jitrl.errors import RecordError
from jitrl.language import counted
from jitrl.stores.agreement import check_line
from jitrl.stores.records import EpisodeRecord, OutcomeEntry
from jitrl.types import (
    Basis,
    Decision,
    Episode,
    EpisodeStatus,
    Judgment,
    Lesson,
    Neighbor,
    Outcome,
    RuleUse,
    Scored,
    State,
    Transition,
    Unscored,
    Weighed,
)

SCHEMA = "jitrl.episode"
VERSION = 1


def _mirror(kind: Any, **other: Any) -> Any:
    """A struct with the fields of a dataclass or named tuple that refuses unknown keys.

    JSON has no infinity, so a number of a decision that is not finite is written as null.
    """
    if is_dataclass(kind):
        defaults = {f.name: f.default for f in fields(kind) if f.default is not MISSING}
    else:
        defaults = kind._field_defaults
    return msgspec.defstruct(
        f"{kind.__name__}Line",
        [
            (name, hint | None if hint is float else hint, defaults.get(name, msgspec.NODEFAULT))
            for name, hint in (get_type_hints(kind) | other).items()
        ],
        forbid_unknown_fields=True,
        frozen=True,
    )


_Weighed: Any = _mirror(Weighed)
_Neighbor: Any = _mirror(Neighbor)
_Lesson: Any = _mirror(Lesson)
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
_Seed = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
_Decision: Any = _mirror(
    Decision,
    candidates=tuple[_Weighed, ...],
    neighbors=tuple[_Neighbor, ...],
    seed=_Seed | None,
    lesson=_Lesson | None,
)
_UNKNOWN = {  # null stays None there
    _Neighbor: ("value",),
    _Decision: ("seed", "allowed", "lesson"),
}


class _Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class StateLine(_Strict, frozen=True):
    """A state; steps name it by its place in the line's list."""

    text: str
    context: str = ""
    place: str = ""


class StepLine(_Strict, frozen=True):
    """A step; ``state`` and ``next`` are places in the line's list of states."""

    state: int
    action: str
    reward: float | None = None
    next: int | None = None
    decision: _Decision | None = None
    novelty: float = 0.0


class OutcomeLine(_Strict, frozen=True):
    """An entry of the outcome history; ``value`` null withdraws."""

    value: float | None
    basis: Basis
    evaluator: str
    at: float
    told: bool = False
    principal: str = ""


class JudgmentLine(_Strict, frozen=True):
    """Rewards on a basis, or the reason why there are none."""

    evaluator: str
    rewards: tuple[float, ...] | None = None
    basis: Basis | None = None
    told: bool = False
    unscored: str = ""
    info: dict[str, Any] = {}


class UseLine(_Strict, frozen=True):
    """A rule that could be told in the episode."""

    rule: str
    told: bool
    chance: float
    occasions: _Count = 0
    obeyed: _Count = 0
    unknown: _Count = 0


class EpisodeLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line.

    Attributes:
        quarantined: Steps whose row is in quarantine.
        is_quarantined: Rows that are derived later start in quarantine.
        uses: Left out where there are none.
    """

    schema: str
    version: int
    key: str
    task: str
    scope: str
    status: EpisodeStatus
    states: tuple[StateLine, ...]
    steps: tuple[StepLine, ...]
    judgment: JudgmentLine
    outcomes: tuple[OutcomeLine, ...] = ()
    quarantined: tuple[int, ...] = ()
    is_quarantined: bool = False
    agent: str = "jitrl"
    config: str = ""
    principal: str = ""
    holdout: bool = False
    started: float = 0.0
    finished: float = 0.0
    info: dict[str, Any] = {}
    uses: tuple[UseLine, ...] | msgspec.UnsetType = msgspec.UNSET


_encode = msgspec.json.Encoder().encode
_decoder = msgspec.json.Decoder(EpisodeLine)


def parse(line: bytes) -> EpisodeRecord:
    """The episode of one line.

    Raises:
        RecordError: If the line is not JSON, does not fit the schema, or contradicts itself.
    """
    try:
        found = _decoder.decode(line)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise RecordError(str(error)) from error
    if found.schema != SCHEMA:
        raise RecordError(f"schema is {found.schema!r}, expected {SCHEMA!r}")
    if found.version != VERSION:
        raise RecordError(f"version is {found.version}, this jitrl reads version {VERSION}")
    check_line(found)
    return _record(found)


def dump(record: EpisodeRecord) -> bytes:
    """The line of one episode, with its line end."""
    e, judgment = record.episode, record.judgment
    places: dict[State, int] = {}

    def place(state: State) -> int:
        return places.setdefault(state, len(places))

    steps = tuple(
        StepLine(
            place(s.state),
            s.action,
            s.reward,
            None if s.next_state is None else place(s.next_state),
            None if s.decision is None else _decision_line(s.decision),
            s.novelty,
        )
        for s in e.steps
    )
    said = (
        JudgmentLine(
            judgment.evaluator,
            judgment.rewards,
            judgment.basis,
            judgment.told,
            info=dict(judgment.info),
        )
        if isinstance(judgment, Scored)
        else JudgmentLine(judgment.evaluator, unscored=judgment.reason, info=dict(judgment.info))
    )
    line = EpisodeLine(
        SCHEMA,
        VERSION,
        e.key,
        e.task,
        e.scope,
        e.status,
        tuple(StateLine(s.text, s.context, s.place) for s in places),
        steps,
        said,
        tuple(_outcome_line(entry) for entry in record.outcomes),
        record.quarantined,
        record.is_quarantined,
        e.agent,
        e.config,
        e.principal,
        e.holdout,
        e.started,
        e.finished,
        dict(e.info),
        tuple(
            UseLine(u.rule, u.told, u.chance, u.occasions, u.obeyed, u.unknown) for u in record.uses
        )
        or msgspec.UNSET,
    )
    return _encode(line) + b"\n"


def _outcome_line(entry: OutcomeEntry) -> OutcomeLine:
    o = entry.outcome
    if o is None:
        return OutcomeLine(None, "test", "", entry.at)
    return OutcomeLine(o.value, o.basis, o.evaluator, entry.at, o.told, o.principal)


def _record(line: EpisodeLine) -> EpisodeRecord:
    states = tuple(State(s.text, s.context, s.place) for s in line.states)

    def state(place: int, at: str) -> State:
        if not 0 <= place < len(states):
            raise RecordError(f"{at} is {place}, but the line has {counted(len(states), 'state')}")
        return states[place]

    steps = tuple(
        Transition(
            state(s.state, f"steps[{t}].state"),
            s.action,
            None if s.decision is None else _decision(s.decision),
            s.reward,
            None if s.next is None else state(s.next, f"steps[{t}].next"),
            s.novelty,
        )
        for t, s in enumerate(line.steps)
    )
    outcomes = tuple(
        OutcomeEntry(
            None
            if o.value is None
            else Outcome(o.value, o.basis, o.evaluator, o.told, o.principal),
            o.at,
        )
        for o in line.outcomes
    )
    for step in line.quarantined:
        if not 0 <= step < len(steps):
            raise RecordError(
                f"quarantined names step {step}, but the line has {counted(len(steps), 'step')}"
            )
    episode = Episode(
        line.key,
        line.task,
        line.scope,
        steps,
        line.status,
        outcomes[-1].outcome if outcomes else None,
        line.agent,
        line.config,
        line.principal,
        line.holdout,
        line.started,
        line.finished,
        line.info,
    )
    return EpisodeRecord(
        episode,
        _judgment(line.judgment),
        outcomes,
        line.is_quarantined,
        line.quarantined,
        uses=tuple(
            RuleUse(u.rule, line.key, u.told, u.chance, u.occasions, u.obeyed, u.unknown)
            for u in line.uses or ()
        ),
    )


def _judgment(line: JudgmentLine) -> Judgment:
    if line.rewards is None:
        if line.basis is not None or line.told:
            raise RecordError("judgment has a basis or is told, but has no rewards")
        return Unscored(line.unscored, line.evaluator, line.info)
    if line.basis is None or line.unscored:
        raise RecordError("judgment has rewards: it needs a basis and must not be unscored")
    return Scored(line.rewards, line.evaluator, line.basis, line.told, line.info)


def _decision_line(decision: Decision) -> Any:
    values = {f.name: getattr(decision, f.name) for f in fields(decision)}
    # A named tuple would be written without its names.
    values["neighbors"] = tuple(_Neighbor(*n) for n in decision.neighbors)
    values["lesson"] = decision.lesson and _Lesson(*decision.lesson)
    return _Decision(**values)


def _decision(line: Any) -> Decision:
    values = _numbers(line)
    values["candidates"] = tuple(Weighed(**_numbers(c)) for c in line.candidates)
    values["neighbors"] = tuple(Neighbor(**_numbers(n)) for n in line.neighbors)
    values["lesson"] = line.lesson and Lesson(**_numbers(line.lesson))
    return Decision(**values)


def _numbers(line: msgspec.Struct) -> dict[str, Any]:
    """Fields by name; null is nan again, but where it says that something is not known."""
    unknown = _UNKNOWN.get(type(line), ())
    return {
        name: math.nan if value is None and name not in unknown else value
        for name, value in msgspec.structs.asdict(line).items()
    }
