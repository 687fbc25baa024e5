"""What is examined: the episodes, decisions and rows of a memory or of a run, and what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from jitrl.analysis.explain import Why
from jitrl.presets import Preset
from jitrl.run.folder import Record
from jitrl.run.ledger import Total
from jitrl.stores.records import RuleRecord
from jitrl.stores.stats import Stats
from jitrl.types import Basis, Contrast, Mode, Rule, ScoredUse, State


@dataclass(frozen=True, slots=True)
class Choice:
    """What is kept of a decision that a memory could have a say in.

    Attributes:
        options: Candidates that there were.
        known: Rows of the memory that it was given; steps of its own episode are none.
        reached: Distinct states of those rows.
        version: Of the memory that was read.
        turned: What outweighed the model where the memory's choice is not the model's own.
        is_memorys: Whether the model had not proposed the choice at all.
        push: Nats between the best and the worst correction.
        spread: Nats between the best and the worst candidate as the model has them.
        is_outweighed: Whether no order of the model's could have changed the choice: the best
            correction is ahead of the next one by more than ``spread``.
        rows: Rows it was given for the action that it took.
    """

    state: State
    mode: Mode
    options: int
    known: int
    reached: int
    version: int
    turned: Why | None
    is_memorys: bool
    push: float
    spread: float
    is_outweighed: bool
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Attempt:
    """A finished episode.

    Attributes:
        family: Kind of task; "" where it has none.
        number: Which attempt at its task (and seed) it is, from 0.
        score: Sum of the environment's rewards, else ``judged``.
        judged: Sum of the rewards it was learned from; ``None`` if it is unscored.
        reason: Why it is unscored.
        basis: What its judgment rests on.
        is_waiting: Unscored for want of an outcome.
        delay: Seconds from its end to its outcome.
        is_held: Acted without memory on purpose.
    """

    key: str
    task: str
    family: str
    scope: str
    seed: int
    number: int
    score: float | None
    judged: float | None
    reason: str
    basis: Basis | None
    is_waiting: bool
    delay: float | None
    is_held: bool
    finished: float
    choices: tuple[Choice, ...]

    @property
    def kind(self) -> str:
        """Its kind of task: the family, or the task itself."""
        return self.family or self.task


@dataclass(frozen=True, slots=True)
class Rows:
    """The active rows of a memory as columns, each [N].

    Attributes:
        state: Ids that ``Journal.states`` knows.
        action: Numbers that stand for actions.
        version: Of the memory that brought the row.
        episode: Place in ``keys``.
    """

    state: np.ndarray
    action: np.ndarray
    ret: np.ndarray
    version: np.ndarray
    episode: np.ndarray
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Book:
    """The rules of a memory file.

    Attributes:
        records: Rules with their history, in the order they came.
        uses: Id of a rule to its uses that have a score, oldest first.
        contrasts: What was distilled, in the order it came.
    """

    records: tuple[RuleRecord, ...] = ()
    uses: Mapping[str, tuple[ScoredUse, ...]] = field(default_factory=dict)
    contrasts: tuple[Contrast, ...] = ()

    def present(self) -> list[Rule]:
        """Rules that episodes may be told: candidates and active ones."""
        found = (record.rule for record in self.records)
        return [rule for rule in found if rule.status in ("candidate", "active")]

    def covered(self) -> frozenset[str]:
        """Ids of the rules that one of those stands for: as candidates they are kept back."""
        return frozenset(parent for rule in self.present() for parent in rule.parents)


@dataclass(frozen=True, slots=True)
class Journal:
    """A memory file.

    Attributes:
        owners: Row id to the key of its episode, retired rows too.
        scopes: State id to its scope.
    """

    path: Path
    stats: Stats
    attempts: tuple[Attempt, ...]
    rows: Rows
    states: Mapping[int, State]
    scopes: Mapping[int, str]
    owners: Mapping[int, str]
    book: Book = field(default_factory=Book)

    def kinds(self) -> dict[str, str]:
        """Key of an episode to its kind of task."""
        return {attempt.key: attempt.kind for attempt in self.attempts}


Place = Literal["memory", "run"]


@dataclass(frozen=True, slots=True)
class Case:
    """A memory file, or a run with the memory file of each seed.

    Attributes:
        preset: The rule and retrieval it was used with; of a memory file those in force now.
        record: Of a run.
        spent: What its ledger says; ``None`` where there is none.
        base: The run of the agent ``static`` on the same terms, if it was given too.
        arms: Runs that differ from this one in how many rules an episode is told at most, and in
            nothing else; by that number.
        memory: Name of the memory in its file.
        path: The memory file, or the folder of the run.
    """

    label: str
    place: Place
    journals: tuple[Journal, ...]
    preset: Preset
    record: Record | None = None
    spent: tuple[Total, ...] | None = None
    base: Case | None = None
    arms: Mapping[int, Case] = field(default_factory=dict)
    memory: str = "default"
    path: Path = Path()

    def named(self, file: Path | str | None) -> dict[str, Any]:
        """What a command takes that looks at ``file``; nothing where there is none."""
        if not file:
            return {}
        return {"file": str(file)} | ({} if self.memory == "default" else {"memory": self.memory})

    @property
    def corrects(self) -> bool:
        """Whether a memory corrects scores here, so that it can be told how."""
        return any(choice.mode == "act" for choice in self.choices())

    @property
    def has_rules(self) -> bool:
        """Whether it keeps a rulebook; that of a run may be empty."""
        books = (journal.book for journal in self.journals)
        return self.agent == "rulebook" or any(of.records or of.contrasts for of in books)

    @property
    def agent(self) -> str:
        """Entry point of a run's agent; "" of a memory file."""
        return "" if self.record is None else str(self.record.settings["run"]["agent"])

    def attempts(self) -> Iterator[Attempt]:
        """All of them, journal by journal, in the order they were committed."""
        for journal in self.journals:
            yield from journal.attempts

    def choices(self) -> Iterator[Choice]:
        """All decisions of all attempts."""
        for attempt in self.attempts():
            yield from attempt.choices
