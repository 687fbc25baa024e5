"""One line of recorded runs: what another program did, in a form that is easy to write."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from jitrl.core.rule import UpdateRule
from jitrl.core.update import decide
from jitrl.errors import RecordError
from jitrl.stores.line import StateLine
from jitrl.stores.records import check_episode
from jitrl.types import (
    Basis,
    Candidate,
    Decision,
    Episode,
    EpisodeStatus,
    Outcome,
    State,
    Transition,
)

SCHEMA = "jitrl.run"
VERSION = 1
RULE = "recorded"
"""In place of the rule of a decision that another program made."""


class RunStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A step that was taken.

    Attributes:
        candidates: What could have been done: action → logit in nats, or actions without one.
        reward: Given for this step; left out where none was.
    """

    state: str | StateLine
    action: str
    candidates: dict[str, float] | tuple[str, ...] = ()
    reward: float | None = None


class RunLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One line.

    Attributes:
        key: Names this run; a run is stored once per key.
        outcome: How it ended, added to the last step's reward: true 1, false 0, a number as it is.
        basis: What the outcome rests on; it counts in a trusted import only.
        scorer: How the logits of candidates were made; scopes should not mix them.
        started, finished: Seconds since 1970; 0 where nobody knows.
    """

    schema: str
    key: str
    task: str
    steps: tuple[RunStep, ...]
    version: int = VERSION
    scope: str = ""
    outcome: bool | float | None = None
    basis: Basis = "import"
    evaluator: str = "outcome"
    told: bool = False
    status: EpisodeStatus = "terminated"
    agent: str = "recorded"
    scorer: str = "caller"
    principal: str = ""
    started: float = 0.0
    finished: float = 0.0
    info: dict[str, Any] = {}


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(RunLine).decode


def dump(run: RunLine) -> bytes:
    """The line of one run, with its line end."""
    return _encode(run) + b"\n"


def parse(text: bytes) -> Episode:
    """The episode of one line.

    Raises:
        RecordError: If the line is not JSON, does not fit the schema, or contradicts itself.
    """
    try:
        found = _decode(text)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise RecordError(str(error)) from error
    if found.version != VERSION:
        raise RecordError(f"version is {found.version}, this jitrl reads version {VERSION}")
    if not found.steps:
        raise RecordError("steps is empty; there is nothing to learn from a run without steps")
    states = [_state(step.state, f"steps[{t}].state") for t, step in enumerate(found.steps)]
    outcome = None
    if found.outcome is not None:
        said = found.basis, found.evaluator, found.told, found.principal
        outcome = Outcome(float(found.outcome), *said)
    episode = Episode(
        found.key,
        found.task,
        found.scope,
        tuple(
            Transition(
                state, step.action, _decision(step, found.scorer, f"steps[{t}]"), step.reward, after
            )
            for t, (step, state, after) in enumerate(
                zip(found.steps, states, [*states[1:], None], strict=True)
            )
        ),
        found.status,
        outcome,
        found.agent,
        principal=found.principal,
        started=found.started,
        finished=found.finished,
        info=found.info,
    )
    check_episode(episode)
    return episode


def _state(given: str | StateLine, at: str) -> State:
    made = State(given) if isinstance(given, str) else State(given.text, given.context, given.place)
    if not (made.text.strip() or made.context.strip() or made.place.strip()):
        raise RecordError(
            f"{at} is empty, so that all such states would be one; give a text of what the agent "
            "saw, or a place"
        )
    return made


def _decision(step: RunStep, scorer: str, at: str) -> Decision | None:
    """What is known of a choice that no memory had a say in; ``None`` where nothing is."""
    if not step.candidates:
        return None
    given = step.candidates
    scored = given if isinstance(given, Mapping) else dict.fromkeys(given, 0.0)
    if len(scored) < len(step.candidates):
        raise RecordError(f"{at}.candidates names an action twice; each action once")
    if step.action not in scored:
        raise RecordError(
            f"{at}.action is {step.action!r}; it must be one of its candidates, {list(scored)[:5]}"
        )
    try:
        made = decide(
            [Candidate(action, logit, "caller") for action, logit in scored.items()],
            (),
            UpdateRule(),
            np.random.default_rng(0),
        )
    except ValueError as error:
        raise RecordError(f"{at}.candidates: {error}") from error
    # Nobody knows with what chance it was taken.
    weighed = tuple(replace(c, propensity=math.nan) for c in made.candidates)
    return replace(
        made,
        action=step.action,
        candidates=weighed,
        draws=(),
        rule=RULE,
        scorer=scorer,
        mode="off",
        reason="off",
    )
