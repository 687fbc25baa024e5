"""Cases out of memory files, run folders and folders of runs; all of them are only read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from jitrl import presets
from jitrl.analysis.compare import ORACLE
from jitrl.analysis.doctor.case import Attempt, Book, Case, Choice, Journal, Rows
from jitrl.analysis.doctor.rules import option
from jitrl.analysis.explain import memorys, why
from jitrl.config import Memory
from jitrl.core.rule import UpdateRule
from jitrl.errors import InputError
from jitrl.presets import Preset
from jitrl.run import folder as folders
from jitrl.stores import columns
from jitrl.stores.place import nearest
from jitrl.stores.records import EpisodeRecord
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Decision, Scored, State

WAITING = ("no outcome yet", "neither rewards nor an outcome were given")
"""How the reasons of evaluators end that want an outcome."""

_TERMS = ("environment", "model", "writer")
"""Groups of settings that must be equal for a run to be held against a static one."""


def load(places: Sequence[Path], memory: Memory, name: str = "default") -> list[Case]:
    """The cases in ``places``; of a folder of runs all, each against its static one.

    The static run that others are held against is no case of its own.

    Args:
        memory: Settings that memory files were used with; runs have their own.
        name: Memory in each of the memory files.

    Raises:
        InputError: If a place holds none of these.
        RecordError, StoreError: If one cannot be read.
    """
    cases: list[Case] = []
    for place in places:
        if place.is_dir():
            inside = sorted(path.parent for path in place.glob("*/run.json"))
            is_many = inside and not (place / "run.json").is_file()
            cases += [_run(folder) for folder in (inside if is_many else [place])]
        elif place.is_file():
            preset = _preset(memory)
            journal = _journal(place, name, preset.rule, None)
            label = _plain(str(place))
            cases.append(Case(label, "memory", (journal,), preset, memory=name, path=place))
        else:
            raise InputError(f"there is no memory file or run folder {place}{nearest(place)}")
    return _against_static(cases)


def _against_static(cases: Sequence[Case]) -> list[Case]:
    found = [replace(case, base=_base(case, cases), arms=_arms(case, cases)) for case in cases]
    bases = {id(case.base) for case in found}
    return [new for new, old in zip(found, cases, strict=True) if id(old) not in bases]


def _base(case: Case, cases: Sequence[Case]) -> Case | None:
    if case.record is None or case.agent in ("static", ORACLE):
        return None
    for other in cases:
        if other.record is not None and other.agent == "static":
            mine, theirs = case.record.settings, other.record.settings
            if all(mine[term] == theirs[term] for term in _TERMS):
                return other
    return None


def _arms(case: Case, cases: Sequence[Case]) -> dict[int, Case]:
    """Runs of the same settings, but for the number of rules that are told."""
    if case.record is None or case.agent != "rulebook":
        return {}
    mine = case.record.settings
    found = dict[int, Case]()
    for other in cases:
        if other is case or other.record is None or other.agent != "rulebook":
            continue
        theirs = other.record.settings
        if all(mine[term] == theirs[term] for term in (*_TERMS, "memory")) and (
            _but_told(mine["run"]) == _but_told(theirs["run"])
        ):
            found[option(other, "told")] = other
    return found


def _but_told(run: Mapping[str, Any]) -> dict[str, Any]:
    options = {name: value for name, value in run["options"].items() if name != "told"}
    return {**run, "options": options}


def _run(folder: Path) -> Case:
    record = folders.read(folder)
    preset = _preset(msgspec.convert(record.settings["memory"], Memory))
    paths = [(seed, folders.store_path(folder, seed)) for seed in record.seeds]
    with closing(folders.spent(folder)) as ledger:
        spent = ledger.totals()
    return Case(
        label=_plain(folder.resolve().name),
        place="run",
        journals=tuple(
            _journal(path, "default", preset.rule, seed) for seed, path in paths if path.is_file()
        ),
        preset=preset,
        record=record,
        spent=spent if (folder / "ledger.db").is_file() else None,
        path=folder,
    )


def _plain(name: str) -> str:
    """The name of a file may be no UTF-8."""
    return name.encode("utf-8", "backslashreplace").decode()


def _preset(memory: Memory) -> Preset:
    return presets.load(memory.preset).changed(
        memory.rule, memory.retrieval, memory.gamma, memory.admission
    )


def _journal(path: Path, name: str, rule: UpdateRule, seed: int | None) -> Journal:
    with SQLiteStore(path, memory=name, readonly=True) as store:
        played: dict[tuple[str, str], int] = {}
        attempts = tuple(
            _attempt(kept, rule, seed, played)
            for kept in store.records(decided=True)
            if seed is None or kept.episode.status != "aborted"  # a run plays those again
        )
        rows, states, scopes, owners = _rows(store)
        book = Book(tuple(store.rule_records()), store.rule_uses(), store.contrasts())
        return Journal(path, store.stats(), attempts, rows, states, scopes, owners, book)


def _attempt(
    kept: EpisodeRecord, rule: UpdateRule, seed: int | None, played: dict[tuple[str, str], int]
) -> Attempt:
    episode, judgment, info = kept.episode, kept.judgment, kept.episode.info
    judged = sum(judgment.rewards) if isinstance(judgment, Scored) else None
    reason = "" if isinstance(judgment, Scored) else judgment.reason
    place = (episode.scope, episode.task)
    number = played.get(place, 0)
    played[place] = number + 1
    told = [entry.at for entry in kept.outcomes if entry.outcome is not None]
    return Attempt(
        key=episode.key,
        task=episode.task,
        family=str(info.get("family", "")),
        scope=episode.scope,
        seed=seed or 0,
        number=_number(info, number, "attempt"),
        score=_number(info, judged, "score"),
        judged=judged,
        reason=reason,
        basis=judgment.basis if isinstance(judgment, Scored) else None,
        is_waiting=episode.outcome is None and reason.endswith(WAITING),
        delay=max(0.0, told[0] - episode.finished) if told and episode.finished else None,
        is_held=episode.holdout,
        finished=episode.finished,
        choices=tuple(
            _choice(step.state, step.decision, rule)
            for step in episode.steps
            if step.decision is not None and step.decision.reason in ("", "empty")
        ),
    )


def _number(info: Mapping[str, Any], otherwise: Any, name: str) -> Any:
    """A number that a run noted; what others noted under that name may be anything."""
    value = info.get(name)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number else otherwise


def _choice(state: State, decision: Decision, rule: UpdateRule) -> Choice:
    mine = memorys(decision, rule)
    known = [n for n in decision.neighbors if n.rows]  # those of its own episode have none
    correction = np.array([c.correction for c in decision.candidates])
    own = np.array([c.corrected for c in decision.candidates]) - correction
    ahead = np.sort(correction)[::-1]
    spread = float(np.ptp(own))
    is_turned = mine.action != decision.unaided
    return Choice(
        state=state,
        mode=decision.mode,
        options=len(decision.candidates),
        known=round(sum(n.visits for n in known)),
        reached=len({n.state for n in known}),
        version=decision.version,
        turned=why(decision, rule, mine) if is_turned else None,
        is_memorys=mine.source == "memory",
        push=float(np.ptp(correction)),
        spread=spread,
        is_outweighed=len(ahead) > 1 and bool(ahead[0] - ahead[1] > spread),
        rows=tuple(row for n in known if n.action == mine.action for row in n.rows)
        if is_turned
        else (),
    )


def _rows(
    store: SQLiteStore,
) -> tuple[Rows, dict[int, State], dict[int, str], dict[int, str]]:
    """The active rows, the states and scopes they know, and whose each row ever was."""
    read = columns.read(store)
    state, action, ret, version, episode = list(zip(*read.active, strict=True)) or [()] * 5
    actions, keys = _numbered(action), _numbered(episode)
    rows = Rows(
        np.array(state, np.int64),
        np.array([actions[one] for one in action], np.int64),
        np.array(ret, float),
        np.array(version, np.int64),
        np.array([keys[one] for one in episode], np.int64),
        tuple(keys),
    )
    return rows, read.states, read.scopes, read.owners


def _numbered(texts: Sequence[str]) -> dict[str, int]:
    return {text: number for number, text in enumerate(dict.fromkeys(texts))}
