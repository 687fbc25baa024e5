"""`jitrl bench search`: what a search by words costs, and one by vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from jitrl.cli.bench.numbers import say_fewer
from jitrl.cli.bench.options import REPEATS
from jitrl.cli.shared.listing import figures
from jitrl.cli.shared.output import JSON, emit, people

if TYPE_CHECKING:
    from jitrl.bench.speed.search import Report


def search(
    states: Annotated[
        list[int], typer.Option(min=1, help="States in the index; may be repeated.")
    ] = [1_000, 10_000],  # noqa: B006 - typer reads it
    embedder: Annotated[
        list[str],
        typer.Option(help="`embedded`, `wordllama` or `package.module:name`; may be repeated."),
    ] = ["embedded"],  # noqa: B006
    texts: Annotated[
        int,
        typer.Option(min=1, help="States that are really embedded; others get drawn vectors."),
    ] = 300,
    threshold: Annotated[float, typer.Option(min=0.0, max=1.0, help="Least similarity.")] = 0.8,
    queries: Annotated[int, typer.Option(min=1, help="Queries of each kind, old and new.")] = 100,
    repeats: REPEATS = 5,
    json: JSON = False,
) -> None:
    """Time the search for similar states by words and by an embedding, over the same states."""
    import msgspec

    from jitrl.bench.speed.search import measure
    from jitrl.cli.shared.progress import stages
    from jitrl.core.similarity import Retrieval
    from jitrl.run.embedding import embedder_of

    made = [embedder_of(name) for name in embedder]
    with stages() as tell:
        report = measure(
            states,
            made,
            retrieval=Retrieval(threshold=threshold),
            texts=texts,
            queries=queries,
            repeats=repeats,
            tell=tell,
        )
    say_fewer(queries, int(report.settings["old_queries"]), "old states in the smallest index")
    _show(report)
    if json:
        emit(msgspec.to_builtins(report))


def _show(report: Report) -> None:
    shown = figures("by", "states", "width", "bytes", "search", "p99", "new text")
    for row in report.searched:
        shown.add(
            row.by.split()[0],
            f"{row.states:,}",
            str(row.width or "–"),
            f"{row.bytes_per_state:,.0f}",
            f"{row.search.p50.median:,.0f}",
            f"{row.search.p99.median:,.0f}",
            "–" if row.embedding is None else f"{row.embedding.p50.median:,.0f}",
        )
    people().print(shown)
    people().print(
        "Microseconds of CPU time of this thread, median and p99: a search whose vector is known, "
        "and the embedding of a text that is not. Bytes are held for each state.",
        style="dim",
    )
