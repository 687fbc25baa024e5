"""`jitrl compare`: two or more agents on equal terms, with intervals and a verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from jitrl import config
from jitrl.analysis.compare import Demand, check_names
from jitrl.analysis.compare import compare as compared
from jitrl.analysis.results import gather
from jitrl.cli.report import check, write
from jitrl.cli.shared.arms import Arm, parsed, play, prepared
from jitrl.cli.shared.output import JSON, emit, people
from jitrl.cli.shared.settings import Flags, names, with_settings
from jitrl.cli.shared.table import show
from jitrl.core.stats import Cluster
from jitrl.errors import ConfigError, InputError, brief
from jitrl.report.data import data
from jitrl.report.words import LANGUAGES, Language
from jitrl.run import folder


@with_settings(but=frozenset({"--agent", "--agent-options"}))
def compare(
    flags: Flags,
    folders: Annotated[
        list[str] | None, typer.Argument(help="Finished runs, or LABEL=FOLDER; none: run --arm.")
    ] = None,
    agents: Annotated[
        str, typer.Option(help="Agents to run, as `static,jitrl,ucb`; each is an --arm.")
    ] = "",
    arm: Annotated[
        list[str],
        typer.Option(
            help="Agent to run, as AGENT or LABEL=AGENT[,GROUP.SETTING=VALUE...]; "
            "no agent given: static and jitrl."
        ),
    ] = [],  # noqa: B006 - typer reads it
    out: Annotated[
        Path | None, typer.Option(help="Folder of the runs; the same again resumes them.")
    ] = None,
    base: Annotated[str, typer.Option(help="Label to compare with; else static.")] = "",
    differ: Annotated[
        list[str], typer.Option(help="Term in which runs may differ; the row says so.")
    ] = [],  # noqa: B006
    by: Annotated[Cluster, typer.Option(help="What intervals resample.")] = "task",
    to: Annotated[
        list[Path],
        typer.Option(
            "--report", help="File to write: .md, .html, .json or .png; may be given again."
        ),
    ] = [],  # noqa: B006
    lang: Annotated[
        Language, typer.Option(help="Language of the reports; the terminal is in English.")
    ] = "en",
    require: Annotated[
        Demand | None, typer.Option(help="Exit with 1 unless every other run is so.")
    ] = None,
    json: JSON = False,
) -> None:
    """Run or read two or more agents, paired by task and seed.

    Every agent is given the same environment, tasks, attempts, seeds, model, evaluator and
    rewards, and is a run in a folder of its own; a term that differs is refused, or said by
    --differ.

    The verdict is "better" or "worse" when the 95 % interval of the difference leaves out 0, else
    "no evidence". Every verdict exits with 0 unless --require asks for one.
    """
    check(to, LANGUAGES[lang], out)
    arm = [*names(agents), *arm]
    if folders and (arm or flags):
        raise InputError("give either finished runs or settings to run, not both")
    if not folders:
        arms = arm or ["static", "jitrl"]
        labels = [text.partition(",")[0].partition("=")[0] for text in arms]
        _enough(labels)
        check_names(labels, base, differ)
        where = out or folder.default(config.load(flags), "compare")
        made = parsed(flags, arms)
        _same_length(made, differ)
        folders = play(prepared(made, where), where)
    results = gather(folders)
    _enough([result.label for result in results])
    comparison = compared(results, base=base, allow=differ, by=by)
    is_met = require is None or comparison.meets(require)
    if json:
        emit({**data(comparison, "jitrl.compare/1"), "required": require, "met": is_met})
    else:
        show(comparison)
    write(to, comparison, LANGUAGES[lang])
    if not is_met:
        people().print(f"not {require}, as --require demands")
        raise typer.Exit(1)


def _same_length(arms: list[Arm], differ: list[str]) -> None:
    """Refuse arms that would end at attempts of their own."""
    for arm in arms:
        if arm.settings.run.plateau is not None and "attempts" not in differ:
            raise ConfigError(
                f"run.plateau ends {arm.label} where its own curve is level, so attempts would "
                "differ; leave it out, or pass --differ attempts to compare those that all have"
            )


def _enough(labels: list[str]) -> None:
    if len(labels) < 2:
        raise InputError(f"a comparison needs two runs, got {brief(labels)}")
