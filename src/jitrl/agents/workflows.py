"""Agent ``awm``: workflows of successful episodes, for any task of the scope.

Source: Wang et al., *Agent workflow memory* (arXiv:2409.07429), online setting. docs/agents.md
says what differs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from jitrl.agents.asked import Author, asked, read_field, read_object
from jitrl.agents.buffer import record
from jitrl.agents.induction import Workflow, induced
from jitrl.agents.past import Past, PastEpisode
from jitrl.agents.prior import prior_of
from jitrl.agents.prompted import Prompted, check_counts, fitting, learner
from jitrl.agents.questions import questions
from jitrl.agents.settings import MemorySettings
from jitrl.agents.words import words
from jitrl.core.rule import Choose
from jitrl.ports import Evaluator, Store, Writer
from jitrl.types import Prompt, State, Task, Writing

_TEXT = {"type": "string"}
_FLOW = {
    "type": "object",
    "properties": {"description": _TEXT, "steps": {"type": "array", "items": _TEXT}},
    "required": ["description", "steps"],
    "additionalProperties": False,
}
_SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"workflows": {"type": "array", "items": _FLOW}},
        "required": ["workflows"],
        "additionalProperties": False,
    }
)


def awm(
    store: Store,
    evaluator: Evaluator,
    settings: MemorySettings,
    writer: Callable[[], Writer],
    *,
    author: Author = "rules",
    workflows: int = 8,
    budget: int = 4000,
    success: float = 1.0,
    temperature: float = 1.0,
    choose: Choose = "sample",
) -> Prompted:
    """Workflows of at least two steps from successful episodes of the scope in the prompt.

    Args:
        author: Who induces them: ``rules`` (parts that tasks have in common, values of the goal
            abstracted), or the ``model`` of ``[writer]``, once a successful episode.
        workflows: How many at most.
        budget: Characters of all notes; a workflow that does not fit is left out whole.
        success: Least score of an episode that workflows are induced from.
        temperature: The prior is ``softmax(z / temperature)``.
        choose: ``sample`` from the prior, or its ``argmax`` (ties: at random).
    """
    name = f"awm-{author}"
    check_counts(name, workflows=workflows, budget=budget)
    librarian = writer() if author == "model" else None

    def method(task: Task, past: Past) -> Workflows:
        said = words(task.goal)
        found = induced(past.episodes, success) if librarian is None else _written(past.episodes)
        told = [_told(flow) for flow in found[:workflows]]
        kept = fitting(told, budget - len(said.workflows) - 2)
        text = "\n\n".join([said.workflows, *kept]) if kept else ""
        return Workflows(text, success, librarian)

    base = learner(name, store, evaluator, settings)
    return Prompted(name, base, method, prior_of(name, temperature, choose))


@dataclass(frozen=True, slots=True)
class Workflows:
    """The same notes at each step; a librarian, if there is one, reads each success."""

    text: str
    success: float
    librarian: Writer | None
    temperature: float = 1.0

    def notes(self, state: State, prompt: Prompt) -> str:
        """The workflows."""
        return self.text

    def lesson(self, lived: PastEpisode) -> Mapping[str, Any]:
        """What the librarian found; rules find theirs anew when they are told."""
        if self.librarian is None or lived.score < self.success:
            return {}
        ask = questions(lived.goal)
        parts = [record(lived, self.success), ask.induce.format(value="{value}")]
        writing = Writing(ask.librarian, "\n\n".join(parts), _SCHEMA)
        return asked(
            self.librarian,
            writing,
            read_workflows,
            lambda flows: [{"description": f.title, "steps": list(f.steps)} for f in flows],
            "workflows",
        )


def read_workflows(text: str) -> tuple[Workflow, ...]:
    """The workflows in an answer; those of fewer than two steps are none.

    Raises:
        ValueError: If the answer is not of the form that was asked for.
    """
    return _flows(read_object(text))


def _flows(given: Mapping[str, Any]) -> tuple[Workflow, ...]:
    found = []
    for one in read_field(given, "workflows", list):
        if not isinstance(one, dict):
            raise ValueError(f"a workflow is {one!r}; it must be an object")
        title = " ".join(read_field(one, "description", str).split())
        lines = read_field(one, "steps", list)
        if not all(isinstance(line, str) for line in lines):
            raise ValueError("the steps of a workflow must be texts")
        kept = tuple(" ".join(line.split()) for line in lines if line.strip())
        if len(kept) >= 2:
            found.append(Workflow(title, kept))
    return tuple(found)


def _written(episodes: Iterable[PastEpisode]) -> Sequence[Workflow]:
    """What the librarian found so far, the newest first; of equal steps the newest alone."""
    found: dict[tuple[str, ...], Workflow] = {}
    for episode in reversed(list(episodes)):
        with suppress(ValueError):  # none there, or of another form, in an imported journal
            for flow in _flows(episode.info):
                found.setdefault(flow.steps, flow)
    return list(found.values())


def _told(flow: Workflow) -> str:
    return "\n".join([flow.title, *(f"{n}. {step}" for n, step in enumerate(flow.steps, 1))])
