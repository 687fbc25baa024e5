"""What a language brings along: regions and how they write, kinds of document, forms, wordings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from jitrl.envs.extraction.formats import READINGS, Normaliser

SLOT = re.compile(r"\{(\w+)\}")

_FIELDS = {
    "date": ("issued", "ordered", "due", "delivered", "start", "end", "deadline"),
    "time": ("begins", "ends"),
    "amount": (
        "net",
        "tax",
        "total",
        "deposit",
        "excess",
        "fee",
        "rent",
        "salary",
        "premium",
        "balance",
    ),
    "rate": ("tax_rate", "discount", "interest"),
    "phone": ("phone", "mobile", "fax"),
    "name": ("contact", "customer", "signer"),
    "code": ("number", "order_no", "customer_no", "account"),
    "words": ("venue", "role", "item"),
}
KINDS: Mapping[str, str] = {field: kind for kind, fields in _FIELDS.items() for field in fields}
"""Kind of value of each field."""


@dataclass(frozen=True, slots=True)
class Style:
    """One way to write a date, time, sum or rate.

    Attributes:
        pattern: With the parts that ``drawing`` fills in.
        reading: How it must be read.
        grouping: Of sums: how digits are grouped.
        unit: Of sums: what the net amount is a multiple of; all others are of a hundredth of it.
    """

    pattern: str
    reading: str
    grouping: str = "point"
    unit: int = 1


@dataclass(frozen=True, slots=True)
class Region:
    """Where a document comes from, and how it is written there.

    Attributes:
        companies: As the head of a document has them.
        phones: Patterns of a phone, a mobile and a fax number; ``#`` is a digit.
        tax: Rate of the value added tax, in percent.
    """

    name: str
    companies: Sequence[str]
    people: Sequence[str]
    dates: Sequence[Style]
    sums: Sequence[Style]
    times: Sequence[Style]
    rates: Sequence[Style]
    phones: tuple[str, str, str]
    tax: int


@dataclass(frozen=True, slots=True)
class Paper:
    """A kind of document.

    Attributes:
        lines: With ``{field}`` for each span and ``[a|b]`` where wordings vary.
    """

    key: str
    name: str
    lines: tuple[str, ...]

    @property
    def fields(self) -> tuple[str, ...]:
        """All fields that it has, in the order of the text."""
        return tuple(SLOT.findall("\n".join(self.lines)))


@dataclass(frozen=True, slots=True)
class Form:
    """Where values go to; ``formats`` says how it wants them, by kind of value."""

    name: str
    formats: Mapping[str, str]


def form(name: str, formats: str) -> Form:
    """A form; its formats in the order date, time, amount, rate, phone, name, code, words."""
    return Form(name, dict(zip(_FIELDS, formats.split(", "), strict=True)))


@dataclass(frozen=True, slots=True)
class Format:
    """How a format is called in an action, and how a goal asks for it."""

    kind: str
    label: str
    asked: str


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A language.

    Attributes:
        fields, roles: Words for the fields, and for the kinds of value.
        goals: Wordings of a goal; ``told``: what says the formats.
        words: Values that are plain words, by field.
        codes: Patterns of numbers of documents; ``#`` is a digit.
        phrases: What pages say.
    """

    regions: Sequence[Region]
    papers: Sequence[Paper]
    forms: Sequence[Form]
    fields: Mapping[str, str]
    roles: Mapping[str, str]
    formats: Mapping[str, Format]
    readings: Mapping[str, str]
    goals: Sequence[str]
    told: str
    comma: str
    words: Mapping[str, Sequence[str]]
    codes: Mapping[str, Sequence[str]]
    titles: Sequence[str]
    phrases: Mapping[str, str]

    def normalisers(self) -> Iterator[Normaliser]:
        """All normalisers of the language, in their fixed order."""
        for name, format in self.formats.items():
            readings = [r for r in READINGS.get(name, ()) if r in self.readings]
            for reading in readings:
                label = f"{format.label}{self.comma}{self.readings[reading]}"
                yield Normaliser(label, format.kind, name, reading)
            if not readings:
                yield Normaliser(format.label, format.kind, name)
