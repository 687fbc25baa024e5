"""What a run took: answers of models, tokens, dollars and wall time, acting and learning apart."""

from __future__ import annotations

from dataclasses import dataclass

from jitrl.analysis.compare import Comparison, Line
from jitrl.analysis.results import Result


@dataclass(frozen=True, slots=True)
class Bill:
    """What a run took.

    Attributes:
        acting, learning: Answers of models that were wanted, from a provider or a file; judging
            counts as learning. Files make calls of runs incomparable, these are not.
        calls: Calls made, retries and failures among them.
        cached: Answers that came from a file.
        tokens, dollars: Of the calls made.
        acting_s, learning_s: Seconds summed over threads; ``None`` where they were not taken.
        wall_s: Seconds from start to end, all starts together; ``None`` if one was not timed.
    """

    acting: int
    learning: int
    calls: int
    cached: int
    tokens: int
    dollars: float
    acting_s: float | None
    learning_s: float | None
    wall_s: float | None

    @property
    def asked(self) -> int:
        """All answers that were wanted."""
        return self.acting + self.learning


@dataclass(frozen=True, slots=True)
class Extra:
    """What a run solved beyond the base, and the price of each.

    Attributes:
        gained: Sum of scores beyond the base's: successes, where scores are 0 or 1.
        calls: Answers wanted beyond the base's for one of them; negative if there were fewer.
        dollars: Likewise; ``None`` where answers came from a file, or nothing was paid.
    """

    gained: float
    calls: float
    dollars: float | None


def bill(result: Result) -> Bill:
    """What ``result`` took."""
    spells = {spell.phase: spell.seconds for spell in result.spells}
    wanted = {"act": 0, "judge": 0, "learn": 0}
    for total in result.cost:
        wanted[total.phase] += total.calls + total.cached
    seconds = [s.seconds for s in result.record.sessions if s.seconds is not None]
    is_timed = len(seconds) == len(result.record.sessions)
    return Bill(
        acting=wanted["act"],
        learning=wanted["judge"] + wanted["learn"],
        calls=sum(total.calls for total in result.cost),
        cached=sum(total.cached for total in result.cost),
        tokens=sum(total.tokens_in + total.tokens_out for total in result.cost),
        dollars=sum(total.dollars for total in result.cost),
        acting_s=spells.get("act"),
        learning_s=spells.get("learn"),
        wall_s=sum(seconds) if is_timed else None,
    )


def extra(comparison: Comparison, line: Line) -> Extra | None:
    """What each success beyond the base cost, where there is evidence of any.

    ``None`` for the base, where the verdict is not ``better``, and where the runs are not of the
    same size.
    """
    base, result = comparison.first.result, line.result
    is_better = line.difference is not None and line.difference.verdict == "better"
    if not is_better or base.scores.shape != result.scores.shape:
        return None
    gained = float(result.scores.sum() - base.scores.sum())
    ours, theirs = bill(result), bill(base)
    is_paid = not (ours.cached or theirs.cached) and (ours.dollars > 0 or theirs.dollars > 0)
    return Extra(
        gained=gained,
        calls=(ours.asked - theirs.asked) / gained,
        dollars=(ours.dollars - theirs.dollars) / gained if is_paid else None,
    )
