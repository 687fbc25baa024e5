"""Documents: a layout filled in, where its spans stand, and what may be chosen for each field."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from jitrl.envs.extraction.drawing import Drawing, Drawn
from jitrl.envs.extraction.formats import TEXTUAL, Normaliser, render
from jitrl.envs.extraction.vocabulary import KINDS, SLOT, Form, Paper, Vocabulary

Option = TypeVar("Option", bound=Hashable)
_VARIES = re.compile(r"\[([^\]]*)\]")
_BREAK = re.compile(r"[,;:()（），；。：、]|\. ")


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a document.

    Attributes:
        role: Word for its kind of value.
        cue: The words right before it.
    """

    field: str
    role: str
    cue: str
    text: str

    @property
    def action(self) -> str:
        """The canonical action; it names what stands before the span, not the span."""
        return f"take(<{self.role}[{self.cue}]>)"


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the form to be filled in.

    Attributes:
        value: What is right.
        spans, normalisers: What may be chosen; ``span`` and ``normaliser`` are right.
    """

    name: str
    value: str
    span: Span
    spans: tuple[Span, ...]
    normaliser: Normaliser
    normalisers: tuple[Normaliser, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """A task: a document and a form."""

    paper: Paper
    region: str
    year: int
    text: str
    form: Form
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Desk:
    """What drafts are made from.

    Attributes:
        most: Most candidates of a step.
    """

    vocabulary: Vocabulary
    most: int


@dataclass(frozen=True, slots=True)
class Template:
    """A kind of document, and how many fields of it are asked for."""

    paper: Paper
    level: int
    en: Sequence[str]
    zh: Sequence[str]

    @property
    def name(self) -> str:
        """``kind:level``."""
        return f"{self.paper.key}:{self.level}"

    @property
    def family(self) -> str:
        """The kind of document."""
        return self.paper.key

    def drafts(self, desk: Desk, rng: Random) -> Iterator[Draft]:
        """Its instances, without end."""
        while True:
            draft = _draft(self, desk, rng)
            if draft is not None:
                yield draft


def _draft(template: Template, desk: Desk, rng: Random) -> Draft | None:
    """An instance; ``None`` if two of its texts are alike, so that a wrong span could be right."""
    vocabulary, paper = desk.vocabulary, template.paper
    region = rng.choice(vocabulary.regions)
    drawing = Drawing(vocabulary, region, rng)
    drawn = {field: drawing.drawn(field) for field in paper.fields}
    if len({one.text for one in drawn.values()}) < len(drawn):
        return None
    lines = [_VARIES.sub(lambda m: rng.choice(m[1].split("|")), line) for line in paper.lines]
    spans = tuple(span for line in lines for span in _spans(line, drawn, vocabulary.roles))
    head = vocabulary.phrases["head"].format(
        paper=paper.name, company=rng.choice(region.companies), region=region.name
    )
    texts = {field: one.text for field, one in drawn.items()}
    text = "\n".join([head[0].upper() + head[1:], *(line.format(**texts) for line in lines)])
    form = rng.choice(vocabulary.forms)
    asked = rng.sample(spans, template.level)
    fields = [_field(span, drawn, spans, form, desk, drawing.year, rng) for span in asked]
    return Draft(paper, region.name, drawing.year, text, form, tuple(fields))


def _spans(line: str, drawn: Mapping[str, Drawn], roles: Mapping[str, str]) -> Iterator[Span]:
    at = 0
    for found in SLOT.finditer(line):
        before = line[at : found.start()].rstrip(" :：")
        cue = next(part for part in _BREAK.split(before)[::-1] if part.strip()).strip(" .")
        yield Span(found[1], roles[KINDS[found[1]]], cue, drawn[found[1]].text)
        at = found.end()


def _field(
    span: Span,
    drawn: Mapping[str, Drawn],
    spans: Sequence[Span],
    form: Form,
    desk: Desk,
    year: int,
    rng: Random,
) -> Field:
    vocabulary, one = desk.vocabulary, drawn[span.field]
    format = form.formats[KINDS[span.field]]
    known = tuple(vocabulary.normalisers())
    reading = "" if format in TEXTUAL else one.reading
    right = next(n for n in known if n.format == format and n.reading == reading)
    value = TEXTUAL[format](one.text) if format in TEXTUAL else render(format, one.value)
    others = [s for s in spans if s != span]
    wrong = [n for n in known if n.made(span.text, year) != value]
    kind = KINDS[span.field]
    return Field(
        vocabulary.fields[span.field],
        value,
        span,
        _listed(spans, span, others, lambda s: s.role == span.role, desk.most - 1, rng),
        right,
        _listed(known, right, wrong, lambda n: n.kind in ("", kind), desk.most, rng),
    )


def _listed(
    all: Sequence[Option],
    right: Option,
    others: Sequence[Option],
    is_near: Callable[[Option], bool],
    most: int,
    rng: Random,
) -> tuple[Option, ...]:
    """The right one among others, those first that are near it, in the order of ``all``."""
    drawn = sorted(rng.sample(others, len(others)), key=lambda one: not is_near(one))
    kept = {right, *drawn[: most - 1]}
    return tuple(one for one in all if one in kept)
