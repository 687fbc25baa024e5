"""`jitrl bench serve`: the decision service under load, and over a long time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from jitrl.cli.shared.listing import figures
from jitrl.cli.shared.output import JSON, emit, people, tell
from jitrl.cli.shared.progress import stages

if TYPE_CHECKING:
    from jitrl.bench.service.measure import Report


def serve(
    what: Annotated[
        Literal["load", "soak", "pages"],
        typer.Option(
            help="`load`: how long answers take. `soak`: what the process takes over a long time; "
            "few episodes are learned, so that the memory itself does not grow. `pages`: how long "
            "pages of the dashboard take; of the options, records, seed and json count."
        ),
    ] = "load",
    records: Annotated[int, typer.Option(min=300, help="Rows of the memory.")] = 100_000,
    rate: Annotated[float, typer.Option(min=1, help="Requests a second.")] = 200.0,
    minutes: Annotated[
        float | None, typer.Option(min=0.01, help="How long; 1 for `load`, 60 for `soak`.")
    ] = None,
    players: Annotated[int, typer.Option(min=1, help="Episodes at once.")] = 16,
    deadline: Annotated[float, typer.Option(min=1, help="Milliseconds for a decision.")] = 250.0,
    seed: Annotated[int, typer.Option(help="Seed of the records and episodes.")] = 0,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Exit with 1 if a request failed, or handles or memory grew without need. How "
            "fast it was does not count.",
        ),
    ] = False,
    json: JSON = False,
) -> None:
    """Fill a memory, serve it in a process of its own, and play episodes against it."""
    import msgspec

    from jitrl.bench.service.measure import faults, measure

    if what == "pages":
        _pages(records, seed, json)
        return
    with stages() as shown:
        report = measure(
            what,
            records=records,
            rate=rate,
            seconds=60.0 * (minutes or (60.0 if what == "soak" else 1.0)),
            players=players,
            deadline_ms=deadline,
            learned=0.02 if what == "soak" else 1.0,
            seed=seed,
            tell=shown,
        )
    _show(report)
    if json:
        emit(msgspec.to_builtins(report))
    found = faults(report) if check else []
    for fault in found:
        tell(fault)
    if found:
        raise typer.Exit(1)


def _pages(records: int, seed: int, json: bool) -> None:
    """Time the pages of the dashboard."""
    import msgspec

    from jitrl.bench.service import pages

    with stages() as shown:
        report = pages.measure(records, seed, shown)
    listed = figures("page", "answer s", "whole s", "worst", "again", "KiB")
    for of in report.pages:
        seconds = (of.answer_s, of.whole_s, of.worst_s, of.again_s)
        listed.add(of.name, *(f"{number:.2f}" for number in seconds), f"{of.kib:.0f}")
    load = report.machine["load"]
    people().print(
        f"{records:,} rows, {report.episodes:,} episodes, {report.decisions:,} decisions; load of "
        f"the machine {'?' if load is None else f'{load:.1f}'} before"
    )
    people().print(listed)
    people().print("Medians of 5 keys, each the first to ask.", style="dim")
    if json:
        emit(msgspec.to_builtins(report))


def _show(report: Report) -> None:
    load = report.machine["load"]
    people().print(
        f"{report.settings['records']:,} rows, {report.rate:.0f} requests/s, ready in "
        f"{report.start_s:.1f} s; load of the machine {'?' if load is None else f'{load:.1f}'} "
        "before"
    )
    listed = figures("", "requests", "p50 ms", "p90", "p99", "worst", "served p50", "p99")
    for of in report.times:
        numbers = (of.p50, of.p90, of.p99, of.worst, of.served_p50, of.served_p99)
        listed.add(of.kind, f"{of.requests:,}", *(f"{number:.1f}" for number in numbers))
    people().print(listed)
    tell(
        f"errors {report.errors}, degraded {report.degraded}"
        + (f": {report.first_error}" if report.first_error else "")
    )
    if report.cpu is not None:
        tell(f"the service took {100 * report.cpu:.0f} % of a core")
    if report.grown is not None:
        grown = report.grown
        tell(
            f"memory {grown.resident_mib[0]:.0f} -> {grown.resident_mib[1]:.0f} MiB in the last "
            f"{grown.seconds:.0f} s ({grown.mib_per_hour:+.1f} MiB an hour), handles "
            f"{grown.handles[0]} to {grown.handles[1]}, threads {grown.threads[0]} to "
            f"{grown.threads[1]}"
        )
    people().print(
        "Milliseconds from when a request fell due; `served` from when it was sent.", style="dim"
    )
