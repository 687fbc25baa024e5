"""Form filling as an environment: take a span, choose how to write it, and submit the form."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jitrl.envs.extraction.chinese import CHINESE
from jitrl.envs.extraction.codec import FormCodec
from jitrl.envs.extraction.documents import Desk, Draft, Field, Span, Template
from jitrl.envs.extraction.english import ENGLISH
from jitrl.envs.extraction.vocabulary import KINDS, Vocabulary
from jitrl.envs.instances import Language, Selection, Split
from jitrl.errors import ConfigError, InputError
from jitrl.types import Observation, Task, TimeStep

LEVELS = (1, 2, 3, 4)
SUBMIT, ERASE = "submit()", "erase()"

VOCABULARIES: Mapping[str, Vocabulary] = {"en": ENGLISH, "zh": CHINESE}

DEMO: Mapping[str, int] = {f"{paper.key}:1": 1 for paper in ENGLISH.papers[:12]}
"""Templates of the demo, and how many instances of each."""

_NUMERALS = re.compile(r"[〇零一二三四五六七八九十壹贰叁肆伍陆柒捌玖拾佰仟]+")
_DIGITS = re.compile(r"[0-9]+")
_WIDE_DIGITS = re.compile(r"[０-９]+")
_LETTERS = re.compile(r"[A-Za-z]+")
_SHAPED = frozenset({"date", "time", "amount", "rate", "phone"})


@dataclass(slots=True)
class _Work:
    """An episode under way.

    Attributes:
        written: What each field that was filled in holds, by its place; ``None``: nothing could
            be made of the span.
        span: The span that was taken for the field at hand.
    """

    task: Task
    draft: Draft
    digest: str
    written: dict[int, str | None] = field(default_factory=dict)
    span: Span | None = None
    actions: tuple[str, ...] = ()
    taken: int = 0

    @property
    def place(self) -> int | None:
        """Of the field at hand; ``None`` when all are filled in."""
        return next((i for i in range(len(self.draft.fields)) if i not in self.written), None)

    @property
    def at(self) -> Field | None:
        """The field at hand."""
        place = self.place
        return None if place is None else self.draft.fields[place]

    def is_right(self, place: int) -> bool:
        """Whether a field holds what it should."""
        return self.written.get(place) == self.draft.fields[place].value


class Extraction:
    """Documents and forms: what a form asks for is taken from a document and written as it wants.

    For each field of the form a span of the document is taken and a way to write it is chosen;
    then the form is submitted, or erased to begin anew. The reward comes when it is submitted: the
    share of fields that are exactly right. All is drawn from ``seed``.

    Args:
        split: ``train`` and ``heldout``: the first and the next ``instances`` instances of each
            template; ``demo``: one short task for each of twelve kinds of document.
        templates: Names to use, ``kind:fields`` as ``invoice:2``, or kinds; () takes all.
        instances: Instances of a template.
        levels: Numbers of fields that are asked for, 1 to 4.
        seed: Another seed makes other documents.
        language: ``en`` or ``zh``, of goals and documents.
        candidates: Most actions of a step, 3 to 8.
        told: Whether goals say how the form wants its values; else that has to be found out.
        graded: Whether a form that is partly right is worth its share; else it is worth nothing.
        steps: Step limit of an episode.

    Raises:
        ConfigError: If a setting is unknown or impossible.
    """

    name = "extraction"
    is_replayable = True

    def __init__(
        self,
        *,
        split: Split = "train",
        templates: Sequence[str] = (),
        instances: int = 3,
        levels: Sequence[int] = LEVELS,
        seed: int = 0,
        language: Language = "en",
        candidates: int = 6,
        told: bool = True,
        graded: bool = True,
        steps: int = 20,
    ) -> None:
        selection = Selection(split, templates, instances, seed, language)
        if not levels or not set(levels) <= set(LEVELS):
            raise ConfigError(f"levels must be some of {list(LEVELS)}, got {list(levels)}")
        if not 3 <= candidates <= 8:
            raise ConfigError(f"candidates must be from 3 to 8, got {candidates}")
        if steps < 1:
            raise ConfigError(f"steps must be at least 1, got {steps}")
        self.codec = FormCodec()
        self._words = VOCABULARIES[language]
        self._told, self._graded, self._limit = told, graded, steps
        made = [
            Template(paper, level, ENGLISH.goals, CHINESE.goals)
            for paper in self._words.papers
            for level in sorted(set(levels) if split != "demo" else {1})
        ]
        known = {template.name: template for template in made}
        desk = Desk(self._words, candidates)
        drawn = selection.drawn(self.name, known, DEMO, desk, self._shown)
        self._tasks = tuple(task for task, _ in drawn)
        self._drafts = {
            task.id: (draft, _digest(f"{task.goal}\n{draft.text}")) for task, draft in drawn
        }
        self._work: _Work | None = None

    def tasks(self) -> Sequence[Task]:
        """The tasks of the split, an instance of each template in turn: ``kind:fields:instance``.

        ``family`` is the kind of document, ``params["template"]`` the template.
        """
        return self._tasks

    def reset(self, task: Task, *, seed: int = 0) -> TimeStep:
        """Start ``task`` with an empty form; nothing is left to chance, ``seed`` plays no part.

        Raises:
            InputError: If there is no such task.
        """
        if task.id not in self._drafts:
            raise InputError(f"no task {task.id!r} on this desk; see tasks()")
        self._work = _Work(task, *self._drafts[task.id])
        return TimeStep(self._observe(self._work))

    def step(self, action: str) -> TimeStep:
        """Take a listed action.

        Raises:
            InputError: If no episode is under way or the page does not list the action.
        """
        work = self._work
        if work is None:
            raise InputError(f"no episode is under way, so {action!r} cannot be taken; call reset")
        if action not in work.actions:
            raise InputError(f"this step has no {action!r}; it has {list(work.actions)}")
        work.taken += 1
        over = action == SUBMIT
        if not over:
            self._take(work, work.actions.index(action))
        truncated = not over and work.taken >= self._limit
        observation = self._observe(work)
        if over or truncated:
            self._work = None
        return TimeStep(observation, self._score(work) if over else 0.0, over, truncated)

    def close(self) -> None:
        """Nothing is held."""
        self._work = None

    def gold(self, task: Task) -> tuple[str, ...]:
        """Canonical actions that win ``task``; for tests and oracle priors, not for agents."""
        draft, _ = self._drafts[task.id]
        pairs = ((one.span.action, one.normaliser.action) for one in draft.fields)
        return (*(action for pair in pairs for action in pair), SUBMIT)

    def oracle_action(self) -> str:
        """The right canonical action now, wherever the episode has got to.

        Raises:
            InputError: If no episode is under way.
        """
        work = self._work
        if work is None:
            raise InputError("no episode is under way; call reset")
        if work.at is not None:
            return work.at.span.action if work.span is None else work.at.normaliser.action
        return SUBMIT if all(map(work.is_right, range(len(work.draft.fields)))) else ERASE

    def _take(self, work: _Work, index: int) -> None:
        """Carry out the action at that index of the list."""
        place = work.place
        if place is None:
            work.written.clear()
        elif work.span is None:
            work.span = work.draft.fields[place].spans[index]
        else:
            normaliser = work.draft.fields[place].normalisers[index]
            work.written[place] = normaliser.made(work.span.text, work.draft.year)
            work.span = None

    def _score(self, work: _Work) -> float:
        fields = work.draft.fields
        share = sum(map(work.is_right, range(len(fields)))) / len(fields)
        return share if self._graded else float(share == 1.0)

    def _shown(self, draft: Draft) -> dict[str, str]:
        """The values of a task, as its goal says them."""
        words = self._words
        kinds = {one.span.role for one in draft.fields}
        names = dict.fromkeys(
            format for kind, format in draft.form.formats.items() if words.roles[kind] in kinds
        )
        asked = words.comma.join(words.formats[name].asked for name in names)
        return {
            "form": draft.form.name,
            "paper": draft.paper.name,
            "fields": words.comma.join(one.name for one in draft.fields),
            "told": words.told.format(formats=asked) if self._told else "",
        }

    def _observe(self, work: _Work) -> Observation:
        """The step at hand; its actions are kept in ``work``."""
        draft, at, say = work.draft, work.at, self._words.phrases
        held = {i: text or say["blank"] for i, text in work.written.items()}
        shown = (f"{one.name} = {held.get(i, say['empty'])}" for i, one in enumerate(draft.fields))
        form = say["form"].format(form=draft.form.name, filled=say["between"].join(shown))
        look = [draft.region, work.digest, *(f"{draft.fields[i].name} {held[i]}" for i in held)]
        if at is None:
            work.actions = (ERASE, SUBMIT)
            asks, place = say["submit"], "submit"
        elif work.span is None:
            work.actions = (*(span.action for span in at.spans), SUBMIT)
            asks, place = say["take"].format(field=at.name), f"take/{at.name}"
        else:
            work.actions = tuple(one.action for one in at.normalisers)
            asks = say["write"].format(field=at.name, span=work.span.text)
            look.append(f"{work.span.cue} {work.span.text}")
            place = f"write/{draft.region}/{_look(work.span)}"
        info = {
            "look": "\n".join(look),
            "field": at.name if at else "",
            "place": place,
            **self._checked(work),
        }
        text = "\n".join((draft.text, "", form, asks))
        return Observation(text, work.task.goal, work.actions, info=info)

    def _checked(self, work: _Work) -> dict[str, object]:
        """What of the form is right: ``checks`` by field, and which are missing or wrong."""
        fields = work.draft.fields
        checks = {one.name: work.is_right(i) for i, one in enumerate(fields)}
        missing = [one.name for i, one in enumerate(fields) if work.written.get(i) is None]
        wrong = [name for name, right in checks.items() if not right and name not in missing]
        errors = len(missing) + len(wrong)
        return {"checks": checks, "missing": missing, "wrong": wrong, "errors": errors}


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def _look(span: Span) -> str:
    """How a span looks: runs of digits, numerals and letters shrunk; of words only their role."""
    if KINDS[span.field] not in _SHAPED:
        return span.role
    look = _WIDE_DIGITS.sub("９", _DIGITS.sub("9", span.text))
    return _LETTERS.sub("a", _NUMERALS.sub("〇", look))
