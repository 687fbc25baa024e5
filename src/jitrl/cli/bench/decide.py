"""`jitrl bench decide`: what search, decisions and learning cost, beside the linear scan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from jitrl.cli.bench.options import REPEATS
from jitrl.cli.shared.listing import figures
from jitrl.cli.shared.output import JSON, emit, people
from jitrl.cli.shared.progress import stages
from jitrl.errors import InputError
from jitrl.language import counted

if TYPE_CHECKING:
    from jitrl.bench.speed.decide import Report
    from jitrl.bench.speed.timing import Spread


def decide(
    records: Annotated[int, typer.Option(min=300, help="Rows of the memory.")] = 100_000,
    preset: Annotated[str, typer.Option(help="Named settings of rule and retrieval.")] = "default",
    threshold: Annotated[
        list[float], typer.Option(min=0.0, max=1.0, help="Least similarity; may be repeated.")
    ] = [0.8, 0.7],  # noqa: B006 - typer reads it
    queries: Annotated[int, typer.Option(min=1, help="Queries in a repeat.")] = 1000,
    repeats: REPEATS = 5,
    linear: Annotated[
        int | None,
        typer.Option(min=0, help="Queries for the linear scan; 200, none above 200,000 records."),
    ] = None,
    kernel: Annotated[
        Literal["numpy", "numba"], typer.Option(help="What the index alone is measured with.")
    ] = "numpy",
    seed: Annotated[int, typer.Option(help="Seed of the records and queries.")] = 0,
    json: JSON = False,
) -> None:
    """Time search, decisions and learning, beside the linear scan of the released code."""
    import msgspec

    from jitrl import presets
    from jitrl.bench.speed.decide import measure

    if preset not in presets.NAMES:
        raise InputError(f"no preset {preset!r}; there are {', '.join(presets.NAMES)}")
    with stages() as tell:
        report = measure(
            records,
            preset=preset,
            thresholds=threshold,
            queries=queries,
            repeats=repeats,
            linear=linear,
            kernel=kernel,
            seed=seed,
            tell=tell,
        )
    _show(report)
    if json:
        emit(msgspec.to_builtins(report))


def _show(report: Report) -> None:
    """The numbers that matter, for people."""
    facts = report.records
    people().print(
        f"{counted(facts['records'], 'record')}, "
        f"{counted(facts['distinct_states'], 'distinct state')}, "
        f"{facts['largest_scope_states']:,} in the largest of {counted(facts['scopes'], 'scope')}"
    )
    for memory in report.memories:
        resident = memory.resident_bytes_per_row
        people().print(
            f"{memory.memory}: a row takes {memory.file_bytes_per_row:.0f} bytes on disk, "
            f"{'?' if resident is None else f'{resident:.0f}'} in memory "
            f"(a state in the index: {memory.index_bytes_per_state:.0f}); "
            f"read in {memory.load_s:.1f} s"
        )
    asked = figures("asked of", "at", "search", "p99", "decision", "p99", "later", "p99")
    for row in report.answers:
        asked.add(
            row.memory,
            f"{row.threshold:g}",
            f"{row.search_cpu.p50.median:,.0f}",
            _spread(row.search_cpu.p99),
            f"{row.decision_cpu.p50.median:,.0f}",
            _spread(row.decision_cpu.p99),
            f"{row.later_cpu.p50.median:,.0f}",
            f"{row.later_cpu.p99.median:,.0f}",
        )
    people().print(asked)
    _show_scan(report)
    learned = figures("30 rows to", "of rows", "new states", "commit", "p99", "view", "p99")
    for new in report.appended:
        learned.add(
            new.memory,
            f"{new.rows_before:,}",
            f"{new.new_states:.1f}",
            *(
                f"{times.median:,.0f}"
                for clock in (new.store_cpu, new.view_cpu)
                for times in (clock.p50, clock.p99)
            ),
        )
    people().print(learned)
    index = report.indexed
    people().print(
        f"index alone ({index.kernel}, {index.states:,} states): "
        f"add {index.add_first.p50.median:.0f} us (first tenth), "
        f"{index.add_last.p50.median:.0f} us (last tenth, worst {index.add_last.worst:.0f}); "
        f"search at {index.threshold:g} p50 {_spread(index.search.p50)}, "
        f"p99 {_spread(index.search.p99)}"
    )
    people().print(
        "Microseconds of CPU time of one thread: p50 and p99, the latter with its range over "
        "repeats. `decision` holds the search: the first of an episode, and a later one. `times "
        "faster` compares p99 with p99.",
        style="dim",
    )


def _show_scan(report: Report) -> None:
    """The linear scan beside the search, where it ran."""
    scans = [(row, row.linear) for row in report.answers if row.linear]
    if not scans:
        people().print("linear scan: not run (use --linear)")
        return
    shown = figures("scan of", "at", "differ", "scan", "p99", "search, times faster", "decision")
    for row, scan in scans:
        shown.add(
            row.memory,
            f"{row.threshold:g}",
            f"{scan.mismatches}/{scan.queries}",
            f"{scan.scan_us.p50.median:,.0f}",
            f"{scan.scan_us.p99.median:,.0f}",
            _spread(scan.search_times_faster_p99),
            _spread(scan.decision_times_faster_p99),
        )
    people().print(shown)


def _spread(value: Spread) -> str:
    """Median with its range."""
    return f"{value.median:,.0f} ({value.low:,.0f}-{value.high:,.0f})"
