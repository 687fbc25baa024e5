"""What a run took of models, as a table: acting, judging and learning."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from jitrl.analysis.spend import Spent
from jitrl.cli.cost.words import Words
from jitrl.cli.shared.output import people


def show_spent(found: Spent, words: Words) -> None:
    """Print answers, tokens, dollars and share of each phase."""
    console = people()
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(
        Text(words.took.format(episodes=found.episodes)), header_style="dim", no_wrap=True
    )
    for head in words.heads:
        table.add_column(Text(head), justify="right", header_style="dim", no_wrap=True)
    for one in found.phases:
        cells = (
            f"{one.answers:,}",
            f"{one.kept:,}",
            f"{one.tokens_in:,.0f}",
            f"{one.tokens_out:,.0f}",
            f"${one.dollars / found.episodes:.6f}",
            f"{found.share(one.phase):.1%}",
        )
        table.add_row(Text(words.phases[one.phase]), *map(Text, cells))
    console.print(table)
    console.print()
    console.print(Text(words.beside.format(share=found.beside), style="bold"))
    console.print(Text(words.prices[found.is_priced], style="dim"))
    console.print()
