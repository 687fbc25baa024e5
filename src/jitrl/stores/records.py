"""What a memory file tells beyond the port: whole episodes, decisions, counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, get_args

from jitrl.core import readings
from jitrl.errors import InputError
from jitrl.stores.agreement import LATEST
from jitrl.types import (
    BASES,
    LARGEST,
    Basis,
    Episode,
    EpisodeStatus,
    Judgment,
    Outcome,
    Row,
    Rule,
    RuleChange,
    RuleUse,
    Scored,
)

Derive = Callable[[Episode, Judgment], tuple[Row, ...]]
"""Makes the rows of an episode from what is journaled about it."""

_STATUSES: tuple[str, ...] = get_args(EpisodeStatus)


@dataclass(frozen=True, slots=True)
class OutcomeEntry:
    """One entry of an episode's outcome history.

    Attributes:
        outcome: ``None`` withdraws the entry before.
        at: When it was written, seconds since 1970.
    """

    outcome: Outcome | None
    at: float


@dataclass(frozen=True, slots=True)
class EpisodeRecord:
    """All that a memory holds about one episode, except for its rows, which follow from it.

    Attributes:
        episode: With its present outcome.
        judgment: The present one.
        outcomes: History, oldest first; empty if nothing was ever said.
        is_quarantined: Rows that are derived later start in quarantine.
        quarantined: Steps whose row is quarantined now.
        version: Version of the memory that brought the present judgment.
        uses: Rules that could be told in it.
        by: Who brings it from elsewhere, for the version stream; "" if it was lived here. It is not
            stored with the episode.
    """

    episode: Episode
    judgment: Judgment
    outcomes: tuple[OutcomeEntry, ...] = ()
    is_quarantined: bool = False
    quarantined: tuple[int, ...] = ()
    version: int = 0
    uses: tuple[RuleUse, ...] = ()
    by: str = ""


@dataclass(frozen=True, slots=True)
class RuleRecord:
    """A rule with its history, oldest first; never empty."""

    rule: Rule
    changes: tuple[RuleChange, ...]

    @property
    def reason(self) -> str:
        """Why it has its present status; entries that only brought evidence do not count."""
        return since(self.changes).reason


def since(changes: Sequence[RuleChange]) -> RuleChange:
    """The change of a history that brought the status it ends with."""
    last = changes[0]
    for before, change in pairwise(changes):
        last = last if change.status == before.status else change
    return last


@dataclass(frozen=True, slots=True)
class EpisodeSummary:
    """One line about an episode.

    Attributes:
        unscored: Why nothing is learned from it; "" if it is scored.
        active, quarantined, retired: Number of rows.
        version: Version that brought the present judgment.
    """

    key: str
    task: str
    scope: str
    status: str
    agent: str
    steps: int
    outcome: float | None
    basis: str
    evaluator: str
    unscored: str
    active: int
    quarantined: int
    retired: int
    version: int
    finished: float


def decision_id(key: str, step: int) -> str:
    """``EPISODE_KEY#STEP``."""
    return f"{key}#{step}"


_DIGITS = 12  # of a step number


def parse_decision_id(text: str) -> tuple[str, int]:
    """Episode key and step of a decision id; the key may hold ``#`` itself.

    Raises:
        InputError: If the text does not end in ``#`` and a step number.
    """
    key, mark, step = text.rpartition("#")
    if not mark or not (step.isascii() and step.isdigit()) or len(step) > _DIGITS:
        head, colon, number = text.rpartition(":")
        if not mark and colon and head and number.isascii() and number.isdigit():
            raise InputError(
                f"{text!r} is not a decision id; it must be EPISODE_KEY#STEP, so say "
                f"{f'{head}#{number}'!r}"
            )
        first = decision_id(key if mark else text, 0)
        raise InputError(
            f"{text!r} is not a decision id; it must be EPISODE_KEY#STEP, as {first!r} for the "
            "first step"
        )
    return key, int(step)


def check_episode(episode: Episode) -> None:
    """Refuse what the journal could not give back.

    Raises:
        InputError: For an empty key, task or action, an unknown status or basis, readings of a
            wrong form, half of a surrogate pair in its info, or a number or time that is not
            finite, too large, or outside its range.
    """
    if not episode.key:
        raise InputError("an episode needs a key; it is what makes storing it twice harmless")
    if not episode.task:
        raise InputError(f"episode {episode.key!r} needs a task; it says what was to be done")
    if episode.status not in _STATUSES:
        raise InputError(f"episode status {episode.status!r} must be one of {list(_STATUSES)}")
    for name, number in (("started", episode.started), ("finished", episode.finished)):
        if not 0.0 <= number < LATEST:
            raise InputError(
                f"episode {episode.key!r}: {name} is {number}; it must be seconds since 1970, up "
                "to the year 9999"
            )
    for t, step in enumerate(episode.steps):
        if step.reward is not None:
            _reward(step.reward, f"episode {episode.key!r}: reward of step {t}")
        if not 0.0 <= step.novelty <= 1.0:
            raise InputError(
                f"episode {episode.key!r}: novelty of step {t} is {step.novelty}; "
                "it must be in [0, 1]"
            )
        if not step.action:
            raise InputError(f"episode {episode.key!r}: action of step {t} is empty")
    if episode.outcome is not None:
        check_outcome(episode.outcome, episode.key)
    check_json(episode.info, f"episode {episode.key!r}: info")
    if wrong := readings.fault(episode.info, len(episode.steps)):
        raise InputError(f"episode {episode.key!r}: {wrong}")


def check_outcome(outcome: Outcome, key: str) -> None:
    """Refuse an outcome that is not a finite number on a known basis.

    Raises:
        InputError: With the value.
    """
    _reward(outcome.value, f"episode {key!r}: outcome")
    _known(outcome.basis, key)


def check_rows(
    key: str, task: str, scope: str, length: int, judgment: Judgment, rows: Sequence[Row]
) -> None:
    """Refuse rows that do not follow from this episode of ``length`` steps and this judgment.

    Raises:
        InputError: With the row and the field.
    """
    check_json(judgment.info, f"judgment of episode {key!r}: info")
    if not isinstance(judgment, Scored):
        if not judgment.reason:
            raise InputError(f"episode {key!r} is unscored without a reason; say why")
        if rows:
            raise InputError(
                f"episode {key!r} is unscored ({judgment.reason}) but comes with {len(rows)} rows; "
                "nothing may be learned from it"
            )
        return
    _known(judgment.basis, key)
    if len(judgment.rewards) != length:
        raise InputError(
            f"episode {key!r} has {length} steps, the judgment {len(judgment.rewards)} rewards"
        )
    for t, reward in enumerate(judgment.rewards):
        _reward(reward, f"episode {key!r}: judged reward of step {t}")
    if not rows:
        return
    first = rows[0]
    shared = (first.principal, first.source, first.digest)
    wanted = (key, task, scope, judgment.evaluator, judgment.told, judgment.basis, shared)
    steps = set()
    for row in rows:
        shared = (row.principal, row.source, row.digest)
        got = (row.episode, row.task, row.scope, row.evaluator, row.told, row.basis, shared)
        if got != wanted:
            raise InputError(
                f"row of step {row.step}: (episode, task, scope, evaluator, told, basis, "
                f"(principal, source, digest)) is {got}, but the episode and its judgment say "
                f"{wanted}"
            )
        if not 0 <= row.step < length or row.step in steps:
            raise InputError(
                f"episode {key!r} has steps 0..{length - 1}, one row each; "
                f"a row names step {row.step}{' again' if row.step in steps else ''}"
            )
        if row.status == "retired":
            raise InputError(f"row of step {row.step} of {key!r} is retired before it was stored")
        if not math.isfinite(row.reward + row.ret + row.novelty):
            raise InputError(
                f"row of step {row.step} of {key!r}: reward {row.reward}, return {row.ret}, "
                f"novelty {row.novelty}; all must be finite"
            )
        steps.add(row.step)


def content(row: Row) -> Row:
    """A row without what the store adds: id, version, status, state ids."""
    return replace(row, id=0, version=0, status="active", state_id=0, next_state_id=0)


def check_json(value: Any, where: str) -> None:
    """Refuse what JSON would change or lose: numbers that are not finite, odd keys and types.

    Raises:
        InputError: With the path to the value.
    """
    if isinstance(value, float):
        _finite(value, where)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                raise InputError(f"{where}: key {key!r} must be a string")
            check_json(item, f"{where}.{key}")
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            check_json(item, f"{where}[{i}]")
    elif isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise InputError(
                f"{where} has half of a surrogate pair ({value[error.start]!r}) at character "
                f"{error.start}; decode it with errors='replace'"
            ) from error
    elif not (value is None or isinstance(value, int)):
        raise InputError(f"{where}: {type(value).__name__} cannot be written as JSON")


def _finite(number: float, where: str) -> None:
    if not math.isfinite(number):
        raise InputError(f"{where} is {number}; it must be a finite number")


def _reward(number: float, where: str) -> None:
    if not -LARGEST <= number <= LARGEST:
        raise InputError(f"{where} is {number}; it must be a finite number, at most {LARGEST:g}")


def _known(basis: Basis, key: str) -> None:
    if basis not in BASES:
        raise InputError(f"episode {key!r}: basis {basis!r} must be one of {list(BASES)}")
