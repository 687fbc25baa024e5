"""Rules made again of the contrasts that a memory keeps; what became of the book stays as it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from jitrl.agents.past import Journal
from jitrl.agents.rulebook import contrasts
from jitrl.agents.rulebook.distilling import Distiller, Round
from jitrl.types import Contrast, Rule

Fate = Literal["new", "evidence", "known"]
"""Of a rule of a contrast: it came in, it gained the contrast, or both were there already."""


@dataclass(frozen=True, slots=True)
class Found:
    """A rule that was made of a contrast."""

    id: str
    text: str
    fate: Fate


@dataclass(frozen=True, slots=True)
class Redone:
    """What became of one contrast.

    Attributes:
        found: The rules it gave.
        left_out: Why it was not looked at; "" if it was.
    """

    contrast: Contrast
    found: tuple[Found, ...] = ()
    left_out: str = ""


def redistil(
    distiller: Distiller,
    kept: Iterable[Contrast],
    *,
    writes: bool = True,
) -> Iterator[Redone]:
    """Distil each contrast again and put what is new into the book.

    A contrast is left out if one of its episodes is in quarantine or has no score any more, if
    corrected scores turned it round, or if it came in under the name of somebody whom the
    distiller does not name. Distilling may take minutes, and all of this is looked
    at again, in the transaction that writes, so that nothing that came meanwhile is overwritten.

    Args:
        writes: Else what would be found is written and taken back.

    Raises:
        BudgetExceeded, ModelError: If a model that distils could not be asked; what was done
            before stays.
    """
    journal = Journal(distiller.store)
    for contrast in kept:
        if not distiller.is_looked_at(contrast):
            yield Redone(contrast, left_out=f"it came in under the name {contrast.principal!r}")
            continue
        attempts = contrasts.present(journal.past(contrast.scope), contrast)
        if isinstance(attempts, str):
            yield Redone(contrast, left_out=attempts)
            continue
        found = distiller.again(attempts, contrast)
        yield _entered(distiller, journal, found, writes)


class _TakenBackError(Exception):
    """Ends a transaction that was only tried."""


def _entered(distiller: Distiller, journal: Journal, of: Round, writes: bool) -> Redone:
    """What a contrast brings to the book as it is now."""
    store, kept, done = distiller.store, of.kept, Redone(of.kept)
    with suppress(_TakenBackError), store.batch():
        past = journal.past(kept.scope)
        now = contrasts.present(past, kept)
        if isinstance(now, str):
            return Redone(kept, left_out=now)
        before = {rule.id: rule for rule in store.rules()}
        made = distiller.enter(replace(of, found=now), past, narrows=False)
        found = map(store.rule, made)
        done = Redone(kept, tuple(Found(r.id, r.text, _fate(r, before, kept)) for r in found))
        if not writes:
            raise _TakenBackError
    return done


def _fate(rule: Rule, before: Mapping[str, Rule], kept: Contrast) -> Fate:
    if rule.id not in before:
        return "new"
    return "known" if kept.id in before[rule.id].evidence else "evidence"
