"""Counts over a memory: what is in it, from whom, and what is mixed that should not be."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from jitrl.stores import rulebook_reads
from jitrl.stores.records import EpisodeSummary
from jitrl.stores.writes import STATUS
from jitrl.types import RULE_STATUSES

_PRESENT = """SELECT j.* FROM judgment j JOIN episode e ON e.id = j.episode_id
    WHERE e.memory_id = :memory
    AND j.id = (SELECT max(id) FROM judgment WHERE episode_id = e.id)"""


@dataclass(frozen=True, slots=True)
class Mixture:
    """Values found side by side in one scope that make its numbers incomparable.

    Attributes:
        what: ``told`` (told and blind evaluators), ``evaluator`` or ``scorer``.
        values: What was found, with the number of episodes of each.
    """

    scope: str
    what: str
    values: dict[str, int]


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of one memory; each mapping is value → number.

    Attributes:
        episodes: By how they ended.
        scored: Episodes with a judgment that has rewards.
        unscored: Reason → episodes from which nothing is learned.
        rows: By status.
        basis, told, evaluators: Active rows by provenance; ``told`` has keys ``told``, ``blind``.
        scorers: Episodes by the scorers that made z.
        scopes: Scope → episodes.
        states: Distinct states.
        decisions: Journaled decisions.
        outcomes: Entries of all outcome histories.
        rules: By status.
        contrasts: What rules were distilled from.
        rule_uses: Rules that could be told, over all episodes.
        tainted_rules: Rules that rest on an episode in quarantine.
        bytes: Size of the file with its log.
        mixed: What a report must not average over.
    """

    memory: str
    version: int
    episodes: dict[str, int]
    scored: int
    unscored: dict[str, int]
    quarantined_episodes: int
    rows: dict[str, int]
    basis: dict[str, int]
    told: dict[str, int]
    evaluators: dict[str, int]
    scorers: dict[str, int]
    scopes: dict[str, int]
    states: int
    decisions: int
    outcomes: int
    rules: dict[str, int]
    contrasts: int
    rule_uses: int
    tainted_rules: int
    bytes: int
    mixed: tuple[Mixture, ...]


def collect(db: sqlite3.Connection, memory_id: int, memory: str, size: int) -> Stats:
    """Count everything; reads the whole row table once."""

    def count(query: str) -> dict[str, int]:
        return {str(k): n for k, n in db.execute(query, {"memory": memory_id}) if k is not None}

    def one(query: str) -> int:
        (n,) = db.execute(query, {"memory": memory_id}).fetchone()
        return int(n or 0)

    mine = "FROM episode WHERE memory_id = :memory"
    by_judgment: dict[str, dict[str, int]] = {"basis": {}, "told": {}, "evaluator": {}}
    statuses = dict.fromkeys(STATUS, 0)
    names = tuple(STATUS)
    for status, basis, told, evaluator, n in db.execute(
        """SELECT r.status, j.basis, j.told, j.evaluator, count(*) FROM row r
        JOIN judgment j ON j.id = r.judgment_id JOIN episode e ON e.id = j.episode_id
        WHERE e.memory_id = ? GROUP BY 1, 2, 3, 4 ORDER BY 2, 3, 4""",
        (memory_id,),
    ):
        statuses[names[status]] += n
        if status == STATUS["active"]:
            labels = {"basis": basis, "told": _told(told), "evaluator": evaluator}
            for what, label in labels.items():
                by_judgment[what][label] = by_judgment[what].get(label, 0) + n
    return Stats(
        memory=memory,
        version=one("SELECT head FROM memory WHERE id = :memory"),
        episodes=count(f"SELECT status, count(*) {mine} GROUP BY 1 ORDER BY 1"),
        scored=one(f"SELECT count(*) FROM ({_PRESENT}) WHERE rewards IS NOT NULL"),
        unscored=count(
            f"SELECT reason, count(*) FROM ({_PRESENT}) WHERE rewards IS NULL GROUP BY 1 ORDER BY 1"
        ),
        quarantined_episodes=one(f"SELECT sum(quarantined) {mine}"),
        rows={str(name): n for name, n in statuses.items()},
        basis=by_judgment["basis"],
        told=by_judgment["told"],
        evaluators=by_judgment["evaluator"],
        scorers=_tally(
            (scorer, n)
            for scorers, n in count(f"SELECT scorers, count(*) {mine} GROUP BY 1").items()
            for scorer in msgspec.json.decode(scorers)
        ),
        scopes=count(f"SELECT scope, count(*) {mine} GROUP BY 1 ORDER BY 1"),
        states=one("SELECT count(*) FROM state WHERE memory_id = :memory"),
        decisions=one(
            """SELECT count(s.read) FROM step s JOIN episode e ON e.id = s.episode_id
            WHERE e.memory_id = :memory"""
        ),
        outcomes=one(
            """SELECT count(*) FROM outcome o JOIN episode e ON e.id = o.episode_id
            WHERE e.memory_id = :memory"""
        ),
        rules=dict.fromkeys(RULE_STATUSES, 0)
        | _tally((rule.status, 1) for rule in rulebook_reads.rules(db, memory_id)),
        contrasts=one("SELECT count(*) FROM contrast WHERE memory_id = :memory"),
        rule_uses=one(
            """SELECT count(*) FROM rule_use u JOIN rule r ON r.id = u.rule_id
            WHERE r.memory_id = :memory"""
        ),
        tainted_rules=len(rulebook_reads.tainted(db, memory_id, None)),
        bytes=size,
        mixed=tuple(_mixtures(db, memory_id)),
    )


def _mixtures(db: sqlite3.Connection, memory_id: int) -> Iterable[Mixture]:
    """Per scope, over episodes with active rows."""
    found: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for scope, told, evaluator, scorers, n in db.execute(
        f"""SELECT e.scope, j.told, j.evaluator, e.scorers, count(*)
        FROM ({_PRESENT}) j JOIN episode e ON e.id = j.episode_id
        WHERE EXISTS (SELECT 1 FROM row r
            WHERE r.id BETWEEN j.first_row AND j.first_row + j.rows - 1 AND r.status = 0)
        GROUP BY 1, 2, 3, 4 ORDER BY 1""",
        {"memory": memory_id},
    ):
        found.setdefault((scope, "told"), []).append((_told(told), n))
        found.setdefault((scope, "evaluator"), []).append((evaluator, n))
        for scorer in msgspec.json.decode(scorers):
            found.setdefault((scope, "scorer"), []).append((scorer, n))
    for (scope, what), values in found.items():
        tally = _tally(values)
        if len(tally) > 1:
            yield Mixture(scope, what, tally)


def _tally(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    out: dict[str, int] = {}
    for value, n in pairs:
        out[value] = out.get(value, 0) + n
    return dict(sorted(out.items()))


def _told(told: int | None) -> str:
    return "told" if told else "blind"


def summaries(
    db: sqlite3.Connection,
    memory_id: int,
    *,
    scope: str | None = None,
    task: str | None = None,
    limit: int = -1,
) -> list[EpisodeSummary]:
    """The newest ``limit`` episodes (-1: all), newest first."""
    counts = ", ".join(
        f"""(SELECT count(*) FROM judgment k
            JOIN row r ON r.id BETWEEN k.first_row AND k.first_row + k.rows - 1
            WHERE k.episode_id = e.id AND r.status = {number})"""
        for number in STATUS.values()
    )
    found = db.execute(
        f"""SELECT e.key, e.task, e.scope, e.status, e.agent,
            (SELECT count(*) FROM step WHERE episode_id = e.id),
            o.value, coalesce(j.basis, ''), j.evaluator, j.reason, {counts}, j.version, e.finished
        FROM episode e
        JOIN judgment j ON j.id = (SELECT max(id) FROM judgment WHERE episode_id = e.id)
        LEFT JOIN outcome o ON o.id = (SELECT max(id) FROM outcome WHERE episode_id = e.id)
        WHERE e.memory_id = ? AND (? IS NULL OR e.scope = ?) AND (? IS NULL OR e.task = ?)
        ORDER BY e.id DESC LIMIT ?""",
        (memory_id, scope, scope, task, task, limit),
    )
    return [EpisodeSummary(*record) for record in found]
