"""What was measured on this machine: finished runs and JSON results below a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from jitrl.analysis import compare
from jitrl.analysis.results import Result, read
from jitrl.errors import ConfigError, InputError
from jitrl.report.data import data
from jitrl.report.words import ENGLISH

_SCHEMAS = ("jitrl.compare/", "jitrl.report/", "jitrl.run/", "jitrl.bench.choices/")


@dataclass(frozen=True, slots=True)
class Group:
    """Runs on equal terms.

    Attributes:
        place: Folder or file that holds them.
        terms: What they have in common, in words.
        rows: As ``jitrl.report.data`` has them.
    """

    place: str
    terms: str
    rows: tuple[Mapping[str, Any], ...]


def groups(top: Path) -> tuple[Group, ...]:
    """Runs below ``top`` that lie beside each other on equal terms, then JSON results.

    A run whose numbers a JSON file repeats is listed once. Runs that are not finished are left out.

    Raises:
        InputError: If there is no such folder.
    """
    if not top.is_dir():
        raise InputError(f"{top} is no folder; runs lie in one (`jitrl run --out {top}/NAME`)")
    beside: dict[Path, list[Result]] = {}
    for record in sorted(top.rglob("run.json")):
        try:
            beside.setdefault(record.parent.parent, []).append(read(record.parent))
        except InputError:
            continue  # not finished
    found = [group for place, runs in beside.items() for group in _alike(place, runs)]
    seen = {Path(row["folder"]).resolve() for group in found for row in group.rows}
    for path in sorted(top.rglob("*.json")):
        rows = tuple(
            row for row in _rows(path) if Path(row.get("folder", "")).resolve() not in seen
        )
        if rows:
            found.append(Group(str(path), _said(rows[0]), rows))
    return tuple(found)


def _alike(place: Path, runs: list[Result]) -> Iterator[Group]:
    """Groups of runs that can be compared with each other."""
    left = runs
    while left:
        first = next((r for r in left if r.setting("run", "agent") == "static"), left[0])
        alike = [run for run in left if run is first or _can_compare(first, run)]
        rows = data(compare.compare(alike, base=first.label), "")["rows"]
        yield Group(str(place), _said(rows[0]), tuple(rows))
        left = [run for run in left if run not in alike]


def _can_compare(first: Result, run: Result) -> bool:
    try:
        compare.compare([first, run])
    except (ConfigError, InputError):  # other terms, or the same label
        return False
    return True


def _rows(path: Path) -> tuple[Mapping[str, Any], ...]:
    """Rows of a result of ours; none of any other file."""
    try:
        found = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError):
        return ()
    if not isinstance(found, dict) or not str(found.get("schema", "")).startswith(_SCHEMAS):
        return ()
    return tuple(found.get("rows", ()))


def _said(row: Mapping[str, Any]) -> str:
    told = "told the gold outcome" if row["told"] else "blind"
    size = ENGLISH.sized(len(row["tasks"]), row["attempts"], len(row["seeds"]))
    return (
        f"{row['environment']}, {row['model']} ({', '.join(row['scorers'])}), "
        f"{size}, evaluator {row['evaluator']} ({told}), {row['protocol']}, commit {row['commit']}"
    )
