"""A client of the service, in Python: the library's two calls over HTTP.

``decide`` never fails the agent: where the service cannot be reached, or fails, the choice is the
model's own and says ``degraded``. Such a step is unknown to the service, so the rest of its episode
is decided alike and nothing is learned from it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from types import TracebackType
from typing import Any, Literal

from jitrl import given
from jitrl.errors import InputError, brief
from jitrl.service.answers import Choice, Marked, Notes, Receipt, Row, Rows, Rule, Seat
from jitrl.service.unheard import Refused, Unreachable
from jitrl.service.wire import Wire
from jitrl.types import Basis, EpisodeStatus, RowStatus, RuleStatus, State

__all__ = [
    "Choice",
    "Client",
    "Marked",
    "Notes",
    "Receipt",
    "Refused",
    "RemoteEpisode",
    "Row",
    "Rows",
    "Rule",
    "Seat",
    "Unreachable",
]

_log = logging.getLogger(__name__)

_TRIES = 2


class Client:
    """A service, for any number of threads.

    Args:
        address: As ``jitrl serve`` prints it: ``http://127.0.0.1:8321``.
        key: As ``jitrl serve keys add`` printed it.
        timeout: Seconds for an answer.
        patience: Seconds for a decision; then the choice is the model's own. Where the service is
            busy (429), it is asked once more if it says to come again within as many.
        transport: How ``httpx`` sends; its own way if ``None``.

    Raises:
        InputError: If nothing can be asked at that address, or with that key.
    """

    def __init__(
        self,
        address: str,
        key: str,
        *,
        timeout: float = 60.0,
        patience: float = 2.0,
        transport: Any = None,
    ) -> None:
        self.patience = patience
        self._wire = Wire(address, key, timeout, patience, transport)

    def close(self) -> None:
        """Hang up; may be called twice."""
        self._wire.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def episode(
        self,
        task: str,
        *,
        scope: str = "",
        key: str | None = None,
        goal: str | None = None,
        family: str = "",
    ) -> RemoteEpisode:
        """One run at ``task``, as a context manager; see ``jitrl.JitRL.episode``."""
        return RemoteEpisode(self, task, scope, key, goal, family)

    def outcome(
        self,
        episode: str,
        value: float | bool | None,
        *,
        basis: Basis = "agent_self_report",
        evaluator: str = "outcome",
        told: bool = False,
        once: str = "",
    ) -> Receipt:
        """Tell, correct or (``None``) withdraw how an episode ended.

        Args:
            episode: Id of the episode.
            once: Idempotency key.

        Raises:
            Refused: If the service does not take it.
            Unreachable: If it gave no answer.
        """
        body = {"value": value, "basis": basis, "evaluator": evaluator, "told": told}
        headers = {"Idempotency-Key": once} if once else {}
        return self._wire.post(f"/v1/episodes/{episode}/outcomes", body, Receipt, headers=headers)

    def decision(self, id: str) -> dict[str, Any]:
        """A decision with every number that made it. Errors as ``outcome``."""
        return self._wire.get(f"/v1/decisions/{id}", {}, dict[str, Any])

    def rows(
        self,
        *,
        limit: int = 100,
        before: int | None = None,
        scope: str | None = None,
        status: RowStatus | None = None,
        episode: str | None = None,
    ) -> Rows:
        """Rows of the memory, the newest first. Errors as ``outcome``."""
        asked = {
            "limit": limit,
            "before": before,
            "scope": scope,
            "status": status,
            "episode": episode,
        }
        return self._wire.get("/v1/memory", asked, Rows)

    def rules(self, *, scope: str | None = None, status: RuleStatus | None = None) -> list[Rule]:
        """Rules in words, and what they have shown. Errors as ``outcome``."""
        found = self._wire.get(
            "/v1/rules", {"scope": scope, "status": status}, dict[str, list[Rule]]
        )
        return found["rules"]

    def quarantine(
        self, *, row: int | None = None, episode: str | None = None, reason: str = ""
    ) -> Marked:
        """Keep a row, or all of an episode, out of every decision. Errors as ``outcome``."""
        return self._mark("quarantine", row, episode, reason)

    def restore(
        self, *, row: int | None = None, episode: str | None = None, reason: str = ""
    ) -> Marked:
        """Let them take part again. Errors as ``outcome``."""
        return self._mark("restore", row, episode, reason)

    def _mark(self, verb: str, row: int | None, episode: str | None, reason: str) -> Marked:
        at = f"/v1/memory/{row}" if row is not None else f"/v1/episodes/{episode}"
        return self._wire.post(f"{at}:{verb}", {"reason": reason}, Marked)


class RemoteEpisode:
    """One run: ``notes`` and ``decide`` at each step, ``outcome`` or ``close`` at the end.

    For one thread.

    Leaving the ``with`` block without either closes it: as truncated, or as aborted if an exception
    ended it.

    Attributes:
        id: For addresses; "" where the service could not be reached at the start.
        is_lost: Whether a step is unknown to the service.
    """

    def __init__(
        self,
        client: Client,
        task: str,
        scope: str,
        key: str | None,
        goal: str | None = None,
        family: str = "",
    ) -> None:
        self._client, self._wire, self._step = client, client._wire, 0
        self.id, self.is_lost, self._is_over = "", False, False
        named = {"key": key, "goal": goal}
        body = {"task": task, "scope": scope, "family": family}
        body |= {name: text for name, text in named.items() if text is not None}
        try:
            seat = self._wire.post("/v1/episodes", body, Seat, tries=_TRIES if key else 1)
        except Unreachable as error:
            self._lose(error)
            return
        self.id, self._step = seat.id, seat.steps

    def notes(self, state: str | State, actions: Collection[str] = ()) -> str:
        """Rules for the prompt of the next step; "" if none is told, or the service is not heard.

        Args:
            actions: Names of all that can be done there, if they are known by now.

        Raises:
            Refused: If a value cannot be used, or the episode is over.
        """
        with _refusing():
            known = sorted(given.names(actions, "actions"))
            body = {"state": _sendable(state), "actions": known, "step": self._step}
        if self.is_lost:
            return ""
        path, wait = f"/v1/episodes/{self.id}/notes", self._client.patience
        try:
            return self._wire.post(path, body, Notes, tries=_TRIES, timeout=wait).notes
        except Unreachable as error:
            self._lose(error)
            return ""

    def decide(
        self,
        state: str | State,
        candidates: Mapping[str, float],
        *,
        more: Collection[str] = (),
        scorer: str = "caller",
        seen: str = "",
    ) -> Choice:
        """The choice at the next step; the model's own where the service cannot be heard.

        Args:
            more: Other actions that can be executed here; the memory may bring them in.
            seen: What the agent saw, for people and judges; 2,000 characters of it are kept.

        Raises:
            Refused: If a value cannot be used, or the episode is over.
        """
        with _refusing():
            logits, others = _logits(candidates), sorted(given.names(more, "more"))
            body: dict[str, Any] = {
                "state": _sendable(state),
                "candidates": logits,
                "more": others,
                "step": self._step,
                "scorer": scorer,
            }
        own = max(logits, key=logits.__getitem__)
        if self.is_lost:
            return Choice(own, degraded=True, reason="unreachable", step=self._step)
        if seen:
            body["seen"] = seen
        path, wait = f"/v1/episodes/{self.id}/decide", self._client.patience
        try:
            made = self._wire.post(path, body, Choice, tries=_TRIES, timeout=wait)
            if made.step != self._step or not (made.action in logits or made.action in others):
                raise Unreachable(f"{brief(made.action)} at step {made.step} answers nothing asked")
        except Unreachable as error:
            self._lose(error)
            return Choice(own, degraded=True, reason="unreachable", step=self._step)
        self._step += 1
        return made

    def took(self, action: str) -> None:
        """``action`` was done in place of what was decided. Errors as ``decide``."""
        self._say("took", {"action": action})

    def reward(self, value: float) -> None:
        """Reward of the step just decided. Errors as ``decide``."""
        self._say("steps", {"reward": value}, {"Idempotency-Key": os.urandom(8).hex()})

    def _say(
        self, what: str, body: dict[str, Any], headers: Mapping[str, str] | None = None
    ) -> None:
        """Say something of the step just decided; where it is not heard, the step is lost."""
        if not self.is_lost:
            if not self._step:
                raise Refused(HTTPStatus.CONFLICT, f"{brief(body)} came before the first decision")
            path, said = f"/v1/episodes/{self.id}/{what}", body | {"step": self._step - 1}
            try:
                self._wire.post(path, said, Seat, tries=_TRIES, headers=headers)
            except Unreachable as error:
                self._lose(error)

    def outcome(self, value: float | bool, **said: Any) -> Receipt | None:
        """How it ended; ``None`` where a step was lost, so that nothing may be learned.

        Takes what ``Client.outcome`` takes. Errors as there.
        """
        if self.is_lost:
            self.close("aborted")
            return None
        receipt = self._client.outcome(self.id, value, **said)
        self._is_over = True
        return receipt

    def close(self, status: EpisodeStatus = "terminated") -> None:
        """It is over; the outcome may come later. Errors as ``Client.outcome``."""
        self._is_over = True
        if not self.id:
            return
        try:
            path = f"/v1/episodes/{self.id}/close"
            self._wire.post(path, {"status": "aborted" if self.is_lost else status}, Receipt)
        except (Unreachable, Refused):
            if not self.is_lost:
                raise

    def _lose(self, error: Unreachable) -> None:
        """Go on without the service."""
        _log.warning("service not heard episode=%s error=%s", self.id, error)
        self.is_lost = True

    def __enter__(self) -> RemoteEpisode:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> Literal[False]:
        if not self._is_over:
            try:
                self.close("truncated" if error is None else "aborted")
            except Unreachable as away:  # the service closes it itself once it was idle
                self._lose(away)
            except Refused as no:  # as while the outcome is judged that the caller waited for
                if error is None:
                    raise
                _log.warning("episode not closed episode=%s error=%s", self.id, no)
        return False


@contextmanager
def _refusing() -> Iterator[None]:
    """Refuse what the library does not take either, before it is sent."""
    try:
        yield
    except InputError as error:
        raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, f"{error}") from error


def _logits(candidates: Mapping[str, float]) -> dict[str, float]:
    if not isinstance(candidates, Mapping):
        raise InputError(
            f"candidates is {brief(candidates)}; it must be a mapping of actions to logits"
        )
    return {c.action: c.logit for c in given.candidates(candidates, None)}


def _sendable(state: str | State) -> str | dict[str, str]:
    checked = given.state(state)
    if isinstance(state, str):
        return checked.text
    return {"text": checked.text, "context": checked.context, "place": checked.place}
