"""The shop's own process: Django, a database in memory, a web server and a line of commands.

``python -m jitrl.envs.shop.server SEED PORT`` prints ``{"port": …}`` and then answers each command,
a JSON line on its input, by one JSON line: ``reset`` puts the database back as it was made,
``changes`` lists the rows that have changed since then. It ends when its input does.
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
import sys
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, TextIO

from jitrl.envs.shop.data import NOW, make_shop

_SILENT = ("django_session",)  # tables that no task is about


class Site:
    """Django with a filled database in this process; there can be one."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random()
        _freeze(self._rng)
        import django

        django.setup()
        from django.core.management import call_command
        from django.core.wsgi import get_wsgi_application
        from django.db import connections

        from jitrl.envs.shop.seed import fill

        call_command("migrate", run_syncdb=True, verbosity=0)
        fill(make_shop(seed))
        self.lock = threading.RLock()
        self.connection = connections["default"]
        self.connection.ensure_connection()
        self._base: sqlite3.Connection = self.connection.connection
        self._made = self._base.serialize()
        self._base.execute("ATTACH ':memory:' AS made")
        self._base.deserialize(self._made, name="made")
        self._tables = self._described()
        self._application = get_wsgi_application()
        self._known: tuple[int, list[Any]] = (-1, [])
        self.reset()

    def application(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        """WSGI: one request at a time."""
        with self.lock:
            return list(self._application(environ, start_response))

    def reset(self) -> None:
        """The database as it was made, and chance as it was."""
        with self.lock:
            self._base.deserialize(self._made)
            self._rng.seed(0)
            self._known = (-1, [])

    def changes(self) -> list[Any]:
        """``[table, key, row as made, row as it is]`` of all that differ; a row is by column."""
        with self.lock:
            count = self._base.total_changes
            if count != self._known[0]:
                found = [change for table in self._tables for change in self._differing(table)]
                self._known = (self._base.total_changes, found)
            return self._known[1]

    def _described(self) -> dict[str, tuple[str, ...]]:
        rows = self._base.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")
        names = [name for (name,) in rows if not name.startswith("sqlite_")]
        return {
            name: tuple(row[1] for row in self._base.execute(f"PRAGMA table_info({name})"))
            for name in names
            if name not in _SILENT
        }

    def _differing(self, table: str) -> list[Any]:
        columns = self._tables[table]
        gone, come = (
            {row[0]: dict(zip(columns, row, strict=True)) for row in self._base.execute(query)}
            for query in (
                f"SELECT * FROM made.{table} EXCEPT SELECT * FROM main.{table}",
                f"SELECT * FROM main.{table} EXCEPT SELECT * FROM made.{table}",
            )
        )
        keys = sorted(gone.keys() | come.keys(), key=str)
        return [[table, key, gone.get(key), come.get(key)] for key in keys]


class _Chance:
    """What Django takes from ``secrets``, the same at each reset."""

    def __init__(self, rng: random.Random) -> None:
        import secrets

        self.choice, self.compare_digest = rng.choice, secrets.compare_digest


def _freeze(rng: random.Random) -> None:
    """Stop Django's clock, and make its random strings repeat, before anything imports them."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "jitrl.envs.shop.settings"
    from django.utils import crypto, timezone

    timezone.now = lambda: NOW
    crypto.secrets = _Chance(rng)


def serve(site: Site, port: int) -> SimpleNamespace:
    """Serve on ``127.0.0.1`` in a thread; port 0 takes a free one, which the result names."""
    from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler

    class Quiet(WSGIRequestHandler):  # type: ignore[misc]
        def log_message(self, format: str, *args: Any) -> None:
            """Nothing is written."""

    site.connection.inc_thread_sharing()
    server = ThreadedWSGIServer(
        ("127.0.0.1", port), Quiet, connections_override={"default": site.connection}
    )
    server.daemon_threads = True
    server.set_app(site.application)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    return SimpleNamespace(port=server.server_address[1], thread=thread)


def main(seed: int, port: int, commands: TextIO, answers: TextIO) -> None:
    """Serve and answer commands until there are no more."""
    site = Site(seed)
    todo: dict[str, Callable[[], Any]] = {"reset": site.reset, "changes": site.changes}

    def say(answer: Any) -> None:
        answers.write(json.dumps(answer, default=str) + "\n")
        answers.flush()

    say({"port": serve(site, port).port})
    for line in commands:
        say(todo[line.strip()]())


if __name__ == "__main__":
    channel, sys.stdout = sys.stdout, sys.stderr
    main(int(sys.argv[1]), int(sys.argv[2]), sys.stdin, channel)
