"""What a service took: answers under load, and memory and handles over a long time."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from jitrl.bench import machine
from jitrl.bench.service import played, served
from jitrl.bench.service.played import Shot
from jitrl.bench.service.served import Seen, Served, look, serving

SCHEMA = "jitrl.bench.serve/1"
What = Literal["load", "soak"]
_LOOKED = 60  # times that the process is looked at
_MIB = 2.0**20
_HANDLES = 32  # that may be opened, from the second quarter on: players connect when they can
_GROWTH: dict[What, float] = {"load": 256.0, "soak": 32.0}  # MiB in that time; a load is learned


@dataclass(frozen=True, slots=True)
class Times:
    """Answers of one kind, in milliseconds from when the request fell due.

    Attributes:
        served_p50, served_p99: From when it was sent.
    """

    kind: str
    requests: int
    p50: float
    p90: float
    p99: float
    worst: float
    served_p50: float
    served_p99: float


@dataclass(frozen=True, slots=True)
class Grown:
    """What the process took over the time, from its second quarter on.

    Attributes:
        resident_mib: First and last.
        mib_per_hour: Slope of a line through all that was seen in that time.
        handles, threads: Least and most.
    """

    seconds: float
    resident_mib: tuple[float, float]
    mib_per_hour: float
    handles: tuple[int, int]
    threads: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Report:
    """All that was measured.

    Attributes:
        errors: Answers other than 2xx, and missing ones.
        degraded: Decisions that were the model's own choice because the memory was late or failed.
        rate: Requests a second that were sent.
        cpu: Share of one core that the service took; ``None`` where the system does not tell.
        grown: ``None`` where the system does not tell.
    """

    schema: str
    what: What
    machine: dict[str, Any]
    load_after: float | None
    settings: dict[str, Any]
    start_s: float
    times: tuple[Times, ...]
    errors: int
    first_error: str
    degraded: int
    rate: float
    cpu: float | None
    grown: Grown | None


def measure(
    what: What,
    *,
    records: int,
    rate: float,
    seconds: float,
    players: int,
    deadline_ms: float,
    learned: float,
    seed: int,
    tell: Callable[[str, float], None],
) -> Report:
    """Fill a memory, serve it, play against it.

    Args:
        tell: Is told the stage and the share of it that is done.
    """
    facts = machine.facts()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        world = served.fill(folder, records, seed, lambda share: tell("filling", share))
        tell("starting", 0.0)
        log = folder / "serve.log"
        with serving(folder, deadline_ms=deadline_ms, log=log) as service:
            tell("starting", 1.0)
            seen: list[Seen] = []
            watch = _watch(service, seen, seconds)

            def moved(share: float) -> None:
                watch()
                tell(what, share)

            first, began = look(service.process), time.monotonic()
            made = played.play(
                service,
                world,
                rate=rate,
                seconds=seconds,
                players=players,
                learned=learned,
                seed=seed + 1,
                tell=moved,
            )
            last, took = look(service.process), time.monotonic() - began
    cpu = None if first is None or last is None else (last.cpu_s - first.cpu_s) / took
    shots = made.shots
    return Report(
        SCHEMA,
        what,
        facts,
        os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        {
            "records": records,
            "rate": rate,
            "seconds": seconds,
            "players": players,
            "deadline_ms": deadline_ms,
            "learned": learned,
            "seed": seed,
        },
        service.start_s,
        tuple(_times(kind, shots) for kind in ("all", *sorted({s.kind for s in shots}))),
        sum(not 200 <= shot.status < 300 for shot in shots),
        made.first_error,
        sum(shot.is_degraded for shot in shots),
        len(shots) / seconds,
        cpu,
        _grown(seen),
    )


def faults(report: Report) -> list[str]:
    """What a run must not show on any machine, however slow: errors, and growth without need."""
    found = []
    if report.errors:
        found.append(f"{report.errors} requests failed: {report.first_error}")
    if (grown := report.grown) is not None:
        least, most = grown.handles
        if most - least > _HANDLES:
            found.append(f"handles went from {least} to {most}; {_HANDLES} more may be opened")
        first, last = grown.resident_mib
        if last - first > (allowed := _GROWTH[report.what]):
            found.append(f"memory grew from {first:.0f} to {last:.0f} MiB; {allowed:.0f} may be")
    return found


def _watch(service: Served, seen: list[Seen], seconds: float) -> Callable[[], None]:
    """Looks at the process now and then, when called often."""
    every = seconds / _LOOKED

    def watch() -> None:
        if not seen or time.monotonic() - seen[-1].at >= every:
            found = look(service.process)
            if found is not None:
                seen.append(found)

    return watch


def _times(kind: str, shots: list[Shot]) -> Times:
    of = [shot for shot in shots if kind in ("all", shot.kind)]
    p50, p90, p99, worst = np.percentile([shot.ms for shot in of], (50, 90, 99, 100)).tolist()
    served_p50, served_p99 = np.percentile([shot.served_ms for shot in of], (50, 99)).tolist()
    return Times(kind, len(of), p50, p90, p99, worst, served_p50, served_p99)


def _grown(seen: list[Seen]) -> Grown | None:
    later = seen[len(seen) // 4 :]
    if len(later) < 2:
        return None
    at = np.array([s.at for s in later])
    resident = np.array([s.resident for s in later]) / _MIB
    slope = float(np.polyfit(at - at[0], resident, 1)[0]) if len(later) > 2 else 0.0
    return Grown(
        float(at[-1] - at[0]),
        (float(resident[0]), float(resident[-1])),
        slope * 3600.0,
        (min(s.handles for s in later), max(s.handles for s in later)),
        (min(s.threads for s in later), max(s.threads for s in later)),
    )
