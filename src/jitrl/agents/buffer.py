"""Agent ``memory``: the last episodes, as they were, in the prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from jitrl.agents.past import Past, PastEpisode
from jitrl.agents.prior import prior_of
from jitrl.agents.prompted import Prompted, check_counts, fitting, learner
from jitrl.agents.questions import questions
from jitrl.agents.settings import MemorySettings
from jitrl.agents.words import Words, steps, words
from jitrl.core.rule import Choose
from jitrl.ports import Evaluator, Store
from jitrl.types import Prompt, State, Task

First = Literal["newest", "same-task"]


def memory(
    store: Store,
    evaluator: Evaluator,
    settings: MemorySettings,
    *,
    episodes: int = 5,
    first: First = "newest",
    budget: int = 4000,
    look: int = 200,
    success: float = 1.0,
    temperature: float = 1.0,
    choose: Choose = "sample",
) -> Prompted:
    """The last episodes of the scope in the prompt, whole ones, as they were.

    Args:
        episodes: How many at most.
        first: Which go before others: the ``newest`` of all, or those of the ``same-task``.
        budget: Characters of all notes; an episode that does not fit is left out whole.
        look: Characters that are shown of each state.
        success: Least score of an episode that is called a success.
        temperature: The prior is ``softmax(z / temperature)``.
        choose: ``sample`` from the prior, or its ``argmax`` (ties: at random).
    """
    check_counts("memory", episodes=episodes, budget=budget, look=look)

    def method(task: Task, past: Past) -> Buffer:
        known = list(reversed(past.episodes))
        if first == "same-task":
            known.sort(key=lambda episode: episode.task != task.id)
        said = words(task.goal)
        told = [_told(episode, said, look, success) for episode in known[:episodes]]
        kept = fitting(told, budget - len(said.episodes) - 2)
        return Buffer("\n\n".join([said.episodes, *reversed(kept)]) if kept else "")

    base = learner("memory", store, evaluator, settings)
    return Prompted("memory", base, method, prior_of("memory", temperature, choose))


@dataclass(frozen=True, slots=True)
class Buffer:
    """The same notes at each step, and no lesson: the journal holds all that is needed."""

    text: str
    temperature: float = 1.0

    def notes(self, state: State, prompt: Prompt) -> str:
        """The episodes."""
        return self.text

    def lesson(self, lived: PastEpisode) -> Mapping[str, Any]:
        """Nothing beyond the episode."""
        return {}


def result(episode: PastEpisode, said: Words, success: float) -> str:
    """How an episode went, in words."""
    if episode.score >= success:
        return said.succeeded.format(score=episode.score)
    return (said.failed if episode.ended else said.cut_off).format(score=episode.score)


def record(lived: PastEpisode, success: float, most: int = 60) -> str:
    """An episode as the model that writes is shown it: goal, steps and result.

    Args:
        most: Characters that are shown of each state.
    """
    said = words(lived.goal)
    return questions(lived.goal).episode.format(
        goal=lived.goal,
        steps=steps(lived.rows, said, most),
        result=result(lived, said, success),
    )


def _told(episode: PastEpisode, said: Words, look: int, success: float) -> str:
    goal = [said.task.format(goal=episode.goal)] if episode.goal else []
    return "\n".join([*goal, steps(episode.rows, said, look), result(episode, said, success)])
