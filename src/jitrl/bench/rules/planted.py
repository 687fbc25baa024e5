"""Rules that nobody learned: such as do harm, and such as do nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from random import Random
from typing import Literal, get_args

from jitrl.agents.rulebook.cases import Case, seen
from jitrl.agents.rulebook.words import words
from jitrl.bench.rules.worlds import World
from jitrl.core.patterns import common, key_words
from jitrl.core.sentences import folded, rule_id
from jitrl.types import Rule, RuleStatus, Task

Kind = Literal["harmful", "idle"]
KINDS: tuple[Kind, ...] = get_args(Kind)
PLANTER = "planter"
"""Who is answerable for them, with the kind behind a slash."""
_NOWHERE = "click(<link[Nowhere]>)"


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a planted rule.

    Attributes:
        uses: Episodes in which it was told.
        admitted: Whether it was ever active by the gates' doing.
        gone: Uses after which it was retired; ``None`` if it is still told.
    """

    kind: Kind
    uses: int
    admitted: bool
    gone: int | None


def planted(
    world: World, tasks: Sequence[Task], status: RuleStatus, seed: int
) -> Iterator[tuple[Kind, Rule]]:
    """A harmful and an idle rule for each template of ``tasks``.

    At the first page the harmful one asks for an action that is there and is wrong; the idle one
    for one that is not there, so that it changes nothing. Both came in with the best of scores.
    """
    rng = Random(seed)
    by: dict[str, list[Task]] = {}
    for task in tasks:
        by.setdefault(str(task.params["template"]), []).append(task)
    for of in by.values():
        goals = [folded(task.goal) for task in of]
        goal = reduce(common, goals) or goals[0]
        first = world.reset(of[0]).observation
        listed, right = world.codec.actions(first), world.oracle_action()
        wrong = [action for action in listed if action != right]
        where = seen(world.codec.state(first, []))
        if not wrong:
            continue
        actions: dict[Kind, str] = {"harmful": rng.choice(wrong), "idle": _NOWHERE}
        for kind, action in actions.items():
            text = Case(goal, where, folded(action)).written(words(of[0].goal))
            if text is None:
                continue
            yield (
                kind,
                Rule(
                    id=rule_id(text),
                    text=text,
                    scope=of[0].scope,
                    kind=of[0].family,
                    entities=key_words(goal),
                    entry=1.0,
                    status=status,
                ),
            )
