"""What of a memory belongs to a subject: episodes, contrasts, rules, entries of the stream."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import msgspec

from jitrl.errors import InputError
from jitrl.stores import reads, rulebook_reads

SubjectKind = Literal["principal", "episode", "task", "text"]

_LEAST = 3
"""Characters of a text; a shorter one would be in most episodes."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose data is meant: all of a principal, an episode's key, a task, or a text.

    Attributes:
        value: The name of the first three, exactly; a text is looked for in any writing of its
            letters, inside of other texts, too.
    """

    kind: SubjectKind
    value: str


def subject(text: str) -> Subject:
    """What ``KIND=VALUE`` names.

    Raises:
        InputError: If the kind is unknown, or the value empty or, of a text, shorter than 3.
    """
    kind, equals, value = text.partition("=")
    if not equals or kind not in get_args(SubjectKind) or not value:
        raise InputError(
            f"subject {text!r} is not of the form KIND=VALUE; kinds are "
            f"{', '.join(get_args(SubjectKind))}, as in text=ann@example.com"
        )
    if kind == "text" and len(value) < _LEAST:
        raise InputError(
            f"text {value!r} has {len(value)} characters, so it is in most episodes; give {_LEAST} "
            "or more"
        )
    return Subject(kind, value)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Subjects by kind, with every writing that a text may have.

    Attributes:
        texts: In small letters.
    """

    principals: frozenset[str] = frozenset()
    episodes: frozenset[str] = frozenset()
    tasks: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()

    @classmethod
    def of(cls, subjects: Iterable[Subject], also: Mapping[str, str] | None = None) -> Wanted:
        """All of ``subjects``.

        Args:
            also: A value → how a redaction would have written it.
        """
        named: dict[str, set[str]] = {kind: set() for kind in get_args(SubjectKind)}
        for one in subjects:
            for value in {one.value, (also or {}).get(one.value, one.value)}:
                named[one.kind].add(value.casefold() if one.kind == "text" else value)
        return cls(*(frozenset(named[kind]) for kind in get_args(SubjectKind)))

    def says(self, *values: Any) -> bool:
        """Whether a wanted text is in one of these, however deep."""
        return bool(self.texts) and any(self._says(value) for value in values)

    def _says(self, value: Any) -> bool:
        if isinstance(value, str):
            small = value.casefold()
            return any(text in small for text in self.texts)
        if isinstance(value, dict):
            return any(self._says(v) for pair in value.items() for v in pair)
        if isinstance(value, list | tuple):
            return any(map(self._says, value))
        return False


@dataclass(slots=True)
class Found:
    """What one memory holds of them: ids in the file, and keys as others name them."""

    memory: int
    name: str
    episodes: dict[int, str] = field(default_factory=dict)
    contrasts: dict[int, str] = field(default_factory=dict)
    rules: dict[int, str] = field(default_factory=dict)
    blamed: set[int] = field(default_factory=set)
    snapshots: list[str] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to remove."""
        kinds = (self.episodes, self.contrasts, self.rules, self.blamed, self.snapshots)
        return not any(kinds)


def find(db: sqlite3.Connection, memory_id: int, name: str, wanted: Wanted) -> Found:
    """Everything of the subjects in a memory."""
    found = Found(memory_id, name)
    found.episodes = _episodes(db, memory_id, wanted)
    dead = set(found.episodes.values())
    for i, *texts in db.execute(
        """SELECT k.id, k.key, k.scope, k.task, k.kind, k.goal, k.good, k.bad, c.principal
        FROM contrast k JOIN change c USING (memory_id, version) WHERE memory_id = ?""",
        (memory_id,),
    ):
        key, _, task, *_, good, bad, principal = texts
        keys = {*_list(good), *_list(bad)}
        if (
            keys & (dead | wanted.episodes)
            or task in wanted.tasks
            or principal in wanted.principals
            or wanted.says(texts, *keys)
        ):
            found.contrasts[i] = key
    found.rules = _rules(db, memory_id, wanted, set(found.contrasts.values()))
    for version, reason, principal in db.execute(
        "SELECT version, reason, principal FROM change WHERE memory_id = ?", (memory_id,)
    ):
        if (
            principal in wanted.principals
            or any(name in reason for name in wanted.principals)
            or wanted.says(reason, principal)
        ):
            found.blamed.add(version)
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'snapshot'").fetchone():
        for named, *texts in db.execute(
            "SELECT name, principal, reason FROM snapshot WHERE memory_id = ?", (memory_id,)
        ):
            if texts[0] in wanted.principals or wanted.says(named, texts):
                found.snapshots.append(named)
    return found


def _episodes(db: sqlite3.Connection, memory_id: int, wanted: Wanted) -> dict[int, str]:
    """Episode id → key."""
    states = {
        i
        for i, *texts in db.execute(
            "SELECT id, text, context, place, scope FROM state WHERE memory_id = ?", (memory_id,)
        )
        if wanted.says(texts)
    }
    out: dict[int, str] = {}
    for raw in db.execute(
        """SELECT id, key, task, principal, scope, agent, config, info, scorers FROM episode
        WHERE memory_id = ? ORDER BY id""",
        (memory_id,),
    ).fetchall():
        i, key, task, principal, *texts, info, scorers = raw
        known = {principal, _said_on_import(info)} & wanted.principals
        is_named = key in wanted.episodes or task in wanted.tasks or bool(known)
        if (
            is_named
            or _is_answerable(db, i, wanted.principals)
            or wanted.says(key, task, principal, texts, _decoded(info), _decoded(scorers))
            or (wanted.texts and _is_said(db, i, key, wanted, states))
        ):
            out[i] = key
    return out


def _said_on_import(info: str) -> Any:
    """Who was answerable for an imported episode by what it said of itself."""
    found = _decoded(info).get("import")
    said = found.get("principal") if isinstance(found, dict) else None
    return said if isinstance(said, str) else None


def _is_answerable(db: sqlite3.Connection, episode: int, principals: Collection[str]) -> bool:
    if not principals:
        return False
    named = db.execute(
        """SELECT principal FROM outcome WHERE episode_id = ?
        UNION SELECT principal FROM judgment WHERE episode_id = ?""",
        (episode, episode),
    )
    return any(principal in principals for (principal,) in named)


def _is_said(
    db: sqlite3.Connection, episode: int, key: str, wanted: Wanted, states: set[int]
) -> bool:
    """Whether something beneath an episode holds a wanted text."""
    for state, following, action in db.execute(
        "SELECT state_id, next_state_id, action FROM step WHERE episode_id = ?", (episode,)
    ):
        if state in states or following in states or wanted.says(action):
            return True
    for texts in db.execute(
        "SELECT basis, evaluator, principal FROM outcome WHERE episode_id = ?", (episode,)
    ):
        if wanted.says(texts):
            return True
    for *texts, info in db.execute(
        """SELECT evaluator, reason, principal, source, digest, info FROM judgment
        WHERE episode_id = ?""",
        (episode,),
    ):
        if wanted.says(texts, _decoded(info)):
            return True
    for state, following, action in db.execute(
        """SELECT r.state_id, r.next_state_id, r.action FROM judgment j JOIN row r
        ON r.id BETWEEN j.first_row AND j.first_row + j.rows - 1 WHERE j.episode_id = ?""",
        (episode,),
    ):
        if state in states or following in states or wanted.says(action):
            return True
    return wanted.says(_own(reads.read_decisions(db, episode, key)))


def _own(decisions: list[Any]) -> list[Any]:
    """What packed decisions say of their own episode: all but neighbors, which others are."""
    return [d and (d[0], d[1]) for d in decisions]


def _rules(
    db: sqlite3.Connection, memory_id: int, wanted: Wanted, contrasts: set[str]
) -> dict[int, str]:
    """Rules that came of the subjects, or of rules that did: id → key.

    A rule that was there before what it rests on now, too, stays; it loses that evidence.
    """
    known = rulebook_reads.records(db, memory_id)
    dead = set[str]()
    for record in known:
        rule, born = record.rule, record.changes[0]
        texts = (rule.text, rule.scope, rule.kind, rule.entities, rule.author, rule.id)
        if (
            contrasts.intersection(born.evidence)
            or born.principal in wanted.principals
            or wanted.says(texts)
        ):
            dead.add(rule.id)
    while True:
        more = {r.rule.id for r in known if r.rule.id not in dead and dead & set(r.rule.parents)}
        if not more:
            break
        dead |= more
    return {i: key for key, i in rulebook_reads.known_ids(db, memory_id, dead).items()}


def _decoded(text: str) -> Any:
    return msgspec.json.decode(text)


def _list(text: str) -> list[str]:
    out: list[str] = msgspec.json.decode(text)
    return out
