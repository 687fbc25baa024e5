"""An episode as a judge is shown it: escaped data under a number that no page can know."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from jitrl.evaluators.injection import visible, without_orders
from jitrl.evaluators.judge_words import Words
from jitrl.types import Episode, State

_PAGE = 4_000  # characters of one page that are shown


def goal_of(episode: Episode) -> str:
    """The task in words; an episode of the library has no others than the task's name."""
    return str(episode.info.get("goal") or episode.task)


def pages_of(episode: Episode) -> tuple[str, ...]:
    """The page before each step and the one after the last, shape [T + 1]; "" if not recorded."""
    kept = episode.info.get("pages")
    if kept is not None and len(kept) == len(episode.steps) + 1:
        return tuple(map(str, kept))
    states = [*(step.state for step in episode.steps), episode.steps[-1].next_state]
    return tuple("" if state is None else _shown(state) for state in states)


def _shown(state: State) -> str:
    return "\n".join(part for part in (state.place, state.text, state.context) if part)


def record(
    episode: Episode, words: Words, *, seed: int = 0, budget: int = 60_000, guard: bool = True
) -> str:
    """The episode as JSON lines between two lines that carry its nonce.

    JSON keeps every text within its line, so that no page can begin a line of its own; angle
    brackets are replaced and invisible characters dropped, so that none can fake a tag or a turn
    of a chat. The nonce is a digest of the whole record and of ``seed``: the same episode gives the
    same question, so that a stored answer is found again, and yet no page can hold the nonce, for
    it would have to hold a digest of itself.

    Args:
        budget: Characters of all pages together. What is too much is cut in the middle of a page,
            then pages are left out from the middle of the episode; a note says so.
        guard: Leave out what speaks to the judge.
    """
    pages = [page_line(page, words, guard) for page in pages_of(episode)]
    for t in _left_out([len(page) for page in pages], budget):
        pages[t] = words.page_left_out
    lines: list[dict[str, object]] = [{"goal": plain(goal_of(episode), words, False)}]
    lines += [
        {"step": t, "page": page, "action": plain(step.action, words, guard)}
        for t, (page, step) in enumerate(zip(pages, episode.steps, strict=False), 1)
    ]
    lines.append({"page after the last step": pages[-1]})
    return enclosed(lines, seed)


def enclosed(lines: Iterable[Mapping[str, object]], seed: int) -> str:
    """Lines of JSON between two lines with their nonce; see ``record``."""
    body = "\n".join(msgspec.json.encode(line).decode() for line in lines)
    nonce = hashlib.blake2b(f"{seed}\n{body}".encode(), digest_size=16).hexdigest()
    return f"BEGIN {nonce}\n{body}\nEND {nonce}"


def page_line(page: str, words: Words, guard: bool) -> str:
    """A page as a judge is shown it, cut in its middle if it is long."""
    return _cut(plain(page, words, guard), words) if page else words.not_recorded


def plain(text: str, words: Words, guard: bool) -> str:
    """As it is seen, with brackets that are no tags, and without orders to the judge."""
    shown = without_orders(text, words.order_left_out) if guard else visible(text)
    return shown.replace("<", "‹").replace(">", "›")


def _cut(text: str, words: Words) -> str:
    if len(text) <= _PAGE:
        return text
    half = _PAGE // 2
    return text[:half] + words.cut.format(n=len(text) - 2 * half) + text[-half:]


def _left_out(sizes: Sequence[int], budget: int) -> list[int]:
    """Places of the pages to leave out, from the middle on; the first and the last stay."""
    total, middle = sum(sizes), (len(sizes) - 1) / 2
    out: list[int] = []
    for t in sorted(range(1, len(sizes) - 1), key=lambda t: (abs(t - middle), t)):
        if total <= budget:
            break
        total -= sizes[t]
        out.append(t)
    return out
