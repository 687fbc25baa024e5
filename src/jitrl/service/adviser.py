"""A desk as an agent asks it in its own words: start, advise, recall, record, report.

The agent is not trusted: it has its own episodes only, and whatever it says of its success is
``agent_self_report`` of one principal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from jitrl import given
from jitrl.errors import InputError
from jitrl.integrations.conversation import masked
from jitrl.memory.session import Session
from jitrl.models.stated import logit_of
from jitrl.service.calls import Answer
from jitrl.service.desk import Desk
from jitrl.service.errors import NotAllowed
from jitrl.service.seats import Seat
from jitrl.types import Candidate, State

_RECALLED = 10  # actions, and rules
_SURE = 50.0  # confidence in each of a plain list of candidates

# What is answered has no slots: MCP's schemas are made from classes with plain defaults.


@dataclass(frozen=True)
class Started:
    """An episode that runs; ``note`` says what to know of it."""

    episode: str
    task: str
    scope: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Considered:
    """One candidate: its chance before and after the memory was asked, and how often it was seen.

    Attributes:
        advantage: How much better than the others it went in states like this one; 0: unknown.
    """

    action: str
    before: float
    after: float
    visits: float
    advantage: float


@dataclass(frozen=True)
class Advice:
    """What to do at a step.

    Attributes:
        own: What the agent was most sure of.
        changed: Whether the memory advises something else.
        degraded: Why the memory could not be asked; "" if it could.
        notes: Rules from earlier runs that speak of this step; "" if there are none.
    """

    episode: str
    step: int
    action: str
    own: str
    changed: bool
    why: str
    degraded: str = ""
    candidates: list[Considered] = field(default_factory=list)
    notes: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """What the memory holds of one action in states like this one.

    Attributes:
        value: Return of it: above 0 better than usual, below 0 worse.
        similarity: Of the nearest state it was done in, in [0, 1].
    """

    action: str
    value: float
    visits: float
    similarity: float


@dataclass(frozen=True)
class Recalled:
    """What the memory holds of a state, best first, and rules.

    Attributes:
        rules: Those in force, where nothing is known of their effects.
        notes: Those that speak of this state, where it is drawn which are told.
    """

    actions: list[Known]
    rules: list[str]
    note: str = ""
    notes: str = ""


@dataclass(frozen=True)
class Recorded:
    """A step as it was written down."""

    episode: str
    step: int
    action: str


@dataclass(frozen=True)
class Reported:
    """An episode that is stored.

    Attributes:
        learned: Rows that the memory has of it; 0 where nothing is known of its outcome.
        duplicate: An episode of this key was there already; nothing of this one was kept.
    """

    episode: str
    learned: int
    duplicate: bool = False


class Adviser:
    """Answers an agent at a desk. Safe for threads; it keeps nothing, so any number may be made.

    Args:
        desk: Where its episodes run; it is not closed here.
        scope: Of episodes that name none.
        principal: Who is answerable for what the agent says; the source of its rows.
        count: Is told each piece of advice and each report.
    """

    def __init__(
        self,
        desk: Desk,
        *,
        scope: str = "",
        principal: str = "mcp",
        count: Callable[[Advice | Reported], None] | None = None,
    ) -> None:
        self.desk, self._count = desk, count
        self.scope = given.text(scope, "scope")
        self.principal = given.name(principal, "principal")

    def start(self, task: str, scope: str | None = None, key: str | None = None) -> Started:
        """Begin a run at ``task``; under a key that runs already, go on with that one.

        Raises:
            InputError: If a text cannot be used, or the key was given to another task, to somebody
                else, or is stored already.
            Full: If too many episodes run.
        """
        seat = self.desk.episodes.start(
            task, scope=self.scope if scope is None else scope, key=key, principal=self.principal
        )
        self._check_own(seat)
        if seat.status != "running":
            raise InputError(f"key {key!r} names a run that is over; each run has its own key")
        return Started(seat.key, seat.task, seat.scope, _ALONE if seat.holdout else "")

    def advise(
        self,
        episode: str,
        state: str,
        candidates: Mapping[str, float] | Sequence[str],
        seen: str = "",
    ) -> Advice:
        """What to do in ``state``.

        Args:
            candidates: Actions that can be done now, or each with how sure the agent is of it, from
                0 to 100.
            seen: What the agent sees beyond ``state``, for people and judges.

        Raises:
            InputError: If a value cannot be used, or the episode is over.
            Unknown: If there is no such episode.
        """
        sure = candidates if isinstance(candidates, Mapping) else dict.fromkeys(candidates, _SURE)
        if len(sure) < len(candidates):
            raise InputError("a candidate occurs twice; each action once")
        for action, confidence in sure.items():
            if not 0.0 <= given.number(confidence, f"confidence in {action!r}") <= 100.0:
                raise InputError(f"confidence in {action!r} is {confidence}; it is from 0 to 100")
        proposed = [Candidate(a, logit_of(c), "caller") for a, c in sure.items()]
        call = self.desk.episodes.ask(
            episode,
            _here(state, self._seat(episode)),
            proposed,
            allowed=list(sure),
            scorer="verbalized",
            notes=True,
            seen=seen,
        )
        advice = _advice(episode, call.own, call.result(self.desk.limits.deadline))
        if self._count is not None:
            self._count(advice)
        return advice

    def recall(self, episode: str, state: str) -> Recalled:
        """What is known of states like ``state``, without a decision.

        Raises:
            InputError: If the state cannot be used.
            Unknown: If there is no such episode.
            StoreError: If the memory cannot be read.
        """
        seat, memory = self._seat(episode), self.desk.memory
        if seat.holdout or memory.agent.mode != "act":
            return Recalled([], [], _ALONE)
        here, view = _here(state, seat), memory.agent.view(seat.scope)
        here = replace(here, text=memory.redaction.text(here.text))
        near = Session(view, task=seat.task).neighborhood(here, goal=seat.task)
        weights, sums = defaultdict[str, float](float), defaultdict[str, float](float)
        visits, alike = defaultdict[str, float](float), dict[str, float]()
        for n in near.neighbors:
            weight = n.similarity * n.visits
            weights[n.action] += weight
            visits[n.action] += n.visits
            sums[n.action] += weight * (n.ret if n.value is None else n.value)
            alike[n.action] = max(alike.get(n.action, 0.0), n.similarity)
        known = [
            Known(
                action,
                round(sums[action] / weights[action], 6),
                visits[action],
                round(alike[action], 6),
            )
            for action in weights
            if weights[action] > 0.0
        ]
        known.sort(key=lambda k: (-k.value, -k.visits))
        note, notes, rules = "" if known else _NOTHING, "", list[str]()
        if memory.book is not None:  # what is held out here must not be read there
            notes = self.desk.episodes.notes(episode, _here(state, seat)).notes
        else:
            found = self.desk.rules(scope=seat.scope, status="active")
            rules = [rule.text for rule, _ in found][:_RECALLED]
        return Recalled(known[:_RECALLED], rules, note, notes)

    def record(
        self,
        episode: str,
        action: str | None = None,
        reward: float | None = None,
        state: str | None = None,
    ) -> Recorded:
        """Write down what was done, and what it brought.

        Args:
            action: Done at the step just advised, where it is not what was advised.
            reward: What it brought, on the agent's own word; all of them add up to the outcome.
            state: Where ``action`` was done without advice; it is a step of its own then.

        Raises:
            InputError: If a value cannot be used, nothing was advised yet, or the episode is over.
            Unknown: If there is no such episode.
        """
        seat, episodes = self._seat(episode), self.desk.episodes
        reward = None if reward is None else given.number(reward, "reward")
        if state is not None:
            if action is None:
                raise InputError("state came without action; say what was done there")
            here = _here(state, seat)
            episodes.decide(episode, here, {action: 0.0}, allowed=[action], scorer="verbalized")
        elif action is not None:
            episodes.took(episode, action)
        if reward is not None:
            episodes.reward(episode, reward)
        step = episodes.find(episode).steps - 1
        if step < 0:
            raise InputError("nothing was advised yet; give state and action, or ask first")
        return Recorded(episode, step, action or self._last(episode, step))

    def report(
        self,
        episode: str,
        outcome: bool | float | None = None,
        status: Literal["terminated", "truncated"] = "terminated",
    ) -> Reported:
        """The run is over, and ended like this, on the agent's own word; the memory learns of it.

        Of a run that is stored already, its own earlier report is corrected.

        Args:
            outcome: True, False, or a number; ``None`` if it is not known.

        Raises:
            InputError: If the value cannot be used, or somebody else said how it ended.
            Unknown: If there is no such episode.
            StoreError: If it could not be written; it may be reported again.
        """
        if self._seat(episode).status == "running" and outcome is None:
            receipt = self.desk.episodes.close(episode, status=status)
        else:
            receipt = self.desk.outcome(episode, outcome, principal=self.principal, status=status)
        reported = Reported(episode, receipt.rows, receipt.duplicate)
        if self._count is not None:
            self._count(reported)
        return reported

    def _seat(self, episode: str) -> Seat:
        """The episode, if it is this agent's.

        Raises:
            Unknown: If there is none.
            NotAllowed: If it is somebody else's.
        """
        seat = self.desk.episodes.find(episode)
        self._check_own(seat)
        return seat

    def _check_own(self, seat: Seat) -> None:
        if seat.principal != self.principal:
            raise NotAllowed(f"episode {seat.key!r} is somebody else's; start one of your own")

    def _last(self, episode: str, step: int) -> str:
        taken = self.desk.episodes.step(episode, step)
        return "" if taken is None else taken[1]


_ALONE = "this run acts without memory, so that what memory is worth can be measured"
_NOTHING = "nothing is known of states like this one yet"
_DEGRADED = "the memory gave no answer in time, or failed, so this is your own choice"


def _here(seen: str, seat: Seat) -> State:
    """What the agent sees on the way to its task, without what names one thing among many."""
    return given.state(State(masked(given.text(seen, "state", 100_000)), masked(seat.task)))


def _advice(episode: str, own: str, answer: Answer) -> Advice:
    decision, notes = answer.decision, answer.notes
    if decision is None:
        return Advice(episode, answer.step, own, own, False, _DEGRADED, answer.degraded)
    chosen, changed = decision.chosen, decision.action != own
    if decision.reason:
        words = {"empty": _NOTHING, "holdout": _ALONE, "off": _ALONE}
        why = words.get(decision.reason, decision.reason)
    elif chosen.visits:
        times = "once" if chosen.visits == 1 else f"{chosen.visits:g} times"
        why = f"it was done {times} in states like this one, {chosen.advantage:+.2g} to the others"
    elif len(decision.neighbors) and not any(c.visits for c in decision.candidates):
        why = "only agents' own reports are known of states like this one, which weigh little"
    else:
        why = "it is new in states like this one"
    considered = [
        Considered(c.action, c.prior, c.probability, c.visits, c.advantage)
        for c in decision.candidates
    ]
    return Advice(episode, answer.step, decision.action, own, changed, why, "", considered, notes)
