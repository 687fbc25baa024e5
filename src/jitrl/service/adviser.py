"""A memory as an agent asks it in its own words: start, advise, recall, record, report.

The agent is not trusted: whatever it says of its own success is ``agent_self_report`` of one
principal, and it can neither correct nor withdraw what somebody else said.
"""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from jitrl import given
from jitrl.api import JitRL
from jitrl.episode import Episode
from jitrl.errors import InputError, JitRLError, StoreError
from jitrl.integrations.conversation import masked
from jitrl.memory.session import Session
from jitrl.models.stated import logit_of
from jitrl.types import Basis, Candidate, Decision, State
from jitrl.types import Episode as Lived

_log = logging.getLogger(__name__)

SELF: Basis = "agent_self_report"
_MOST = 1000  # episodes that run at once
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
    """

    episode: str
    step: int
    action: str
    own: str
    changed: bool
    why: str
    degraded: str = ""
    candidates: list[Considered] = field(default_factory=list)


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
    """What the memory holds of a state, best first, and the rules in force."""

    actions: list[Known]
    rules: list[str]
    note: str = ""


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


class _Running:
    def __init__(self, episode: Episode) -> None:
        self.episode, self.lock = episode, threading.Lock()
        self.steps, self.last = 0, ""
        self.said: float | None = None  # sum of the rewards that the agent gave itself


class Adviser:
    """Answers an agent from a memory. Safe for threads.

    Args:
        memory: Open; it is not closed here.
        scope: Of episodes that name none.
        principal: Who is answerable for what the agent says; the source of its rows.
    """

    def __init__(self, memory: JitRL, *, scope: str = "", principal: str = "mcp") -> None:
        self.memory = memory
        self.scope = given.text(scope, "scope")
        self.principal = given.name(principal, "principal")
        self._running: dict[str, _Running] = {}
        self._lock = threading.Lock()

    def start(self, task: str, scope: str | None = None, key: str | None = None) -> Started:
        """Begin a run at ``task``; under a key that runs already, go on with that one.

        Raises:
            InputError: If a text cannot be used, the key was given to another task or is stored
                already, or too many episodes run.
        """
        scope = self.scope if scope is None else scope
        with self._lock:
            if key is not None and key in self._running:
                episode = self._running[key].episode
                if (episode.task, episode.scope) != (task, scope):
                    raise InputError(f"key {key!r} names a run at {episode.task!r}; use another")
                return _started(episode)
            if key is not None and self._stored(key) is not None:
                raise InputError(f"key {key!r} names a run that is over; each run has its own key")
            if len(self._running) >= _MOST:
                raise InputError(f"{_MOST} episodes run, which is all that may; report some")
            episode = self.memory.episode(task, scope=scope, key=key)
            self._running[episode.key] = _Running(episode)
        return _started(episode)

    def advise(
        self, episode: str, state: str, candidates: Mapping[str, float] | Sequence[str]
    ) -> Advice:
        """What to do in ``state``.

        Args:
            candidates: Actions that can be done now, or each with how sure the agent is of it, from
                0 to 100.

        Raises:
            InputError: If a value cannot be used, or no such episode runs.
        """
        running = self._run(episode)
        sure = candidates if isinstance(candidates, Mapping) else dict.fromkeys(candidates, _SURE)
        if len(sure) < len(candidates):
            raise InputError("a candidate occurs twice; each action once")
        for action, confidence in sure.items():
            if not 0.0 <= given.number(confidence, f"confidence in {action!r}") <= 100.0:
                raise InputError(f"confidence in {action!r} is {confidence}; it is from 0 to 100")
        proposed = [Candidate(a, logit_of(c), "caller") for a, c in sure.items()]
        own = max(sure, key=lambda action: sure[action]) if sure else ""
        here = _here(state, running.episode)
        with running.lock:
            try:
                decision = running.episode.decide(
                    here, proposed, allowed=list(sure), scorer="verbalized"
                )
            except StoreError as error:
                _log.warning("degraded episode=%s: %s", episode, error)
                why = "the memory could not be read, so this is your own choice"
                return Advice(episode, running.steps, own, own, False, why, str(error))
            step, running.last = running.steps, decision.action
            running.steps += 1
        return _advice(episode, step, own, decision)

    def recall(self, episode: str, state: str) -> Recalled:
        """What is known of states like ``state``, without a decision.

        Raises:
            InputError: If the state cannot be used, or no such episode runs.
            StoreError: If the memory cannot be read.
        """
        running, agent = self._run(episode).episode, self.memory.agent
        if running.holdout or agent.mode != "act":
            return Recalled([], [], _ALONE)
        view = agent.view(running.scope)
        here = _here(state, running)
        near = Session(view, task=running.task).neighborhood(here, goal=running.task)
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
        return Recalled(known[:_RECALLED], self._rules(running.scope), "" if known else _NOTHING)

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
            InputError: If a value cannot be used, nothing was advised yet, or no such episode runs.
            StoreError: If the memory cannot be read.
        """
        running = self._run(episode)
        with running.lock:
            if state is not None:
                if action is None:
                    raise InputError("state came without action; say what was done there")
                here = _here(state, running.episode)
                running.episode.decide(here, {action: 0.0}, allowed=[action], scorer="verbalized")
                running.steps += 1
            if not running.steps:
                raise InputError("nothing was advised yet; give state and action, or ask first")
            if reward is not None:
                running.said = given.total(
                    running.said, given.number(reward, "reward"), "rewards of this episode"
                )
            if action is not None and state is None:
                running.episode.took(action)
            running.last = action or running.last
            return Recorded(episode, running.steps - 1, running.last)

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
            InputError: If the value cannot be used, there is no such episode, or somebody else said
                how it ended.
            StoreError: If it could not be written; it may be reported again.
        """
        running = self._running.get(episode)
        if running is None:
            return self._correct(episode, outcome)
        with running.lock:
            said = running.said
            if outcome is not None:
                said = given.total(said, given.number(outcome, "outcome"), "rewards and outcome")
            receipt = running.episode.finish(
                said,
                basis=SELF,
                evaluator=self.principal,
                principal=self.principal,
                status=given.status(status),
            )
        with self._lock:
            self._running.pop(episode, None)
        return Reported(episode, receipt.rows, receipt.duplicate)

    def close(self) -> None:
        """Keep what runs as cut off: its outcome may be told later."""
        for episode in list(self._running):
            try:
                self.report(episode, status="truncated")
            except JitRLError as error:
                _log.warning("episode %r could not be kept: %s", episode, error)

    def _correct(self, key: str, outcome: bool | float | None) -> Reported:
        stored = self._stored(key)
        if stored is None:
            raise InputError(f"there is no episode {key!r}; start one")
        said = stored.outcome
        is_own = said is not None and (said.basis, said.principal) == (SELF, self.principal)
        is_silent = said is None and stored.principal == self.principal
        if not (is_own or is_silent) or any(step.reward is not None for step in stored.steps):
            raise InputError(f"how {key!r} ended was said by somebody else, and stays so")
        receipt = self.memory.outcome(
            key, outcome, basis=SELF, evaluator=self.principal, principal=self.principal
        )
        return Reported(key, receipt.rows, receipt.duplicate)

    def _stored(self, key: str) -> Lived | None:
        try:
            return self.memory.store.episode(given.name(key, "key"))
        except StoreError:
            return None

    def _rules(self, scope: str) -> list[str]:
        rules = getattr(self.memory.store, "rules", None)
        if rules is None:
            return []
        return [rule.text for rule in rules(scope=scope, status="active")][:_RECALLED]

    def _run(self, episode: str) -> _Running:
        running = self._running.get(episode)
        if running is None:
            over = " any more" if self._stored(episode) is not None else ""
            raise InputError(f"no episode {episode!r} runs{over}; start one")
        return running


_ALONE = "this run acts without memory, so that what memory is worth can be measured"
_NOTHING = "nothing is known of states like this one yet"


def _here(seen: str, episode: Episode) -> State:
    """What the agent sees on the way to its task, without what names one thing among many."""
    return given.state(State(masked(given.text(seen, "state", 100_000)), masked(episode.task)))


def _started(episode: Episode) -> Started:
    note = _ALONE if episode.holdout else ""
    return Started(episode.key, episode.task, episode.scope, note)


def _advice(episode: str, step: int, own: str, decision: Decision) -> Advice:
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
    return Advice(episode, step, decision.action, own, changed, why, "", considered)
