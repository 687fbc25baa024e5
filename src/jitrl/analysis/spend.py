"""What a run took of models, by what for: acting, judging and learning, as its ledger has it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from jitrl.errors import InputError
from jitrl.run import folder as folders
from jitrl.run.ledger import PHASES, Phase, Total
from jitrl.stores.sqlite import SQLiteStore

_MILLION = 1e6


@dataclass(frozen=True, slots=True)
class Spend:
    """One phase of a run, as if every answer had been asked for.

    An answer from a file counts with the tokens that it took once; where these are not known, with
    the mean of the others.

    Attributes:
        answers: Answers that were wanted, retries and failed calls among them.
        kept: Those of them that came from a file, or had been given before.
        dollars: By the prices that the ledger was given, or else by those of ``spent``.
    """

    phase: Phase
    answers: int
    kept: int
    tokens_in: float
    tokens_out: float
    dollars: float


@dataclass(frozen=True, slots=True)
class Spent:
    """A run's phases, in the order of ``PHASES``.

    Attributes:
        is_priced: Whether dollars are by the run's own prices.
    """

    episodes: int
    phases: tuple[Spend, ...]
    is_priced: bool

    def of(self, phase: Phase) -> Spend:
        """One of the phases."""
        return self.phases[PHASES.index(phase)]

    def share(self, phase: Phase) -> float:
        """Of all dollars; 0 if there are none."""
        whole = sum(one.dollars for one in self.phases)
        return self.of(phase).dollars / whole if whole else 0.0

    @property
    def beside(self) -> float:
        """Share of all dollars that went into judging and learning."""
        return self.share("judge") + self.share("learn")


def spent(folder: Path, price_in: float, price_out: float) -> Spent:
    """What the run in ``folder`` took, which is only read.

    Args:
        price_in, price_out: Dollars per million tokens, where the run had no prices of its own.

    Raises:
        InputError: If there is no run, or its ledger holds no tokens of acting.
        StoreError: If the ledger cannot be read.
    """
    record = folders.read(folder)
    with closing(folders.spent(folder)) as ledger:
        totals = ledger.totals()
    episodes = 0
    for seed in record.seeds:
        journal = folders.store_path(folder, seed)
        if journal.is_file():
            with SQLiteStore(journal, readonly=True) as store:
                episodes += sum(s.status != "aborted" for s in store.summaries())
    is_priced = any(t.dollars for t in totals) and all(
        t.dollars for t in totals if t.tokens_in + t.tokens_out
    )
    phases = tuple(
        _summed(phase, [t for t in totals if t.phase == phase], is_priced, price_in, price_out)
        for phase in PHASES
    )
    acting = phases[PHASES.index("act")]
    if not episodes or not acting.tokens_in + acting.tokens_out:
        raise InputError(
            f"the ledger of {folder} holds no tokens of acting ({episodes} episodes): its model "
            "counts none, or all answers came from a cache; give --tokens-in and --tokens-out"
        )
    return Spent(episodes, phases, is_priced)


def _summed(
    phase: Phase, totals: Sequence[Total], is_priced: bool, price_in: float, price_out: float
) -> Spend:
    read = written = dollars = 0.0
    for total in totals:
        known = total.calls - total.failed + total.spared
        share = 1 + (total.cached - total.spared) / known if known else 1.0
        own_in = share * (total.tokens_in + total.spared_in)
        own_out = share * (total.tokens_out + total.spared_out)
        read, written = read + own_in, written + own_out
        paid = total.tokens_in + total.tokens_out
        if is_priced and paid:
            dollars += total.dollars * (own_in + own_out) / paid
        else:
            dollars += (own_in * price_in + own_out * price_out) / _MILLION
    return Spend(
        phase,
        sum(total.calls + total.cached for total in totals),
        sum(total.cached for total in totals),
        read,
        written,
        dollars,
    )
