"""`jitrl config`: the settings in force and where each comes from."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
import typer

from jitrl import config as settings
from jitrl.cli.output import emit, people


def config(
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Show the settings in force here and where each comes from."""
    values = msgspec.to_builtins(settings.load())
    origins: dict[tuple[str, str], str] = {}
    for source in settings.sources():
        for group, table in source.values.items():
            origins.update(dict.fromkeys(((group, name) for name in table), source.origin))
    rows: list[dict[str, Any]] = [
        {
            "setting": f"{group}.{name}",
            "value": value,
            "from": origins.get((group, name), "default"),
            "description": settings.describe(group, name),
        }
        for group, table in values.items()
        for name, value in table.items()
    ]
    if json:
        emit({"schema": "jitrl.config/1", "settings": rows})
        return
    from rich.table import Table

    table_shown = Table(box=None, padding=(0, 2, 0, 0))
    for head in ("setting", "value", "from"):
        table_shown.add_column(head)
    for row in rows:
        style = None if row["from"] == "default" else "bold"
        table_shown.add_row(row["setting"], repr(row["value"]), row["from"], style=style)
    people().print(table_shown)
