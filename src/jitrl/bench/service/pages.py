"""How long the pages of the dashboard take over a memory, asked one after another."""

from __future__ import annotations

import base64
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from typing import Any

from jitrl.bench import machine
from jitrl.bench.service import played, served
from jitrl.bench.service.served import TENANT, Served, serving
from jitrl.service.keys import Keys
from jitrl.service.tenants import KEYS
from jitrl.stores.sqlite import SQLiteStore

SCHEMA = "jitrl.bench.serve.pages/1"
PAGES = ("curve", "decisions", "episodes", "memory", "rules", "evaluator", "cost", "doctor")
"""The views of the navigation."""
_TIMES = 5
_WAITS = b'hx-trigger="every 1s"'  # a page whose content is still being made
_RATE = 50.0


@dataclass(frozen=True, slots=True)
class Page:
    """One page.

    Attributes:
        answer_s: Median seconds until the server's first answer, which may say that it is waited.
        whole_s: Median seconds until all of it was there.
        worst_s: The longest of these.
        again_s: Median seconds of asking once more.
        kib: Size of the whole page.
    """

    name: str
    answer_s: float
    whole_s: float
    worst_s: float
    again_s: float
    kib: float


@dataclass(frozen=True, slots=True)
class Report:
    """All that was measured."""

    schema: str
    machine: dict[str, Any]
    settings: dict[str, Any]
    episodes: int
    decisions: int
    pages: tuple[Page, ...]


def measure(
    records: int, seed: int, tell: Callable[[str, float], None], *, seconds: float = 10.0
) -> Report:
    """Fill a memory, serve it, play a little, and ask for each page by five keys.

    Each key has its own pages, so nothing that was made for one is there for the next.

    Args:
        tell: Is told the stage and the share of it that is done.
        seconds: How long episodes are played, so that there are decisions.

    Raises:
        StoreError: If the service does not start.
        RuntimeError: If a page is not answered with 200.
    """
    facts = machine.facts()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        world = served.fill(folder, records, seed, lambda share: tell("filling", share))
        known = [Keys(folder / KEYS).add(f"reader {n}", TENANT, ["read"])[1] for n in range(_TIMES)]
        tell("starting", 0.0)
        with serving(folder, deadline_ms=250.0, log=folder / "serve.log") as service:
            tell("starting", 1.0)
            played.play(
                service,
                world,
                rate=_RATE,
                seconds=seconds,
                players=4,
                learned=1.0,
                seed=seed + 1,
                tell=lambda share: tell("playing", share),
            )
            with SQLiteStore(folder / f"{TENANT}.db", readonly=True) as store:
                found = list(store.decisions())
                episodes = store.stats().episodes
                (row, *_) = store.rows(found[-1].episode)
            asked = {page: page for page in PAGES}
            asked["a decision"] = f"decision?id={found[-1].id.replace('#', '%23')}"
            asked["an episode"] = f"episode?key={found[-1].episode}"
            asked["a row"] = f"row?id={row.id}"
            pages = []
            for number, (page, path) in enumerate(asked.items()):
                tell("pages", number / len(asked))
                pages.append(_timed(service, page, path, known))
    return Report(
        SCHEMA,
        facts,
        {"records": records, "seed": seed, "times": _TIMES},
        sum(episodes.values()),
        len(found),
        tuple(pages),
    )


def _timed(service: Served, name: str, path: str, keys: list[str]) -> Page:
    first, whole, again, size = list[float](), list[float](), list[float](), 0
    for key in keys:
        began = time.perf_counter()
        body = _asked(service, path, key)
        first.append(time.perf_counter() - began)
        while _WAITS in body:
            time.sleep(0.05)
            body = _asked(service, path, key)
        whole.append(time.perf_counter() - began)
        began, size = time.perf_counter(), len(body)
        _asked(service, path, key)
        again.append(time.perf_counter() - began)
    return Page(name, median(first), median(whole), max(whole), median(again), size / 1024)


def _asked(service: Served, path: str, key: str) -> bytes:
    """The page.

    Raises:
        RuntimeError: If it is none.
    """
    said = base64.b64encode(f"bench:{key}".encode()).decode()
    connection = HTTPConnection(service.host, service.port, timeout=600.0)
    try:
        address = f"/ui/p/{TENANT}/{path}"
        connection.request("GET", address, headers={"Authorization": f"Basic {said}"})
        answer = connection.getresponse()
        body = answer.read()
    finally:
        connection.close()
    if answer.status != 200:
        raise RuntimeError(f"{address} answered {answer.status}: {body[:200]!r}")
    return body
