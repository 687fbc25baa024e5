"""`jitrl bench learn`: what the default rule learns, beside other rules, and what disturbs it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, TypeVar

import typer

from jitrl.cli.listing import figures
from jitrl.cli.output import JSON, emit, people
from jitrl.cli.progress import shared
from jitrl.errors import InputError

if TYPE_CHECKING:
    from jitrl.bench.learning import Result
    from jitrl.bench.means import Number
    from jitrl.core.stats import Difference, Interval, NoInterval


What = Literal["main", "robust", "ablation", "planted", "gaps", "toy"]


NO_INTERVAL = (
    "No interval: [–], as all score alike and there is nothing to resample; [n < 6], as there are "
    "too few."
)


class Named(Protocol):
    """An arm of a bench."""

    @property
    def name(self) -> str: ...


AnyArm = TypeVar("AnyArm", bound=Named)


def learn(
    what: Annotated[
        What,
        typer.Option(
            help="`main`: rules and baselines on text games. `robust`: wrong and right priors, "
            "slips, shifted rewards. `ablation`: one setting changed at a time. `planted`: rows "
            "of one source against clear evidence. `gaps`: honest rows against a wrong prior. "
            "`toy`: the hidden protocol with slips."
        ),
    ] = "main",
    arms: Annotated[
        str, typer.Option(help="Only the first arm and those whose name matches this pattern.")
    ] = "",
    change: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Play each arm with these settings of the memory, too: `rule.kernel=0.01, "
            "gamma=0.5`. Repeat it for more arms.",
        ),
    ] = None,
    games: Annotated[
        str, typer.Option(help="Seeds of the text games, as `40-57` or `1,2,3`.")
    ] = "40-57",
    seeds: Annotated[int, typer.Option(min=1, help="Run seeds: 0, 1, …")] = 2,
    attempts: Annotated[int, typer.Option(min=1, help="Episodes of each game and seed.")] = 25,
    trials: Annotated[
        int, typer.Option(min=1, help="Memories per case of `planted` and `gaps`.")
    ] = 400,
    protocols: Annotated[int, typer.Option(min=1, help="Hidden protocols of `toy`.")] = 200,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    json: JSON = False,
) -> None:
    """Measure what the default rule learns, beside other rules and under disturbances.

    The text games need the extra `textworld-express` and Java.
    """
    import msgspec

    from jitrl.bench import learning, learning_arms, learning_planted, learning_toy, machine

    if (arms or change) and what not in learning_arms.SETS:
        sets = ", ".join(learning_arms.SETS)
        raise InputError(f"--arms and --set go with --what {sets}, not {what}")
    wanted = chosen(learning_arms.SETS[what], arms) if what in learning_arms.SETS else ()
    wanted = learning_arms.changed(wanted, change or ())
    seeds_of_games = numbers(games)
    data: dict[str, Any] = {"schema": learning.SCHEMA, "what": what}
    with shared(what) as tell:
        if what in ("planted", "gaps"):
            turned = learning_planted.measure(what, trials=trials, workers=workers, tell=tell)
            data |= {"machine": machine.facts(), "results": turned}
        elif what == "toy":
            found = learning_toy.measure(seeds=protocols, workers=workers, tell=tell)
            data |= {"machine": machine.facts(), "results": found}
        else:
            report = learning.measure(
                what,
                learning_arms.fewer(wanted, attempts),
                game_seeds=seeds_of_games,
                seeds=range(seeds),
                workers=workers,
                tell=tell,
            )
            data |= msgspec.to_builtins(report)
    if what in ("planted", "gaps"):
        _show_shares(turned, "right" if what == "gaps" else "turned")
    elif what == "toy":
        _show_toy(found)
    else:
        _show(report.results)
    if json:
        emit(msgspec.to_builtins(data))


def chosen(
    arms: Sequence[AnyArm], pattern: str, always: Collection[str] = ()
) -> tuple[AnyArm, ...]:
    """The first arm, those that are always in, and those whose name matches, with their bases."""
    try:
        found = [arm for arm in arms if re.search(pattern, arm.name)]
    except re.error as error:
        raise InputError(f"--arms {pattern!r} is no regular expression: {error}") from error
    if not found:
        names = ", ".join(repr(arm.name) for arm in arms)
        raise InputError(f"--arms {pattern!r} matches no arm; there are {names}")
    bases = {getattr(arm, "against", "") for arm in found}
    kept = {arms[0].name, *always, *bases, *(arm.name for arm in found)}
    return tuple(arm for arm in arms if arm.name in kept)


def numbers(text: str) -> tuple[int, ...]:
    """``40-57`` or ``1,2,3`` as numbers, each once."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if not first.isdecimal() or (last and not last.isdecimal()):
            raise typer.BadParameter(f"{text!r} is not like 40-57 or 1,2,3", param_hint="--games")
        found += range(int(first), int(last or first) + 1)
    if not found:
        raise typer.BadParameter(f"{text!r} holds no seed", param_hint="--games")
    return tuple(dict.fromkeys(found))


def _show(results: Sequence[Result]) -> None:
    shown = figures("arm", "Avg", "first 5", "last 5", "difference of Avg")
    for result in results:
        change = result.differences.get("avg")
        shown.add(
            result.arm.name,
            number(result.avg),
            short(result.first_five.mean),
            short(result.last_five.mean),
            "" if change is None else difference(change),
        )
        if result.arm.agent == "static" and "best" in result.differences:
            name = f"static, best of {result.arm.attempts}"
            beyond = difference(result.differences["best"])
            shown.add(name, number(result.best), "", "", beyond)
    people().print(shown)
    people().print(
        "Means over games and seeds, 95 % intervals by game. Differences are from the first arm, "
        f"with an oracle prior from the static arm with that prior. {NO_INTERVAL}",
        style="dim",
    )


def _show_shares(results: Sequence[Any], what: str) -> None:
    shown = figures("case", "rule", what, "of")
    for case in results:
        shown.add(case.case, case.rule, f"{100 * case.share:.1f} %", f"{case.trials}")
    people().print(shown)


def _show_toy(results: Sequence[Any]) -> None:
    shown = figures("rule", "first ten", "last ten", "ceiling", "interval of the last ten")
    for found in results:
        shown.add(
            found.agent,
            short(found.first_ten),
            short(found.last_ten),
            short(found.ceiling),
            between(found.interval),
        )
    people().print(shown)
    people().print(f"95 % intervals by protocol. {NO_INTERVAL}", style="dim")


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
