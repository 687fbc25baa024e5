"""Options of `jitrl memory` that several commands take, and the memory that they name."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any

import typer

from jitrl import config, given, presets
from jitrl.core.credit import Returns
from jitrl.errors import ConfigError, InputError
from jitrl.language import counted
from jitrl.redaction.named import placeholders
from jitrl.stores.redacting import RedactingStore
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import BASES, TRUSTED_BASES

FILE = Annotated[str, typer.Argument(metavar="FILE", help="The memory file.")]
NAME = Annotated[str, typer.Option("--memory", help="Memory in the file.")]
SCOPE = Annotated[str | None, typer.Option(help="Only this scope.")]
GAMMA = Annotated[
    float | None,
    typer.Option(min=0.0, max=1.0, help="Discount of returns; default: what the memory says."),
]
RETURNS = Annotated[
    Returns | None,
    typer.Option(help="Kind of returns; default: what the memory says, else discounted."),
]
TRUSTED = Annotated[
    list[str] | None,
    typer.Option("--trusted", help="Basis that counts by episode; may be repeated."),
]


def reading(file: str, name: str) -> SQLiteStore:
    """The memory, to be looked at.

    Raises:
        InputError: If ``file`` is the folder of a run, or of runs; naming what it holds.
        StoreError: If there is no such memory.
    """
    folder = Path(given.path(file))
    held = sorted(folder.glob("seed-*.db")) if folder.is_dir() else []
    if held:
        raise InputError(
            f"{file} is the folder of a run; name one of its memories: {held[0]}"
            + (f" … {held[-1].name} ({counted(len(held), 'seed')})" if len(held) > 1 else "")
        )
    inside = sorted(folder.glob("*/seed-*.db")) if folder.is_dir() else []
    if inside:
        raise InputError(
            f"{file} is a folder of runs; name one of their memories: {', '.join(map(str, inside))}"
        )
    return SQLiteStore(given.path(file), memory=name, readonly=True)


def existing(file: str, name: str) -> SQLiteStore:
    """The memory, to be changed; no file or memory is made because of a typing error."""
    reading(file, name).close()
    return writable(file, name)


def writable(file: str, name: str, *, beside: str = "", **known: Any) -> SQLiteStore:
    """The memory, to be changed or exported, with the redaction that the settings in force name.

    Args:
        beside: The file that the memory will be, if not ``file``: its key is used.
        known: As ``SQLiteStore`` takes them.
    """
    hidden = placeholders(config.load().memory.redact, beside or given.path(file))
    if not hidden:
        return SQLiteStore(file, memory=name, **known)
    return RedactingStore(file, redaction=hidden, memory=name, **known)


def check_scope(store: SQLiteStore, scope: str | None) -> None:
    """Refuse a scope that nothing in the memory is of.

    Raises:
        InputError: With the scopes that there are.
    """
    found = {*store.stats().scopes, *(rule.scope for rule in store.rules())}
    found.update(contrast.scope for contrast in store.contrasts())
    if scope is not None and scope not in found:
        raise InputError(
            f"--scope {scope!r}: nothing in the memory is of it; there are {few(found)}"
        )


def few(names: Collection[str]) -> str:
    """Names as a message lists them: some, and how many more."""
    shown = sorted(names)
    more = f" and {len(shown) - _FEW} more" if len(shown) > _FEW else ""
    return ", ".join(map(repr, shown[:_FEW])) + more if shown else "none"


_FEW = 5


def deriving(
    store: SQLiteStore, gamma: float | None, returns: Returns | None, trusted: list[str] | None
) -> dict[str, Any]:
    """``gamma``, ``returns`` and ``trusted`` of derived rows, as ``store.configure`` takes them.

    As the options say, else as the memory remembers; one that holds nothing yet takes the settings
    in force, as ``jitrl.open`` does.

    Raises:
        InputError: If a basis does not exist.
        ConfigError: If rows are there and the memory does not remember their discount.
    """
    if unknown := sorted(set(trusted or ()).difference(BASES)):
        raise InputError(f"--trusted {unknown[0]!r} is no basis; there are {', '.join(BASES)}")
    known = store.settings()
    if "gamma" not in known and not any(change.rows for change in store.changes(0)):
        known = _in_force()
    discount = known.get("gamma") if gamma is None else gamma
    if gamma is not None and not 0.0 <= gamma <= 1.0:  # nan passes the option's own check
        raise InputError(f"--gamma is {gamma}; it must be in [0, 1]")
    if discount is None:
        raise ConfigError(
            f"memory {store.memory!r} does not say which gamma made its rows; give --gamma"
        )
    return {
        "gamma": float(discount),
        "returns": returns or known.get("returns", "discounted"),
        "trusted": sorted(trusted or known.get("trusted", TRUSTED_BASES)),
    }


def _in_force() -> dict[str, Any]:
    memory = config.load().memory
    preset = presets.load(memory.preset).changed(gamma=memory.gamma)
    return {"gamma": preset.gamma, "returns": preset.returns, "trusted": memory.trusted}
