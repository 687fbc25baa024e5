"""Valid actions of a story file: every template filled with what is here, tried and taken back."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

from jitrl.errors import ConfigError

_WORD = re.compile(r"[a-z][a-z'-]*")
_NEVER_THINGS = {
    *("a", "all", "an", "and", "another", "both", "but", "each", "every", "everything", "except"),
    *("her", "him", "his", "it", "its", "me", "my", "myself", "of", "one", "other", "self", "some"),
    *("that", "the", "their", "them", "these", "this", "those", "you", "your", "yourself"),
}
_LONGEST = 4  # words of a name
_CHANCE = (1234, 0, 0)  # state of the game's generator while actions are tried
_DIRECTIONS = (
    *("north", "south", "east", "west", "northeast", "northwest", "southeast", "southwest"),
    *("up", "down", "in", "out"),
)
_PLAIN = (
    *_DIRECTIONS,
    *("take OBJ", "drop OBJ", "open OBJ", "close OBJ", "eat OBJ", "drink OBJ", "wear OBJ"),
    *("push OBJ", "pull OBJ", "turn OBJ", "read OBJ", "enter OBJ", "prepare meal"),
)
_WITH_CARRIED = (
    *("unlock OBJ with HELD", "lock OBJ with HELD", "put HELD on OBJ", "insert HELD into OBJ"),
    *("cook HELD with OBJ", "slice OBJ with HELD", "chop OBJ with HELD", "dice OBJ with HELD"),
    *("give HELD to OBJ", "attack OBJ with HELD"),
)
"""Templates for games whose grammar the package does not know."""

_found: dict[str, tuple[str, ...]] = {}
_lock = threading.Lock()


def valid_actions(game: Any, look: str, inventory: str) -> tuple[str, ...]:
    """Actions that change the world, one for each change, sorted.

    Unlike the package's own search (and so unlike the paper's), which finds nouns with a language
    model of 12 MB that it downloads, this one takes them from the game's dictionary and object
    tree. Nothing else differs: a noun is a thing if the game can examine it, and of all actions
    with the same effect the one with the most usual verb is offered.

    Args:
        game: The package's ``FrotzEnv``; left as it was.
        look: What the game says of the place.
        inventory: What it says is carried.
    """
    state = game.get_state()
    trial = (*state[:7], _CHANCE, *state[8:])
    try:
        held = _things(game, trial, inventory, tree=False)
        things = _things(game, trial, look, tree=True)
        things += [name for name in held if name not in things]
        if game.act_gen is None:
            tried = list(_filled(game, things, held))
        else:
            tried = game.act_gen.generate_actions([*things, "all"])
        game.set_state(trial)
        effects = game._filter_candidate_actions(tried, use_ctypes=True, use_parallel=False)
    finally:
        game.set_state(state)
    return tuple(sorted({min(actions, key=_unusual) for actions in effects.values()}))


def remembered(key: str, kept: Path | None) -> tuple[str, ...] | None:
    """What was found under ``key`` in this process, or in the file ``kept``."""
    with _lock:
        if key not in _found and kept is not None and kept.is_file():
            with closing(_opened(kept)) as db:
                row = db.execute("SELECT actions FROM found WHERE key = ?", (key,)).fetchone()
            if row is not None:
                _found[key] = tuple(row[0].split("\n")) if row[0] else ()
        return _found.get(key)


def remember(key: str, actions: Sequence[str], kept: Path | None) -> None:
    """Keep what was found, for this process and in the file ``kept``."""
    with _lock:
        _found[key] = tuple(actions)
        if kept is not None:
            with closing(_opened(kept)) as db, db:
                db.execute("INSERT OR REPLACE INTO found VALUES (?, ?)", (key, "\n".join(actions)))


def _opened(kept: Path) -> sqlite3.Connection:
    try:
        db = sqlite3.connect(kept, timeout=30.0)
        db.execute("CREATE TABLE IF NOT EXISTS found (key TEXT PRIMARY KEY, actions TEXT NOT NULL)")
    except sqlite3.Error as error:
        raise ConfigError(f"cache is {str(kept)!r}; it cannot be used: {error}") from error
    return db


def _things(game: Any, state: Any, text: str, *, tree: bool) -> list[str]:
    """Names by which the game can examine something, longest first where several fit."""
    known = {w.word for w in game.get_dictionary() if _is_name(w)}
    width = max(map(len, known), default=0)
    told = list(_runs(text, known, width))
    if tree:
        told += [run for name in _named_here(game) for run in _runs(name, known, width)]
    answers: dict[str, list[str]] = {}
    for name in sorted(dict.fromkeys(told), key=lambda name: -len(name.split())):
        game.set_state(state)
        answer = " ".join(game.step(f"examine {name}")[0].split())
        longer = answers.setdefault(answer, [])
        if not any(f" {name} " in f" {other} " for other in longer):
            longer.append(name)
    return sorted(name for answer, names in answers.items() if _is_known(answer) for name in names)


def _is_name(word: Any) -> bool:
    is_other = word.is_verb or word.is_prep or word.is_meta or word.is_dir or word.is_special
    return (word.is_noun or word.is_adj) and not is_other and word.word not in _NEVER_THINGS


def _runs(text: str, known: set[str], width: int) -> Iterator[str]:
    """All sequences of known words that stand side by side in ``text``."""
    found = list(_WORD.finditer(text.lower()))
    words = [match[0] if match[0][:width] in known else None for match in found]
    joined = [text[a.end() : b.start()].strip(" ") == "" for a, b in pairwise(found)]
    for first, word in enumerate(words):
        run: list[str] = []
        for place in range(first, min(first + _LONGEST, len(words))):
            word = words[place]
            if word is None or (run and not joined[place - 1]):
                break
            run.append(word)
            yield " ".join(run)


def _named_here(game: Any) -> Iterator[str]:
    """Names of the objects around the player and on it, as the object tree has them."""
    objects = game.get_world_objects()
    player = game.player_obj_num
    below = [objects[player].parent, player]
    seen = {0}
    while below:
        child = objects[below.pop()].child
        while child not in seen and 0 < child < len(objects):
            seen.add(child)
            below.append(child)
            yield objects[child].name
            child = objects[child].sibling


def _is_known(answer: str) -> bool:
    from jericho.util import recognized

    return bool(recognized(answer)) and not answer.startswith("Which do you mean")


def _filled(game: Any, things: Sequence[str], held: Sequence[str]) -> Iterator[str]:
    words = {w.word for w in game.get_dictionary()}
    width = max(map(len, words))
    for template in (*_PLAIN, *_WITH_CARRIED):
        if template.split()[0][:width] not in words:
            continue
        for carried in held if "HELD" in template else [""]:
            for thing in things if "OBJ" in template else [""]:
                if not carried or carried != thing:
                    yield template.replace("HELD", carried).replace("OBJ", thing)


def _unusual(action: str) -> tuple[int, int, str]:
    """Sorts usual verbs first, then short actions."""
    from jericho.util import verb_usage_count

    return -int(verb_usage_count(action)), len(action.split()), action
