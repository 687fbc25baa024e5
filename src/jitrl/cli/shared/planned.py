"""What is about to be played, said in one line before the first episode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jitrl.cli.shared.output import tell
from jitrl.config import Settings
from jitrl.language import counted
from jitrl.report.words import ENGLISH
from jitrl.run.schedule import seeds_of

LONG = 300
"""Episodes above which it is said how to play fewer."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One run before it begins.

    Attributes:
        tasks: How many are selected.
        done: Episodes that its journals hold already.
    """

    label: str
    settings: Settings
    tasks: int
    done: int = 0

    @property
    def episodes(self) -> int:
        """All of them, those that are done included."""
        return self.tasks * self.settings.run.attempts * len(seeds_of(self.settings.run))

    @property
    def size(self) -> str:
        """The product that makes the number of episodes, and the number."""
        run = self.settings.run
        said = ENGLISH.sized(self.tasks, run.attempts, len(seeds_of(run)))
        most = "" if run.plateau is None else "at most "  # it may end where its curve is level
        return f"{said} = {most}{counted(self.episodes, 'episode')}"


def tell_plan(runs: Sequence[Planned], where: Path) -> None:
    """Say what is to be played, unless all of it was played before."""
    every, done = sum(run.episodes for run in runs), sum(run.done for run in runs)
    if done >= every:
        return
    groups: dict[tuple[str, str], list[str]] = {}
    for run in runs:
        key = (run.settings.environment.name, run.size)
        groups.setdefault(key, []).append(run.label)
    parts = []
    for (environment, size), labels in groups.items():
        each = " each" if len(labels) > 1 else ""
        parts.append(f"{', '.join(labels)} on {environment}: {size}{each}")
    said = "; ".join(parts) + (f", {every:,} in all" if len(runs) > 1 else "")
    said += f" ({done:,} played before)" if done else ""
    said += f"; {terms([run.settings for run in runs], where)}"
    tell(said + shorter(every - done, "--tasks N --attempts N"))


def terms(of: Sequence[Settings], where: Path) -> str:
    """Who is asked, who scores, and where it is kept."""
    models = ", ".join(dict.fromkeys(f"{one.model.name}{_own(one)}" for one in of))
    evaluators = ", ".join(dict.fromkeys(one.memory.evaluator for one in of))
    return f"model {models}; evaluator {evaluators}; into {where}"


def shorter(episodes: int, by: str) -> str:
    """What makes it shorter, said where it is long."""
    return f"; for fewer: {by}" if episodes > LONG else ""


def teller(of: str, by: str, what: str = "episode") -> Callable[[int], None]:
    """Says how many ``what`` a bench is to play of what, and by which options it takes fewer."""

    def begun(number: int) -> None:
        tell(f"{of}: {counted(number, what)}{shorter(number, by)}")

    return begun


def _own(settings: Settings) -> str:
    """Which model of a provider, or which file, if an option says so."""
    named = settings.model.options.get("model")
    return f" ({named})" if isinstance(named, str) else ""
