"""Numbers of the benches as their commands take and show them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from jitrl.cli.shared.output import people
from jitrl.errors import brief

if TYPE_CHECKING:
    from jitrl.bench.report import Number
    from jitrl.core.stats import Difference, Interval, NoInterval


NO_INTERVAL = (
    "No interval: [–], as all score alike and there is nothing to resample; [n < 6], as there are "
    "too few."
)


def numbers(text: str) -> tuple[int, ...]:
    """``40-57`` or ``1,2,3`` as numbers, each once."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if not first.isdecimal() or (last and not last.isdecimal()):
            raise typer.BadParameter(
                f"{brief(text)} is not like 40-57 or 1,2,3", param_hint="--games"
            )
        found += range(int(first), int(last or first) + 1)
    if not found:
        raise typer.BadParameter(f"{brief(text)} holds no seed", param_hint="--games")
    return tuple(dict.fromkeys(found))


def say_fewer(asked: int, there: int, of: str) -> None:
    """Tell people that there are fewer than were asked for, if so.

    Args:
        of: What is counted, and where, as ``templates in this shop``.
    """
    if there < asked:
        people().print(Text(f"{asked} {of} were asked for; there are {there}", style="yellow"))


def short(number: float, sign: str = "") -> str:
    """Three decimals without the zero in front, so that a table fits into 80 columns."""
    return re.sub(r"^([+-]?)0\.", r"\1.", f"{round(number, 3) + 0.0:{sign}.3f}")


def number(number: Number) -> str:
    return f"{short(number.mean)} {between(number.interval)}"


def difference(change: Difference) -> str:
    return f"{short(change.mean, '+')} {between(change.interval)}"


def between(interval: Interval | NoInterval) -> str:
    """``[low, high]``, or ``[n < 6]`` or ``[–]``, which ``NO_INTERVAL`` explains."""
    from jitrl.core.stats import FEWEST_CLUSTERS, Interval

    if isinstance(interval, Interval):
        return f"[{short(interval.low)}, {short(interval.high)}]"
    return "[–]" if interval.is_constant else f"[n < {FEWEST_CLUSTERS}]"
