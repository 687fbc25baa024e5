"""The library: open a memory, decide with it, tell it how things ended."""

from __future__ import annotations

import builtins
import os
import time
import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any

import numpy as np

from jitrl import config, registry
from jitrl.agents.corrected import Corrected
from jitrl.config import Memory
from jitrl.errors import InputError
from jitrl.memory.explain import Explanation, explain, replay
from jitrl.ports import Receipt
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import (
    BASES,
    Basis,
    Candidate,
    Decision,
    EpisodeStatus,
    Outcome,
    Prompt,
    Proposal,
    State,
    Task,
    Transition,
)
from jitrl.types import Episode as EpisodeRecord

Candidates = Mapping[str, float] | Iterable[Candidate]
_LONGEST = 1_000_000  # characters of a state that are looked at
_MOST = 10_000  # candidates of a step
_LARGEST = 1e100  # a reward, an outcome or a logit; sums of them stay finite


def open(path: str | os.PathLike[str], *, memory: str = "default", **settings: Any) -> JitRL:
    """Open a memory file, or make one.

    Args:
        path: The file; ``:memory:`` keeps nothing.
        memory: Name of the memory in the file.
        settings: ``mode``, ``holdout``, ``preset``, ``rule``, ``retrieval``, ``gamma``,
            ``evaluator``, ``trusted``, ``principal``, ``seed``; see docs/settings.md. What is not
            given here comes from ``JITRL_MEMORY_*`` variables, then from ``jitrl.toml``.

    Raises:
        ConfigError: If a setting is unknown or has an impossible value.
        StoreError: If the file cannot be used.
    """
    return JitRL(path, config.load({"memory": settings}).memory, memory=memory)


class JitRL:
    """A memory that corrects decisions. Safe for threads; any number of processes may share it."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        settings: Memory | None = None,
        *,
        memory: str = "default",
    ) -> None:
        self.settings = settings or Memory()
        evaluator = registry.create("evaluators", self.settings.evaluator, {})
        store = SQLiteStore(path, memory=memory)
        try:
            self.agent = Corrected(store, evaluator, self.settings)
            store.configure(self.agent.derivation)
        except BaseException:
            store.close()
            raise
        self.store = store

    def episode(self, task: str, *, scope: str = "", key: str | None = None) -> Episode:
        """One run at ``task``, as a context manager.

        Args:
            scope: Episodes of one scope learn from each other, and from no others.
            key: Makes it idempotent: an episode is learned once per key. Made up if ``None``.
        """
        return Episode(self, task, scope, key)

    def outcome(
        self,
        key: str,
        value: float | bool | None,
        *,
        basis: Basis = "test",
        evaluator: str = "outcome",
        told: bool = False,
        principal: str = "",
    ) -> Receipt:
        """Tell, correct or (``None``) withdraw the outcome of an episode that is over.

        Raises:
            StoreError: If there is no episode of that key.
            InputError: If the value is not finite, or the basis is not known.
        """
        said = None
        if value is not None:
            said = _outcome(value, basis, evaluator, told, principal or self.settings.principal)
        episode = replace(self.store.episode(key), outcome=said)
        judgment = self.agent.evaluator.judge(episode)
        rows = self.agent.derive(episode, judgment)
        return self.store.rederive(key, said, judgment, rows)

    def explain(self, decision: str) -> Explanation:
        """Why a journaled decision (``EPISODE_KEY#STEP``) fell as it did; no model call.

        Raises:
            StoreError: If there is no such decision.
            ConfigError: If it was made under another rule than this memory was opened with.
        """
        return explain(self.agent, self.store, decision)

    def replay(self, *, without: Collection[int]) -> list[str]:
        """Ids of the stored decisions that fall differently without these rows; no model call."""
        return replay(self.agent, self.store, without)

    def quarantine(
        self,
        *,
        rows: Collection[int] = (),
        episodes: Collection[str] = (),
        reason: str = "",
        principal: str = "",
    ) -> int:
        """Keep rows out of everything until they are restored; returns how many changed."""
        return self.store.set_status(
            "quarantined", rows=rows, episodes=episodes, reason=reason, principal=principal
        )

    def restore(
        self,
        *,
        rows: Collection[int] = (),
        episodes: Collection[str] = (),
        reason: str = "",
        principal: str = "",
    ) -> int:
        """Let quarantined rows take part again; returns how many changed."""
        return self.store.set_status(
            "active", rows=rows, episodes=episodes, reason=reason, principal=principal
        )

    def close(self) -> None:
        """Release the file; may be called twice."""
        self.store.close()

    def __enter__(self) -> JitRL:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Episode:
    """One run: ``decide`` at each step, ``reward`` where there is one, ``finish`` at the end.

    Leaving the ``with`` block without ``finish`` stores the episode all the same: as truncated,
    to be judged when its outcome comes, or as aborted if an exception ended it.
    """

    def __init__(self, jitrl: JitRL, task: str, scope: str, key: str | None) -> None:
        if not isinstance(task, str) or not task:
            raise InputError(f"task is {task!r}; it must be a text that names what is to be done")
        self._jitrl, self.task, self.scope = jitrl, _text(task, "task"), _text(scope, "scope")
        self.key = _text(key or "", "key") or f"{task}/{time.time_ns():x}-{os.urandom(3).hex()}"
        seed = np.random.SeedSequence([jitrl.settings.seed, zlib.crc32(self.key.encode())])
        self._agent = jitrl.agent.episode()
        self._agent.begin(Task(task, task, scope), key=self.key, rng=np.random.default_rng(seed))
        self._steps: list[Transition] = []
        self._rewards: list[float | None] = []
        self._started = time.time()
        self._lived: EpisodeRecord | None = None
        self.receipt: Receipt | None = None

    @property
    def holdout(self) -> bool:
        """Whether this episode acts without memory, so that the gain can be measured."""
        return self._agent.held_out

    def decide(
        self,
        state: str | State,
        candidates: Candidates,
        *,
        allowed: Collection[str] | None = None,
        scorer: str = "caller",
    ) -> Decision:
        """Choose among ``candidates``; ``.action`` of the result is the choice.

        Args:
            state: Where the agent stands: a text, or a ``State``.
            candidates: Action → logit, or ``Candidate``s. Logits are natural-log scores.
            allowed: All actions that can be executed here. Candidates outside are dropped, and
                actions that only the memory knows may join if they are named here.
            scorer: How the logits were made, for the record.

        Raises:
            InputError: If there is nothing to choose from, or a value cannot be used.
        """
        self._running()
        here = _state(state)
        _text(scorer, "scorer")
        if allowed is not None:
            if isinstance(allowed, str) or not isinstance(allowed, Iterable):
                raise InputError(f"allowed is {allowed!r}; it must be a collection of actions")
            allowed = frozenset(allowed)
        choice = _candidates(candidates, allowed)
        self._arrive(here)
        proposal = Proposal(choice, scorer, "caller")
        decision = self._agent.act(here, Prompt(self.task, here.text), proposal, allowed)
        self._steps.append(Transition(here, decision.action, decision))
        self._rewards.append(None)
        return decision

    def reward(self, value: float) -> None:
        """Reward of the step just decided; several add up.

        Raises:
            InputError: If nothing was decided yet, or the value is not finite.
        """
        self._running()
        if not self._steps:
            raise InputError(f"reward({value!r}) came before the first decision")
        number = _finite(value, "reward")
        self._rewards[-1] = (self._rewards[-1] or 0.0) + number

    def finish(
        self,
        outcome: float | bool | None = None,
        *,
        basis: Basis = "test",
        evaluator: str = "outcome",
        told: bool = False,
        principal: str = "",
        status: EpisodeStatus = "terminated",
    ) -> Receipt:
        """The episode is over; it is on disk when this returns.

        Args:
            outcome: Added to the last step's reward: True 1, False 0, a number as it is. ``None``
                if it is not known yet; ``JitRL.outcome`` tells it later.
            basis: What the outcome rests on.
            evaluator: Who said so.
            told: Whether they had seen the gold outcome.
            status: ``truncated`` if it was cut off before its end.

        Raises:
            InputError: If the episode is over already, or a value cannot be used.
            StoreError: If it could not be written; ``finish`` may be called again.
        """
        self._open()
        said = None
        if outcome is not None:
            who = principal or self._jitrl.settings.principal
            said = _outcome(outcome, basis, evaluator, told, who)
        if self._lived is None:
            self._arrive(None)
        following = [*(s.state for s in self._steps[1:]), None]
        self._lived = EpisodeRecord(
            key=self.key,
            task=self.task,
            scope=self.scope,
            steps=tuple(
                Transition(s.state, s.action, s.decision, reward, after)
                for s, reward, after in zip(self._steps, self._rewards, following, strict=False)
            ),
            status=status,
            outcome=said,
            principal=principal or self._jitrl.settings.principal,
            started=self._started,
            finished=time.time(),
        )
        self.receipt = self._agent.learn(self._lived)
        return self.receipt

    def _arrive(self, state: State | None) -> None:
        """What the last step led to, and brought."""
        if self._steps:
            self._agent.observe(self._rewards[-1], state)

    def _open(self) -> None:
        if self.receipt is not None:
            raise InputError(f"episode {self.key!r} is over; start another one")

    def _running(self) -> None:
        self._open()
        if self._lived is not None:
            raise InputError(f"episode {self.key!r} ended but is not stored; call finish() again")

    def __enter__(self) -> Episode:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._lived is None:  # else it is finished, or could not be stored and said so
            self.finish(status="truncated" if error is None else "aborted")


def _state(state: str | State) -> State:
    made = State(state) if isinstance(state, str) else state
    if not isinstance(made, State):
        raise InputError(f"state is a {type(state).__name__}; it must be a text or a State")
    for part in (made.text, made.context, made.place):
        _text(part, "the state")
    long = len(made.text) + len(made.context)
    if long > _LONGEST:
        raise InputError(f"the state has {long} characters; at most {_LONGEST} can be compared")
    return made


def _candidates(candidates: Candidates, allowed: Collection[str] | None) -> tuple[Candidate, ...]:
    if isinstance(candidates, Mapping):
        made = [
            Candidate(a, _finite(z, f"logit of {a!r}"), "caller") for a, z in candidates.items()
        ]
    elif isinstance(candidates, str) or not isinstance(candidates, Iterable):
        raise InputError(
            f"candidates is {candidates!r}; it must be a mapping of actions to logits, or "
            "Candidates"
        )
    else:
        made = builtins.list(candidates)
    for c in made:
        if not isinstance(c, Candidate) or not isinstance(c.action, str) or not c.action:
            raise InputError(f"{c!r} is no candidate; an action must be a text that is not empty")
        _text(c.action, "an action")
        _finite(c.logit, f"logit of {c.action!r}")
    if len(made) > _MOST:
        raise InputError(f"{len(made)} candidates; at most {_MOST}")
    kept = tuple(c for c in made if allowed is None or c.action in allowed)
    if made and not kept:
        raise InputError(f"none of the {len(made)} candidates is among the allowed actions")
    return kept


def _outcome(
    value: float | bool, basis: Basis, evaluator: str, told: bool, principal: str
) -> Outcome:
    if basis not in BASES:
        raise InputError(f"basis is {basis!r}; it must be one of {', '.join(BASES)}")
    if not isinstance(told, bool):
        raise InputError(f"told is {told!r}; it must be True or False")
    _text(evaluator, "evaluator")
    _text(principal, "principal")
    return Outcome(_finite(value, "outcome"), basis, evaluator, told, principal)


def _text(text: str, what: str) -> str:
    """``text``, if it can be written down."""
    if not isinstance(text, str):
        raise InputError(f"{what} is {text!r}; it must be a text")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        place = error.start
        raise InputError(
            f"{what} has half of a surrogate pair ({text[place]!r}) at character {place}; "
            "decode it with errors='replace'"
        ) from error
    return text


def _finite(value: object, what: str) -> float:
    numbers = int | float | np.floating | np.integer | np.bool_
    if not isinstance(value, numbers) or not -_LARGEST <= value <= _LARGEST:
        raise InputError(f"{what} is {value!r}; it must be a finite number, at most {_LARGEST:g}")
    return float(value)
