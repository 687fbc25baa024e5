"""Numbers among the options of a rulebook: with which something can be learned, or told."""

from __future__ import annotations

from jitrl.core.rule import check_number
from jitrl.errors import ConfigError

_LEAST_ROOM = 20  # tokens of a short rule
_LEAST_HELD = 0.01  # share of uses without which no effect is ever known
_MOST_EXPLORE = 1e6


def check_counts(
    name: str, attempts: int, distil: int, told: int, tokens: int, credit_budget: int
) -> None:
    """Refuse counts with which nothing could be learned, or told.

    Raises:
        ConfigError: With the value and what to do.
    """
    for what, value in (
        ("attempts", attempts),
        ("distil", distil),
        ("told", told),
        ("tokens", tokens),
        ("credit_budget", credit_budget),
    ):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise ConfigError(
                f"agent {name}: {what} must be at least 0 and a whole number, got {value!r}"
            )
    if attempts == 1:
        raise ConfigError(
            f"agent {name}: attempts is 1; a round compares 2 attempts or more, and with 0 nothing "
            "is distilled"
        )
    if not distil:
        raise ConfigError(
            f"agent {name}: distil is 0; a round makes 1 rule or more, and to distil nothing set "
            "attempts = 0"
        )
    if tokens < _LEAST_ROOM:
        raise ConfigError(
            f"agent {name}: tokens is {tokens}; a rule needs room for {_LEAST_ROOM} or more; "
            "to tell none set told = 0"
        )


def check_shares(name: str, *, explore: float, holdout: float, **shares: float) -> None:
    """Refuse numbers that are out of range: ``shares`` are in [0, 1].

    Raises:
        ConfigError: With the value and what is allowed.
    """
    ranges = {what: (share, 0.0, 1.0) for what, share in shares.items()} | {
        "explore": (explore, 0.0, _MOST_EXPLORE),
        "holdout": (holdout, _LEAST_HELD, 1.0 - _LEAST_HELD),
    }
    for what, (value, low, high) in ranges.items():
        try:
            check_number(what, value, low, high)
        except ValueError as error:
            why = "; a rule that is never held out has no known effect" * (what == "holdout")
            raise ConfigError(f"agent {name}: {error}{why}") from error
