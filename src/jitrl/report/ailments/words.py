"""How findings are put into words: templates with numbers in them, in English and Chinese."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
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

Foreign = Callable[[str, str], str]
"""How a text of others is shown, by its form: "sh" in a command, "" in a sentence."""


def plain(text: str, _form: str) -> str:
    """As it is."""
    return text


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


def evidence(words: Words, name: str, finding: Finding, foreign: Foreign = plain) -> str:
    """What a check measured, in words."""
    numbers = {**finding.numbers, "n": finding.n}
    if "low" in numbers:
        numbers["interval"] = _interval(numbers)
    if "against" in numbers:
        numbers["against"] = words.terms.get(numbers["against"], numbers["against"])
    return filled(words.checks[name].evidence, numbers, foreign)


def ailment(words: Words, name: str, finding: Finding, foreign: Foreign = plain) -> Ailment | None:
    """What a check claims, and its remedy; ``None`` if it found nothing."""
    if finding.status != "finding":
        return None
    kind, numbers = words.checks[name].ailments[finding.form], finding.numbers
    return Ailment(filled(kind.claim, numbers, foreign), filled(kind.remedy, numbers, foreign))


def filled(template: str, numbers: Mapping[str, Any], foreign: Foreign = plain) -> str:
    """``template`` with its numbers; what is missing leaves its optional part out."""

    def part(found: re.Match[str]) -> str:
        names = [name for _, name, _, _ in Formatter().parse(found[1]) if name]
        return "" if any(numbers.get(name) in (None, [], {}, "") for name in names) else found[1]

    return _Shown(foreign).made(_OPTIONAL.sub(part, template), numbers, singular)


class _Shown(Filling):
    """Subclassed because this is how the standard library lets values be shown."""

    def __init__(self, foreign: Foreign) -> None:
        super().__init__()
        self._foreign = foreign

    def format_field(self, value: Any, format_spec: str) -> str:
        match value:
            case None:
                return "–"
            case {"mean": float(mean), "low": _, "high": _}:
                return f"{sized(mean, '+.2f')} {_ends(_interval(value))}".rstrip()
            case dict():
                return ", ".join(
                    f"{self._apart(str(k))} {self.format_field(v, '')}" for k, v in value.items()
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
                return ", ".join(self._apart(str(one)) for one in value)
            case str():
                is_command = format_spec == "sh"
                return self._apart(shlex.quote(value) if is_command else value, format_spec)
            case float():
                return sized(value, format_spec)
            case _:
                return format(value, format_spec)

    def _apart(self, text: str, form: str = "") -> str:
        return self.keep(self._foreign(text, form))


def _interval(numbers: Mapping[str, Any]) -> list[float] | None:
    """The ends, if there are some."""
    return None if numbers["low"] is None else [numbers["low"], numbers["high"]]


def _ends(interval: list[float] | None) -> str:
    return "" if interval is None else f"[{', '.join(sized(end, '+.2f') for end in interval)}]"
