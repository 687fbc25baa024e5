"""How findings are put into words: templates with numbers in them, in English and Chinese."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any

from jitrl.analysis.doctor.finding import Finding
from jitrl.language import singular
from jitrl.report.filling import Filling
from jitrl.report.sized import sized

_COMMAND = re.compile(r"\bjitrl [a-z]+ .+$")
_SETTING = re.compile(r'\bmemory\.([\w.]+) = (?:"(\w+)"|(null|\d+(?:\.\d+)?(?:e[-+]?\d+)?))')
_OPTIONAL = re.compile(r"\[\[(.*?)\]\]")


@dataclass(frozen=True, slots=True)
class Ailment:
    """One thing that a check may find, and the one remedy for it."""

    claim: str
    remedy: str

    @property
    def command(self) -> str:
        """The command that the remedy ends with; "" if it is a sentence alone."""
        found = _COMMAND.search(self.remedy)
        return found[0] if found else ""

    @property
    def settings(self) -> tuple[str, ...]:
        """The setting that it names, as ``jitrl.toml`` has it, and as an option of a command."""
        found = _SETTING.search(self.remedy)
        if found is None:
            return ()
        name, word, number = found.groups()
        option = f"--set memory.{name}={word or number}"
        if number == "null":  # which no TOML can say
            return (option,)
        return f"{name} = {number or json.dumps(word)}", option


@dataclass(frozen=True, slots=True)
class Said:
    """The words of a check.

    Attributes:
        title: What is looked at.
        evidence: Template over the numbers of the finding; what is in ``[[ ]]`` is left out where
            one of its numbers is missing.
        ailments: By the form of the finding.
    """

    title: str
    evidence: str
    ailments: Mapping[str, Ailment]


@dataclass(frozen=True, slots=True)
class Words:
    """One language; braces are filled in.

    Attributes:
        terms: Values of numbers that are words.
    """

    checks: Mapping[str, Said]
    heads: tuple[str, str, str]
    place: str
    against: str
    counts: str
    fine: str
    unknown: str
    lacking: str
    absent: str
    copy: str
    settings: str
    lists: str
    agree: str
    differ: Ailment
    both: str
    only: tuple[str, str]
    nothing: str
    joint: str
    stop: str
    terms: Mapping[str, str]


def evidence(words: Words, name: str, finding: Finding) -> str:
    """What a check measured, in words."""
    numbers = {**finding.numbers, "n": finding.n}
    if "low" in numbers:
        numbers["interval"] = _interval(numbers)
    if "against" in numbers:
        numbers["against"] = words.terms.get(numbers["against"], numbers["against"])
    return filled(words.checks[name].evidence, numbers)


def ailment(words: Words, name: str, finding: Finding) -> Ailment | None:
    """What a check claims, and its remedy; ``None`` if it found nothing."""
    if finding.status != "finding":
        return None
    kind, numbers = words.checks[name].ailments[finding.form], finding.numbers
    return Ailment(filled(kind.claim, numbers), filled(kind.remedy, numbers))


def filled(template: str, numbers: Mapping[str, Any]) -> str:
    """``template`` with its numbers; what is missing leaves its optional part out."""

    def part(found: re.Match[str]) -> str:
        names = [name for _, name, _, _ in Formatter().parse(found[1]) if name]
        return "" if any(numbers.get(name) in (None, [], {}, "") for name in names) else found[1]

    return _Shown().made(_OPTIONAL.sub(part, template), numbers, singular)


class _Shown(Filling):
    """Subclassed because this is how the standard library lets values be shown."""

    def format_field(self, value: Any, format_spec: str) -> str:
        match value:
            case None:
                return "–"
            case {"mean": float(mean), "low": _, "high": _}:
                return f"{sized(mean, '+.2f')} {_ends(_interval(value))}".rstrip()
            case dict():
                return ", ".join(
                    f"{self.keep(str(k))} {self.format_field(v, '')}" for k, v in value.items()
                )
            case [float(low), float(high)] if format_spec == "band":
                return f"{low:.2f}" if high - low < 0.005 else f"{low:.2f}–{high:.2f}"
            case [float(), float()]:
                return _ends(value)
            case list() if format_spec == "rows":
                return " ".join(f"--row {row}" for row in value)
            case list() if format_spec == "ids":
                return " ".join(map(str, value))
            case list():
                return ", ".join(self.keep(str(one)) for one in value)
            case str():
                return self.keep(shlex.quote(value) if format_spec == "sh" else value)
            case float():
                return sized(value, format_spec)
            case _:
                return format(value, format_spec)


def _interval(numbers: Mapping[str, Any]) -> list[float] | None:
    """The ends, if there are some."""
    return None if numbers["low"] is None else [numbers["low"], numbers["high"]]


def _ends(interval: list[float] | None) -> str:
    return "" if interval is None else f"[{', '.join(sized(end, '+.2f') for end in interval)}]"
