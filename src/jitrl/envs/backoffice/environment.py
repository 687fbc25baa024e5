"""The back office as an environment: pages as text, tasks that end with a reward of 0 or 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from jitrl.envs.backoffice.chinese import WORDS
from jitrl.envs.backoffice.data import Shop, make_shop
from jitrl.envs.backoffice.drafts import Draft
from jitrl.envs.backoffice.errands import ERRANDS
from jitrl.envs.backoffice.questions import QUESTIONS
from jitrl.envs.backoffice.site import Answer, Edit, Effect, Go, Session
from jitrl.envs.backoffice.templates import Template
from jitrl.envs.codecs.elements import element_line
from jitrl.envs.codecs.page import PageCodec
from jitrl.envs.instances import Language, Selection, Split
from jitrl.errors import ConfigError, InputError
from jitrl.types import Observation, Task, TimeStep

_LONGEST = 50  # steps after which a plan is given up

TEMPLATES: dict[str, Template] = {t.name: t for t in (*ERRANDS, *QUESTIONS)}

DEMO: Mapping[str, int] = {
    "find:list": 4,
    "find:narrow": 3,
    "find:record": 2,
    "orders:cancel": 1,
    "orders:total": 1,
    "reports:uses": 1,
}
"""Templates of the demo, and how many instances of each."""


@dataclass(slots=True)
class _Visit:
    """An episode under way."""

    task: Task
    draft: Draft
    session: Session
    shown: Observation
    uses: dict[str, Effect] = field(default_factory=dict)
    taken: int = 0
    arrived: int = 0
    answered: bool = False


class Backoffice:
    """The admin site of a shop, in pure Python; everything is drawn from ``seed``.

    A task ends with reward 1 when its answer is right, or when the shop is changed in exactly the
    way that was asked for; with 0 after a wrong answer or any other change. Ids of elements are
    new at each load of a page.

    Args:
        split: ``train`` and ``heldout``: the first and the next ``instances`` instances of each
            template; ``demo``: the twelve tasks of ``DEMO``, whatever the next two settings are.
        templates: Names to use, ``family:what``, or families; () takes all.
        instances: Instances of a template, as far as there are that many.
        seed: Another seed is another shop.
        language: ``en`` or ``zh``, of goals and pages.
        steps: Step limit of an episode.

    Raises:
        ConfigError: If a setting is unknown or impossible.
    """

    name = "backoffice"
    is_replayable = True

    def __init__(
        self,
        *,
        split: Split = "train",
        templates: Sequence[str] = (),
        instances: int = 3,
        seed: int = 0,
        language: Language = "en",
        steps: int = 15,
    ) -> None:
        selection = Selection(split, templates, instances, seed, language)
        if steps < 1:
            raise ConfigError(f"steps must be at least 1, got {steps}")
        self.codec = PageCodec(site="backoffice")
        self._word: Callable[[str], str] = (
            (lambda text: WORDS.get(text, text)) if language == "zh" else (lambda text: text)
        )
        self._limit = steps
        self._shop: Shop = make_shop(seed, language)
        drawn = selection.drawn(self.name, TEMPLATES, DEMO, self._shop, self._shown)
        self._tasks = tuple(task for task, _ in drawn)
        self._drafts = {task.id: draft for task, draft in drawn}
        self._loads = 0
        self._visit: _Visit | None = None

    def tasks(self) -> Sequence[Task]:
        """The tasks of the split, an instance of each template in turn: ``family:what:instance``.

        ``family`` is the template's family, ``params["template"]`` its name.
        """
        return self._tasks

    def reset(self, task: Task, *, seed: int = 0) -> TimeStep:
        """Start ``task`` at the dashboard; nothing is left to chance, so ``seed`` plays no part."""
        self._visit = self._begin(task)
        return TimeStep(self._observe(self._visit))

    def step(self, action: str) -> TimeStep:
        """Take a listed action.

        Raises:
            InputError: If no episode is under way or the page does not list the action.
        """
        visit = self._visit
        if visit is None:
            raise InputError(f"no episode is under way, so {action!r} cannot be taken; call reset")
        effect = visit.uses.get(action)
        if effect is None:
            page = visit.session.view().title
            raise InputError(f"page {page!r} has no {action!r}; it has {list(visit.uses)}")
        before = visit.session.at
        won = self._take(visit, effect)
        visit.taken += 1
        if visit.session.at != before:
            visit.arrived = visit.taken
        truncated = won is None and visit.taken >= self._limit
        observation = self._observe(visit)
        if won is not None or truncated:
            self._visit = None
        return TimeStep(observation, float(won or 0), won is not None, truncated)

    def close(self) -> None:
        """Nothing is held."""
        self._visit = None

    def oracle(self, task: Task) -> tuple[str, ...]:
        """Canonical actions that win ``task``; for tests and oracle priors, not for agents."""
        visit, actions = self._begin(task), list[str]()
        won: bool | None = None
        while won is None and len(actions) < _LONGEST:
            self._observe(visit)
            effect = _planned(visit)
            actions.append(self._written(visit, effect))
            won = self._take(visit, effect)
        return tuple(actions)

    def oracle_action(self) -> str:
        """The right canonical action on the present page, wherever the episode has got to.

        Raises:
            InputError: If no episode is under way, or nothing on this page leads on.
        """
        if self._visit is None:
            raise InputError("no episode is under way; call reset")
        return self._written(self._visit, _planned(self._visit))

    def _written(self, visit: _Visit, effect: Effect) -> str:
        """Canonical text of the present page's action that has this effect."""
        for raw, use in visit.uses.items():
            if use == effect:
                return self.codec.canonical(raw, visit.shown)
        page = visit.session.view().title
        raise InputError(f"page {page!r} has no action for {effect}; the task cannot be won here")

    def _shown(self, draft: Draft) -> Mapping[str, str]:
        """The values of a task, in the language of its goal."""
        return {name: self._word(value) for name, value in draft.values.items()}

    def _begin(self, task: Task) -> _Visit:
        if task.id not in self._drafts:
            raise InputError(f"no task {task.id!r} in this back office; see tasks()")
        draft = self._drafts[task.id]
        question = TEMPLATES[task.params["template"]].question
        session = Session(self._shop, draft.typed, question, self._word)
        return _Visit(task, draft, session, Observation("", task.goal))

    def _take(self, visit: _Visit, effect: Effect) -> bool | None:
        """Carry out an effect; whether the task is now won or lost, ``None`` if neither."""
        plans, session = visit.draft.plans, visit.session
        if isinstance(effect, Answer):
            visit.answered = effect.text == self._word(plans[-1].answer)
            return visit.answered
        session.apply(effect)
        wanted = _wanted(visit)
        if not session.edits.items() <= wanted.items():
            return False
        if wanted:
            done = session.edits == wanted
        else:
            done = not plans[-1].answer and plans[-1].arrived(session)
        return True if done else None

    def _observe(self, visit: _Visit) -> Observation:
        """The present page under new ids; it and its actions' effects are kept in ``visit``."""
        view = visit.session.view()
        self._loads += 1
        # Two loads in a row share no id: a page has fewer than 37 elements.
        letter, number = "abcdefgh"[self._loads % 8], self._loads * 37 % 900 + 100
        lines, uses = [view.title, *view.lines], dict[str, Effect]()
        for i, widget in enumerate(view.widgets):
            id = f"{letter}{number + i}"
            shown = {"value": widget.value} if widget.value else {}
            lines.append(element_line(id, widget.role, widget.label, **shown))
            for verb, more, effect in widget.uses:
                uses[f"{verb}({', '.join(map(repr, (id, *more)))})"] = effect
        if view.up is not None:
            uses["back()"] = Go(view.up)
        uses |= {f"answer({text!r})": Answer(text) for text in view.answers}
        visit.uses = uses
        visit.shown = Observation(
            "\n".join(lines),
            visit.task.goal,
            tuple(uses),
            f"https://shop.example/{view.path}",
            {"arrived": visit.arrived, "checks": _checks(visit)},
        )
        return visit.shown


def _wanted(visit: _Visit) -> dict[Edit, str]:
    """All changes of the shop that the task asks for."""
    return {edit: value for plan in visit.draft.plans for edit, value in plan.edits.items()}


def _checks(visit: _Visit) -> dict[str, bool | float]:
    """What of the task is done: a share for what can be half done."""
    wanted, session = _wanted(visit), visit.session
    made = session.edits.items()
    checks: dict[str, bool | float] = {"no other edits": made <= wanted.items()}
    if wanted:
        checks["wanted edits"] = len(made & wanted.items()) / len(wanted)
    elif visit.draft.plans[-1].answer:
        checks["right answer"] = visit.answered
    else:
        checks["right page"] = visit.draft.plans[-1].arrived(session)
    return checks


def _planned(visit: _Visit) -> Effect:
    """What the first plan that is not fulfilled says to do now."""
    done = visit.session.edits.items()
    plans = visit.draft.plans
    plan = next((p for p in plans if not p.edits or not p.edits.items() <= done), plans[-1])
    return plan.step(visit.session)
