"""Success on WebArena by site and by template, of finished tasks that were scored offline."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jitrl.analysis.plain import interval
from jitrl.core.stats import Interval, NoInterval, bootstrap
from jitrl.envs.webarena.scoring import Finished
from jitrl.envs.webarena.tasks import SiteTask, everything
from jitrl.types import Scored

SCHEMA = "jitrl.webarena/2"


@dataclass(frozen=True, slots=True)
class Group:
    """Finished tasks that have something in common.

    Attributes:
        tasks: Distinct tasks with at least one score.
        episodes: Finished tasks that have a score; attempts at one task count each.
        unscored: Those that have none; they are in no mean.
        success: Mean over tasks of the mean over their episodes; ``None`` without any score.
        interval: Of ``success``, tasks resampled.
    """

    name: str
    tasks: int
    episodes: int
    unscored: int
    success: float | None
    interval: Interval | NoInterval


def by_site(finished: Sequence[Finished]) -> list[Group]:
    """A group for each site, or pair of sites, by name."""
    return _groups(finished, lambda task: task.scope)


def by_template(finished: Sequence[Finished]) -> list[Group]:
    """A group for each template, in the order of their first task."""
    order = {str(task.template): n for n, task in reversed(list(everything().items()))}
    groups = _groups(finished, lambda task: str(task.template))
    return sorted(groups, key=lambda group: order[group.name])


def overall(finished: Sequence[Finished]) -> Group:
    """All of them as one group."""
    return _group("all", finished)


def data(finished: Sequence[Finished], root: Path) -> dict[str, Any]:
    """Everything as JSON values; a finished task without a score says why instead."""
    return {
        "schema": SCHEMA,
        "overall": _row(overall(finished)),
        "sites": [_row(group) for group in by_site(finished)],
        "templates": [
            _row(group) | {"wording": _wording(int(group.name))} for group in by_template(finished)
        ],
        "episodes": [
            {
                "task": one.number,
                "folder": one.folder.relative_to(root).as_posix(),
                **_said(one),
            }
            for one in finished
        ],
    }


def _said(one: Finished) -> dict[str, Any]:
    if isinstance(one.judgment, Scored):
        return {"score": one.judgment.rewards[0]}
    return {"unscored": one.judgment.reason}


def _row(group: Group) -> dict[str, Any]:
    return {
        "name": group.name,
        "tasks": group.tasks,
        "episodes": group.episodes,
        "unscored": group.unscored,
        "success": group.success,
        "interval": interval(group.interval),
    }


def _wording(template: int) -> str:
    return next(task.wording for task in everything().values() if task.template == template)


def _groups(finished: Sequence[Finished], name: Callable[[SiteTask], str]) -> list[Group]:
    parts: dict[str, list[Finished]] = defaultdict(list)
    for one in finished:
        parts[name(everything()[one.number])].append(one)
    return [_group(name, parts[name]) for name in sorted(parts)]


def _group(name: str, finished: Iterable[Finished]) -> Group:
    scores: dict[int, list[float]] = defaultdict(list)
    unscored = 0
    for one in finished:
        if isinstance(one.judgment, Scored):
            scores[one.number].append(one.judgment.rewards[0])
        else:
            unscored += 1
    means = np.array([[np.mean(of_task)] for of_task in scores.values()]).reshape(-1, 1)
    return Group(
        name=name,
        tasks=len(scores),
        episodes=sum(map(len, scores.values())),
        unscored=unscored,
        success=float(means.mean()) if len(means) else None,
        interval=bootstrap(means),
    )
