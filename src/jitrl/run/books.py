"""The rules that a run begins with: an export, of which each seed's memory takes its own."""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from jitrl.core.sentences import scoped_id
from jitrl.errors import ConfigError
from jitrl.language import counted
from jitrl.ports import Store
from jitrl.ports.rules import RuleStore
from jitrl.stores import jsonl_rules, line_rules
from jitrl.stores.lines import each_line
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Contrast, Rule, RuleStatus, Task

AGENT = "rulebook"
"""Entry point of the agent that tells rules."""

_PRINCIPAL = "run.book"
_TOLD: Collection[RuleStatus] = ("candidate", "active")


@dataclass(frozen=True, slots=True)
class Book:
    """The rules of an export, checked, as an import takes them in.

    Attributes:
        path: Where they are from.
        digest: Of what the export says, wherever it lies.
        told: Ids of the rules that were candidates or active there.
        scopes: Of these rules.
    """

    path: Path
    digest: str
    rules: tuple[Rule, ...]
    contrasts: tuple[Contrast, ...]
    told: frozenset[str]
    scopes: frozenset[str]

    def check(self, tasks: Iterable[Task]) -> None:
        """Refuse tasks that none of the rules would be told in.

        Raises:
            ConfigError: With the scopes of both.
        """
        played = {task.scope for task in tasks}
        if not played & self.scopes:
            raise ConfigError(
                f"run.book: {_scopes(self.scopes)} in {self.path}, and the tasks are of "
                f"{', '.join(map(repr, sorted(played)))}, so none would be told; leave it out, or "
                "export rules of these tasks"
            )

    def begin(self, store: Store) -> None:
        """Let a memory that holds nothing yet begin with the rules, as candidates.

        They come in as by ``jitrl rules import``; those that were told where they are from are
        then restored, as giving the book asks for. What was retired or in quarantine there stays
        in quarantine. A memory that holds something is left alone: the run goes on.

        Raises:
            ConfigError: If the store keeps no rules.
        """
        if not hasattr(store, "add_rules"):
            raise ConfigError(
                f"run.book is {str(self.path)!r}, and store {type(store).__name__} keeps no rules "
                "(it has no add_rules()); leave the book out, or keep the run's memory in the "
                "store 'sqlite'"
            )
        keeper = cast(RuleStore, store)
        with keeper.batch():
            if keeper.rules() or keeper.contrasts() or next(iter(keeper.episodes()), None):
                return
            keeper.add_rules((), self.contrasts, reason="import", principal=_PRINCIPAL)
            restored = list[str]()
            for rule in self.rules:  # each has a reason of its own
                new = keeper.add_rules([rule], reason=rule.reason, principal=_PRINCIPAL)
                restored += new if rule.id in self.told else ()
            reason = f"the run begins with {self.path.name}"
            keeper.set_rule_status("candidate", restored, reason=reason, principal=_PRINCIPAL)

    @property
    def said(self) -> str:
        """What the run begins with, in words."""
        some = f"{counted(len(self.told), 'rule')} of {self.path} as "
        some += "a candidate" if len(self.told) == 1 else "candidates"
        kept = len(self.rules) - len(self.told)
        left = f"; left in quarantine: {kept}" if kept else ""
        return f"begins with {some}{left}"


def book_of(path: str, agent: str) -> Book | None:
    """The book that a run begins with; ``None`` where there is to be none.

    Args:
        agent: Its name.

    Raises:
        ConfigError: If the agent tells no rules, or the file cannot be read or holds no rule that
            was told.
        RecordError: With the line that is bad.
    """
    if not path:
        return None
    if agent != AGENT:
        raise ConfigError(
            f"run.book is {path!r}, and agent {agent!r} tells no rules; use the agent {AGENT!r} "
            "(with --agent-options '{\"scores\": true}' it corrects scores, too), or leave it out"
        )
    try:
        lines = tuple(Path(path).read_bytes().splitlines(keepends=True))
    except OSError as error:
        raise ConfigError(
            f"run.book: cannot read {path}: {error.strerror}; jitrl rules export writes such a file"
        ) from error
    were = dict[str, RuleStatus]()

    def note(text: bytes) -> None:
        if line_rules.schema_of(text) == line_rules.RULE:
            record = line_rules.parse_rule(text)
            were[scoped_id(record.rule.text, record.rule.scope)] = record.changes[-1].status

    with SQLiteStore(":memory:") as trial:
        jsonl_rules.read(trial, lines, name=path, principal=_PRINCIPAL)
        rules, contrasts = trial.rules(), trial.contrasts()
    each_line(lines, note, name=path, skip_bad=False)
    told = [rule for rule in rules if were[scoped_id(rule.text, rule.scope)] in _TOLD]
    if not told:
        raise ConfigError(
            f"run.book: {path} has {counted(len(rules), 'rule')}, and none was a candidate or "
            "active where it is from; restore some there (jitrl rules restore), and export again"
        )
    return Book(
        Path(path),
        _digest(lines),
        rules,
        contrasts,
        frozenset(rule.id for rule in told),
        frozenset(rule.scope for rule in told),
    )


def _digest(lines: Iterable[bytes]) -> str:
    """Twelve hex digits of what lines say; how they end, and empty ones, say nothing."""
    said = (line.removeprefix(codecs.BOM_UTF8).strip() for line in lines)
    return hashlib.sha256(b"\n".join(line for line in said if line)).hexdigest()[:12]


def _scopes(scopes: Collection[str]) -> str:
    word = "scope" if len(scopes) == 1 else "scopes"
    return f"rules are of the {word} {', '.join(map(repr, sorted(scopes)))}"
