"""One budget for several runs: what one of them may still spend."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from jitrl.config import Settings
from jitrl.run import folder as folders


def within(settings: Settings, folder: Path, all_of: Sequence[Path]) -> Settings:
    """``settings`` whose limits leave the run in ``folder`` what the others have not spent.

    Args:
        all_of: The folders that share the budget, ``folder`` among them or not.
    """
    calls, tokens, dollars = spent([other for other in all_of if other != folder])
    was = settings.budget
    budget = msgspec.structs.replace(
        was,
        max_calls=None if was.max_calls is None else max(was.max_calls - calls, 0),
        max_tokens=None if was.max_tokens is None else max(was.max_tokens - tokens, 0),
        max_dollars=None if was.max_dollars is None else max(was.max_dollars - dollars, 0.0),
    )
    return msgspec.structs.replace(settings, budget=budget)


def spent(all_of: Sequence[Path]) -> tuple[int, int, float]:
    """Calls, tokens and dollars that the runs in these folders took; none where there is none."""
    calls, tokens, dollars = 0, 0, 0.0
    for folder in all_of:
        with closing(folders.spent(folder)) as ledger:
            for total in ledger.totals():
                calls += total.calls
                tokens += total.tokens_in + total.tokens_out
                dollars += total.dollars
    return calls, tokens, dollars
