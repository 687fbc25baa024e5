"""`jitrl config`: the settings in force and where each comes from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import msgspec

from jitrl import config as settings
from jitrl import presets
from jitrl.cli.shared.output import JSON, emit, people, table

_INNER = {("memory", name) for name in ("rule", "retrieval", "gamma")}


def config(json: JSON = False) -> None:
    """Show the settings in force here and where each comes from."""
    loaded = settings.load()
    values = msgspec.to_builtins(loaded)
    origins: dict[tuple[str, str], str] = {}
    for source in settings.sources():
        for group, given in source.values.items():
            origins.update(dict.fromkeys(((group, name) for name in given), source.origin))
    rows: list[dict[str, Any]] = [
        {
            "setting": f"{group}.{name}",
            "value": value,
            "from": origins.get((group, name), "default"),
            "description": settings.describe(group, name),
        }
        for group, given in values.items()
        for name, value in given.items()
        if (group, name) not in _INNER
    ]
    at = next(i for i, row in enumerate(rows) if row["setting"] == "memory.preset") + 1
    rows[at:at] = _inner(loaded.memory, origins)
    if json:
        emit({"schema": "jitrl.config/1", "settings": rows})
        return
    shown = table("setting", "value", "from")
    for row in rows:
        style = None if row["from"].startswith(("default", "preset ", "run preset ")) else "bold"
        shown.add_row(row["setting"], repr(row["value"]), row["from"], style=style)
    people().print(shown)


def _inner(
    memory: settings.Memory, origins: dict[tuple[str, str], str]
) -> Iterator[dict[str, Any]]:
    """A row for each setting of the rule and of retrieval, and gamma, as the preset leaves them.

    Raises:
        ConfigError: If one that was given does not exist or has an impossible value.
    """
    made = presets.load(memory.preset).changed(
        memory.rule, memory.retrieval, memory.gamma, memory.admission
    )
    preset = f"preset {memory.preset}"

    def row(name: str, setting: str, value: Any, is_given: bool) -> dict[str, Any]:
        return {
            "setting": setting,
            "value": value,
            "from": origins.get(("memory", name), preset) if is_given else preset,
            "description": settings.describe("memory", name),
        }

    groups = ("rule", memory.rule), ("retrieval", memory.retrieval), ("admission", memory.admission)
    for name, given in groups:
        for key, value in asdict(getattr(made, name)).items():
            yield row(name, f"memory.{name}.{key}", value, key in given)
    yield row("gamma", "memory.gamma", made.gamma, memory.gamma is not None)
