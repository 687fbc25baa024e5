"""Episodes played against a service at a fixed rate of requests, and how long each answer took.

Requests fall due at fixed times, whether or not earlier ones were answered, and are timed from when
they fell due: a service that stalls is charged for all that it kept waiting. The first episode of a
player is of a length drawn at random, so that players are not at the same step all the time.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Any

import numpy as np

from jitrl.bench.service.served import Served
from jitrl.bench.speed.records import Records, World

STEPS = 6
"""Decisions of an episode."""
_LOOKS = 5  # after so many episodes, a decision and a page of rows are read


@dataclass(frozen=True, slots=True)
class Shot:
    """One request.

    Attributes:
        kind: ``start``, ``decide``, ``outcome``, ``close`` or ``look``.
        ms: From when it fell due to its answer.
        served_ms: From when it was sent.
        status: Of HTTP; 0 where there was no answer.
    """

    kind: str
    ms: float
    served_ms: float
    status: int
    is_degraded: bool = False


@dataclass(slots=True)
class Played:
    """All requests of a run."""

    shots: list[Shot] = field(default_factory=list)
    first_error: str = ""


@dataclass(frozen=True, slots=True)
class _Request:
    kind: str
    method: str
    path: str
    body: dict[str, Any] | None = None


def play(
    served: Served,
    world: World,
    *,
    rate: float,
    seconds: float,
    players: int,
    learned: float,
    seed: int,
    tell: Callable[[float], None],
) -> Played:
    """Play for so long.

    Args:
        rate: Requests a second, of all players together.
        players: Episodes at once, each on a connection of its own.
        learned: Share of episodes that end with an outcome; the others are closed without one.
        tell: Is told the share of the time that is over.
    """
    out, lock = Played(), threading.Lock()
    records = world.draw(4000 * STEPS, seed, run=STEPS)
    began, total = time.monotonic() + 0.2, round(rate * seconds)

    def player(number: int) -> None:
        shots: list[Shot] = []
        problem = ""
        rng = np.random.default_rng([seed, number])
        line = _Line(served)
        asked = _requests(world, records, number, players, learned, rng)
        for place, request in zip(range(number, total, players), asked, strict=False):
            due = began + place / rate
            pause = due - time.monotonic()
            if pause > 0:
                time.sleep(pause)
            sent = time.monotonic()
            status, body = line.send(request)
            now = time.monotonic()
            is_degraded = b'"degraded":true' in body
            ms, served_ms = (now - due) * 1e3, (now - sent) * 1e3
            shots.append(Shot(request.kind, ms, served_ms, status, is_degraded))
            if not 200 <= status < 300:
                problem = problem or f"{request.method} {request.path}: {status} {body[:200]!r}"
        line.close()
        with lock:
            out.shots += shots
            out.first_error = out.first_error or problem

    threads = [threading.Thread(target=player, args=(n,), daemon=True) for n in range(players)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        tell(min(1.0, max(0.0, (time.monotonic() - began) / seconds)))
        threads[0].join(min(1.0, seconds / 20))
        for thread in threads:
            if not thread.is_alive():
                thread.join()
        time.sleep(min(1.0, seconds / 20))
    return out


def _requests(
    world: World,
    records: Records,
    player: int,
    players: int,
    learned: float,
    rng: np.random.Generator,
) -> Iterator[_Request]:
    """What one player asks, without end."""
    run = len(records) // STEPS
    mark = f"{time.time_ns():x}"
    number = 0
    while True:
        first = (player + number * players) % run * STEPS
        key = f"bench-{mark}-{player}-{number}"
        at = f"/v1/episodes/{key}"
        scope, task = str(int(records.site[first])), f"task-{records.task[first]}"
        yield _Request("start", "POST", "/v1/episodes", {"task": task, "scope": scope, "key": key})
        for step in range(STEPS if number else int(rng.integers(1, STEPS + 1))):
            state = world.state(records, first + step)
            actions = world.choices(records, first + step)
            logits = rng.normal(0.0, 2.0, len(actions)).round(4).tolist()
            body = {
                "state": {"text": state.text, "context": state.context, "place": state.place},
                "candidates": dict(zip(actions, logits, strict=True)),
                "step": step,
                "scorer": "bench",
            }
            yield _Request("decide", "POST", f"{at}/decide", body)
        if rng.random() < learned:
            said = {
                "value": bool(records.is_solved[first]),
                "basis": "test",
                "evaluator": "environment",
            }
            yield _Request("outcome", "POST", f"{at}/outcomes", said)
        else:
            yield _Request("close", "POST", f"{at}/close", {})
        number += 1
        if number % _LOOKS == 0:
            yield _Request("look", "GET", f"/v1/decisions/{key}:0")
            yield _Request("look", "GET", "/v1/memory?limit=20")


class _Line:
    """A connection that is kept open."""

    def __init__(self, served: Served) -> None:
        self._served, self._open = served, False
        self._connection = HTTPConnection(served.host, served.port, timeout=60.0)
        self._headers = {
            "Authorization": f"Bearer {served.key}",
            "Content-Type": "application/json",
        }

    def send(self, request: _Request) -> tuple[int, bytes]:
        """Status and body of the answer; 0 and why where there is none."""
        body = None if request.body is None else json.dumps(request.body).encode()
        try:
            if not self._open:
                self._connection.connect()
                self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._open = True
            self._connection.request(request.method, request.path, body, self._headers)
            answer = self._connection.getresponse()
            return answer.status, answer.read()
        except (OSError, HTTPException) as error:
            self.close()
            return 0, repr(error).encode()

    def close(self) -> None:
        """Hang up; the next request opens it again."""
        self._connection.close()
        self._open = False
