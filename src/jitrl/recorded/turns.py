"""Turns of a recorded conversation as steps, in the states and actions of an agent that is guided.

So what is read from a log helps an agent that acts through `jitrl.integrations`.
"""

from __future__ import annotations

import math

from jitrl.integrations.conversation import Turn, state_of
from jitrl.integrations.tools import ANSWER, Shape, Tool, together
from jitrl.stores.line import StateLine
from jitrl.stores.line_run import RunStep

SCORER = "single"
"""How the logits of these steps are made: the model's own action has most, the others share."""

_P0 = 0.8


def step_of(turn: Turn, reward: float | None = None) -> RunStep:
    """The step of one turn; its candidates are what the model could have called, if that is known.

    Args:
        reward: Given for it; ``None`` if none was.
    """
    shapes = {tool.name: Shape(tool) for tool in turn.tools}
    called = [
        (shapes.get(call.tool) or Shape(Tool(call.tool))).action(call.arguments)
        for call in turn.calls
    ]
    own, at = together(called), state_of(turn.messages)
    others = [action for shape in shapes.values() for action in shape.forms()]
    if turn.can_answer and turn.tools:
        others.append(ANSWER)
    actions = dict.fromkeys([own, *others])
    candidates = {}
    if len(actions) > 1:
        rest = math.log((1.0 - _P0) / (len(actions) - 1))
        candidates = {a: math.log(_P0) if a == own else rest for a in actions}
    return RunStep(StateLine(at.text, at.context, at.place), own, candidates or (), reward)
