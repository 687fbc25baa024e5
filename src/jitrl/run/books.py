"""The rules that a run begins with: an export, of which each seed's memory takes its own."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from jitrl.core.sentences import scoped_id
from jitrl.errors import ConfigError
from jitrl.language import counted
from jitrl.stores import jsonl_rules, line_rules
from jitrl.stores.lines import each_line
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import RuleStatus, Task

AGENT = "rulebook"
"""Entry point of the agent that tells rules."""

_PRINCIPAL = "run.book"
_TOLD: Collection[RuleStatus] = ("candidate", "active")


@dataclass(frozen=True, slots=True)
class Book:
    """The lines of an export, checked.

    Attributes:
        path: Where they are from.
        told: Texts and scopes, as one id, of the rules that were candidates or active there.
        scopes: Of these rules.
        kept: How many others there are.
    """

    path: Path
    lines: tuple[bytes, ...]
    told: frozenset[str]
    scopes: frozenset[str]
    kept: int

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

    def begin(self, store: SQLiteStore) -> None:
        """Let a memory that holds nothing yet begin with the rules, as candidates.

        They come in as by ``jitrl rules import``; those that were told where they are from are
        then restored, as giving the book asks for. What was retired or in quarantine there stays
        in quarantine. A memory that holds something is left alone: the run goes on.
        """
        with store.batch():
            if store.rules() or store.contrasts() or next(iter(store.episodes()), None):
                return
            jsonl_rules.read(store, self.lines, name=str(self.path), principal=_PRINCIPAL)
            restored = [r.id for r in store.rules() if scoped_id(r.text, r.scope) in self.told]
            reason = f"the run begins with {self.path.name}"
            store.set_rule_status("candidate", restored, reason=reason, principal=_PRINCIPAL)

    @property
    def said(self) -> str:
        """What the run begins with, in words."""
        some = f"{counted(len(self.told), 'rule')} of {self.path} as "
        some += "a candidate" if len(self.told) == 1 else "candidates"
        left = f"; left in quarantine: {self.kept}" if self.kept else ""
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
    statuses = dict[str, RuleStatus]()

    def note(text: bytes) -> None:
        if line_rules.schema_of(text) == line_rules.RULE:
            record = line_rules.parse_rule(text)
            statuses[scoped_id(record.rule.text, record.rule.scope)] = record.changes[-1].status

    with SQLiteStore(":memory:") as trial:
        jsonl_rules.read(trial, lines, name=path)
        rules = trial.rules()
    each_line(lines, note, name=path, skip_bad=False)
    told = frozenset(id for id, status in statuses.items() if status in _TOLD)
    if not told:
        raise ConfigError(
            f"run.book: {path} has {counted(len(rules), 'rule')}, and none was a candidate or "
            "active where it is from; restore some there (jitrl rules restore), and export again"
        )
    scopes = frozenset(r.scope for r in rules if scoped_id(r.text, r.scope) in told)
    return Book(Path(path), lines, told, scopes, len(statuses) - len(told))


def _scopes(scopes: Collection[str]) -> str:
    word = "scope" if len(scopes) == 1 else "scopes"
    return f"rules are of the {word} {', '.join(map(repr, sorted(scopes)))}"
