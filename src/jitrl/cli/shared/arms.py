"""Arms of a comparison: agents with settings of their own, each played in a folder of its own."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import typer

from jitrl import config
from jitrl.cli.main import COMMAND
from jitrl.cli.shared.output import people, tell
from jitrl.cli.shared.planned import Planned, tell_plan
from jitrl.cli.shared.progress import watched
from jitrl.cli.shared.settings import Flags, merge
from jitrl.errors import InputError, brief
from jitrl.language import counted
from jitrl.run import experiment, schedule
from jitrl.run import folder as folders
from jitrl.run.compose import compose
from jitrl.run.experiment import Parts
from jitrl.run.ready import Readiness
from jitrl.study import purse
from jitrl.types import Task


@dataclass(frozen=True, slots=True)
class Arm:
    """One run: all settings but those of its agent are those of the command."""

    label: str
    settings: config.Settings


def parsed(flags: Flags, texts: Sequence[str], origin: str = "--arm") -> list[Arm]:
    """Arms written AGENT or LABEL=AGENT[,GROUP.SETTING=VALUE...].

    Raises:
        ConfigError: If a setting does not exist or cannot have that value.
        InputError: If a label cannot be the name of a folder.
    """
    arms = []
    for text in texts:
        head, *overrides = text.split(",")
        label, equals, agent = head.partition("=")
        if not label.strip() or set(label) & set("/\\:") or label.startswith("."):
            raise InputError(f"{origin}: {brief(label)} cannot be a label; it names a folder")
        own: Flags = {group: dict(table) for group, table in flags.items()}
        own.setdefault("run", {})["agent"] = agent if equals else label
        merge(own, overrides, origin)
        arms.append(Arm(label, config.load(own)))
    return arms


@dataclass(frozen=True, slots=True)
class Ready:
    """An arm that can be played.

    Attributes:
        tasks: How many it plays.
    """

    arm: Arm
    parts: Parts
    tasks: int


def prepared(arms: Sequence[Arm], where: Path) -> list[Ready]:
    """The arms with their parts, all of which were made once for a trial; nothing is played.

    Raises:
        JitRLError: If a run could not begin (see ``Readiness.check``).
    """
    readiness, made = Readiness(), []
    for arm in arms:
        parts = compose(arm.settings)
        tasks = readiness.check(arm.settings, parts, where / arm.label)
        made.append(Ready(arm, parts, tasks))
    return made


def listed(settings: config.Settings) -> list[Task]:
    """All tasks of the environment."""
    with closing(compose(settings).environment()) as environment:
        return list(environment.tasks())


def play(arms: Sequence[Ready], where: Path, *, shared: bool = False) -> list[str]:
    """Say what is played, then play each arm, or what is missing of it; LABEL=FOLDER of each.

    Args:
        shared: Whether the limits of the budget are those of all arms together, with whatever else
            has a ledger in ``where``; else each arm has them for itself.

    Raises:
        BudgetExceeded: At a limit; what was finished is kept.
        typer.Exit: With 1, if episodes failed.
    """
    tell_plan(
        [
            Planned(r.arm.label, r.arm.settings, r.tasks, folders.played(where / r.arm.label))
            for r in arms
        ],
        where,
    )
    played = []
    for number, ready in enumerate(arms, 1):
        arm = ready.arm
        settings, folder = arm.settings, where / arm.label
        if shared:
            others = [path.parent for path in where.glob("*/ledger.db")]
            settings = purse.within(settings, folder, others)
        play_one(arm.label, settings, ready.parts, folder, f"({number}/{len(arms)})")
        played.append(f"{arm.label}={folder}")
    return played


def play_one(
    label: str,
    settings: config.Settings,
    parts: Parts,
    folder: Path,
    place: str = "",
    *,
    is_alone: bool = False,
) -> None:
    """Play one run, or what is missing of it, under a bar.

    Args:
        place: Which one of how many it is, for the bar.
        is_alone: Whether nobody has said yet what is played, so that it is said here.

    Raises:
        BudgetExceeded: At a limit; what was finished is kept.
        typer.Exit: With 1, if episodes failed.
    """
    with watched(f"{label} {place}".strip()) as watch:

        def begun(done: int, total: int) -> None:
            if is_alone:
                if parts.book is not None and not done:
                    tell(f"{label} {parts.book.said}")
                tasks = total // settings.run.attempts // len(schedule.seeds_of(settings.run))
                tell_plan([Planned(label, settings, tasks, done)], folder)
            watch.begun(done, total)

        tally = experiment.run(
            settings,
            folder,
            parts,
            watch=watch.moved,
            begun=begun,
            command=COMMAND.get(),
        )
    if tally.failed:
        people().print(
            f"{counted(tally.failed, 'episode')} of {label} failed; the same command plays "
            f"what failed again (tracebacks are in the journals in {folder})"
        )
        raise typer.Exit(1)
