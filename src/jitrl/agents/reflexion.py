"""Agent ``reflexion``: a critique of each episode, told before the next attempt at its task.

Source: Shinn et al., *Reflexion: language agents with verbal reinforcement learning*
(arXiv:2303.11366). docs/agents.md says what differs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jitrl.agents.asked import Author, asked, read_text
from jitrl.agents.buffer import record
from jitrl.agents.past import Past, PastEpisode
from jitrl.agents.prior import prior_of
from jitrl.agents.prompted import Prompted, check_counts, fitting, learner
from jitrl.agents.questions import questions
from jitrl.agents.settings import MemorySettings
from jitrl.agents.words import listed, look, words
from jitrl.core.rule import Choose
from jitrl.ports import Evaluator, Store, Writer
from jitrl.types import Prompt, State, Task, Writing

_LONGEST = 1500  # characters of one written reflection


def reflexion(
    store: Store,
    evaluator: Evaluator,
    settings: MemorySettings,
    writer: Callable[[], Writer],
    *,
    author: Author = "rules",
    reflections: int = 3,
    budget: int = 4000,
    success: float = 1.0,
    temperature: float = 1.0,
    choose: Choose = "sample",
) -> Prompted:
    """The last critiques of one's own episodes of the same task in the prompt.

    Args:
        author: Who writes them: ``rules`` (from what was tried, repeated and scored), or the
            ``model`` of ``[writer]``, once an episode.
        reflections: How many at most.
        budget: Characters of all notes; a critique that does not fit is left out whole.
        success: Least score of an episode that is called a success.
        temperature: The prior is ``softmax(z / temperature)``.
        choose: ``sample`` from the prior, or its ``argmax`` (ties: at random).
    """
    name = f"reflexion-{author}"
    check_counts(name, reflections=reflections, budget=budget)
    critic = writer() if author == "model" else None

    def method(task: Task, past: Past) -> Reflections:
        said = words(task.goal)
        own = past.of(task.id)
        if critic is None:
            texts = [critique(episode, success) for episode in own]
        else:
            texts = [str(e.info["reflection"]) for e in own if "reflection" in e.info]
        newest = list(reversed(texts))[:reflections]
        lines = [f"- {text}" for text in newest]
        fit = fitting(lines, budget - len(said.reflections) - 1, gap=1)
        told = tuple(reversed(fit))
        text = "\n".join([said.reflections, *told]) if told else ""
        return Reflections(text, success, critic, told)

    base = learner(name, store, evaluator, settings)
    return Prompted(name, base, method, prior_of(name, temperature, choose))


@dataclass(frozen=True, slots=True)
class Reflections:
    """The same notes at each step; a critic, if there is one, writes when the episode is over."""

    text: str
    success: float
    critic: Writer | None
    earlier: Sequence[str] = ()
    temperature: float = 1.0

    def notes(self, state: State, prompt: Prompt) -> str:
        """The critiques."""
        return self.text

    def lesson(self, lived: PastEpisode) -> Mapping[str, Any]:
        """The critique that was written; those made by rules are made anew when they are told."""
        if self.critic is None:
            return {}
        ask = questions(lived.goal)
        parts = [
            record(lived, self.success),
            ask.earlier.format(notes="\n".join(self.earlier)) if self.earlier else "",
            ask.reflect.format(most=_LONGEST),
        ]
        writing = Writing(ask.critic, "\n\n".join(filter(None, parts)))
        return asked(
            self.critic,
            writing,
            lambda text: read_text(text, _LONGEST),
            lambda text: " ".join(text.split()),
            "reflection",
        )


def critique(episode: PastEpisode, success: float) -> str:
    """What rules make of an episode: what was tried, what was repeated, where it ended."""
    said, rows, last = words(episode.goal), episode.rows, episode.rows[-1]
    if episode.score >= success:
        return said.won.format(actions=listed(row.action for row in episode.direct))
    tried = listed(row.action for row in rows)
    ending = said.lost if episode.ended else said.ran_out
    parts = [
        ending.format(
            score=episode.score, actions=tried, place=look(last.state), action=last.action
        )
    ]
    paid = [row for row in rows if row.reward > 0]
    if paid:
        parts.append(said.again.format(action=paid[-1].action))
    times = Counter((row.state, row.action) for row in rows)
    for (state, action), count in times.most_common(2):
        if count > 1:
            parts.append(said.repeated.format(action=action, times=count, place=look(state)))
    return " ".join(parts)
