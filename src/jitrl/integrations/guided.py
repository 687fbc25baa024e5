"""One run of a tool-calling agent beside its memory: its turns are decided, and it is stored.

Nothing in here fails the agent: what goes wrong is logged as ``degraded``, once for each kind.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from jitrl.episode import Episode
from jitrl.errors import InputError
from jitrl.integrations.choice import Choice, ExtraCall
from jitrl.integrations.conversation import Turn, seen_of
from jitrl.integrations.interface import Answers
from jitrl.integrations.naming import key_of
from jitrl.integrations.tools import ANSWER, Call, Form, Shape, Tool, together
from jitrl.ports import Receipt
from jitrl.types import Basis, Decision, EpisodeStatus

if TYPE_CHECKING:
    from jitrl.integrations.guide import Guide

_log = logging.getLogger(__name__)

ACTIVE: ContextVar[tuple[GuidedEpisode, ...]] = ContextVar("jitrl_guided_episodes", default=())
"""Episodes under way in a context, the innermost last."""


class GuidedEpisode:
    """One run of an agent: its turns are decided, ``finish`` says how it ended.

    Leaving the ``with`` block without ``finish`` asks the guide's check. If there is none, the
    episode is kept without an outcome, which ``JitRL.outcome`` may tell later.

    Attributes:
        task: The kind of thing that is done, as the memory keeps it.
        text: What the agent was asked, as it was given.
        calls: What was called so far, as the agent carried it out.
        degraded: Why the last turn that could not be decided was the model's own; "" if all could.
        is_open: Whether its ``with`` block goes on.
        answer: What the agent said in the end, where the framework tells.
        seen: What was said up to answers that a provider keeps, for those that go on from them.
    """

    def __init__(
        self, guide: Guide, task: str, scope: str, key: str | None, text: str = ""
    ) -> None:
        self.guide, self.task, self.text = guide, task, text
        self.calls: list[Call] = []
        self.seen: Answers = {}
        self.degraded, self.answer, self.key = "", "", key or ""
        self._lock = threading.Lock()
        self._shapes: dict[str, tuple[Mapping[str, Any], Shape]] = {}
        self._last: tuple[object, Choice] | None = None
        self._warned: set[str] = set()
        self._decided, self._called = 0, 0
        self.is_open = self._is_unstored = False
        self._episode: Episode | None = None
        try:
            if key is None and isinstance(task, str):
                key = key_of(task, guide.memory.redaction.text)
            self._episode = guide.memory.episode(task, scope=scope, key=key)
            self.key = self._episode.key
        except InputError:
            raise
        except Exception as error:  # noqa: BLE001 the agent goes on
            self._degrade("the episode could not begin", error)

    @property
    def holdout(self) -> bool:
        """Whether this episode acts without memory, so that the gain can be measured."""
        return self._episode is not None and self._episode.holdout

    @property
    def is_stored_here(self) -> bool:
        """Whether it could begin, so that ``finish`` has something to store."""
        return self._episode is not None

    @property
    def is_over(self) -> bool:
        """Whether it was finished."""
        return self._episode is not None and self._episode.receipt is not None

    def choose(self, read: Callable[[], Turn | None]) -> Choice:
        """What is to be done about an answer of the model; it never raises.

        Args:
            read: Makes the turn of what the framework has; ``None`` if there is none to decide.
        """
        own: str = ANSWER
        calls: Sequence[Call] = ()
        with self._lock:
            try:
                turn = read()
                if turn is None:
                    return Choice(own, own)
                calls = turn.calls
                shapes = {tool.name: self._shape(tool.name, tool.parameters) for tool in turn.tools}
                own = together([self._action(call, shapes) for call in turn.calls])
                choice = self._choice(turn, own, shapes)
            except Exception as error:  # noqa: BLE001 the agent goes on
                self._degrade("a turn could not be decided", error)
                choice = Choice(own, own)
            if not choice.turned:
                self.calls += calls
        return choice

    def notes(self, read: Callable[[], Turn | None]) -> str:
        """Rules for the prompt of the model's next answer; "" if none is told. It never raises.

        Args:
            read: Makes the turn of what the model is to be shown; its calls are not known yet.
        """
        if self._episode is None or self.guide.memory.book is None:
            return ""
        with self._lock:
            try:
                turn = read()
                if turn is None:
                    return ""
                shapes = [self._shape(tool.name, tool.parameters) for tool in turn.tools]
                actions = [action for shape in shapes for action in shape.forms()]
                actions += [ANSWER] if turn.can_answer else []
                return self._episode.notes(self.guide.options.state(turn.messages), actions)
            except Exception as error:  # noqa: BLE001 the agent goes on
                self._degrade("rules could not be told", error)
                return ""

    def note(self, see: Callable[[Answers], None]) -> None:
        """Note what later turns go on from; it never raises.

        Args:
            see: Notes it in ``seen``.
        """
        with self._lock:
            try:
                see(self.seen)
            except Exception as error:  # noqa: BLE001 the agent goes on
                self._degrade("an answer could not be noted", error)

    @contextmanager
    def extra_call(self, choice: Choice) -> Iterator[ExtraCall]:
        """Make the call that a changed choice needs within this block.

        If it raises, or does not bring what was chosen, the model's own answer counts as done.
        """
        extra = ExtraCall(choice)
        try:
            yield extra
        except Exception as error:  # noqa: BLE001 the agent has an answer already
            extra.arguments, extra.failed = None, f"{type(error).__name__}: {error}"
        except BaseException:  # a task that is cancelled: what was chosen is not done
            self._took(choice.own)
            raise
        if extra.failed:
            self._degrade(f"{choice.action} could not be carried out", extra.failed, "carried out")
            self._took(choice.own)
        elif choice.form is not None:
            self.calls.append(Call(choice.form.tool, extra.arguments or {}))

    def reward(self, value: float) -> None:
        """Reward of the turn just decided; several add up.

        Raises:
            InputError: If nothing was decided yet, or the value cannot be used.
        """
        if self._episode is not None:
            self._episode.reward(value)

    def finish(
        self,
        outcome: float | bool | None = None,
        *,
        basis: Basis | None = None,
        evaluator: str = "outcome",
        told: bool = False,
        principal: str = "",
        status: EpisodeStatus = "terminated",
    ) -> Receipt | None:
        """The episode is over; the memory learns from it.

        Args:
            outcome: True 1, False 0, a number as it is; ``None`` if it is not known yet.
            basis: What it rests on; the guide's if not given.

        Returns:
            What was stored; ``None`` if the memory failed, which is logged. ``finish`` may be
            called again then, after the block, too.

        Raises:
            InputError: If the episode is over already, or a value cannot be used.
        """
        if self._episode is None:
            return None
        try:
            return self._episode.finish(
                outcome,
                basis=basis or self.guide.options.basis,
                evaluator=evaluator,
                told=told,
                principal=principal,
                status=status,
            )
        except InputError:
            raise
        except Exception as error:  # noqa: BLE001 the agent has done its work
            self._is_unstored = True
            self._degrade("the episode could not be stored", error)
            return None

    def __enter__(self) -> GuidedEpisode:
        ACTIVE.set((*ACTIVE.get(), self))
        self.is_open = True
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        # A context may be left in another task than it was entered in, or before an inner one.
        ACTIVE.set(tuple(one for one in ACTIVE.get() if one is not self))
        self.is_open = False
        if self.is_over or self._is_unstored:  # which is said; its outcome is not to be lost
            return
        if error is not None:
            self.finish(status="aborted")
            return
        self._conclude()

    def said(self, output: object) -> None:
        """The framework's run is over, and this is what it gave; it never raises."""
        try:
            self.answer = str(output)
        except Exception as error:  # noqa: BLE001 the agent has done its work
            self._degrade("what the agent said in the end could not be read", error)

    def over(self) -> None:
        """The framework's run is over, and nobody else says how it ended; it never raises."""
        try:
            if not (self.is_over or self._is_unstored):
                self._conclude()
        except Exception as error:  # noqa: BLE001 the agent has done its work
            self._degrade("the check said no outcome", error)

    def _conclude(self) -> None:
        """Ask the guide's check how it ended."""
        check, is_told = self.guide.check, False
        try:
            if check and (outcome := check(self)) is not None:
                self.finish(outcome, evaluator="check")
                is_told = True
        finally:
            if not (is_told or self.is_over):  # also where the check said what is no outcome
                self.finish(evaluator="check" if check else "outcome", status="truncated")

    def _choice(self, turn: Turn, own: str, shapes: Mapping[str, Shape]) -> Choice:
        forms: dict[str, Form | None] = {own: None}
        for name, shape in shapes.items():
            if name not in self.guide.options.unforced:
                for action, form in shape.forms().items():
                    forms.setdefault(action, form)
        if turn.can_answer:
            forms.setdefault(ANSWER, None)
        if self._episode is None or len(forms) < 2:
            return Choice(own, own)
        shown = tuple(turn.messages), tuple(turn.tools)
        if self._last is not None and self._last[0] == shown:  # the framework asks once more
            return self._again(self._last[1], own, forms)
        options = self.guide.options
        risks = {action: options.risk(form) for action, form in forms.items()}
        risks[own] = "read"  # it is the model's own to do
        untried = [action for action, risk in risks.items() if risk == "read"]
        logits, scorer = options.logits(turn, untried, own)
        decision = self._episode.decide(
            options.state(turn.messages),
            {action: logits[action] for action in untried},
            allowed=risks if len(untried) < len(forms) else None,
            scorer=scorer,
            seen=seen_of(turn.messages) if options.observed else "",
        )
        choice = self._made(decision, own, forms)
        self._last, self._called = (shown, choice), len(self.calls)
        return choice

    def _made(self, decision: Decision, own: str, forms: Mapping[str, Form | None]) -> Choice:
        id = f"{self.key}#{self._decided}"
        self._decided += 1
        _log.debug("decided id=%s own=%s action=%s", id, own, decision.action)
        return Choice(own, decision.action, forms[decision.action], id)

    def _again(self, last: Choice, own: str, forms: Mapping[str, Form | None]) -> Choice:
        """The same turn again: no other decision, as no step was taken since."""
        action = last.action if last.action in forms else own
        self._took(action)
        del self.calls[self._called :]  # those of the answer that was asked for once more
        return Choice(own, action, forms[action], last.decision)

    def _shape(self, name: str, parameters: Mapping[str, Any]) -> Shape:
        """The shape of a tool; read from its schema once, as long as that stays."""
        known = self._shapes.get(name)
        if known is None or known[0] != parameters:
            shape = Shape(Tool(name, parameters), self.guide.options.values.get(name))
            known = self._shapes[name] = parameters, shape
        return known[1]

    def _action(self, call: Call, shapes: Mapping[str, Shape]) -> str:
        return (shapes.get(call.tool) or self._shape(call.tool, {})).action(call.arguments)

    def _took(self, action: str) -> None:
        if self._episode is not None:
            try:
                self._episode.took(action)
            except Exception as error:  # noqa: BLE001 the agent goes on
                self._degrade("what was done could not be noted", error)

    def _degrade(self, what: str, error: Exception | str, kind: str = "") -> None:
        """Note why the agent goes on alone; a warning of each kind is given once an episode."""
        said = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
        self.degraded = f"{what}: {said}"
        level = logging.DEBUG if (kind or what) in self._warned else logging.WARNING
        self._warned.add(kind or what)
        _log.log(level, "degraded episode=%s %s", self.key, self.degraded)
        _log.debug("degraded at", exc_info=error if isinstance(error, Exception) else None)
