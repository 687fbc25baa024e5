"""The shop's process, from outside: start it, put it back, ask what has changed, end it."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from importlib.util import find_spec
from typing import Any

from jitrl.envs.aside import popen
from jitrl.errors import MissingExtra, WorldError

_START, _ANSWER = 60.0, 20.0  # seconds; a busy machine takes a while


def require_oscar() -> None:
    """Stop where django-oscar is missing.

    Raises:
        MissingExtra: If it is not installed.
    """
    if find_spec("oscar") is None or find_spec("django") is None:
        raise MissingExtra("django-oscar is not installed: pip install 'jitrl[shop]'")


class SiteProcess:
    """A running site. Django's settings hold for a whole process, so each has one of its own.

    Raises:
        WorldError: If it does not start, or ends.
    """

    def __init__(self, seed: int, language: str) -> None:
        self._process = popen(
            [sys.executable, "-W", "ignore", "-m", "jitrl.envs.shop.server", str(seed), "0"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env={**os.environ, "JITRL_SHOP_LANGUAGE": language, "PYTHONHASHSEED": "0"},
        )
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._said = ""
        self._threads = [threading.Thread(target=f, daemon=True) for f in (self._hear, self._log)]
        for thread in self._threads:
            thread.start()
        self.url = f"http://127.0.0.1:{self._answer(_START)['port']}"

    def reset(self) -> None:
        """Put the database back as it was made."""
        self._ask("reset")

    def changes(self) -> list[list[Any]]:
        """``[table, key, row as made, row as it is]`` of all rows that differ."""
        found: list[list[Any]] = self._ask("changes")
        return found

    def close(self) -> None:
        """End the process; may be called twice."""
        process = self._process
        if process.stdin is not None and not process.stdin.closed:
            try:
                process.stdin.close()
            except OSError:  # it has ended by itself
                self._said += "; it did not hear the end"
            try:
                process.wait(_ANSWER)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            for thread in self._threads:
                thread.join()
            for pipe in (process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()

    def _ask(self, command: str) -> Any:
        try:
            self._process.stdin.write(f"{command}\n")  # type: ignore[union-attr]
            self._process.stdin.flush()  # type: ignore[union-attr]
        except (OSError, ValueError) as error:
            raise WorldError(f"the shop's process has ended: {self._said[-500:]}") from error
        return self._answer(_ANSWER)

    def _answer(self, limit: float) -> Any:
        try:
            line = self._lines.get(timeout=limit)
        except queue.Empty:
            raise WorldError(f"the shop's process said nothing for {limit:g} seconds") from None
        if not line:
            self._process.wait()
            self._threads[1].join()
            raise WorldError(f"the shop's process has ended: {self._said[-500:]}")
        return json.loads(line)

    def _hear(self) -> None:
        for line in self._process.stdout or ():
            self._lines.put(line)
        self._lines.put("")

    def _log(self) -> None:
        for line in self._process.stderr or ():
            self._said = (self._said + line)[-5000:]
