"""Results as plain values for JSON, in which an interval has one form everywhere.

An interval is ``low`` and ``high``. Where there is none both are null, and ``reason`` says why. A
mean has its interval beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import msgspec

from jitrl.core.stats import Difference, Interval, NoInterval


def interval(of: Interval | NoInterval) -> dict[str, Any]:
    """``low`` and ``high``, or why there are none."""
    match of:
        case Interval(low, high):
            return {"low": low, "high": high}
        case NoInterval(reason):
            return {"low": None, "high": None, "reason": reason}


def difference(of: Difference) -> dict[str, Any]:
    """``mean``, ``clusters`` and the interval."""
    return {"mean": of.mean, "clusters": of.clusters, **interval(of.interval)}


def plain(value: Any) -> Any:
    """``value`` with all that is in it; whatever has a mean and an interval as a ``difference``."""
    match value:
        case Interval() | NoInterval():
            return interval(value)
        case Difference():
            return difference(value)
        case Mapping():
            return {str(key): plain(of) for key, of in value.items()}
        case list() | tuple():
            return [plain(of) for of in value]
    if not is_dataclass(value) or isinstance(value, type):
        return msgspec.to_builtins(value)
    shown = {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if "mean" in shown and isinstance(shown.get("interval"), dict):
        shown |= shown.pop("interval")
    return shown
