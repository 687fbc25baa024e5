"""What other tasks taught a decision, in words: features, and episodes they were learned from."""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text

from jitrl.cli.shared.listing import Listing
from jitrl.memory.explain_lessons import Moved, Taught
from jitrl.report.taught import WORDS, Words, said
from jitrl.report.words import Language
from jitrl.types import Lesson

_NAMED = 3  # episodes that a line names


def shown(of: Taught, lesson: Lesson, lang: Language, lines: int) -> list[RenderableType]:
    """How far the lesson was followed, and what moved the choice, for and against it."""
    words = WORDS[lang]
    heads = (words.feature, words.nats, words.taken, words.episodes)
    listing = Listing(heads, texts=frozenset({0, 3}))
    for m in of.moved[:lines]:
        listing.add(
            said(m.feature, words),
            f"{m.nats:+.2f}",
            f"{len(m.took)}/{len(m.took) + len(m.left)}",
            _episodes(m, words),
            style="" if m.nats > 0.0 else "yellow",
        )
    listing.cut(len(of.moved) - lines, words.more)
    title = words.title.format(of.nats, of.action, of.against)
    return [
        Text(title, style="bold"),
        Text(words.followed.format(**lesson._asdict()), style="dim"),
        listing,
        Text(words.note, style="dim"),
    ]


def _episodes(of: Moved, words: Words) -> str:
    """The newest episodes from which it was learned."""
    keys = (of.took or of.left)[::-1]
    named = ", ".join(keys[:_NAMED])
    more = len(keys) - _NAMED
    if more <= 0:
        return named
    return words.more_episodes.format(named, more)
