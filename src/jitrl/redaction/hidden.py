"""What one episode hides from its memory, and gives back to whoever acts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from jitrl.redaction.placeholders import Placeholders
from jitrl.types import Candidate, Decision, State


class Hidden:
    """One episode: what goes to the memory has placeholders, what comes back can be executed.

    Args:
        texts: What the episode has shown before its first step, such as its task.
    """

    def __init__(self, redaction: Placeholders, texts: Collection[str] = ()) -> None:
        self._redaction = redaction
        self._was: dict[str, str] = {}  # of this step: an action → as it was given
        self._secrets: dict[str, str] = {}  # of this episode: a placeholder → what it stands for
        for text in texts if redaction else ():
            self._secrets |= redaction.found(text).secrets

    def state(self, state: State) -> State:
        """The state without secrets; a new step begins."""
        self._was = {}
        if not self._redaction:
            return state
        parts = [self._redaction.found(part) for part in (state.text, state.context, state.place)]
        for part in parts:
            self._secrets |= part.secrets
        return State(*(part.text for part in parts)) if any(p.secrets for p in parts) else state

    def candidates(self, given: Sequence[Candidate]) -> tuple[Candidate, ...]:
        """Candidates without secrets. Two that differ by the writing of one alone stay two."""
        if not self._redaction:
            return tuple(given)
        out: list[Candidate] = []
        taken = set[str]()
        for candidate in given:
            action = plain = self._name(candidate.action)
            number = 1
            while action in taken:
                number += 1
                action = f"{plain} #{number}"
            taken.add(action)
            if action != candidate.action:
                self._was[action] = candidate.action
                candidate = replace(candidate, action=action)
            out.append(candidate)
        return tuple(out)

    def names(self, actions: Collection[str]) -> Collection[str]:
        """Actions that are allowed, without secrets, beside those of ``candidates``.

        Args:
            actions: A mapping says what each may do, and so does what is returned then.
        """
        if not self._redaction:
            return actions
        for action in actions:
            plain = self._name(action)
            if plain != action:
                self._was.setdefault(plain, action)
        was = {self._name(action): action for action in actions} | self._was
        if isinstance(actions, Mapping):
            return {plain: actions.get(action, "read") for plain, action in was.items()}
        return was.keys()

    def name(self, action: str) -> str:
        """An action of this step, as ``candidates`` names it."""
        if not self._redaction:
            return action
        return next((plain for plain, was in self._was.items() if was == action), None) or (
            self._name(action)
        )

    def shown(self, decision: Decision) -> Decision:
        """The decision as it is to be executed.

        An action of the memory's with a secret that this episode has not shown keeps the
        placeholder.
        """
        if not (self._was or self._secrets):
            return decision
        candidates = tuple(
            c if (shown := self._restored(c.action)) == c.action else replace(c, action=shown)
            for c in decision.candidates
        )
        if candidates == decision.candidates:
            return decision
        return replace(decision, action=self._restored(decision.action), candidates=candidates)

    def said(self, text: str) -> str:
        """A text of the memory's, with what this episode has shown in place of placeholders."""
        return self._restored(text)

    def _name(self, action: str) -> str:
        found = self._redaction.found(action)
        self._secrets |= found.secrets
        return found.text

    def _restored(self, action: str) -> str:
        if action in self._was:
            return self._was[action]
        if "{" in action:
            for placeholder, secret in self._secrets.items():
                action = action.replace(placeholder, secret)
        return action
