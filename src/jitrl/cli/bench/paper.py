"""`jitrl bench paper`: the paper's tables beside what was measured here, and the table run anew."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from jitrl.cli.bench.numbers import NO_INTERVAL
from jitrl.cli.shared.listing import figures
from jitrl.cli.shared.output import JSON, emit, people
from jitrl.cli.shared.settings import Flags, names, with_settings
from jitrl.errors import BudgetExceeded, InputError

if TYPE_CHECKING:
    from jitrl.bench.paper.figures import Figure
    from jitrl.bench.paper.measured import Group
    from jitrl.cli.shared.arms import Arm
    from jitrl.study.estimate import Estimate


@with_settings(but=frozenset({"--agent", "--agent-options", "--book", "--until-plateau"}))
def paper(
    flags: Flags,
    found: Annotated[
        Path | None, typer.Argument(metavar="FOLDER", help="Where runs of yours lie.")
    ] = None,
    agents: Annotated[
        str, typer.Option(help="Agents to run; the six of the paper's table if not given.")
    ] = "",
    out: Annotated[
        Path | None, typer.Option(help="Folder of the runs; the same command resumes them.")
    ] = None,
    max_usd: Annotated[
        float | None, typer.Option("--max-usd", min=0, help="Dollars for all runs together.")
    ] = None,
    pilot: Annotated[
        int, typer.Option(min=0, help="Decisions asked for real, for the estimate; 0: guess.")
    ] = 3,
    yes: Annotated[bool, typer.Option("--yes", help="Run without asking.")] = False,
    json: JSON = False,
) -> None:
    """Print the paper's tables beside your runs; with settings, run its table on your own model.

    Alone, or with a FOLDER of runs, it prints and asks no model. With settings (--model, --env, …)
    or --out it runs Static, Memory, Reflexion, AWM, EvoTest and JitRL under the paper's protocol,
    5 attempts of at most 10 steps, after an estimate of the cost. At the budget it stops with exit
    code 6; the same command goes on from there. Prices: --set budget.prices='{"MODEL": [IN, OUT]}'
    in dollars per million tokens.
    """
    from jitrl.bench.paper.measured import groups

    is_run = bool(flags or out or agents or max_usd is not None)
    if is_run and found is not None:
        raise InputError("give either a folder to read or settings to run, not both")
    if is_run:
        found = _run(flags, agents, out, max_usd, pilot, yes)
    local = groups(found) if found is not None else ()
    _show(local)
    if json:
        emit(_data(local))


def _run(
    flags: Flags,
    agents: str,
    out: Path | None,
    max_usd: float | None,
    pilot: int,
    yes: bool,
) -> Path:
    """Run the table, or what is missing of it; returns its folder."""
    from jitrl import config
    from jitrl.analysis.compare import check_names, compare
    from jitrl.analysis.results import gather
    from jitrl.bench.paper.figures import ARMS, PROTOCOL
    from jitrl.cli.shared.arms import parsed, play, prepared
    from jitrl.cli.shared.table import show
    from jitrl.run import folder

    asked: Flags = {**flags, "run": {**PROTOCOL["run"], **flags.get("run", {})}}
    if max_usd is not None:
        asked["budget"] = {**asked.get("budget", {}), "max_dollars": max_usd}
    arms = parsed(asked, names(agents) or list(ARMS), "--agents")
    check_names([arm.label for arm in arms], "", ())
    where = out or folder.default(config.load(asked), "paper")
    ready = prepared(arms, where)
    _agree(_estimates(arms, where, pilot), arms[0].settings.budget.max_dollars, yes)
    try:
        folders = play(ready, where, shared=True)
    except BudgetExceeded:
        people().print(f"stopped at the budget; the same command with a higher one resumes {where}")
        raise
    show(compare(gather(folders)))
    people().print()
    return where


def _estimates(arms: Sequence[Arm], where: Path, pilot: int) -> list[Estimate]:
    from jitrl.study import estimate, purse

    place = where / "pilot"
    settings = purse.within(arms[0].settings, place, [where / arm.label for arm in arms])
    ask = estimate.pilot(settings, place, pilot)
    return [estimate.estimate(arm.label, arm.settings, where / arm.label, ask) for arm in arms]


def _agree(estimates: Sequence[Estimate], limit: float | None, yes: bool) -> None:
    """Show the estimate and ask, unless nothing is to be paid or it was agreed before."""
    from jitrl.study.estimate import total

    shown = figures("agent", "episodes", "calls", "tokens", "dollars", "from")
    for one in estimates:
        dollars = "?" if one.dollars is None else f"{one.dollars:,.2f}"
        numbers = (f"{one.episodes:,}", f"{one.calls:,.0f}", f"{one.tokens:,.0f}", dollars)
        shown.add(one.label, *numbers, one.basis)
    people().print(Text("Estimate of what is left to play (at most):", style="bold"))
    people().print(shown)
    all_of = total(estimates)
    said = "unknown: no price of the model is given" if all_of is None else f"${all_of:,.2f}"
    people().print(f"together {said}; limit {'none' if limit is None else f'${limit:,.2f}'}")
    if yes or all_of == 0.0:
        return
    if not sys.stdin.isatty():
        raise InputError("this may cost money; look at the estimate and pass --yes")
    typer.confirm("Run it?", abort=True, err=True)


def _show(local: Sequence[Group]) -> None:
    """What was measured here first, then the paper's own figures."""
    if local:
        people().print(Text("Measured here, each group on equal terms", style="bold"))
    for group in local:
        people().print(Text(f"{group.place}: {group.terms}", style="dim"))
        people().print(_measured(group.rows))
        people().print()
    if local:
        people().print(NO_INTERVAL, style="dim")
        people().print()
    _show_paper()


def _show_paper() -> None:
    from jitrl.bench.paper.figures import CAVEATS, DOLLARS, FIGURES, SOURCE

    tables: dict[str, list[Figure]] = {}
    for figure in FIGURES:
        tables.setdefault(figure.table, []).append(figure)
    people().print(Text(f"Printed in the paper ({SOURCE}); not measured here", style="bold"))
    for name, printed in tables.items():
        shown = figures(name, "Avg", "Final")
        for figure in printed:
            shown.add(figure.method, _plain(figure.avg), _plain(figure.final))
        people().print(shown)
        people().print()
    said = "Cost, dollars: " + ", ".join(f"{m} {d:,}" for m, d in DOLLARS.items()) + "."
    people().print(Text(said))
    for caveat in CAVEATS:
        people().print(Text(f"- {caveat}", style="dim"))


def _measured(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Levels and differences here, and the paper's difference from Static."""
    from jitrl.bench.paper.figures import lead

    base = next((row["label"] for row in rows if not row["difference"]), "base")
    shown = figures("agent", "Avg [95 %]", "Final", f"Avg − {base} [95 %]", "the paper's")
    for row in rows:
        theirs = lead(row["agent"]) if row["agent"] != "static" else None
        difference = row["difference"]
        shown.add(
            row["label"],
            f"{row['avg']:.3f}{_between(row.get('avg_interval'))}",
            f"{row['final']:.3f}",
            "–" if not difference else f"{difference['mean']:+.3f}{_between(difference, '+')}",
            "–" if theirs is None else f"{theirs:+.3f}",
        )
    return shown


def _between(interval: Mapping[str, Any] | None, sign: str = "") -> str:
    from jitrl.core.stats import ALIKE, FEWEST_CLUSTERS

    if not interval:
        return ""
    if interval["low"] is None:
        return " [–]" if interval["reason"] == ALIKE.reason else f" [n < {FEWEST_CLUSTERS}]"
    return f" [{interval['low']:{sign}.3f}, {interval['high']:{sign}.3f}]"


def _plain(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"


def _data(local: Sequence[Group]) -> dict[str, Any]:
    from jitrl.bench.paper.figures import CAVEATS, DOLLARS, FIGURES, SOURCE

    return {
        "schema": "jitrl.bench.paper/1",
        "source": SOURCE,
        "figures": [asdict(figure) for figure in FIGURES],
        "dollars": DOLLARS,
        "caveats": list(CAVEATS),
        "measured": [
            {"place": g.place, "terms": g.terms, "rows": [dict(row) for row in g.rows]}
            for g in local
        ],
    }
