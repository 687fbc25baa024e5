"""Settings for tasks of one's own: drawn at random, halved round by round, judged on other tasks.

Every candidate plays the search tasks with a fresh memory. After each round the better half goes on
with a new seed, so that luck with one seed does not decide; the settings in force always go on.
The best of them meets the settings in force on the held-out tasks, which nothing was chosen by.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from jitrl.analysis.compare import Comparison, compare
from jitrl.analysis.results import Result, read
from jitrl.config import Memory, Settings
from jitrl.core.stats import FEWEST_CLUSTERS
from jitrl.errors import ConfigError, InputError, RecordError
from jitrl.language import counted
from jitrl.presets import Preset, load
from jitrl.run import folder as folders
from jitrl.run.schedule import seeds_of
from jitrl.study import purse
from jitrl.types import Task

SCHEMA = "jitrl.tune-plan/1"
DEFAULT, TUNED = "default", "tuned"
ROUNDS = 3
_BEGUN = {"plan.json.partial", "round-0", "answers.db", "answers.db-wal", "answers.db-shm"}
"""What a start leaves that got no further than the first run."""
MOST = 64
"""Most candidates, whatever the budget is."""

SPACE: Mapping[str, tuple[Any, ...]] = {
    "gamma": (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95),
    "rule.beta": (10.0, 30.0, 90.0, 200.0),
    "rule.warmup": (1.0, 3.0, 10.0, 30.0, 100.0),
    "rule.novelty": (0.0, 3.0, 10.0, 30.0, 60.0),
    "rule.repeat": (0.0, 3.0, 9.0, 20.0),
    "rule.repeat_action": (0.0, 3.0, 9.0, 20.0),
    "rule.optimism": (0.0, 0.5, 0.8, 1.0),
    "rule.choose": ("argmax", "sample"),
    "retrieval.threshold": (0.3, 0.5, 0.65, 0.8, 0.9),
    "retrieval.k": (10, 30, 100),
}
"""Settings of the memory that are searched, and their values."""

Play = Callable[[Settings, Path, str], None]
"""Plays a run, or what is missing of it: settings, folder, label."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Settings of the memory that differ from those in force; none for these themselves."""

    label: str
    changes: Mapping[str, Any]

    def applied(self, settings: Settings) -> Settings:
        """``settings`` with the changes."""
        memory = msgspec.structs.asdict(settings.memory)
        for name, value in self.changes.items():
            group, dot, key = name.rpartition(".")
            if dot:
                memory[group] = {**memory[group], key: value}
            else:
                memory[key] = value
        kind = type(settings.memory)
        return msgspec.structs.replace(settings, memory=kind(**memory))


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is searched, written down once: a resumed search does the same.

    Attributes:
        search, held: Ids of the tasks that are chosen by, and judged on.
        candidates: How many, the settings in force among them.
        asked: Options and their values that it was made from; none in plans of older versions.
    """

    search: list[str]
    held: list[str]
    candidates: int
    seed: int
    schema: str = SCHEMA
    asked: dict[str, Any] = msgspec.field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tried:
    """One candidate in the search: rounds it played and its mean score in them, no result."""

    candidate: Candidate
    rounds: int
    score: float


@dataclass(frozen=True, slots=True)
class Tuned:
    """What came of it.

    Attributes:
        best: The best candidate of the search; the settings in force if none was better.
        tried: All candidates, best first.
        held: Both on the held-out tasks; ``None`` if the settings in force were best.
    """

    plan: Plan
    best: Candidate
    tried: tuple[Tried, ...]
    held: Comparison | None

    @property
    def is_better(self) -> bool:
        """Whether there is evidence on the held-out tasks."""
        return self.held is not None and self.held.meets("better")


def split(tasks: Sequence[Task], held_out: str, seed: int) -> tuple[list[str], list[str]]:
    """Ids of the search tasks and of the held-out tasks.

    Args:
        held_out: A share in (0, 1), drawn at random within each family, or patterns with commas.

    Raises:
        InputError: If one side is too small, or the text is neither.
    """
    try:
        share = float(held_out)
    except ValueError:
        patterns = [part.strip() for part in held_out.split(",") if part.strip()]
        held = [t.id for t in tasks if any(fnmatchcase(t.id, pattern) for pattern in patterns)]
    else:
        if not 0.0 < share < 1.0:
            raise InputError(f"a share of held-out tasks lies in (0, 1), got {held_out}")
        held = _drawn(tasks, share, seed)
    search = [task.id for task in tasks if task.id not in held]
    if len(held) < FEWEST_CLUSTERS or not search:
        raise InputError(
            f"{held_out!r} holds out {len(held)} of {counted(len(tasks), 'task')}; an interval "
            f"needs at least {FEWEST_CLUSTERS} held-out tasks and the search at least one other: "
            f"{_enough(len(tasks))}"
        )
    return search, held


_MORE = "--tasks, or an option of the environment, as --env-options tasks=20 for toy"


def _enough(tasks: int) -> str:
    """What to give so that as few as possible are held out, and enough."""
    if tasks <= FEWEST_CLUSTERS:
        return f"give at least {FEWEST_CLUSTERS + 1} tasks ({_MORE})"
    share = math.ceil(100 * FEWEST_CLUSTERS / tasks) / 100
    return f"give --held-out {share:g}, or more tasks ({_MORE})"


def _drawn(tasks: Sequence[Task], share: float, seed: int) -> list[str]:
    """About ``share`` of each family; what is left over is drawn from all."""
    rng = np.random.default_rng([seed, len(tasks)])
    order = [tasks[i] for i in rng.permutation(len(tasks))]
    families: dict[str, list[str]] = {}
    for task in order:
        families.setdefault(task.family, []).append(task.id)
    wanted = round(share * len(tasks))
    held = [id for ids in families.values() for id in ids[: math.floor(share * len(ids))]]
    rest = [task.id for task in order if task.id not in held]
    chosen = set(held + rest[: wanted - len(held)])
    return [task.id for task in tasks if task.id in chosen]


def candidates(settings: Settings, count: int, seed: int) -> tuple[Candidate, ...]:
    """The settings in force, then ``count - 1`` others that change one to four of them."""
    memory = settings.memory
    preset = load(memory.preset).changed(
        memory.rule, memory.retrieval, memory.gamma, memory.admission
    )
    rng = np.random.default_rng([seed, 1])
    names, found = list(SPACE), [Candidate(DEFAULT, {})]
    seen: set[str] = set()
    while len(found) < count:
        chosen = rng.choice(len(names), size=int(rng.integers(1, 5)), replace=False)
        changes = {}
        for name in (names[i] for i in sorted(chosen)):
            others = [value for value in SPACE[name] if value != _now(preset, name)]
            changes[name] = others[int(rng.integers(len(others)))]
        if repr(changes) not in seen:
            seen.add(repr(changes))
            found.append(Candidate(f"c{len(found):02d}", changes))
    return tuple(found)


def _now(preset: Preset, name: str) -> Any:
    group, dot, key = name.rpartition(".")
    return getattr(getattr(preset, group), key) if dot else preset.gamma


def sizes(count: int) -> list[int]:
    """How many candidates play each round: all, half of them, a quarter, at least two."""
    rounds = [count]
    while len(rounds) < ROUNDS and rounds[-1] > 2:
        rounds.append(max(2, math.ceil(rounds[-1] / 2)))
    return rounds


def episodes(count: int, settings: Settings, search: int, held: int) -> int:
    """Most episodes that ``count`` candidates take, with the held-out tasks."""
    attempts, seeds = settings.run.attempts, len(seeds_of(settings.run))
    played = sum(sizes(count)) + len(sizes(count)) - 1  # the settings in force always go on
    return attempts * (played * search + 2 * held * seeds)


def affordable(budget: float, settings: Settings, search: int, held: int) -> int:
    """Most candidates that ``budget`` episodes allow.

    Raises:
        InputError: If they are too few for two candidates.
    """
    least = episodes(2, settings, search, held)
    if budget < least:
        raise InputError(
            f"a budget of {counted(int(budget), 'episode')} is too small: two candidates take "
            f"{least:,}; take fewer tasks, attempts or seeds, or more episodes"
        )
    return next(n for n in range(MOST, 1, -1) if episodes(n, settings, search, held) <= budget)


def planned(folder: Path, asked: Mapping[str, Any], wanted: Callable[[], Plan]) -> Plan:
    """The plan in ``folder``, or the one that is ``wanted``, which is written there whole.

    Args:
        asked: Options and their values that the plan is made from.

    Raises:
        RecordError: If the file there is no plan.
        ConfigError: If it is one that was asked for otherwise.
        InputError: If the folder holds something else.
        StoreError: If it cannot be written; none is there then.
    """
    path, asked = folder / "plan.json", msgspec.json.decode(msgspec.json.encode(asked))
    if path.is_file():
        return _kept(path, asked)
    if folder.is_dir() and any(file.name not in _BEGUN for file in folder.iterdir()):
        raise InputError(f"{folder} is not empty and holds no search; choose a new folder")
    plan = msgspec.structs.replace(wanted(), asked=dict(asked))
    folders.make(folder)
    folders.write(path, plan)
    return plan


def _kept(path: Path, asked: Mapping[str, Any]) -> Plan:
    try:
        plan = msgspec.json.decode(path.read_bytes(), type=Plan)
    except msgspec.DecodeError as error:
        raise RecordError(f"{path} is not the plan of a search: {error}") from error
    others = [
        f"{n}: {plan.asked[n]!r} → {v!r}" for n, v in asked.items() if plan.asked.get(n, v) != v
    ]
    if others:
        raise ConfigError(
            f"{path.parent} holds a search that was asked for otherwise ({'; '.join(others)}); "
            "resume it with the same, or choose a new folder"
        )
    return plan


def tune(settings: Settings, folder: Path, plan: Plan, play: Play) -> Tuned:
    """Search, then compare the best with the settings in force on the held-out tasks.

    The budget of ``settings`` is that of the whole search.

    Raises:
        BudgetExceeded: At its limit; the same call goes on from there.
        ConfigError: If ``folder`` holds a search of other settings.
    """
    pool = candidates(settings, plan.candidates, plan.seed)
    default, first = pool[0], max(seeds_of(settings.run)) + 1
    found: dict[str, list[Result]] = {candidate.label: [] for candidate in pool}
    alive: Sequence[Candidate] = pool
    for number, size in enumerate(sizes(len(pool))):
        alive = _best(alive, found)[:size] if number else pool
        playing = [default, *(c for c in alive if c is not default)]
        for one in playing:
            where = folder / f"round-{number}" / one.label
            asked = _asked(one.applied(settings), plan.search, (first + number,))
            found[one.label].append(_played(asked, where, folder, one.label, play))
    best = _best(playing, found)[0]
    tried = sorted(
        (Tried(c, len(found[c.label]), _mean(found[c.label])) for c in pool),
        key=lambda t: (-t.rounds, -t.score),
    )
    held = None if best is default else _held(settings, folder, plan, best, play)
    return Tuned(plan, best, tuple(tried), held)


def first_run(settings: Settings, folder: Path, search: Sequence[str], play: Play) -> Result:
    """The first run of the search, from which its pace is known; it is not played again."""
    asked = _asked(settings, search, (max(seeds_of(settings.run)) + 1,))
    return _played(asked, folder / "round-0" / DEFAULT, folder, DEFAULT, play)


def _held(settings: Settings, folder: Path, plan: Plan, best: Candidate, play: Play) -> Comparison:
    seeds, default = seeds_of(settings.run), Candidate(DEFAULT, {})
    results = []
    for name, where, candidate in (
        (DEFAULT, DEFAULT, default),
        (TUNED, f"{TUNED}-{best.label}", best),
    ):
        asked = _asked(candidate.applied(settings), plan.held, seeds)
        results.append(_played(asked, folder / "held-out" / where, folder, name, play))
    return compare(results, base=DEFAULT)


def _played(settings: Settings, where: Path, folder: Path, label: str, play: Play) -> Result:
    others = [path.parent for path in folder.rglob("ledger.db")]
    play(purse.within(settings, where, others), where, label)
    return read(where, label)


def _asked(settings: Settings, tasks: Sequence[str], seeds: Sequence[int]) -> Settings:
    run = msgspec.structs.replace(settings.run, tasks=tuple(tasks), seeds=tuple(seeds))
    return msgspec.structs.replace(settings, run=run)


def _best(alive: Sequence[Candidate], found: Mapping[str, Sequence[Result]]) -> list[Candidate]:
    """Best first; among equals the settings in force, then the one that came first."""
    return sorted(alive, key=lambda c: (-_mean(found[c.label]), bool(c.changes)))


def _mean(results: Sequence[Result]) -> float:
    return round(float(np.mean([result.scores.mean() for result in results])), 9)


def toml(memory: Memory) -> str:
    """A section for jitrl.toml that says all in which ``memory`` differs from no settings at all.

    Raises:
        ConfigError: If a value cannot be written in TOML.
    """
    default = Memory()
    lines = [
        f"{name} = {_written(name, getattr(memory, name))}"
        for name in memory.__struct_fields__
        if getattr(memory, name) != getattr(default, name)
    ]
    return "\n".join(["[memory]", *lines]) + "\n"


def _written(name: str, value: Any) -> str:
    match value:
        case bool() | str():
            return json.dumps(value, ensure_ascii=False)
        case int() | float():
            return repr(value)
        case Mapping():
            items = (f"{_key(key)} = {_written(name, item)}" for key, item in value.items())
            return f"{{ {', '.join(items)} }}"
        case list() | tuple() | frozenset():
            items = (_written(name, one) for one in value)
            return f"[{', '.join(sorted(items) if isinstance(value, frozenset) else items)}]"
    raise ConfigError(f"memory.{name} has {value!r}, which cannot be written in TOML")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name, re.ASCII) else json.dumps(name, ensure_ascii=False)
