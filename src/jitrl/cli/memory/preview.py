"""`jitrl memory preview`: what another setting or memory would have got, before it goes live."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import msgspec
import typer

from jitrl import config
from jitrl.agents.corrected import Corrected
from jitrl.cli.memory.options import FILE, NAME, SCOPE, reading
from jitrl.cli.shared.output import JSON, emit, people, table, tell
from jitrl.cli.shared.progress import counting
from jitrl.cli.shared.settings import Flags, merge
from jitrl.core.offpolicy import Bounds, Estimate
from jitrl.core.offpolicy import preview as previewed
from jitrl.core.stats import Interval
from jitrl.errors import InputError
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.language import counted
from jitrl.memory.preview import logged
from jitrl.run.embedding import remembered

_BOUNDS = Bounds()


def preview(
    file: FILE,
    setting: Annotated[
        list[str],
        typer.Option("--set", help="A setting it would have, as memory.rule=beta=20."),
    ] = [],  # noqa: B006 - typer reads it
    candidate: Annotated[
        str | None,
        typer.Option("--candidate", metavar="OTHER", help="A memory file it would use instead."),
    ] = None,
    version: Annotated[
        int | None,
        typer.Option(min=0, help="The memory as of this version; of OTHER if one is given."),
    ] = None,
    scope: SCOPE = None,
    effective: Annotated[
        float, typer.Option(min=1, help="Least effective sample size.")
    ] = _BOUNDS.effective,
    outside: Annotated[
        float, typer.Option(min=0, max=1, help="Most chance to do what was never possible.")
    ] = _BOUNDS.outside,
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """Estimate what other settings, or another memory, would have got, from the decisions in the
    journal and their propensities; no model is called.

    Without --candidate and --version each decision sees the memory as it was. Exit 1 if the logged
    decisions cannot tell.
    """
    flags: Flags = {}
    merge(flags, setting, "--set")
    settings = config.load(flags).memory
    with reading(file, name) as store:
        trusted = store.settings().get("trusted")
        if trusted and "trusted" not in flags.get("memory", {}):
            settings = msgspec.structs.replace(settings, trusted=frozenset(trusted))
        sight = Corrected(store, EnvironmentRewards(), settings, partial(remembered, file))
        other = None if candidate is None else reading(candidate, name)
        try:
            with counting("episodes made again") as moved:
                total = sum(store.stats().episodes.values())
                found = logged(
                    store.records(scope=scope),
                    store,
                    sight,
                    at=version,
                    other=other,
                    is_off=settings.mode == "off",
                    watch=lambda done: moved(done, total),
                )
        finally:
            if other is not None:
                other.close()
    if not found.episodes:
        why = ", ".join(f"{n} {reason}" for reason, n in found.left_out.items()) or "it has none"
        raise InputError(f"no episode of {file} can be used: {why}")
    made = previewed(found.episodes, Bounds(effective, outside, _BOUNDS.largest))
    shown = table("estimate", "mean return", "gain", "95 %")
    shown.add_row("as logged", f"{made.logged:.3f}", "", "")
    for label, of in (("IPS", made.ips), ("self-normalised", made.snips), ("DR", made.dr)):
        shown.add_row(label, f"{of.value:.3f}", f"{of.gain:+.3f}", _range(of))
    people().print(shown)
    for reason, number in found.left_out.items():
        tell(f"left out: {counted(number, 'episode')} {reason}", style="dim")
    over = made.overlap
    tell(
        f"{counted(over.episodes, 'episode')} count for {over.effective:.1f}; mean weight "
        f"{over.weight:.3f}; outside of what was possible {over.outside:.2%}; most likely action "
        f"differs in {found.turned} of {counted(found.decisions, 'decision')}"
    )
    if made.refusal:
        tell(
            f"refused: {made.refusal}. Log with a rule that samples (rule.choose = 'sample'), or "
            "try a smaller step",
            style="yellow",
        )
    else:
        tell(f"verdict: {made.verdict}")
    if json:
        emit(
            {
                "schema": "jitrl.memory.preview/1",
                "verdict": made.verdict,
                "turned": found.turned,
                "decisions": found.decisions,
                "left_out": dict(found.left_out),
                **msgspec.to_builtins(made),
            }
        )
    if made.refusal:
        raise typer.Exit(1)


def _range(of: Estimate) -> str:
    match of.interval:
        case Interval(low, high):
            return f"{low:+.3f} … {high:+.3f}"
        case other:
            return other.reason
