"""Workflows of successful episodes by rules: values of the goal abstracted, shared parts found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jitrl.agents.past import PastEpisode
from jitrl.agents.words import words

_SPAN = re.compile(r"\[([^\[\]]+)\]|\"([^\"]+)\"|'([^']+)'")
_NUMBER = re.compile(r"\w*\d\w*")
_HAN = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_QUOTED = "“”\"'‘’「」『』《》"
_LONGEST = 12  # steps of a shared part


@dataclass(frozen=True, slots=True)
class Workflow:
    """Steps that led to success, in words that fit other values, too.

    Attributes:
        title: The goal it was found under, abstracted likewise, or the model's description.
        steps: At least two actions.
    """

    title: str
    steps: tuple[str, ...]


def abstracted(goal: str, actions: Sequence[str]) -> Workflow:
    """``actions`` with placeholders for the values that the goal names; not yet checked for length.

    A value is a text in brackets or quotes of an action, or a number in it, which stands in the
    goal: as whole words and not as its first ones (those say what to do), or in Chinese between
    quotes or with a digit or a Latin letter in it (words have no borders there).
    """
    found: dict[str, int] = {}
    for action in actions:
        spans = [next(filter(None, match)) for match in _SPAN.findall(action)]
        for text in (*spans, *_NUMBER.findall(action)):
            at = _place(text, goal)
            if at is not None:
                found.setdefault(text, at)
    said = words(goal)
    ordered = sorted(found, key=lambda text: (found[text], -len(text)))
    names = {text: said.value.format(n=n) for n, text in enumerate(ordered, 1)}
    return Workflow(_replaced(goal, names), tuple(_replaced(a, names) for a in actions))


def induced(episodes: Iterable[PastEpisode], success: float) -> tuple[Workflow, ...]:
    """Workflows of the successful episodes: whole ones, and parts that tasks have in common.

    Each task has one voice: its shortest success without loops. A part is a run of at least two
    equal steps; one that lies in a longer one of as many tasks says nothing new. Those that more
    tasks share come first, then longer ones, then older ones.
    """
    shortest: dict[str, tuple[str, list[str]]] = {}
    for episode in episodes:
        if episode.score >= success:
            actions = [row.action for row in episode.direct]
            if episode.task not in shortest or len(actions) < len(shortest[episode.task][1]):
                shortest[episode.task] = episode.goal, actions
    best = {task: abstracted(*way) for task, way in shortest.items()}
    voices: dict[tuple[str, ...], dict[str, Workflow]] = {}
    for task, flow in best.items():
        for part in _parts(flow.steps):
            voices.setdefault(part, {}).setdefault(task, flow)
    wholes = {flow.steps for flow in best.values()}
    kept = [part for part in voices if part in wholes or len(voices[part]) > 1]
    kept = [part for part in kept if not _is_covered(part, kept, voices)]
    order = {part: i for i, part in enumerate(kept)}
    kept.sort(key=lambda part: (-len(voices[part]), -len(part), order[part]))
    return tuple(Workflow(_title(part, voices[part]), part) for part in kept)


def _place(text: str, goal: str) -> int | None:
    """Where a value stands in the goal; ``None`` if it does not."""
    for match in re.finditer(re.escape(text), goal):
        before, after = goal[: match.start()][-1:], goal[match.end() :][:1]
        if _HAN.search(text):
            is_marked = (before in _QUOTED and before) or re.search(r"[0-9A-Za-z]", text)
            if is_marked:
                return match.start()
        elif not (_is_word(before) or _is_word(after)) and (
            match.start() or any(c.isdigit() for c in text)
        ):
            return match.start()
    return None


def _is_word(character: str) -> bool:
    """Whether a Latin word or number goes on there."""
    return character.isalnum() and not _HAN.search(character)


def _replaced(text: str, names: dict[str, str]) -> str:
    if not names:
        return text
    longest = sorted(names, key=len, reverse=True)
    whole = "|".join(
        rf"(?<![0-9A-Za-z]){re.escape(value)}(?![0-9A-Za-z])"
        if not _HAN.search(value)
        else re.escape(value)
        for value in longest
    )
    return re.sub(whole, lambda match: names[match[0]], text)


def _parts(steps: tuple[str, ...]) -> set[tuple[str, ...]]:
    """The whole of it, and its runs of 2 to ``_LONGEST`` steps."""
    size = len(steps)
    runs = {steps[i:j] for i in range(size) for j in range(i + 2, min(size, i + _LONGEST) + 1)}
    return runs | ({steps} if size >= 2 else set())


def _is_covered(
    part: tuple[str, ...],
    kept: Sequence[tuple[str, ...]],
    voices: dict[tuple[str, ...], dict[str, Workflow]],
) -> bool:
    """Whether a longer one that as many tasks share holds this one."""
    size = len(part)
    return any(
        len(other) > size
        and len(voices[other]) == len(voices[part])
        and any(other[i : i + size] == part for i in range(len(other) - size + 1))
        for other in kept
    )


def _title(part: tuple[str, ...], tasks: dict[str, Workflow]) -> str:
    """The goals it comes from: that of the whole, else the first two."""
    whole = [flow.title for flow in tasks.values() if flow.steps == part]
    titles = list(dict.fromkeys(whole or [flow.title for flow in tasks.values()]))
    return " / ".join(titles[:2])
