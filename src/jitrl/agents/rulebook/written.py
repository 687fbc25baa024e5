"""Rules by a model, which reads good and bad attempts side by side."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence

import msgspec

from jitrl.agents.past import PastEpisode
from jitrl.agents.rulebook.asking import questions
from jitrl.agents.rulebook.cases import seen
from jitrl.agents.rulebook.contrasts import Compared
from jitrl.agents.rulebook.credit import differences
from jitrl.agents.rulebook.partings import Parting
from jitrl.agents.words import Words, look, words
from jitrl.core.faults import faults
from jitrl.core.sentences import cleaned, rule_id
from jitrl.errors import UnreadableAnswer
from jitrl.ports import Writer
from jitrl.types import Row, Writing

_log = logging.getLogger(__name__)
_SHOWN = 6000  # characters of all attempts together
_BAD = 3  # attempts that are shown, at most, none that did the same as another
_LOOKS = (60, 40, 20)  # characters of what was seen at a step, the most that there is room for
_ENDS = 2  # last steps of an attempt, which are shown whatever there is room for


class _Answer(msgspec.Struct, forbid_unknown_fields=True):
    rules: list[str]


def written(
    writer: Writer,
    contrast: Compared,
    most: int,
    told: Sequence[str],
    decisive: Sequence[Parting] = (),
) -> list[str]:
    """At most so many rules; those that are none are sent back once, then dropped.

    Args:
        told: Rules that the attempts were told already.
        decisive: Steps that are known to have made the difference.

    Raises:
        BudgetExceeded: If a call would pass a limit.
        ModelError: If the provider failed after all retries.
    """
    ask = questions(contrast.goal)
    shown = _shown(contrast)
    if decisive:
        parted = "\n".join(f"- {seen(step.state)}: {step.action}" for step in decisive)
        shown = f"{shown}\n\n{ask.decisive.format(steps=parted)}"
    known = "\n".join(f"- {rule}" for rule in told)
    text = ask.distil.format(attempts=shown, told=known or ask.none, most=most, form=ask.form)
    first = _asked(writer, ask.coach, text, most)
    kept = [rule for rule in first if not faults(rule)]
    spoiled = [rule for rule in first if faults(rule)]
    if spoiled:
        why = "\n".join(
            ask.fault.format(rule=rule, why=", ".join(ask.faults[f.fault] for f in faults(rule)))
            for rule in spoiled
        )
        text = ask.mend.format(goal=contrast.goal, faults=why, most=most, form=ask.form)
        again = _asked(writer, ask.coach, text, most)
        kept += [rule for rule in again if not faults(rule)]
    different = dict[str, str]()
    for rule in kept:
        different.setdefault(rule_id(rule), cleaned(rule))
    return list(different.values())[:most]


def _asked(writer: Writer, system: str, text: str, most: int) -> list[str]:
    """What was written; nothing if it could not be read."""
    schema = {
        "type": "object",
        "properties": {"rules": {"type": "array", "items": {"type": "string"}, "maxItems": most}},
        "required": ["rules"],
        "additionalProperties": False,
    }
    writing = Writing(system, text, json.dumps(schema))
    try:
        return writer.write(writing, lambda said: msgspec.json.decode(said, type=_Answer).rules)
    except UnreadableAnswer as error:
        _log.warning("no rule written by=%s: %s", writer.name, error)
        return []


def _shown(contrast: Compared) -> str:
    """The attempts, bad before good: of each the steps at which they parted, and how it ended."""
    ask, said = questions(contrast.goal), words(contrast.goal)
    apart = differences(contrast)
    way = contrast.good[0].direct
    places = {way[one.place].state for one in apart}
    listed = [(ask.bad, n, a) for n, a in _bad(contrast).items()]
    listed += [(ask.good, -1, a) for a in contrast.good]
    room, parts = _SHOWN // len(listed), list[str]()
    for title, number, attempt in listed:
        own = [one.step for one in apart if one.attempt == number]
        deciding = own or [n for n, row in enumerate(attempt.rows) if row.state in places]
        shown = _cut(attempt.rows, room, said, deciding)
        parts.append(f"{title.format(score=attempt.score)}\n{shown}")
    return "\n\n".join(parts)


def _bad(contrast: Compared) -> dict[int, PastEpisode]:
    """The worst attempts that did something of their own, by their number."""
    found = dict[tuple[str, ...], int]()
    for n, attempt in enumerate(contrast.bad):
        found.setdefault(tuple(row.action for row in attempt.rows), n)
    return {n: contrast.bad[n] for n in list(found.values())[:_BAD]}


def _cut(rows: Sequence[Row], room: int, said: Words, deciding: Sequence[int]) -> str:
    """Steps as far as there is room: the last ones, then those that decide, then the first ones."""
    for most in _LOOKS:
        lines = [
            said.step.format(n=n, place=look(row.state, most), action=row.action)
            for n, row in enumerate(rows, 1)
        ]
        if len("\n".join(lines)) <= room:
            return "\n".join(lines)
    order = dict.fromkeys([*range(len(lines))[-_ENDS:][::-1], *deciding, *range(len(lines))])
    kept, left = set[int](), room
    for n in order:
        if kept and len(lines[n]) + 3 > left:
            continue
        kept.add(n)
        left -= len(lines[n]) + 3
    shown = list[str]()
    for n, line in enumerate(lines):
        if n in kept:
            shown.append(line if len(line) <= room else f"{line[: room - 1]}…")
        elif shown[-1:] != ["…"]:
            shown.append("…")
    return "\n".join(shown)
