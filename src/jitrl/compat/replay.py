"""Replaying golden files: what was expected beside what the rule answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jitrl.compat.forms import form_of

_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One field that differs.

    Attributes:
        where: Case and field: ``cases[3].candidates[0].score``.
        expected: What the file says, as JSON.
        got: What the rule answers, as JSON, or why it has no answer.
    """

    where: str
    expected: str
    got: str


@dataclass(frozen=True, slots=True)
class FileReport:
    """Outcome of one file.

    Attributes:
        matched: Cases all of whose fields agree.
        problem: Why the file could not be replayed; "" if it could.
    """

    name: str
    matched: int = 0
    total: int = 0
    mismatches: tuple[Mismatch, ...] = ()
    problem: str = ""

    @property
    def is_match(self) -> bool:
        """Whether the file was replayed and every case agrees."""
        return not self.problem and self.matched == self.total


def replay_file(path: Path) -> FileReport:
    """Replay every case of one golden file.

    Each list of objects in the file is a list of cases. The form of a case is told by its fields,
    not by the name of the file. A file without cases, and a case of no known form, are failures.
    """
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        return FileReport(path.name, problem=f"not readable as JSON: {error}")
    cases = list(_cases(document))
    if not cases:
        return FileReport(path.name, problem="unknown form: no list of cases in it")
    if all(form_of(case) is None for _, case in cases):
        return FileReport(
            path.name, problem=f"unknown form: {cases[0][0]} is {_outline(cases[0][1])}"
        )
    matched = 0
    mismatches: list[Mismatch] = []
    for where, case in cases:
        found = tuple(_check(where, case, document))
        matched += not found
        mismatches += found
    return FileReport(path.name, matched, len(cases), tuple(mismatches))


def _cases(document: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(document, Mapping):
        return
    for name, entries in document.items():
        if isinstance(entries, list):
            for i, case in enumerate(entries):
                yield f"{name}[{i}]", case


def _check(where: str, case: Any, document: Mapping[str, Any]) -> Iterator[Mismatch]:
    form = form_of(case)
    if form is None:
        yield Mismatch(where, "a case of a known form", _outline(case))
        return
    try:
        answer = form.answer(case, document)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        yield Mismatch(where, f"a {form.name}", f"{type(error).__name__}: {error}")
        return
    for field, got in answer.items():
        if field in case:
            yield from _differences(f"{where}.{field}", case[field], got)


def _differences(where: str, expected: Any, got: Any) -> Iterator[Mismatch]:
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        for name in dict.fromkeys((*expected, *got)):
            yield from _differences(
                f"{where}[{json.dumps(name)}]", expected.get(name, _ABSENT), got.get(name, _ABSENT)
            )
    elif isinstance(expected, list) and isinstance(got, list):
        for i in range(max(len(expected), len(got))):
            yield from _differences(
                f"{where}[{i}]",
                expected[i] if i < len(expected) else _ABSENT,
                got[i] if i < len(got) else _ABSENT,
            )
    elif not _same(expected, got):
        yield Mismatch(where, _show(expected), _show(got))


def _same(expected: Any, got: Any) -> bool:
    if isinstance(expected, bool) or isinstance(got, bool):
        return expected is got
    return bool(expected == got or (expected != expected and got != got))


def _outline(case: Any) -> str:
    """Names of the fields, enough to see what kind of thing a case is."""
    return f"an object of {', '.join(case)}" if isinstance(case, Mapping) else _show(case)


def _show(value: Any) -> str:
    return "nothing" if value is _ABSENT else json.dumps(value, default=repr)
