"""Arms of a comparison: agents with settings of their own, each played in a folder of its own."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import typer

from jitrl import config
from jitrl.cli.main import COMMAND
from jitrl.cli.shared.output import people
from jitrl.cli.shared.progress import watched
from jitrl.cli.shared.settings import Flags, merge
from jitrl.errors import InputError
from jitrl.run import experiment
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
            raise InputError(f"{origin}: {label!r} cannot be a label; it names a folder")
        own: Flags = {group: dict(table) for group, table in flags.items()}
        own.setdefault("run", {})["agent"] = agent if equals else label
        merge(own, overrides, origin)
        arms.append(Arm(label, config.load(own)))
    return arms


def prepared(arms: Sequence[Arm], where: Path) -> list[Parts]:
    """The parts of each arm, all of which were made once for a trial; nothing is played.

    Raises:
        JitRLError: If a run could not begin (see ``Readiness.check``).
    """
    readiness, made = Readiness(), []
    for arm in arms:
        parts = compose(arm.settings)
        readiness.check(arm.settings, parts, where / arm.label)
        made.append(parts)
    return made


def listed(settings: config.Settings) -> list[Task]:
    """All tasks of the environment."""
    with closing(compose(settings).environment()) as environment:
        return list(environment.tasks())


def play(
    arms: Sequence[Arm],
    where: Path,
    parts: Sequence[Parts] | None = None,
    *,
    shared: bool = False,
) -> list[str]:
    """Play each arm, or what is missing of it; returns LABEL=FOLDER of each.

    No arm is played unless all of them can be.

    Args:
        parts: Those of each arm, if they are ``prepared`` already.
        shared: Whether the limits of the budget are those of all arms together, with whatever else
            has a ledger in ``where``; else each arm has them for itself.

    Raises:
        BudgetExceeded: At a limit; what was finished is kept.
        typer.Exit: With 1, if episodes failed.
    """
    parts = prepared(arms, where) if parts is None else parts
    played = []
    for number, (arm, made) in enumerate(zip(arms, parts, strict=True), 1):
        settings, folder = arm.settings, where / arm.label
        if shared:
            others = [path.parent for path in where.glob("*/ledger.db")]
            settings = purse.within(settings, folder, others)
        play_one(arm.label, settings, made, folder, f"({number}/{len(arms)})")
        played.append(f"{arm.label}={folder}")
    return played


def play_one(
    label: str, settings: config.Settings, parts: Parts, folder: Path, place: str = ""
) -> None:
    """Play one run, or what is missing of it, under a bar.

    Args:
        place: Which one of how many it is, for the bar.

    Raises:
        BudgetExceeded: At a limit; what was finished is kept.
        typer.Exit: With 1, if episodes failed.
    """
    with watched(f"{label} {place}".strip()) as watch:
        tally = experiment.run(
            settings,
            folder,
            parts,
            watch=watch.moved,
            begun=watch.begun,
            command=COMMAND.get(),
        )
    if tally.failed:
        count = f"{tally.failed} episode{'s' * (tally.failed > 1)}"
        people().print(
            f"{count} of {label} failed; the same command plays "
            f"what failed again (tracebacks are in the journals in {folder})"
        )
        raise typer.Exit(1)
