"""Agent ``oracle-hint``: the right action named in the prompt, by an environment that knows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from jitrl.agents.past import PastEpisode
from jitrl.agents.prior import prior_of
from jitrl.agents.prompted import Prompted, learner
from jitrl.agents.settings import MemorySettings
from jitrl.agents.words import words
from jitrl.core.rule import Choose
from jitrl.ports import Evaluator, Hint, Store
from jitrl.types import Prompt, State, Task


def oracle_hint(
    store: Store,
    evaluator: Evaluator,
    settings: MemorySettings,
    hint: Callable[[], Hint],
    *,
    temperature: float = 1.0,
    choose: Choose = "sample",
) -> Prompted:
    """The right next action in the prompt: what a model makes of notes that could not be better.

    It is no method but a ceiling: a model that gains nothing from it cannot tell prompting methods
    apart. It needs an environment that knows the right action, and learns nothing.

    Args:
        temperature: The prior is ``softmax(z / temperature)``.
        choose: ``sample`` from the prior, or its ``argmax`` (ties: at random).
    """
    oracle = hint()
    base = learner("oracle-hint", store, evaluator, settings)
    prior = prior_of("oracle-hint", temperature, choose)
    return Prompted("oracle-hint", base, lambda task, past: Hinted(oracle, task), prior)


@dataclass(frozen=True, slots=True)
class Hinted:
    """The oracle's word at each step."""

    oracle: Hint
    task: Task
    temperature: float = 1.0

    def notes(self, state: State, prompt: Prompt) -> str:
        """The right action; "" where the oracle knows none."""
        action = self.oracle(self.task, prompt.history)
        return "" if action is None else words(prompt.goal).oracle.format(action=action)

    def lesson(self, lived: PastEpisode) -> Mapping[str, Any]:
        """Nothing."""
        return {}
