"""`jitrl evaluator label`: people score steps in the terminal, without knowing how they ended."""

from __future__ import annotations

import sys
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from jitrl.analysis import labels
from jitrl.cli.evaluator.words import LANGUAGES, Words
from jitrl.cli.memory.options import NAME
from jitrl.cli.shared.output import JSON, emit, people
from jitrl.errors import InputError
from jitrl.evaluators.judge_record import goal_of, pages_of
from jitrl.language import singular
from jitrl.report.words import Language
from jitrl.types import Episode

PLACE = Annotated[
    Path, typer.Argument(metavar="PLACE", help="A run, or a memory file of the library.")
]
_SCORES = {str(score): score for score in range(-3, 4)}
_SIGNS = {"−": "-", "–": "-"}  # NFKC has made plain ones of wide signs and digits


@dataclass(frozen=True, slots=True)
class _Place:
    """A step to be labelled: the ``number``-th episode and the step in it."""

    number: int
    episode: Episode
    step: int

    @property
    def key(self) -> tuple[str, int]:
        return self.episode.key, self.step


def label(
    place: PLACE,
    out: Annotated[
        Path | None, typer.Option(help="File of labels; default: beside the run.")
    ] = None,
    lang: Annotated[Language, typer.Option(help="Language of the questions.")] = "en",
    by: Annotated[str, typer.Option(help="Who labels; each person has labels of their own.")] = "",
    limit: Annotated[
        int | None, typer.Option(min=1, help="So many episodes, drawn at random.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of that drawing.")] = 0,
    memory: NAME = "default",
    json: JSON = False,
) -> None:
    """Score steps by hand: -3 to 3, u cannot tell, b back, q quit and resume later.

    One answer a line, written down at once. How the episodes ended is not shown. Runs made with
    `--set run.pages=true`, or with an evaluator that reads pages, show whole pages; others the
    states that the memory compares.
    """
    try:
        by.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"--by is {by!r}; it has a character that cannot be written") from error
    words, path = LANGUAGES[lang], out or labels.file_of(place)
    chosen = labels.chosen(labels.episodes(place, memory), limit, seed)
    steps = [_Place(i, e, t) for i, e in enumerate(chosen, 1) for t in range(len(e.steps))]
    if not steps:
        raise InputError(f"{place} holds no finished episode")
    known = labels.read(path, by)
    people().print(words.rubric, style="dim")
    at = _next(steps, known, 0)
    while at < len(steps):
        here = steps[at]
        _show(here, len(chosen), words)
        said = _ask(words)
        if said == "q":
            break
        if said == "b":
            if at == 0:
                people().print(words.first, style="yellow")
            at = max(0, at - 1)
            continue
        score = None if said == "u" else _SCORES[said]
        labels.append(path, *here.key, score, by)
        known[here.key] = score
        at = _next(steps, known, at + 1)
    left = sum(step.key not in known for step in steps)
    done = len(steps) - left
    summary = (words.left if left else words.finished).format(n=done, path=path, left=left)
    people().print(singular(summary))
    if json:
        emit(
            {
                "schema": "jitrl.evaluator.label/1",
                "path": str(path),
                "by": by,
                "labelled": done,
                "left": left,
            }
        )


def _next(steps: list[_Place], known: dict[tuple[str, int], int | None], at: int) -> int:
    """The first step from ``at`` on that has no label; the number of steps if all have one."""
    return next((i for i in range(at, len(steps)) if steps[i].key not in known), len(steps))


def _ask(words: Words) -> str:
    """One of the keys; ``q`` where the input ends."""
    while True:
        people().print(words.ask, end="")
        try:
            line = sys.stdin.readline()
        except UnicodeDecodeError as error:
            raise InputError(f"what was typed is no {error.encoding}: {error}") from error
        text = unicodedata.normalize("NFKC", line).strip().lower().lstrip("+")
        for sign, plain in _SIGNS.items():
            text = text.replace(sign, plain)
        if not line or text in ("q", "b", "u") or text in _SCORES:
            return text if line else "q"
        people().print(words.refused.format(text=line.strip(), keys=words.keys), style="yellow")


def _show(here: _Place, episodes: int, words: Words) -> None:
    pages, of = pages_of(here.episode), len(here.episode.steps)
    before, after = pages[here.step], pages[here.step + 1]
    where = words.place.format(i=here.number, n=episodes, t=here.step + 1, of=of)
    console = people()
    console.rule(Text(where))
    _part(words.goal, goal_of(here.episode))
    _part(words.before, before or words.not_recorded)
    _part(words.action, here.episode.steps[here.step].action)
    changed = words.same if after == before else after
    _part(words.after, changed if after else words.not_recorded)
    console.print(words.keys, style="dim")


def _part(head: str, text: str) -> None:
    people().print(Text(head, style="bold"))
    people().print(Text(text))
