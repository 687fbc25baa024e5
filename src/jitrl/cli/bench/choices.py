"""`jitrl bench choices`: what each choice of the method is worth, one experiment for each."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.text import Text

from jitrl.cli.shared.output import JSON, emit, people, writing
from jitrl.cli.shared.settings import Flags, names, with_settings
from jitrl.errors import InputError
from jitrl.language import counted

if TYPE_CHECKING:
    from jitrl.analysis.compare import Comparison
    from jitrl.analysis.shares import Shares

What = Literal[
    "update",
    "choose",
    "scores",
    "similarity",
    "k",
    "beta",
    "gamma",
    "threshold",
    "novelty",
    "warmup",
]


@with_settings(but=frozenset({"--agent", "--agent-options", "--book", "--until-plateau"}))
def choices(
    flags: Flags,
    what: Annotated[
        What,
        typer.Option(
            help="`update`: the same rows in scores or in a prompt (agents jitrl and "
            "prompt-update). `similarity`: states alike by words, by an embedding, or not at all. "
            "`choose`: the best action or a sample. `scores`: log-probabilities or stated scores "
            "(needs a model with an option `scorer`). `k`, `beta`, `gamma`, `threshold`, "
            "`novelty`, `warmup`: values of one setting."
        ),
    ],
    world: Annotated[
        Literal["backoffice", "text"],
        typer.Option(
            help="Environment, tasks, attempts, seeds and a model that knows nothing, unless "
            "given. `text` needs the extra `textworld-express` and Java."
        ),
    ] = "backoffice",
    agents: Annotated[
        str, typer.Option(help="Only the first arm and arms of these agents, as `jitrl,static`.")
    ] = "",
    out: Annotated[
        Path | None, typer.Option(help="Folder of the runs and the report; resumes them.")
    ] = None,
    json: JSON = False,
) -> None:
    """Measure one choice of the method: all arms on equal terms, with the same tasks and seeds.

    Writes report.html into the folder, and says what share of the retrieved rows came from other
    tasks. The same command again resumes it.
    """
    from importlib.util import find_spec

    from jitrl import config
    from jitrl.analysis.compare import compare
    from jitrl.analysis.results import gather
    from jitrl.analysis.shares import shares
    from jitrl.bench import machine
    from jitrl.bench.choices import CHOICES, SCHEMA, WORLDS, fitting, given
    from jitrl.cli.shared.arms import listed, parsed, play, prepared
    from jitrl.cli.shared.table import show
    from jitrl.extras import command
    from jitrl.report.data import data
    from jitrl.run import folder

    choice = CHOICES[what]
    asked = given(WORLDS[world], flags)
    if "environment" in flags and "tasks" not in flags.get("run", {}):
        asked = fitting(asked, len(listed(config.load(asked))))
    wanted = names(agents)
    missing = {label: extra for label, extra in choice.extras.items() if not find_spec(extra)}
    every = parsed(asked, choice.arms)
    known = dict.fromkeys(arm.settings.run.agent for arm in every)
    if strange := [name for name in wanted if name not in known]:
        raise InputError(
            f"--agents: no arm of {what!r} has agent {strange[0]!r}; there are {', '.join(known)}"
        )
    arms = [
        arm
        for i, arm in enumerate(every)
        if i == 0 or not wanted or arm.settings.run.agent in wanted
        if arm.label not in missing
    ]
    for extra in dict.fromkeys(missing.values()):
        people().print(f"left out, since it is not installed: {extra} ({command(extra)})")
    where = out or folder.default(config.load(asked), f"choices-{what}")
    ready = prepared(arms, where)
    people().print(Text(choice.asks))
    results = gather(play(ready, where))
    comparison = compare(results, base=results[0].label, allow=choice.differ)
    found = {r.label: shares(r.journals, comparison.shape[2]) for r in results}
    show(comparison)
    for label, of in found.items():
        if of.share is not None:
            people().print(Text(f"{label}: {_said(of)}", style="dim"))
    _write(where / "report.html", comparison, choice.values)
    if json:
        emit(
            {
                **data(comparison, SCHEMA),
                "what": what,
                "asks": choice.asks,
                "machine": machine.facts(),
                "shares": {label: {**asdict(s), "share": s.share} for label, s in found.items()},
            }
        )


def _said(of: Shares) -> str:
    """The share of other tasks' rows, over all and at the first and last attempt."""
    first, last = (
        "none" if share is None else f"{share:.0%}"
        for share in (of.by_attempt[0], of.by_attempt[-1])
    )
    return (
        f"of other tasks: {of.share:.0%} of {counted(of.rows, 'retrieved row')} "
        f"(first attempt {first}, last {last}; {counted(of.decisions, 'decision')})"
    )


def _write(path: Path, comparison: Comparison, values: tuple[str, ...]) -> None:
    """The report, with the values of one setting as a curve."""
    from jitrl.cli.main import COMMAND
    from jitrl.report import page
    from jitrl.report.words import ENGLISH

    text = page.html(comparison, ENGLISH, COMMAND.get(), values=values)
    with writing(path):
        path.write_text(text, encoding="utf-8")
    people().print(f"wrote {path}")
