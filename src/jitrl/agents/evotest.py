"""Agent ``evotest``: a configuration of prompt, memory and settings that evolves by episode.

Source: *EvoTest: evolutionary test-time learning for self-improving agentic systems*
(arXiv:2510.13220). docs/agents.md says what differs; above all, no code is written or run.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from jitrl.agents.asked import Author, asked, read_object
from jitrl.agents.buffer import record
from jitrl.agents.configuration import (
    COLDEST,
    HOTTEST,
    Configuration,
    Shown,
    chosen,
    evolved,
    place,
    read_configuration,
    tree,
)
from jitrl.agents.past import Past, PastEpisode
from jitrl.agents.prior import prior_of
from jitrl.agents.prompted import Prompted, check_counts, fitting, learner
from jitrl.agents.questions import questions
from jitrl.agents.settings import MemorySettings
from jitrl.agents.words import words
from jitrl.core.rule import Choose
from jitrl.errors import ConfigError
from jitrl.ports import Evaluator, Store, Writer
from jitrl.types import Prompt, State, Task, Writing

_TEXT = {"type": "string"}
_SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {
            "guidance": {"type": "array", "items": _TEXT},
            "remember": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"place": _TEXT, "action": _TEXT},
                    "required": ["place", "action"],
                    "additionalProperties": False,
                },
            },
            "temperature": {"type": "number"},
            "explore": {"type": "boolean"},
            "notes": {"type": "string", "enum": list(get_args(Shown))},
        },
        "required": ["guidance", "remember", "temperature", "explore", "notes"],
        "additionalProperties": False,
    }
)


def evotest(
    store: Store,
    evaluator: Evaluator,
    settings: MemorySettings,
    writer: Callable[[], Writer],
    *,
    author: Author = "rules",
    width: float = 0.5,
    budget: int = 4000,
    success: float = 1.0,
    temperature: float = 1.0,
    choose: Choose = "sample",
) -> Prompted:
    """After each episode the prompt, what is remembered and the settings of its task are rewritten.

    Args:
        author: Who rewrites them: ``rules``, or the ``model`` of ``[writer]``, once an episode.
        width: Weight of the confidence bound by which the next configuration is chosen, in units
            of the score.
        budget: Characters of all notes; a sentence that does not fit is left out whole.
        success: Least score of an episode that is called a success.
        temperature: The prior is ``softmax(z / temperature)``; configurations multiply it.
        choose: ``sample`` from the prior, or its ``argmax`` (ties: at random).
    """
    name = f"evotest-{author}"
    check_counts(name, budget=budget)
    if not (math.isfinite(width) and width >= 0):
        raise ConfigError(f"agent {name}: width must be a number of at least 0, got {width}")
    coach = writer() if author == "model" else None

    def method(task: Task, past: Past) -> Evolving:
        own = past.of(task.id)
        nodes, last = tree(own)
        used = chosen(nodes, last, width)
        best = max((episode.score for episode in own), default=-math.inf)
        return Evolving(used, nodes[used].configuration, budget, success, best, coach)

    base = learner(name, store, evaluator, settings)
    return Prompted(name, base, method, prior_of(name, temperature, choose))


@dataclass(frozen=True, slots=True)
class Evolving:
    """An episode under one configuration, and the child it has.

    Attributes:
        used: Name of the configuration.
        best: Best score of the task before.
    """

    used: str
    configuration: Configuration
    budget: int
    success: float
    best: float
    coach: Writer | None

    @property
    def temperature(self) -> float:
        """As the configuration says."""
        return self.configuration.temperature

    def notes(self, state: State, prompt: Prompt) -> str:
        """What worked in this very place, and the guidance."""
        now, said = self.configuration, words(prompt.goal)
        lines = []
        right = now.remembered.get(place(state))
        if right is not None and now.shown != "guidance":
            lines.append(f"- {said.worked_here.format(action=right)}")
        if now.explore:
            lines.append(said.explore)
        if now.shown != "memory":
            lines += [f"- {line}" for line in now.guidance]
        kept = fitting(lines, self.budget - len(said.guidance) - 1, gap=1)
        return "\n".join([said.guidance, *kept]) if kept else ""

    def lesson(self, lived: PastEpisode) -> Mapping[str, Any]:
        """Which configuration was used, and its child."""
        used = {"evotest": {"used": self.used}}
        if self.coach is None:
            child = evolved(self.configuration, lived, success=self.success, best=self.best)
            return {**used, "configuration": child.values()}
        ask = questions(lived.goal)
        parts = [
            record(lived, self.success, 200),
            ask.present.format(
                configuration=json.dumps(self.configuration.values(), ensure_ascii=False)
            ),
            ask.evolve.format(least=COLDEST, most=HOTTEST),
        ]
        writing = Writing(ask.coach, "\n\n".join(parts), _SCHEMA)
        written = asked(
            self.coach,
            writing,
            lambda text: read_configuration(read_object(text)),
            Configuration.values,
            "configuration",
        )
        return {**used, **written}
