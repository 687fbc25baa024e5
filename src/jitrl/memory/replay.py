"""Stored decisions made again: without some rows, and on two versions of a memory side by side.

No model is asked, and the journal stays as it is: candidates, logits and draws are those of then.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from jitrl.errors import StoreError
from jitrl.memory.explain import Journal, same_rule, same_trust
from jitrl.memory.rerun import Past, Rerun, Sight, excluded, is_corrected, snapshot_of
from jitrl.memory.view import View
from jitrl.ports import DecisionRecord
from jitrl.types import Decision, Episode, Row

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Turned:
    """A decision that falls otherwise.

    Attributes:
        id: ``EPISODE_KEY#STEP``.
        was, now: The choice on one memory and on the other.
        chance_was, chance_now: Probability of ``was`` on each.
        exact: Whether the journal says all that is needed; an older version kept less.
    """

    id: str
    was: str
    now: str
    chance_was: float
    chance_now: float
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Replayed:
    """What making decisions again showed.

    Attributes:
        looked: Decisions that were made again.
        turned: Those that fall otherwise, in the order read.
        others: Decisions that were left out because they were made under another rule.
    """

    looked: int
    turned: tuple[Turned, ...]
    others: int = 0


def rows_of(store: Journal, ids: Collection[int]) -> dict[int, Row]:
    """The rows of these ids.

    Raises:
        StoreError: If one does not exist.
    """
    missing, found = set(ids), dict[int, Row]()
    for change in store.changes(0) if missing else ():
        for row in change.rows:
            if row.id in missing:
                found[row.id] = row
                missing.discard(row.id)
        if not missing:
            break
    if missing:
        name = getattr(store, "memory", "")
        raise StoreError(f"memory {name!r} has no row {min(missing)}")
    return found


def replay(
    sight: Sight,
    store: Journal,
    without: Collection[int],
    *,
    strict: bool = False,
    progress: Progress | None = None,
) -> Replayed:
    """Which stored decisions would have been others had these rows never been there.

    Each is made again after the steps that its episode took, whatever these would have been. Only
    decisions that could have seen one of the rows are.

    Args:
        strict: Refuse decisions of another rule, rather than count them.
        progress: Told how many were looked at.

    Raises:
        StoreError: If a row does not exist.
        ConfigError: If the memory remembers other trusted bases than ``sight``'s; where it is
            strict, if a decision was made under another rule.
    """
    same_trust(sight, store)
    first: dict[str, int] = {}
    for row in rows_of(store, without).values():
        first[row.scope] = min(row.version, first.get(row.scope, row.version))
    gone, head = frozenset(without), store.head()
    looked = others = 0
    pasts: dict[str, Past] = {}
    views: dict[tuple[str, frozenset[str], int | None], View] = {}
    running: dict[str, Rerun] = {}
    turned = []
    for record in _corrected(store):
        decision, scope = record.decision, record.scope
        if strict:
            same_rule(sight, decision, record.id)
        if scope not in first or decision.version < first[scope]:
            continue
        if decision.rule != sight.lens().rule.digest:
            others += 1
            continue
        if record.episode not in running:
            episode = store.episode(record.episode)
            key = scope, excluded(episode), snapshot_of(episode)
            if scope not in pasts:
                pasts[scope] = Past(store, scope, head)
            if key not in views:
                views[key] = pasts[scope].view(sight.lens(key[1], gone, key[2]))
            running[record.episode] = Rerun(views[key], episode, sight)
        rerun = running[record.episode]
        made = rerun.made(record)
        looked += 1
        if made.action != decision.action:
            turned.append(_turned(record, decision, made, rerun.is_sure))
        if rerun.is_over:
            del running[record.episode]
        if progress is not None:
            progress(looked)
    return Replayed(looked, tuple(turned), others)


def compared(
    sight: Sight,
    store: Journal,
    first: int,
    second: int,
    *,
    newest: int | None = None,
    progress: Progress | None = None,
) -> Replayed:
    """Which stored decisions would fall otherwise on version ``second`` than on ``first``.

    The decisions serve as questions: state, candidates and draws are theirs, the rule is
    ``sight``'s. So decisions of any rule can be asked, and of episodes that either version holds.

    Args:
        newest: Only so many decisions, the last ones; ``None``: all.
        progress: Told how many were looked at.

    Raises:
        ConfigError: If the memory remembers other trusted bases than ``sight``'s.
    """
    same_trust(sight, store)
    versions = (first, second)
    views: dict[tuple[str, frozenset[str], int], View] = {}
    running: dict[str, tuple[Rerun, Rerun]] = {}
    looked, turned = 0, []
    asked: Iterable[DecisionRecord] = _corrected(store)
    if newest is not None:
        asked = deque(asked, newest)

    def rerun(episode: Episode, scope: str, version: int) -> Rerun:
        key = scope, excluded(episode), version
        if key not in views:
            views[key] = Past(store, scope, version).view(sight.lens(key[1]))
        return Rerun(views[key], episode, sight, until=version)

    for record in asked:
        if record.episode not in running:
            episode = store.episode(record.episode)
            one, other = (rerun(episode, record.scope, version) for version in versions)
            running[record.episode] = one, other
        one, other = running[record.episode]
        before, after = one.made(record), other.made(record)
        looked += 1
        if before.action != after.action:
            turned.append(_turned(record, before, after, one.is_sure and other.is_sure))
        if one.is_over:
            del running[record.episode]
        if progress is not None:
            progress(looked)
    return Replayed(looked, tuple(turned))


def _corrected(store: Journal) -> Iterator[DecisionRecord]:
    """Decisions in which a memory had a say."""
    for record in store.decisions():
        if record.decision.mode == "act" and is_corrected(record.decision):
            yield record


def _turned(record: DecisionRecord, before: Decision, after: Decision, exact: bool) -> Turned:
    was = before.action
    before_p, after_p = (
        sum(c.probability for c in decision.candidates if c.action == was)
        for decision in (before, after)
    )
    return Turned(record.id, was, after.action, before_p, after_p, exact)
