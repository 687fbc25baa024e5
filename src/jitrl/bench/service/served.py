"""A service that is measured: a filled memory, a key, and `jitrl serve` in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from jitrl import presets
from jitrl.bench.pool import Tell
from jitrl.bench.speed.episodes import STEPS
from jitrl.bench.speed.memories import Memory, commit
from jitrl.bench.speed.records import World
from jitrl.errors import StoreError
from jitrl.memory.view import Lens
from jitrl.service.keys import Keys
from jitrl.service.tenants import KEYS
from jitrl.stores.sqlite import SQLiteStore

TENANT = "bench"
_SECONDS = 600.0  # to read the memory


@dataclass(frozen=True, slots=True)
class Served:
    """A service that listens.

    Attributes:
        start_s: Seconds from its start until it was ready: all of the memory is read.
    """

    host: str
    port: int
    key: str
    process: int
    start_s: float


@dataclass(frozen=True, slots=True)
class Seen:
    """A process at one moment.

    Attributes:
        at: Seconds of the monotonic clock.
        resident: Bytes in memory.
        handles: Open files and sockets.
        cpu_s: Seconds of CPU time so far.
    """

    at: float
    resident: int
    handles: int
    threads: int
    cpu_s: float


def look(process: int) -> Seen | None:
    """The process now; ``None`` where the system does not tell (it is not Linux)."""
    of = Path(f"/proc/{process}")
    if not (of / "statm").exists():
        return None
    resident = int((of / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    after = (of / "stat").read_text().rpartition(")")[2].split()
    cpu = (int(after[11]) + int(after[12])) / os.sysconf("SC_CLK_TCK")
    handles = sum(1 for _ in (of / "fd").iterdir())
    return Seen(time.monotonic(), resident, handles, int(after[17]), cpu)


def fill(folder: Path, records: int, seed: int, tell: Tell) -> World:
    """A memory of ``records`` rows for the tenant; the world that they are of."""
    world = World(records)
    named = presets.load("default")
    lens = Lens(named.rule, named.retrieval, named.gamma)
    with SQLiteStore(folder / f"{TENANT}.db") as store:
        stored = world.draw(records // STEPS * STEPS, seed, run=STEPS)
        commit(Memory("scopes", store, lens), world, stored, tell)
    return world


@contextmanager
def serving(folder: Path, *, deadline_ms: float, log: Path) -> Iterator[Served]:
    """`jitrl serve` on ``folder``, ready, until the block ends.

    Raises:
        StoreError: If it does not start.
    """
    _, key = Keys(folder / KEYS).add("bench", TENANT, ["admin"])
    command = [sys.executable, "-m", "jitrl", "serve", "--folder", str(folder), "--port", "0"]
    command += ["--rate", "0", "--deadline", f"{deadline_ms:g}", "--json"]
    began = time.monotonic()
    with log.open("wb") as said:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said)
        try:
            address = _address(process, log)
            host, port = address.hostname or "127.0.0.1", address.port or 80
            _wait(host, port, began)
            yield Served(host, port, key, process.pid, time.monotonic() - began)
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout is not None:
                process.stdout.close()


def _address(process: subprocess.Popen[bytes], log: Path) -> SplitResult:
    text = b""
    while process.stdout is not None and (line := process.stdout.readline()):
        text += line
        if line.rstrip() == b"}":
            return urlsplit(str(json.loads(text)["address"]))
    raise StoreError(f"the service did not start: {log.read_text(errors='replace')[-500:]}")


def _wait(host: str, port: int, began: float) -> None:
    while time.monotonic() - began < _SECONDS:
        connection = HTTPConnection(host, port, timeout=30.0)
        try:
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass  # it does not listen yet
        finally:
            connection.close()
        time.sleep(0.1)
    raise StoreError(f"the service was not ready after {_SECONDS:g} s")
