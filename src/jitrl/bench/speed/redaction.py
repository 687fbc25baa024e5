"""What redaction costs a step: `python -m jitrl.bench.speed.redaction`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

import numpy as np

from jitrl.config import Memory
from jitrl.envs.backoffice import Backoffice
from jitrl.redaction.hidden import Hidden
from jitrl.redaction.named import BUILT_IN, placeholders
from jitrl.redaction.placeholders import Placeholders
from jitrl.types import Candidate, State

_PAGE = 10_000
"""Characters of a large page."""
_ROUNDS = 7

Step = tuple[State, tuple[Candidate, ...]]


def steps(tasks: int = 40, length: int = 10) -> list[Step]:
    """States of a back office with their candidates, on ways taken at random."""
    world, rng = Backoffice(), np.random.default_rng(0)
    out: list[Step] = []
    for task in world.tasks()[:tasks]:
        now, history = world.reset(task), list[str]()
        for _ in range(length):
            if now.terminated or now.truncated:
                break
            actions = world.codec.actions(now.observation)
            state = world.codec.state(now.observation, history)
            out.append((state, tuple(Candidate(action, 0.0) for action in actions)))
            history.append(actions[rng.integers(len(actions))])
            now = world.step(world.codec.ground(history[-1], now.observation))
    return out


def large(some: Sequence[Step]) -> list[Step]:
    """Pages of ten thousand characters, each another one."""
    text = "\n".join(f"{s.text} {s.context} " + " ".join(c.action for c in a) for s, a in some)
    starts = range(0, max(1, len(text) - _PAGE), 501)
    none: tuple[Candidate, ...] = ()
    return [(State(text[start : start + _PAGE]), none) for start in starts][:20]


def measured(made: Callable[[], Placeholders], some: Sequence[Step], *, is_seen: bool) -> float:
    """Microseconds of a step, the least of some rounds; processor time."""
    best = float("inf")
    for _ in range(_ROUNDS):
        redaction = made()
        for turn in range(2 if is_seen else 1):
            started = time.process_time()
            for state, candidates in some:
                hidden = Hidden(redaction)
                hidden.state(state)
                hidden.candidates(candidates)
            taken = (time.process_time() - started) / len(some)
            if turn == is_seen:
                best = min(best, taken)
    return 1e6 * best


def main() -> None:
    """Print a table."""
    usual = steps()
    kinds = {"default": Memory().redact, "all built-in": tuple(BUILT_IN)}
    sys.stdout.write("redact        step          new text  seen text\n")
    for name, names in kinds.items():

        def made(names: Sequence[str] = names) -> Placeholders:
            return placeholders(names, ":memory:")

        for what, some in (("backoffice", usual), ("10,000 chars", large(usual))):
            new, seen = (measured(made, some, is_seen=is_seen) for is_seen in (False, True))
            sys.stdout.write(f"{name:13} {what:13} {new:5.0f} µs  {seen:6.1f} µs\n")


if __name__ == "__main__":
    main()
