"""Ledger: what model calls and episodes cost, by phase, in a file that also holds the budget.

A call is written down before it is made, with an estimate of its tokens, and corrected after it.
So the sum is right after a kill at any moment (a call that was under way counts), and processes
that share the file cannot pass a limit together.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Literal

from jitrl.errors import BudgetExceeded, ConfigError
from jitrl.models.calls import Call
from jitrl.models.datafile import DataFile, Kind

Phase = Literal["act", "judge", "learn"]
PHASES: tuple[Phase, ...] = ("act", "judge", "learn")

_NANO = 1e9
_KIND = Kind(
    "a ledger",
    application=0x6A726C6C,
    version=1,
    schema=(
        """CREATE TABLE IF NOT EXISTS call(
            id INTEGER PRIMARY KEY,
            at REAL NOT NULL,
            phase TEXT NOT NULL,
            model TEXT NOT NULL,
            scorer TEXT NOT NULL,
            status TEXT NOT NULL,
            tokens_in INTEGER NOT NULL,
            tokens_out INTEGER NOT NULL,
            nanodollars INTEGER NOT NULL
        )""",
        """CREATE TABLE IF NOT EXISTS total(
            phase TEXT NOT NULL,
            model TEXT NOT NULL,
            calls INTEGER NOT NULL,
            failed INTEGER NOT NULL,
            cached INTEGER NOT NULL,
            tokens_in INTEGER NOT NULL,
            tokens_out INTEGER NOT NULL,
            nanodollars INTEGER NOT NULL,
            PRIMARY KEY (phase, model)
        ) WITHOUT ROWID""",
        """CREATE TABLE IF NOT EXISTS spared(
            phase TEXT NOT NULL,
            model TEXT NOT NULL,
            answers INTEGER NOT NULL,
            tokens_in INTEGER NOT NULL,
            tokens_out INTEGER NOT NULL,
            PRIMARY KEY (phase, model)
        ) WITHOUT ROWID""",
        """CREATE TABLE IF NOT EXISTS clock(
            phase TEXT PRIMARY KEY,
            times INTEGER NOT NULL,
            nanoseconds INTEGER NOT NULL
        ) WITHOUT ROWID""",
    ),
)
_ADD = """
INSERT INTO total VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
    calls = calls + excluded.calls,
    failed = failed + excluded.failed,
    cached = cached + excluded.cached,
    tokens_in = tokens_in + excluded.tokens_in,
    tokens_out = tokens_out + excluded.tokens_out,
    nanodollars = nanodollars + excluded.nanodollars
"""
_SPARE = """
INSERT INTO spared VALUES (?, ?, 1, ?, ?) ON CONFLICT DO UPDATE SET
    answers = answers + 1,
    tokens_in = tokens_in + excluded.tokens_in,
    tokens_out = tokens_out + excluded.tokens_out
"""
_TICK = """
INSERT INTO clock VALUES (?, 1, ?) ON CONFLICT DO UPDATE SET
    times = times + 1, nanoseconds = nanoseconds + excluded.nanoseconds
"""


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens, read and written."""

    read: float
    written: float

    def __post_init__(self) -> None:
        if not (0 <= self.read < inf and 0 <= self.written < inf):
            raise ConfigError(f"prices are dollars per million tokens, at least 0; got {self}")


@dataclass(frozen=True, slots=True)
class Limits:
    """The budget of everything in one ledger; ``None`` is no limit."""

    calls: int | None = None
    tokens: int | None = None
    dollars: float | None = None


@dataclass(frozen=True, slots=True)
class Total:
    """Sums of a phase and a model.

    Attributes:
        calls: Calls made, retries and failed ones among them.
        failed: Those of them that brought no answer; their tokens count as 0.
        cached: Answers from a file, or given before, which cost nothing and are no calls.
        spared: How many of these it is known of what they took when they were asked for.
        spared_in, spared_out: Tokens that those took then.
    """

    phase: Phase
    model: str
    calls: int
    failed: int
    cached: int
    tokens_in: int
    tokens_out: int
    dollars: float
    spared: int = 0
    spared_in: int = 0
    spared_out: int = 0


@dataclass(frozen=True, slots=True)
class Spell:
    """Wall time of a phase, summed over threads.

    Attributes:
        times: Episodes it was taken for; one that is played again counts again.
    """

    phase: Phase
    times: int
    seconds: float


class Ledger:
    """Counts calls, for any number of threads and processes at once.

    Args:
        path: Created if missing; ``:memory:`` for one that vanishes.
        readonly: A copy of what the file holds now, nothing if it is missing; it is left alone.
        limits: Checked before each call, against all that the file holds. A run that stopped at a
            limit goes on when it is opened again with a higher one.
        prices: By model name, with or without ``@server``. Local models cost nothing.

    Raises:
        StoreError: If the file cannot be opened or written, is something else, or is newer.
        ConfigError: If a limit is negative.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        limits: Limits | None = None,
        prices: Mapping[str, Price] | None = None,
        readonly: bool = False,
    ) -> None:
        self.limits, self._prices = limits or Limits(), dict(prices or {})
        for name in ("calls", "tokens", "dollars"):
            limit = getattr(self.limits, name)
            if limit is not None and not 0 <= limit < inf:
                raise ConfigError(f"a limit of {name} is at least 0 (None: no limit), got {limit}")
        self._file = DataFile(path, _KIND, readonly=readonly)

    def meter(self, phase: Phase) -> PhaseMeter:
        """What a model of this phase counts its calls with."""
        if phase not in PHASES:
            raise ConfigError(f"there is no phase {phase!r}; there are {', '.join(PHASES)}")
        return PhaseMeter(self, phase)

    def totals(self) -> tuple[Total, ...]:
        """Sums by phase and model, in the order of the phases. Calls under way are estimates."""
        with self._file.reading() as db:
            rows = db.execute(
                "SELECT phase, model, calls, failed, cached, total.tokens_in, total.tokens_out, "
                "nanodollars / 1e9, ifnull(answers, 0), ifnull(spared.tokens_in, 0), "
                "ifnull(spared.tokens_out, 0) FROM total LEFT JOIN spared USING (phase, model)"
            ).fetchall()
        totals = [Total(*row) for row in rows]
        return tuple(sorted(totals, key=lambda total: (PHASES.index(total.phase), total.model)))

    def took(self, phase: Phase, seconds: float) -> None:
        """Add the wall time that one episode took in ``phase``."""
        with self._file.transaction() as db:
            db.execute(_TICK, (phase, round(seconds * _NANO)))

    def spells(self) -> tuple[Spell, ...]:
        """Wall time by phase, in the order of the phases; a phase that was not timed is missing."""
        with self._file.reading() as db:
            rows = db.execute("SELECT phase, times, nanoseconds / 1e9 FROM clock").fetchall()
        return tuple(sorted((Spell(*row) for row in rows), key=lambda s: PHASES.index(s.phase)))

    def close(self) -> None:
        """Release the file; may be called twice."""
        self._file.close()

    def start(self, phase: Phase, call: Call) -> int:
        """As :meth:`Meter.start`, for a phase. What costs money survives a power loss.

        Raises:
            BudgetExceeded: If the call would pass a limit.
            ConfigError: If there is a limit of dollars and the model has no price.
        """
        cost = self._cost(call)
        amounts = (call.tokens_in, call.tokens_out, cost)
        with self._file.transaction(survives_power_loss=not call.local) as db:
            self._check(db, call, cost)
            ticket = db.execute(
                "INSERT INTO call(at, phase, model, scorer, status, tokens_in, tokens_out, "
                "nanodollars) VALUES (?, ?, ?, ?, 'open', ?, ?, ?)",
                (time.time(), phase, call.model, call.scorer, *amounts),
            ).lastrowid
            db.execute(_ADD, (phase, call.model, 1, 0, 0, *amounts))
        return int(ticket or 0)

    def finish(self, ticket: int, call: Call, *, failed: bool) -> None:
        """As :meth:`Meter.finish`: replace the estimate of :meth:`start` by what was taken."""
        after = (call.tokens_in, call.tokens_out, self._cost(call))
        with self._file.transaction() as db:
            phase, *before = db.execute(
                "SELECT phase, tokens_in, tokens_out, nanodollars FROM call WHERE id = ?", (ticket,)
            ).fetchone()
            db.execute(
                "UPDATE call SET status = ?, tokens_in = ?, tokens_out = ?, nanodollars = ? "
                "WHERE id = ?",
                ("failed" if failed else "done", *after, ticket),
            )
            change = (new - old for new, old in zip(after, before, strict=True))
            db.execute(_ADD, (phase, call.model, 0, int(failed), 0, *change))

    def cached(self, phase: Phase, model: str, tokens_in: int, tokens_out: int) -> None:
        """Count an answer that cost nothing, and the tokens that it took once."""
        with self._file.transaction() as db:
            db.execute(_ADD, (phase, model, 0, 0, 1, 0, 0, 0))
            if tokens_in or tokens_out:  # else they are not known
                db.execute(_SPARE, (phase, model, tokens_in, tokens_out))

    def _cost(self, call: Call) -> int:
        """Nanodollars: a dollar per million tokens is a thousand nanodollars a token."""
        if call.local:
            return 0
        price = self._prices.get(call.model) or self._prices.get(call.model.rpartition("@")[0])
        if price is None:
            if self.limits.dollars is not None:
                raise ConfigError(
                    f"there is a limit of dollars and no price for {call.model}; name its price, "
                    "or limit calls or tokens instead"
                )
            return 0
        return round(1e3 * (price.read * call.tokens_in + price.written * call.tokens_out))

    def _check(self, db: sqlite3.Connection, call: Call, cost: int) -> None:
        calls, tokens, spent = db.execute(
            "SELECT total(calls), total(tokens_in + tokens_out), total(nanodollars) FROM total"
        ).fetchone()
        for name, used, more, limit in (
            ("calls", calls, 1, self.limits.calls),
            ("tokens", tokens, call.tokens_in + call.tokens_out, self.limits.tokens),
            ("dollars", spent / _NANO, cost / _NANO, self.limits.dollars),
        ):
            if limit is not None and used + more > limit:
                raise BudgetExceeded(
                    f"the budget of {limit:g} {name} is used up: {used:.6g} used, the next call "
                    f"may take {more:.6g}; raise max_{name} to go on from here"
                )


@dataclass(frozen=True, slots=True)
class PhaseMeter:
    """One phase of a ledger; fulfils :class:`jitrl.models.calls.Meter`."""

    ledger: Ledger
    phase: Phase

    def start(self, call: Call) -> int:
        """As :meth:`Meter.start`."""
        return self.ledger.start(self.phase, call)

    def finish(self, ticket: int, call: Call, *, failed: bool = False) -> None:
        """As :meth:`Meter.finish`."""
        self.ledger.finish(ticket, call, failed=failed)

    def cached(self, model: str, tokens_in: int = 0, tokens_out: int = 0) -> None:
        """As :meth:`Meter.cached`."""
        self.ledger.cached(self.phase, model, tokens_in, tokens_out)
