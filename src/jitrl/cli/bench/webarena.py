"""`jitrl bench webarena`: scores finished WebArena tasks without the sites."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from jitrl.cli.shared.listing import Listing
from jitrl.cli.shared.output import JSON, emit, people

if TYPE_CHECKING:
    from jitrl.bench.webarena import Group


def webarena(
    folder: Annotated[
        Path,
        typer.Argument(
            help="Folder of finished tasks: `NUMBER/agent_response.json` and `NUMBER/network.har`, "
            "or deeper, as the environment `webarena` records them."
        ),
    ],
    urls: Annotated[
        str,
        typer.Option(
            help="Addresses of the sites at the time, as `shopping=http://host:7770,…`; recorded "
            "tasks know their own."
        ),
    ] = "",
    json: JSON = False,
) -> None:
    """Score finished WebArena tasks, by site and template, without the sites.

    webarena-verified checks the answer and the recorded requests. What cannot be read is counted
    as unscored, never as 0.
    """
    from jitrl import config_values
    from jitrl.bench import webarena as bench
    from jitrl.envs.webarena.scoring import scored

    hint = dict[str, str]
    given = config_values.convert(config_values.read(urls or "{}", hint, "--urls"), hint, "--urls")
    finished = scored(folder, given)
    _show("site", bench.by_site(finished), bench.overall(finished))
    _show("template", bench.by_template(finished))
    said = Counter(reason for one in finished if (reason := getattr(one.judgment, "reason", "")))
    for reason, times in said.most_common():
        people().print(Text(f"unscored {times}x: {reason}", style="yellow"))
    if json:
        emit(bench.data(finished, folder))


def _show(what: str, groups: Sequence[Group], *more: Group) -> None:
    from jitrl.core.stats import Interval

    shown = Listing((what, "tasks", "episodes", "unscored", "success %", "95 %"))
    for group in (*groups, *more):
        interval = group.interval
        shown.add(
            group.name,
            str(group.tasks),
            str(group.episodes),
            str(group.unscored),
            "-" if group.success is None else f"{100 * group.success:.1f}",
            f"{100 * interval.low:.1f}-{100 * interval.high:.1f}"
            if isinstance(interval, Interval)
            else "-",
            style="bold" if group in more else "",
        )
    people().print(shown)
