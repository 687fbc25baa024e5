"""The border of a store that keeps a rulebook beside its rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from jitrl.ports import Receipt, Store
from jitrl.types import (
    Contrast,
    Episode,
    Judgment,
    Row,
    Rule,
    RuleChange,
    RuleCounts,
    RuleNews,
    RuleStatus,
    RuleUse,
    ScoredUse,
)


class RuleStore(Store, Protocol):
    """A ``Store`` with rules: entries of the same version stream; nothing of them is deleted.

    ``until`` is the newest version to see, ``None`` for all; a quarantine of episodes counts at
    once. No score is stored with a use: it follows the present judgment of the episode.
    """

    @property
    def undone(self) -> int:
        """Writes and batches that failed after something was read in them: that never was.

        The numbers of their versions are given anew, to whoever writes next.
        """
        ...

    def batch(self) -> AbstractContextManager[None]:
        """Make all writes of the block one transaction: everything or nothing."""
        ...

    def commit(
        self,
        episode: Episode,
        judgment: Judgment,
        rows: Sequence[Row],
        uses: Sequence[RuleUse] = (),
    ) -> Receipt:
        """As ``Store.commit``, with the rules that could be told in the episode.

        Raises:
            InputError: If a use contradicts itself, or its rule is not there; nothing is written.
        """
        ...

    def add_rules(
        self,
        rules: Sequence[Rule],
        contrasts: Sequence[Contrast] = (),
        *,
        reason: str = "",
        principal: str = "",
    ) -> tuple[str, ...]:
        """Add rules and what they were distilled from as one version.

        A rule that is there keeps all it has and gains the evidence that is new. Saying the same
        again writes nothing.

        Returns:
            Ids of the rules that were new.

        Raises:
            InputError: If a rule or contrast cannot be stored, a contrast's id is that of another,
                or a rule rests on a contrast that is not there; nothing is written.
        """
        ...

    def set_rule_status(
        self, status: RuleStatus, ids: Collection[str], *, reason: str = "", principal: str = ""
    ) -> int:
        """Give rules a status as one version; returns how many had another.

        Raises:
            InputError: If there is no such status.
            StoreError: If a rule does not exist; all such are named, and nothing changes.
        """
        ...

    def rules(
        self,
        *,
        scope: str | None = None,
        status: RuleStatus | None = None,
        until: int | None = None,
    ) -> tuple[Rule, ...]:
        """Rules of a scope, or those with a status, in the order they came."""
        ...

    def rule(self, id: str) -> Rule:
        """One rule.

        Raises:
            StoreError: If there is none of that id.
        """
        ...

    def rule_history(self, id: str) -> tuple[RuleChange, ...]:
        """What happened to a rule, oldest first.

        Raises:
            StoreError: If there is none of that id.
        """
        ...

    def contrasts(
        self, *, scope: str | None = None, task: str | None = None, ids: Iterable[str] | None = None
    ) -> tuple[Contrast, ...]:
        """Contrasts in the order they came; unknown ids are left out."""
        ...

    def rule_uses(
        self, ids: Collection[str] | None = None, *, until: int | None = None
    ) -> Mapping[str, tuple[ScoredUse, ...]]:
        """The uses of each rule whose episode has a score, oldest first.

        Episodes that are not judged, were aborted or are in quarantine have none.

        Raises:
            StoreError: If one of ``ids`` does not exist.
        """
        ...

    def episode_uses(self, key: str) -> tuple[RuleUse, ...]:
        """The rules that could be told in an episode, by their ids.

        Raises:
            StoreError: If there is no such episode.
        """
        ...

    def rule_news(self, after: int, *, until: int | None = None) -> RuleNews:
        """What became of uses since version ``after``, so that sums of them go on from there.

        Who has the uses as of ``after`` and takes this in has them as of ``until``: those of
        rules that changed are read anew.
        """
        ...

    def rule_counts(
        self, success: float, ids: Collection[str] | None = None, *, until: int | None = None
    ) -> Mapping[str, RuleCounts]:
        """How each rule has fared, or those of ``ids``; a score of ``success`` or more is a win."""
        ...

    def tainted(self, *, scope: str | None = None) -> Mapping[str, tuple[str, ...]]:
        """Rules that rest on episodes in quarantine → the keys of these.

        A rule rests on the contrasts that are its evidence, and on all that its parents rest on.
        """
        ...
