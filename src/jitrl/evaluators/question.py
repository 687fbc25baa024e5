"""One concrete question to a model about one piece of an episode, answered from 0 to 10."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

from jitrl.errors import ConfigError, UnreadableAnswer
from jitrl.evaluators.concrete import LONGEST, Fault, fault
from jitrl.evaluators.injection import speaks_to_the_judge
from jitrl.evaluators.judge import WHOLE, read, schema
from jitrl.evaluators.judge_record import enclosed, goal_of, page_line, pages_of, plain
from jitrl.evaluators.judge_words import words_for
from jitrl.ports import Writer
from jitrl.types import Episode, Judgment, Scored, Unscored, Writing

About = Literal["page", "answer", "step"]

_FAULTS: dict[Fault, str] = {
    "empty": "it is empty",
    "too long": f"it has more than {LONGEST} characters",
    "several": "it is more than one question; ask each as a member of its own",
    "vague": "it names nothing that can be looked up, only the task itself; say what of it must be "
    "there, such as: Does the page show the order that the goal names as canceled? "
    "(页面是否显示目标所说的订单已取消？)",
}


class Question:
    """Asks a model one concrete question about the page after the last step, or another piece.

    The answer is a whole number from 0 to 10; its tenth is the last step's reward. The model sees
    the goal and that piece, nothing else of the episode. Where the piece speaks to the judge, the
    episode is not scored.

    An answer that cannot be read is asked for once more, then the episode is not scored, and the
    answers are in the journal.

    Args:
        ask: The question. One that names nothing of the task beside the task itself, such as "is it
            good?" or "does the page show what the goal asks for?", is refused.
        about: What the model sees: the ``page`` after the last step, the ``answer`` (the last
            action), or a ``step``, with the pages before and after it.
        step: Text of an action; with ``about = "step"`` the last step whose action has it.
        temperature: Of the answer.
        max_tokens: Most tokens of an answer.
        guard: Whether to look for texts that speak to the judge.
        seed: Goes into the number that marks the record.
        writer: Makes the model.

    Raises:
        ConfigError: If the question is not concrete, or an option is impossible.
    """

    reads_pages = True
    asks_model = True
    told = False

    def __init__(
        self,
        ask: str = "",
        *,
        writer: Callable[[], Writer],
        about: About = "page",
        step: str = "",
        temperature: float = 0.0,
        max_tokens: int = 1024,
        guard: bool = True,
        seed: int = 0,
    ) -> None:
        wrong = fault(ask)
        if wrong is not None:
            raise ConfigError(f"question {ask!r}: {_FAULTS[wrong]}")
        if about not in get_args(About):
            raise ConfigError(f"about is {about!r}; it is one of {', '.join(get_args(About))}")
        if bool(step) != (about == "step"):
            raise ConfigError(
                f'about is {about!r} and step {step!r}; about = "step" needs the text of an '
                "action, and nothing else takes one"
            )
        if max_tokens < 1 or temperature < 0:
            raise ConfigError(
                f"max_tokens must be at least 1 and temperature at least 0, got {max_tokens} and "
                f"{temperature}"
            )
        self._writer = writer()
        self._ask, self._about, self._step = " ".join(ask.split()), about, step
        self._temperature, self._max_tokens = temperature, max_tokens
        self._guard, self._seed = guard, seed
        self.name = f"question/{self._writer.name}"

    def judge(self, episode: Episode) -> Judgment:
        """A tenth of the answer as the last step's reward.

        ``Unscored`` if the answers cannot be read, the piece speaks to the judge, or is not there.

        Raises:
            ModelError: If the provider failed after all retries.
            BudgetExceeded: If a call would pass a limit.
        """
        info: dict[str, Any] = {"question": self._ask}
        if not episode.steps:
            return Unscored("the episode has no steps", self.name, info)
        if episode.status == "aborted":
            return Unscored("the episode was aborted", self.name, info)
        shown = self._piece(episode)
        if isinstance(shown, str):
            return Unscored(shown, self.name, info)
        if self._guard and any(map(speaks_to_the_judge, shown.values())):
            return Unscored("what is asked about speaks to the judge", self.name, info)
        try:
            score = self._writer.write(
                self._writing(episode, shown),
                lambda text: read(text, "whole", 1, verdict=False).scores[0],
            )
        except UnreadableAnswer as error:
            info["answers"] = list(error.answers)
            return Unscored("the judge's answer could not be read", self.name, info)
        info["score"] = score
        rewards = (0.0,) * (len(episode.steps) - 1) + (score / WHOLE,)
        return Scored(rewards, self.name, "llm_judge", self.told, info)

    def _piece(self, episode: Episode) -> dict[str, str] | str:
        """What the question is about, by what it is; why it is not there."""
        pages, steps = pages_of(episode), episode.steps
        if self._about == "answer":
            return {"last action": steps[-1].action}
        if self._about == "page":
            if not pages[-1]:
                return "the page after the last step was not recorded"
            return {"page after the last step": pages[-1]}
        wanted = self._step.casefold()
        at = [t for t, step in enumerate(steps) if wanted in step.action.casefold()]
        if not at:
            return f"no step has an action with {self._step!r}"
        t = at[-1]
        return {"page before": pages[t], "action": steps[t].action, "page after": pages[t + 1]}

    def _writing(self, episode: Episode, shown: dict[str, str]) -> Writing:
        goal = goal_of(episode)
        words = words_for(goal)
        line = {
            name: plain(text, words, self._guard)
            if "action" in name
            else page_line(text, words, self._guard)
            for name, text in shown.items()
        }
        record = enclosed([{"goal": plain(goal, words, False)}, line], self._seed)
        return Writing(
            "\n\n".join((words.role, words.data, words.question)),
            f"{record}\n\n{words.ask_question.format(ask=self._ask)}",
            schema("whole", 1, verdict=False),
            self._temperature,
            max_tokens=self._max_tokens,
        )
