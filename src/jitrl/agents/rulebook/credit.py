"""Credit: which steps of a good attempt made the difference to bad ones, found in five ways.

``contrast`` compares the attempts as they are, and costs nothing. ``steps`` takes the step at which
the scores of single steps part. ``substitution`` puts a step of a bad attempt into the way of the
good one, plays that, and sees what it costs. ``mixed`` compares first, and substitutes only where
the gap is large and not all bad attempts parted at one and the same step; ``mixed-steps`` takes the
scores of steps there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from jitrl.agents.rulebook.contrasts import Compared
from jitrl.agents.rulebook.partings import Parting, partings
from jitrl.agents.rulebook.stepscores import StepScores
from jitrl.agents.rulebook.substitution import Trial
from jitrl.errors import ConfigError
from jitrl.ports import Evaluator, Writer
from jitrl.ports.replay import Replays
from jitrl.types import Row, State

Strategy = Literal["contrast", "steps", "substitution", "mixed", "mixed-steps"]

_LARGE = 0.5  # gap from which more than a comparison is worth its cost
_LEAST = 1e-9  # weight that is more than a rounding


@dataclass(frozen=True, slots=True)
class Decisive:
    """A step that made a difference.

    Attributes:
        weight: How much; in (0, 1] the share of bad attempts that parted there (``contrast``), else
            what it was worth on average to a bad attempt, in units of a score.
    """

    parting: Parting
    weight: float


Credit = Callable[[Compared], tuple[Decisive, ...]]
"""Names the decisive steps of a contrast, those with most weight first."""


class Difference(NamedTuple):
    """A bad attempt did something else where a good one was, too, and never what was right there.

    Attributes:
        place: Of the good attempt's way.
        attempt: Which bad attempt.
        step: Which of its steps.
        action: What it did.
    """

    place: int
    attempt: int
    step: int
    action: str


def strategy(
    name: Strategy,
    *,
    writer: Writer | None,
    evaluator: Evaluator,
    replays: Replays | None,
    budget: int,
) -> Credit:
    """The way of finding decisive steps that has this name.

    Args:
        writer: The model that scores steps; ``None``: the evaluator has scored them.
        evaluator: Scores what is played again.
        replays: Gives environments to play again in.
        budget: Episodes played again, or attempts whose steps a model scores, for one contrast.

    Raises:
        ConfigError: If there is no such name, or nothing may be played again here.
    """
    if name == "contrast":
        return by_contrast
    if name in ("steps", "mixed-steps"):
        steps = Steps(StepScores(writer, budget))
        return steps if name == "steps" else Mixed(steps)
    if name not in ("substitution", "mixed"):
        raise ConfigError(f"credit is {name!r}; it is one of {', '.join(get_args(Strategy))}")
    if replays is None:
        raise ConfigError(
            f"credit {name!r} plays episodes again, and there is no environment here to play them "
            'in; take "contrast" or "steps", or let a run play (jitrl run, jitrl compare)'
        )
    replays()  # refuses where nothing may be played again; opens nothing
    is_lazy = name == "mixed"
    other = Substitution(replays, evaluator, budget, is_lazy=is_lazy)
    return Mixed(other) if is_lazy else other


def by_contrast(contrast: Compared) -> tuple[Decisive, ...]:
    """Where each bad attempt first left the way of the best one."""
    found = partings(contrast.good[0], contrast.bad)
    return tuple(Decisive(parting, parting.times / len(contrast.bad)) for parting in found)


def differences(contrast: Compared) -> list[Difference]:
    """Where bad attempts did something else than the best one; all of them, not the first alone.

    Two steps are compared where the state is the same, or, as after an earlier error none may be,
    where it is the one step of the good attempt at that place with that context. Loops of the bad
    attempts are left out, as what led back was taken back.
    """
    way = contrast.good[0].direct
    place_of = _places(way)
    found = list[Difference]()
    for number, attempt in enumerate(contrast.bad):
        last: dict[int, Difference] = {}
        right = set[int]()
        for row in attempt.direct:
            place = place_of(row.state)
            if place is not None:
                last[place] = Difference(place, number, row.step, row.action)
                if row.action == way[place].action:
                    right.add(place)
        found += [last[place] for place in sorted(last.keys() - right)]
    return found


def _places(way: Sequence[Row]) -> Callable[[State], int | None]:
    """Finds the step of a way that a state belongs to."""
    same = {row.state: place for place, row in enumerate(way)}
    kinds = Counter((row.state.place, row.state.context) for row in way if row.state.place)
    like = {
        (row.state.place, row.state.context): place
        for place, row in enumerate(way)
        if kinds[row.state.place, row.state.context] == 1
    }
    return lambda state: same.get(state, like.get((state.place, state.context)))


class Steps:
    """The step of each bad attempt at which its score falls furthest behind the good one's.

    Args:
        scores: Where the scores of steps come from.
    """

    def __init__(self, scores: StepScores) -> None:
        self._scores = scores

    def __call__(self, contrast: Compared) -> tuple[Decisive, ...]:
        """The steps, with the mean distance of the scores there.

        Raises:
            BudgetExceeded, ModelError: If the model could not be asked.
        """
        apart = differences(contrast)
        if not apart:
            return ()
        wanted = [n for n in range(len(contrast.bad)) if any(d.attempt == n for d in apart)]
        scored = self._scores.of(contrast, wanted)
        if scored is None:
            return ()
        way, gains = contrast.good[0].direct, dict[int, float]()
        for number, scores in scored.bad.items():
            behind = {
                d.place: scored.good[way[d.place].step] - scores[d.step]
                for d in apart
                if d.attempt == number
            }
            place = max(behind, key=lambda place: (behind[place], -place))
            if behind[place] > _LEAST:
                gains[place] = gains.get(place, 0.0) + behind[place]
        weights = {place: gain / len(scored.bad) for place, gain in gains.items()}
        return _weighed(way, weights, apart)


class Substitution:
    """What it costs to do at one step of the good attempt what bad ones did there.

    Args:
        evaluator: Scores what was played, as it scored the attempts.
        budget: Episodes played for one contrast at most, the first to see whether the good attempt
            comes to the same score again.
        is_lazy: Try what most attempts did first, take the cost of one way to err at a step for all
            others there, and stop once what every bad attempt lacks is accounted for.
    """

    def __init__(
        self, replays: Replays, evaluator: Evaluator, budget: int, *, is_lazy: bool = False
    ) -> None:
        self._replays, self._evaluator, self._budget = replays, evaluator, budget
        self._is_lazy = is_lazy

    def __call__(self, contrast: Compared) -> tuple[Decisive, ...]:
        """The steps that cost something, with what a bad attempt loses by them on average.

        Raises:
            ConfigError: If the good attempt comes to another score when it is played again.
            BudgetExceeded, ModelError: If a model that judges could not be asked.
        """
        apart = differences(contrast)
        if not apart:
            return ()
        lacks = [contrast.good[0].score - attempt.score for attempt in contrast.bad]
        costs: dict[tuple[int, str], float] = {}
        with self._replays() as replay:
            trial = Trial(replay, self._evaluator, self._budget, contrast.good[0])
            for place, action in self._order(contrast, apart):
                if self._is_lazy and not self._is_open(place, costs, apart, lacks):
                    continue
                one = next(d for d in apart if (d.place, d.action) == (place, action))
                cost = trial.cost(place, contrast.bad[one.attempt], one.step)
                if cost is not None:
                    costs[place, action] = cost
        losses = dict[int, float]()
        for d in apart:
            loss = max(0.0, self._cost(d, costs))
            losses[d.place] = losses.get(d.place, 0.0) + loss / len(contrast.bad)
        kept = {place: loss for place, loss in losses.items() if loss > _LEAST}
        return _weighed(contrast.good[0].direct, kept, apart)

    def _order(self, contrast: Compared, apart: Sequence[Difference]) -> list[tuple[int, str]]:
        """What is tried: first what a comparison names, then what most attempts did."""
        named = {d.parting.state: d.weight for d in by_contrast(contrast)} if self._is_lazy else {}
        way = contrast.good[0].direct
        at = Counter(d.place for d in apart)
        times = Counter((d.place, d.action) for d in apart)
        return sorted(
            times,
            key=lambda pair: (
                -named.get(way[pair[0]].state, 0.0),
                -at[pair[0]],
                pair[0],
                -times[pair],
                pair[1],
            ),
        )

    def _is_open(
        self,
        place: int,
        costs: Mapping[tuple[int, str], float],
        apart: Sequence[Difference],
        lacks: Sequence[float],
    ) -> bool:
        """Whether nothing is known to cost there, and an attempt that was there lacks something."""
        if any(tried == place and cost > _LEAST for (tried, _), cost in costs.items()):
            return False
        known = [0.0] * len(lacks)
        for d in apart:
            known[d.attempt] += max(0.0, self._cost(d, costs))
        return any(known[d.attempt] < lacks[d.attempt] - _LEAST for d in apart if d.place == place)

    def _cost(self, d: Difference, costs: Mapping[tuple[int, str], float]) -> float:
        if (d.place, d.action) in costs or not self._is_lazy:
            return costs.get((d.place, d.action), 0.0)
        return max((cost for (place, _), cost in costs.items() if place == d.place), default=0.0)


class Mixed:
    """A comparison; another way where the gap is large and it is not one step that explains all.

    One step does if every bad attempt parted there.

    Args:
        other: The other way.
    """

    def __init__(self, other: Credit) -> None:
        self._other = other

    def __call__(self, contrast: Compared) -> tuple[Decisive, ...]:
        """The steps, weighed as the way that found them does.

        Raises:
            ConfigError, BudgetExceeded, ModelError: As the other way.
        """
        found = by_contrast(contrast)
        is_explained = len(found) == 1 and found[0].parting.times == len(contrast.bad)
        if is_explained or contrast.gap < _LARGE:
            return found
        return self._other(contrast)


def _weighed(
    way: Sequence[Row], weights: Mapping[int, float], apart: Iterable[Difference]
) -> tuple[Decisive, ...]:
    """Steps of the way with these weights, the heaviest first."""
    times = Counter(d.place for d in apart)
    order = sorted(weights, key=lambda place: (-weights[place], place))
    return tuple(
        Decisive(Parting(way[place].state, way[place].action, times[place]), weights[place])
        for place in order
    )
