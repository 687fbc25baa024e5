"""What tests of worlds share: skips where there is no browser, a site, games made once."""

from __future__ import annotations

import importlib.util
import json
import shutil
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from jitrl.envs.browser.chromium import installed

_PACKAGES = {"shop": "oscar", "textworld": "textworld", "scienceworld": "scienceworld"}
"""Package that tests with a marker need; the marker is the name of the extra, too."""


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker, package in _PACKAGES.items():
        if item.get_closest_marker(marker) and importlib.util.find_spec(package) is None:
            pytest.skip(f"needs {package}: pip install 'jitrl[{marker}]'")
    if item.get_closest_marker("scienceworld") and shutil.which("java") is None:
        pytest.skip("needs Java")
    if item.get_closest_marker("browser") is None:
        return
    if importlib.util.find_spec("playwright") is None:
        pytest.skip("needs playwright: pip install 'jitrl[browser]'")
    own = Path.home().glob(".cache/ms-playwright/chromium*")
    if installed() is None and not any(own):
        pytest.skip("needs Chromium on PATH")


Answer = str | Callable[[BaseHTTPRequestHandler], str | None]


class Site:
    """A site on loopback: pages by path, as HTML or functions that answer a request."""

    def __init__(self) -> None:
        self.pages: dict[str, Answer] = {}
        self.asked: list[str] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = self.path.partition("?")[0]
                site.asked.append(self.path)
                answer = site.pages.get(path)
                body = answer(self) if callable(answer) else answer
                if body is None:
                    if answer is None:
                        self.send_error(404)
                    return
                if not callable(answer):
                    self.send_response(200)
                    kind = "application/json" if path.endswith(".json") else "text/html"
                    self.send_header("Content-Type", f"{kind}; charset=utf-8")
                    self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, format: str, *args: object) -> None:
                """Nothing is logged."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def show(self, body: str, path: str = "/", title: str = "Test") -> str:
        """Serve a page; returns its address."""
        self.pages[path] = f"<!DOCTYPE html><title>{title}</title><body>{body}"
        return self.url + path

    def tell(self, path: str, value: object) -> None:
        """Serve a value as JSON."""
        self.pages[path] = json.dumps(value)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    made = Site()
    yield made
    made.close()


@pytest.fixture(scope="session")
def made_games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the games of textworld, by recipe and seed, as they are asked for."""
    pytest.importorskip("textworld")
    return tmp_path_factory.mktemp("games")
