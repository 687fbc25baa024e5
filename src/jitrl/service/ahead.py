"""What episodes taught, learned before decisions of their scope would wait for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from jitrl.agents.corrected import Corrected
from jitrl.service.running import Running


def work(agent: Corrected, running: Running) -> list[Callable[[], None]]:
    """Run the oldest call that waits; where lessons must be fitted first, others may pass."""
    due: list[Callable[[], None]] = []
    try:
        if not running.episode.holdout:
            views = agent.take_in(running.episode.scope)
            due = [view.fit for view in views if view.is_fit_due]
    finally:
        if not due:
            running.work()
    return [partial(running.work, due)] if due else []


def pieces(agent: Corrected, scope: str) -> Iterator[None]:
    """Learn what a scope stored before its next decision waits for it, piece by piece."""
    for view in agent.take_in(scope):
        while view.fit_on():
            yield
