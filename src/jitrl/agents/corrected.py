"""The agent ``jitrl``: the frozen model's choice, corrected by what the memory knows."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from jitrl.agents import admitting
from jitrl.agents.admitting import Judged
from jitrl.agents.attended import Attended
from jitrl.agents.reading import Reading, check_versions
from jitrl.agents.settings import MemorySettings
from jitrl.core.credit import derive_rows
from jitrl.core.readings import collected
from jitrl.core.rule import UpdateRule
from jitrl.core.update import decide
from jitrl.errors import InputError
from jitrl.memory.index import scan_of
from jitrl.memory.rerun import seed_of
from jitrl.memory.session import Session
from jitrl.memory.view import Lens, View
from jitrl.ports import Embedder, Evaluator, Receipt, Store
from jitrl.presets import Preset, load
from jitrl.types import (
    Decision,
    Episode,
    Judgment,
    Neighborhood,
    Prompt,
    Proposal,
    Risk,
    Row,
    State,
    Task,
)


class Corrected:
    """Decides with the memory in ``store``, and learns into it. Safe for threads.

    Args:
        evaluator: Who scores finished episodes.
        settings: Mode, holdout share, preset and what differs from it, trusted bases.
        embedder: Makes the embedder of a name; needed where retrieval is by embedding.

    Attributes:
        traced: Reads a neighborhood within a span; ``None`` where nobody watches.
        fits_aside: Whether somebody fits lessons between decisions; see ``View``.
        judging: Entered while the evaluator judges, which may take long.

    Raises:
        ConfigError: If a setting has an impossible value, an embedder cannot be made, or the store
            cannot keep a limit or a snapshot that is asked for.
        StoreError: If there is no snapshot of a name.
    """

    def __init__(
        self,
        store: Store,
        evaluator: Evaluator,
        settings: MemorySettings,
        embedder: Callable[[str], Embedder] | None = None,
    ) -> None:
        self.store, self.evaluator = store, evaluator
        self.mode, self.holdout = settings.mode, settings.holdout
        self.principal, self.trusted = settings.principal, frozenset(settings.trusted)
        scan_of(settings.kernel)  # stops where its package is missing
        self.kernel = settings.kernel
        self.preset: Preset = load(settings.preset).changed(
            settings.rule, settings.retrieval, settings.gamma, settings.admission
        )
        self.admission = self.preset.admission
        if self.admission.rate is not None:
            check_versions(store, "admission.rate")
        self.reading = Reading(store, settings.snapshot, settings.canary, settings.canary_share)
        retrieval = self.preset.retrieval
        self.embedder: Embedder | None = None
        if retrieval.kind == "embedding" and embedder is not None:
            self.embedder = embedder(retrieval.embedder)
        self.traced: Callable[[State, Callable[[], Neighborhood]], Neighborhood] | None = None
        self.fits_aside = False
        self.judging: Callable[[], AbstractContextManager[None]] = nullcontext
        self._views: dict[tuple[str, frozenset[str], int | None], View] = {}
        self._lock = threading.Lock()

    def episode(
        self, *, exclude: frozenset[str] = frozenset(), until: int | None = None
    ) -> CorrectedEpisode:
        """An agent for one episode.

        Args:
            exclude: Tasks whose rows it must not use; each decision counts them.
            until: Newest version of the memory it may see; ``None``: all.
        """
        return CorrectedEpisode(self, exclude, until)

    def lens(
        self,
        exclude: frozenset[str] = frozenset(),
        without: frozenset[int] = frozenset(),
        snapshot: int | None = None,
    ) -> Lens:
        """How this agent looks at the memory."""
        return Lens(
            self.preset.rule,
            self.preset.retrieval,
            self.preset.gamma,
            self.trusted,
            exclude,
            without,
            self.kernel,
            self.embedder,
            self.admission,
            snapshot,
        )

    def view(
        self, scope: str, exclude: frozenset[str] = frozenset(), snapshot: int | None = None
    ) -> View:
        """The view of a scope that all episodes share."""
        with self._lock:
            key = (scope, exclude, snapshot)
            if key not in self._views:
                lens = self.lens(exclude, snapshot=snapshot)
                self._views[key] = View(self.store, scope, lens, fits_aside=self.fits_aside)
            return self._views[key]

    def take_in(self, scope: str) -> list[View]:
        """Read what was committed to a scope, ahead of a decision; returns its views."""
        with self._lock:
            views = [v for key, v in self._views.items() if key[0] == scope and self.mode != "off"]
        for view in views:
            view.refresh()
        return views

    @property
    def derivation(self) -> dict[str, Any]:
        """What rows are derived with; a store remembers it for a later rebuild or import."""
        return {
            "gamma": self.preset.gamma,
            "returns": self.preset.returns,
            "trusted": sorted(self.trusted),
        }

    def derive(self, episode: Episode, judgment: Judgment) -> tuple[Row, ...]:
        """The rows that an episode and its judgment give."""
        return derive_rows(
            episode,
            judgment,
            gamma=self.preset.gamma,
            trusted=self.trusted,
            returns=self.preset.returns,
        )

    def judged(self, episode: Episode, *, is_new: bool = True) -> Judged:
        """What an episode teaches, as far as it is admitted.

        Args:
            is_new: Whether it counts against its principal's rate; a new outcome of one that is
                stored does not.
        """
        return admitting.judged(self, episode, is_new)

    def learn(self, episode: Episode) -> Receipt:
        """Judge, derive, admit and commit; nothing is learned from what could not be judged."""
        judgment, rows, why = self.judged(episode)
        receipt = self.store.commit(episode, judgment, rows)
        return receipt if receipt.duplicate else replace(receipt, objection=why)


class CorrectedEpisode:
    """One episode: ``act`` reads the memory, ``learn`` writes it when all is over.

    Attributes:
        snapshot: Version of the memory that it reads; ``None``: all there is.
    """

    name = "jitrl"

    def __init__(self, agent: Corrected, exclude: frozenset[str], until: int | None) -> None:
        self._agent, self._exclude, self._until = agent, exclude, until
        self._attended: Attended | None = None
        self._rng = np.random.default_rng(0)
        self._goal = ""
        self._arm: Mapping[str, Any] = {}
        self.held_out = False
        self.snapshot: int | None = None

    def begin(self, task: Task, *, key: str, rng: np.random.Generator) -> None:
        """The episode starts; whether it is held out is drawn here."""
        self._rng = rng
        self.held_out = bool(self._agent.holdout) and rng.random() < self._agent.holdout
        self.snapshot, self._arm = self._agent.reading.drawn(self._rng)
        view = self._agent.view(task.scope, self._exclude, self.snapshot)
        self._attended = Attended(Session(view, self._until, task.id), self._exclude)
        self._goal = task.goal or task.id

    @property
    def view(self) -> View:
        """What it reads."""
        return self._begun("view").session.view

    def advise(self, state: State, prompt: Prompt) -> Prompt:
        """The prompt as it is: nothing of the memory enters it."""
        return prompt

    def act(
        self,
        state: State,
        prompt: Prompt,
        proposal: Proposal,
        allowed: Collection[str] | None = None,
    ) -> Decision:
        """Choose one of the proposed candidates, or one of the memory's.

        Args:
            allowed: Which of the memory's may join; ``None``: those of the prompt, if it lists any.
                A mapping of actions to risks marks them, too.

        Raises:
            InputError: If there are no candidates, one occurs twice, or a logit is not finite.
        """
        attended = self._begun("act")
        agent, rule = self._agent, self._agent.preset.rule
        if allowed is None and prompt.actions:
            allowed = prompt.actions
        attended.session.view.scored_by(proposal.scorer)
        without = agent.mode == "off" or self.held_out
        near = Neighborhood()
        if not without:
            read = partial(
                attended.session.neighborhood,
                state,
                goal=self._goal,
                features=prompt.features,
                read=collected(prompt.read),
                actions=tuple(c.action for c in proposal.candidates),
                allowed=allowed,
            )
            near = read() if agent.traced is None else agent.traced(state, read)
        seed = self._rng.bit_generator.seed_seq.spawn(1)[0]  # type: ignore[attr-defined]
        rng = np.random.PCG64(seed)
        start = None if without or rule.untried != "draw" else seed_of(rng)
        try:
            decision = decide(
                proposal.candidates,
                near,
                rule,
                np.random.Generator(rng),
                allowed=allowed,
                admission=agent.admission,
            )
            if agent.mode == "shadow" and not without:
                alone = decide(proposal.candidates, (), rule, np.random.default_rng(seed))
                decision = _shadow(decision, alone)
        except ValueError as error:
            raise InputError(str(error)) from error
        decision = replace(
            decision,
            scorer=proposal.scorer,
            mode=agent.mode,
            holdout=self.held_out,
            reason="off" if agent.mode == "off" else "holdout" if without else decision.reason,
            seed=start,
            allowed=None if without else _joining(decision, rule, allowed),
            marked=() if without else _marked(decision, allowed),
        )
        attended.decided(state, decision)
        return decision

    def took(self, action: str) -> None:
        """``action`` was done in place of what was decided last."""
        self._begun("took").took(action)

    def unasked(self, state: State, proposal: Proposal, action: str, reason: str) -> Decision:
        """The step as it was taken without asking the memory, with why it was not asked.

        Args:
            action: What was taken; one of the proposed candidates.
        """
        attended = self._begun("unasked")
        decision = decide(proposal.candidates, (), self._agent.preset.rule, self._rng)
        decision = replace(
            decision,
            action=action,
            candidates=tuple(
                replace(c, propensity=float(c.action == action)) for c in decision.candidates
            ),
            scorer=proposal.scorer,
            mode="off",
            holdout=self.held_out,
            reason=reason,
        )
        attended.decided(state, decision)
        return decision

    def retrace(self, state: State, decision: Decision) -> None:
        """A step that was decided before, by a process that is gone; the next draw is a new one."""
        attended = self._begun("retrace")
        self._rng.bit_generator.seed_seq.spawn(1)  # type: ignore[attr-defined]
        attended.decided(state, decision)

    def observe(self, reward: float | None, next_state: State | None) -> None:
        """What the last action brought; it counts at once, in this episode only."""
        self._begun("observe").observe(reward, next_state)

    def learn(self, episode: Episode) -> Receipt:
        """The episode is over: judge it, derive its rows, and commit them."""
        return self._agent.learn(self.noted(episode))

    def noted(self, episode: Episode) -> Episode:
        """The episode with what is written down of it beside its steps."""
        noted = self._begun("learn").noted(episode)
        return replace(noted, holdout=self.held_out, info={**noted.info, **self._arm})

    def _begun(self, call: str) -> Attended:
        if self._attended is None:
            raise InputError(f"{call}() came before begin(); an episode must be started first")
        return self._attended


def _joining(
    decision: Decision, rule: UpdateRule, allowed: Collection[str] | None
) -> tuple[str, ...] | Literal["any"] | None:
    """What ``Decision.allowed`` says of the actions that were allowed."""
    if rule.memory_only == "never":
        return None
    if allowed is None:
        return "any"
    return tuple(sorted(set(allowed).difference(c.action for c in decision.candidates)))


def _marked(decision: Decision, allowed: Collection[str] | None) -> tuple[tuple[str, Risk], ...]:
    """Actions that could have joined and do more than read, as the caller marked them."""
    if not isinstance(allowed, Mapping):
        return ()
    known = {c.action for c in decision.candidates}
    return tuple(sorted((a, r) for a, r in allowed.items() if r != "read" and a not in known))


def _shadow(computed: Decision, alone: Decision) -> Decision:
    """What the memory would have done, with the choice of the model alone."""
    chance = {c.action: c.propensity for c in alone.candidates}
    return replace(
        computed,
        action=alone.action,
        candidates=tuple(
            replace(c, propensity=chance.get(c.action, 0.0)) for c in computed.candidates
        ),
    )
