"""Rules: short orders in words, what they were distilled from, and where they were told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

RuleStatus = Literal["candidate", "active", "retired", "quarantined"]
"""A candidate is not told yet or only on trial; what is retired or quarantined is told nobody."""

RULE_STATUSES: tuple[RuleStatus, ...] = get_args(RuleStatus)


@dataclass(frozen=True, slots=True)
class Rule:
    """One imperative sentence of a rulebook.

    Attributes:
        id: ``core.sentences.rule_id`` of the text: texts that say the same are one rule; where a
            rule of another scope has that id, ``core.sentences.scoped_id``.
        text: The sentence, cleaned.
        scope: Whose episodes are told it; a memory has a text once in each scope.
        kind: Type of task that it is for; "" for any.
        entities: Its key words, sorted.
        entry: Score in [0, 1] that it came in with.
        author: Who distilled it: ``rules``, the name of a model, or ``human``.
        parents: Ids of the rules that it speaks for: merged, narrowed or covered.
        evidence: Ids of the contrasts it rests on, oldest first.
        status: Since its latest change; a new rule is stored with the one it is handed in with.
        reason: Of that status. This and what follows is filled in by the store.
        created: When it was stored, seconds since 1970.
        version: Version of the memory at its last change.
        principal: Who is answerable for its being there.
    """

    id: str
    text: str
    scope: str = ""
    kind: str = ""
    entities: tuple[str, ...] = ()
    entry: float = 0.0
    author: str = "rules"
    parents: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    status: RuleStatus = "candidate"
    reason: str = ""
    created: float = 0.0
    version: int = 0
    principal: str = ""


@dataclass(frozen=True, slots=True)
class RuleChange:
    """One entry of a rule's history.

    Attributes:
        rule: Its id.
        version: Of the memory.
        status: From then on; the one before where the entry only brought evidence.
        reason, principal: Why, and who is answerable.
        at: Seconds since 1970.
        evidence: Ids of the contrasts that this entry brought.
    """

    rule: str
    version: int
    status: RuleStatus
    reason: str = ""
    principal: str = ""
    at: float = 0.0
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Contrast:
    """Good and bad attempts at one task: what rules are distilled from, now and again later.

    Attributes:
        id: Tells it from all others, wherever they were made: best a digest of what it says.
        round: In which attempt at the task it was drawn up.
        goal: The task in words.
        good: Keys of episodes, best first.
        bad: Keys of episodes.
        scores: Of the good ones, then of the bad ones, as they were then.
        created: Seconds since 1970; 0 for when it is stored.
        version: Version of the memory that brought it. This and what follows is filled in by the
            store.
        principal: Who is answerable for its being there.
    """

    id: str
    scope: str
    task: str
    kind: str = ""
    round: int = 0
    goal: str = ""
    good: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    created: float = 0.0
    version: int = 0
    principal: str = ""


@dataclass(frozen=True, slots=True)
class RuleUse:
    """A rule that could be told in an episode.

    Attributes:
        rule: Its id.
        episode: Key of the episode.
        told: Whether it was; else it was held out.
        chance: That it would be told, in (0, 1]; 1 where nothing was drawn.
        occasions: Steps at which its condition held.
        obeyed: Those of them at which the episode did as it says.
        unknown: Those at which nobody can tell, as it names none of the actions there.
    """

    rule: str
    episode: str
    told: bool
    chance: float
    occasions: int = 0
    obeyed: int = 0
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class ScoredUse:
    """A use with what its episode came to.

    Attributes:
        score: Sum of the step rewards of the present judgment, clipped to [0, 1].
        task: Of the episode.
        version: Version of the memory that brought the episode.
    """

    use: RuleUse
    score: float
    task: str
    version: int


@dataclass(frozen=True, slots=True)
class RuleNews:
    """What became of the uses of rules since a version of their memory.

    Attributes:
        uses: Those that have a score since then, and come after all that had one before: rule →
            uses, oldest first.
        changed: Rules of which earlier uses count otherwise by now, came late, or are there no
            more; ``None`` if it may be any of them.
    """

    uses: Mapping[str, tuple[ScoredUse, ...]]
    changed: frozenset[str] | None = frozenset()


@dataclass(frozen=True, slots=True)
class RuleCounts:
    """How a rule has fared. Episodes that are not judged, aborted or in quarantine count nowhere.

    Attributes:
        uses: Episodes in which it was told.
        wins: Those of them with a score that counts as success.
        held: Episodes in which it was held out.
        held_wins: Those of them with such a score.
        last: Version that brought the newest episode in which it was told, judged or not; 0: none.
        last_at: When that was stored, seconds since 1970; 0.0: never.
    """

    uses: int = 0
    wins: int = 0
    held: int = 0
    held_wins: int = 0
    last: int = 0
    last_at: float = 0.0
