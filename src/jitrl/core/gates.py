"""Gates of a rulebook: when a rule is admitted, and when it goes.

A new rule is a candidate. It is told in half of the episodes it fits at first, by a draw, and in
more or fewer of them by what it shows. It becomes active once the bounds of its effect leave 0
behind and it helped on two different tasks; that takes long where effects are small, so until then
it stays as long as it seems to help. An active rule is still held out now and then, so its effect
stays known, and goes when it stops paying. What is told often without a win ages out. The bounds
hold at all looks together (core.effect), so the gates may be tried after every episode: a rule
without any effect is ever admitted with a chance of at most ``alpha / 2``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from jitrl.core.effect import Effect, Estimate, Use, effect
from jitrl.core.rule import check_number
from jitrl.core.rules import lowest
from jitrl.types import RuleStatus, ScoredUse

_LEAST_ALPHA = 1e-12  # below, bounds say nothing that a number can hold
_ROUNDING = 1e-9  # of a sum of rewards


@dataclass(frozen=True, slots=True)
class Gates:
    """Settings of the three gates.

    Attributes:
        alpha: Of the bounds of an effect.
        tasks: Different tasks on which a rule must have helped to be admitted.
        trial: Uses of a candidate, told or held out, from which on it goes once its mean effect is
            not above 0.
        grace: Uses, told or held out, within which a rule goes only if it is proved to do harm.
            Both count uses since the effect last changed (core.effect).
        bottom: Share of the active rules past their grace that goes each round, the lowest bounds
            first, as long as those are not above 0.
        idle: Told so often without a win, and with scores no better than where it was held out, a
            rule past its grace goes.
        most: Candidates and active rules of a scope that are kept; above, those go whose condition
            never held, then those past their grace, the lowest bounds first.

    Raises:
        ValueError: If a value is outside its range.
    """

    alpha: float = 0.1
    tasks: int = 2
    trial: int = 80
    grace: int = 30
    bottom: float = 0.1
    idle: int = 20
    most: int = 100

    def __post_init__(self) -> None:
        """Reject settings that mean nothing."""
        check_number("alpha", self.alpha, _LEAST_ALPHA, 1.0 - _LEAST_ALPHA)
        check_number("bottom", self.bottom, 0.0, 1.0 - _LEAST_ALPHA)
        for name in ("tasks", "trial", "grace", "idle", "most"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} is {value!r}; it must be a whole number, at least 1")


def gates_of(given: object) -> Gates | None:
    """The gates that an option asks for; ``None`` for none at all.

    Args:
        given: ``None`` or ``True`` for the default ones, ``False`` for none, or a mapping of the
            settings that differ.

    Raises:
        ValueError: With the key, the value and what is allowed.
    """
    if given is False:
        return None
    if given is None or given is True:
        return Gates()
    names = [field.name for field in fields(Gates)]
    if not isinstance(given, Mapping):
        raise ValueError(
            f"gates is {given!r}; use true for the default ones, false for none, or the settings "
            f"that differ: {', '.join(names)}"
        )
    if unknown := [str(name) for name in given if name not in names]:
        raise ValueError(f"gates have no {', '.join(unknown)}; they have {', '.join(names)}")
    return Gates(**given)


@dataclass(frozen=True, slots=True)
class Judged:
    """What the gates make of a rule.

    Attributes:
        status: What it has from now on.
        reason: Why, with the numbers it rests on; "" where it stays what it was.
    """

    status: RuleStatus
    reason: str = ""


class Trial:
    """What a rule did so far, kept up to date use by use, and what the gates make of it.

    Args:
        success: Least score of a win.
    """

    def __init__(self, gates: Gates, *, success: float = 1.0) -> None:
        self._gates, self._success = gates, success
        self._estimate = Estimate(gates.alpha)
        self._has_won = False
        self._all = _Compared()
        self._tasks = dict[str, _Compared]()

    def add(self, use: Use) -> None:
        """Take in the next use.

        Raises:
            ValueError: If its chance is not in (0, 1), or its score not in [0, 1].
        """
        self._estimate.add(use)
        self._has_won = self._has_won or (use.given and is_win(use.score, self._success))
        for compared in (self._all, self._tasks.setdefault(use.task, _Compared())):
            compared.add(use)

    @property
    def effect(self) -> Effect:
        """The effect shown so far, with the bounds of the gates."""
        return self._estimate.value

    @property
    def helped_on(self) -> list[str]:
        """Tasks whose mean score was higher with than without, oldest first."""
        return [task for task, compared in self._tasks.items() if compared.is_better]

    def judged(self, status: RuleStatus) -> Judged:
        """Whether the rule comes in, stays or goes, by what it did itself.

        Within its grace a rule goes only if it is proved to do harm. Only candidates and active
        rules are judged; any other keeps its status.
        """
        if status not in ("candidate", "active"):
            return Judged(status)
        found, gates = self.effect, self._gates
        if found.high < 0.0:
            return Judged("retired", f"does harm: {_said(found)}")
        lacks = self._lacks(found)
        if status == "candidate" and not lacks:
            on = _many(len(self.helped_on), "task")
            return Judged("active", f"effect {_said(found)}, on {on}")
        if found.uses < gates.grace:
            return Judged(status)
        pays = self._has_won or self._all.is_better
        if found.given >= gates.idle and found.low <= 0.0 and not pays:
            told = _many(found.given, "time")
            return Judged("retired", f"told {told} without a win, and no better than held out")
        if status == "candidate" and found.uses >= gates.trial and found.mean <= 0.0:
            return Judged("retired", f"no help in {_many(found.uses, 'use')}: {lacks}")
        return Judged(status)

    def _lacks(self, found: Effect) -> str:
        """What a candidate has not shown yet; "" if it has shown enough to become active."""
        if found.low <= 0.0:
            return f"effect not above 0: {_said(found)}"
        helped = len(self.helped_on)
        if helped < self._gates.tasks:
            return f"helped on {helped} of {_many(self._gates.tasks, 'task')}: {_said(found)}"
        return ""


@dataclass(slots=True)
class _Compared:
    """Scores with and without: their sums, and how many there are."""

    told: float = 0.0
    held: float = 0.0
    n_told: int = 0
    n_held: int = 0

    def add(self, use: Use) -> None:
        if use.given:
            self.told, self.n_told = self.told + use.score, self.n_told + 1
        else:
            self.held, self.n_held = self.held + use.score, self.n_held + 1

    @property
    def is_better(self) -> bool:
        """Whether the mean is higher with than without, by more than rounding."""
        if not (self.n_told and self.n_held):
            return False
        return self.told / self.n_told > self.held / self.n_held + _ROUNDING


def is_win(score: float, success: float) -> bool:
    """Whether a score reaches what counts as success, but for rounding."""
    return score >= success - _ROUNDING


def outdone(measured: Mapping[str, Effect], gates: Gates) -> list[str]:
    """Ids of the active rules that go this round because others have shown more.

    Args:
        measured: Effect of each active rule.
    """
    past = [(of.low, rule) for rule, of in measured.items() if of.uses >= gates.grace]
    return [rule for rule in lowest(past, gates.bottom) if measured[rule].low <= 0.0]


def surplus(measured: Mapping[str, Effect], gates: Gates, silent: Sequence[str] = ()) -> list[str]:
    """Ids of the rules that go because a book holds more than ``most``; none within its grace.

    Args:
        measured: Effect of each candidate and active rule.
        silent: Those of them whose condition never held although they are there for long, oldest
            first; they go before all others.
    """
    past = [(of.low, rule) for rule, of in measured.items() if of.uses >= gates.grace]
    order = [*silent, *(rule for _, rule in sorted(past))]
    return order[: max(0, len(measured) - gates.most)]


def drawn(uses: Sequence[ScoredUse]) -> list[Use]:
    """What logged uses prove: those that were drawn, as what was told for sure proves nothing."""
    return [
        Use(one.use.told, one.use.chance, one.score, one.task)
        for one in uses
        if one.use.chance < 1.0
    ]


def measure(uses: Sequence[Use], gates: Gates) -> Effect:
    """The effect that a rule's uses show, with the bounds of the gates."""
    return effect(uses, gates.alpha)


def _said(of: Effect) -> str:
    since = "" if of.uses == of.given + of.held else f"; {_many(of.uses, 'use')} since it changed"
    return f"{of}, {of.given} told, {of.held} held out{since}"


def _many(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
