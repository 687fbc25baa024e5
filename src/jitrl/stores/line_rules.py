"""One line of an export that is no episode: a rule with its history, or a contrast."""

from __future__ import annotations

import re
from typing import Annotated, TypeVar, cast

import msgspec

from jitrl.core.sentences import LONGEST_TEXT
from jitrl.errors import RecordError
from jitrl.stores.agreement import check_time
from jitrl.stores.records import RuleRecord
from jitrl.types import RULE_STATUSES, Contrast, Rule, RuleChange, RuleStatus

RULE = "jitrl.rule"
CONTRAST = "jitrl.contrast"
VERSION = 1

Round = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class _Head(msgspec.Struct, frozen=True):
    schema: str = ""


class ChangeLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of a rule's history; ``evidence`` are the contrasts that it brought."""

    status: str
    reason: str
    principal: str
    at: float
    evidence: tuple[str, ...] = ()


class RuleLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A rule; its status is that of the last change."""

    schema: str
    version: int
    id: str
    text: str
    scope: str
    kind: str
    entities: tuple[str, ...]
    entry: float
    author: str
    parents: tuple[str, ...]
    changes: tuple[ChangeLine, ...]


class ContrastLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A contrast; good and bad are keys of episodes."""

    schema: str
    version: int
    id: str
    scope: str
    task: str
    kind: str
    round: Round
    goal: str
    good: tuple[str, ...]
    bad: tuple[str, ...]
    scores: tuple[float, ...]
    created: float
    principal: str


_encode = msgspec.json.Encoder().encode
_head = msgspec.json.Decoder(_Head)
_rule = msgspec.json.Decoder(RuleLine)
_contrast = msgspec.json.Decoder(ContrastLine)
_Line = TypeVar("_Line", RuleLine, ContrastLine)


def schema_of(line: bytes) -> str:
    """What a line says it is; "" if it says nothing.

    Raises:
        RecordError: If it is not JSON, with the place where it stops to be.
    """
    try:
        return _head.decode(line).schema
    except msgspec.ValidationError as error:
        raise RecordError(
            f'{error}; a line is an object that names its schema, as {{"schema":"{RULE}",…}}'
        ) from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        said = str(error).removeprefix("JSON is malformed: ")
        said = said if re.search(r"\d", said) else f"{said} (byte {len(line.rstrip())})"
        raise RecordError(f"it is not JSON: {said}") from error


def dump_rule(record: RuleRecord) -> bytes:
    """The line of one rule, with its line end."""
    r = record.rule
    changes = tuple(
        ChangeLine(c.status, c.reason, c.principal, c.at, c.evidence) for c in record.changes
    )
    line = RuleLine(
        RULE,
        VERSION,
        r.id,
        r.text,
        r.scope,
        r.kind,
        r.entities,
        r.entry,
        r.author,
        r.parents,
        changes,
    )
    return _encode(line) + b"\n"


def dump_contrast(contrast: Contrast) -> bytes:
    """The line of one contrast, with its line end."""
    c = contrast
    line = ContrastLine(
        CONTRAST,
        VERSION,
        c.id,
        c.scope,
        c.task,
        c.kind,
        c.round,
        c.goal,
        c.good,
        c.bad,
        c.scores,
        c.created,
        c.principal,
    )
    return _encode(line) + b"\n"


def parse_rule(line: bytes) -> RuleRecord:
    """The rule of one line.

    Raises:
        RecordError: If the line is not JSON, does not fit the schema, or contradicts itself.
    """
    r = _decoded(_rule, line)
    if len(r.text) > LONGEST_TEXT:
        raise RecordError(
            f"text has {len(r.text)} characters; that of a rule at most {LONGEST_TEXT}"
        )
    if not r.changes:
        raise RecordError(f"rule {r.id!r} has no changes; the first one says how it came")
    for i, change in enumerate(r.changes):
        if change.status not in RULE_STATUSES:
            raise RecordError(
                f"changes[{i}].status is {change.status!r}; it must be one of "
                f"{', '.join(RULE_STATUSES)}"
            )
        if len(change.reason) > LONGEST_TEXT:
            raise RecordError(
                f"changes[{i}].reason has {len(change.reason)} characters; at most {LONGEST_TEXT}"
            )
        check_time(change.at, f"changes[{i}].at")
    changes = tuple(
        RuleChange(r.id, 0, cast(RuleStatus, c.status), c.reason, c.principal, c.at, c.evidence)
        for c in r.changes
    )
    said = (r.id, r.text, r.scope, r.kind, r.entities, r.entry, r.author, r.parents)
    return RuleRecord(Rule(*said, status=changes[-1].status), changes)


def parse_contrast(line: bytes) -> Contrast:
    """The contrast of one line.

    Raises:
        RecordError: If the line is not JSON or does not fit the schema.
    """
    c = _decoded(_contrast, line)
    check_time(c.created, "created")
    said = (c.id, c.scope, c.task, c.kind, c.round, c.goal, c.good, c.bad, c.scores)
    return Contrast(*said, c.created, principal=c.principal)


def _decoded(decoder: msgspec.json.Decoder[_Line], line: bytes) -> _Line:
    try:
        found = decoder.decode(line)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise RecordError(str(error)) from error
    if found.version != VERSION:
        raise RecordError(f"version is {found.version}, this jitrl reads version {VERSION}")
    return found
