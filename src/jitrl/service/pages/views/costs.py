"""What a place cost: by phase and model, acting, judging and learning apart, and per success."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from jitrl.analysis.bill import bill, extra
from jitrl.report import grid
from jitrl.report.words import LANGUAGES
from jitrl.run import folder as folders
from jitrl.run.ledger import PHASES, Total
from jitrl.service.pages.asking import Asked, Shown
from jitrl.service.pages.views.curve import comparison_of


def view(asked: Asked) -> Shown:
    """The page."""
    home = asked.place.path if asked.place.kind == "run" else asked.place.path.parent
    has_ledger = Path(home / "ledger.db").is_file()
    with closing(folders.spent(home)) as ledger:
        totals, spells = ledger.totals(), ledger.spells()
    words, comparison = LANGUAGES[asked.lang], comparison_of(asked.place, asked.viewer)
    values: dict[str, Any] = {
        "has_ledger": has_ledger,
        "totals": totals,
        "phases": [_phase(phase, totals) for phase in PHASES],
        "seconds": {spell.phase: spell for spell in spells},
        "costs": grid.costs(comparison, words) if comparison else None,
        "note": words.bill.format(base=comparison.base) if comparison else "",
        "extra": None,
        "bill": None,
    }
    if comparison is not None:
        own = next(line for line in comparison.lines if line.result.label == asked.place.name)
        values |= {"extra": extra(comparison, own), "bill": bill(own.result), "own": own}
        values["against"] = comparison.base
        values["is_base"] = own is comparison.first
    return Shown("cost.html", values)


def _phase(phase: str, totals: tuple[Total, ...]) -> dict[str, Any]:
    own = [total for total in totals if total.phase == phase]
    return {
        "name": phase,
        "answers": sum(t.calls + t.cached for t in own),
        "calls": sum(t.calls for t in own),
        "failed": sum(t.failed for t in own),
        "cached": sum(t.cached for t in own),
        "tokens_in": sum(t.tokens_in for t in own),
        "tokens_out": sum(t.tokens_out for t in own),
        "dollars": sum(t.dollars for t in own),
    }
