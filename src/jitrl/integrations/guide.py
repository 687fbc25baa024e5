"""A memory beside a tool-calling agent: one decision for each answer of its model.

The model answers first. Its own answer gets the top score, every other tool that it was offered
(and answering in words) a low one, and the memory decides. Where that changes the choice, the
framework's adapter makes one more call with the chosen tool forced, which fills the arguments.

Whatever fails in here leaves the agent alone: the model's own answer goes through, the failure is
logged as ``degraded``, and ``GuidedEpisode.degraded`` says it.
"""

from __future__ import annotations

import logging
import os
import weakref
from collections.abc import Callable, Collection
from typing import Any

from jitrl import api
from jitrl.api import JitRL
from jitrl.errors import ConfigError, InputError
from jitrl.integrations.conversation import StateOf, state_of
from jitrl.integrations.guided import ACTIVE, GuidedEpisode
from jitrl.integrations.naming import task_of
from jitrl.integrations.options import Scores, check_function, checked
from jitrl.integrations.tools import Values
from jitrl.types import Basis

__all__ = ["Check", "Guide", "GuidedEpisode"]

_log = logging.getLogger(__name__)

Check = Callable[[GuidedEpisode], float | bool | None]
"""How an episode ended, from the world; ``None`` if that is not known."""


class Guide:
    """A memory beside an agent; the adapters of frameworks are this class with their hooks.

    Args:
        memory: An open memory, or the file of one, opened with ``settings``.
        scope: Episodes of one scope learn from each other, and from no others.
        state: The state of a turn, from its messages; ``conversation.state_of`` if not given.
        values: Tool → argument → values, for arguments that are part of the choice though their
            schema does not list their values.
        unforced: Tools that the memory never changes a choice to; the model may call them itself.
        writes: Tools that change something, all with ``True`` or ``*``. The memory does not try
            them out: it changes a choice to one that two trusted episodes took in states like this
            one (settings ``admission.support`` and ``admission.write``).
        observed: Whether the journal keeps what the model was shown last at each turn: the task and
            results of tools, redacted and cut; else only the masked state is kept.
        score: Logits of the actions; if not given, the model's own action has probability ``p0``
            and the others share the rest (scorer ``single``).
        check: How an episode ended, for episodes that nobody finishes.
        basis: What an outcome rests on where ``finish`` does not say.
        settings: Of ``jitrl.open``, where ``memory`` is a file: ``holdout=0.2``.

    Raises:
        ConfigError: If an option has an impossible value, or is not known.
        InputError, StoreError: If the memory cannot be opened.
    """

    def __init__(
        self,
        memory: JitRL | str | os.PathLike[str],
        *,
        scope: str = "",
        state: StateOf = state_of,
        values: Values | None = None,
        unforced: Collection[str] = (),
        writes: Collection[str] | bool = (),
        observed: bool = True,
        score: Scores | None = None,
        p0: float = 0.8,
        check: Check | None = None,
        basis: Basis = "agent_self_report",
        **settings: Any,
    ) -> None:
        self.options = checked(
            scope=scope,
            state=state,
            values=values,
            unforced=unforced,
            writes=writes,
            observed=observed,
            score=score,
            p0=p0,
            basis=basis,
        )
        if check is not None:
            check_function("check", check)
        self.check = check
        if settings and isinstance(memory, JitRL):
            known = f"the memory is open already; give {', '.join(settings)} to jitrl.open"
            raise ConfigError(f"no option of a guide, and {known}")
        self.memory = memory if isinstance(memory, JitRL) else api.open(memory, **settings)
        if self.memory is not memory:  # opened here, so closed with the guide
            weakref.finalize(self, self.memory.close)

    def episode(
        self,
        text: str = "",
        *,
        task: str | None = None,
        scope: str | None = None,
        key: str | None = None,
    ) -> GuidedEpisode:
        """One run of the agent at what ``text`` asks, as a context manager.

        Args:
            text: What the agent is asked.
            task: The kind of thing that is; if not given, ``text`` with its numbers, dates and
                addresses masked as in a state.
            scope: The guide's own if not given.
            key: Names this run, not the task; made up if not given.

        Raises:
            InputError: If one of them is no text, or there is neither a text nor a task, or the
                key is empty.
        """
        within = self.options.scope if scope is None else scope
        return GuidedEpisode(self, task_of(text) if task is None else task, within, key, text)

    def begun(self, text: str = "", **about: Any) -> GuidedEpisode | None:
        """As ``episode``, for a run that the framework begins; ``None`` if it cannot be one."""
        try:
            return self.episode(text, **about)
        except InputError as error:
            _log.warning("degraded: a run is no episode, so its agent acts alone: %s", error)
            return None

    @property
    def active(self) -> GuidedEpisode | None:
        """The innermost episode of this guide that is under way in this context."""
        return next((e for e in reversed(ACTIVE.get()) if e.guide is self and e.is_open), None)
