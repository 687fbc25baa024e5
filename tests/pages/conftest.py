"""What tests of the pages share: skips, small memories and runs, and who looks at them."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from made_desk import desk
from made_hostile import hostile
from made_places import OPPOSITE, RULE

from jitrl.envs.browser.chromium import installed

_PACKAGES = ("fastapi", "uvicorn", "jinja2", "httpx")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("server"):
        for package in _PACKAGES:
            if importlib.util.find_spec(package) is None:
                pytest.skip(f"needs {package}: pip install 'jitrl[server]'")
    if item.get_closest_marker("browser"):
        if importlib.util.find_spec("playwright") is None:
            pytest.skip("needs playwright: pip install 'jitrl[browser]'")
        if installed() is None:
            pytest.skip("needs Chromium on PATH")


def run(*words: str) -> None:
    """A command of `jitrl` that must end well."""
    from jitrl.cli import main

    with pytest.raises(SystemExit) as end:
        main(list(words))
    assert not end.value.code


TOY = ("--env", "toy", "--model", "scripted")


@pytest.fixture(scope="session")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory of a support desk; not to be changed."""
    return desk(tmp_path_factory.mktemp("desk") / "support.db")


@pytest.fixture
def own_memory(tmp_path: Path) -> Path:
    """The same, for one test alone."""
    return desk(tmp_path / "support.db", episodes=24)


@pytest.fixture(scope="session")
def hostile_memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory of texts that are to break pages; not to be changed."""
    return hostile(tmp_path_factory.mktemp("hostile") / "hostile.db")


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of two runs, with and without memory, whose judge errs."""
    out = tmp_path_factory.mktemp("runs") / "toy"
    run(
        *("compare", "--arm", "static", "--arm", "jitrl", "--attempts", "5", "--seeds", "2"),
        *("--env-options", '{"tasks": 6, "size": 2}', *TOY, "--evaluator", "simulated"),
        *("--set", 'memory.evaluator_options={"reliability": 0.8}', "--out", str(out)),
    )
    return out


@pytest.fixture(scope="session")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that keeps rules, two of which somebody wrote who was of two minds."""
    out = tmp_path_factory.mktemp("book") / "book"
    run(
        *("run", "--agent", "rulebook", "--attempts", "16", *TOY, "--out", str(out)),
        *("--env-options", '{"tasks": 3, "size": 2}', "--model-options", '{"heeds": 3}'),
    )
    for rule in (RULE, OPPOSITE):
        run("rules", "add", str(out / "seed-0.db"), rule, "--scope", "toy")
    return out


@pytest.fixture
def visit() -> Iterator[Callable[..., object]]:
    """Opens places for a browser that was let in; returns its client."""
    from fastapi.testclient import TestClient

    from jitrl.service.pages.opening import Ticket, app
    from jitrl.service.pages.places import shelf

    opened: list[TestClient] = []

    def made(*paths: Path, may_curate: bool = True, let_in: bool = True) -> TestClient:
        ticket = Ticket()
        pages = app(shelf(paths), ticket, principal="ann", may_curate=may_curate)
        client = TestClient(pages, base_url="http://127.0.0.1:1")
        client.ticket = ticket  # type: ignore[attr-defined]
        opened.append(client)
        if let_in:
            client.get(f"/open/{ticket.text}")
        return client

    yield made
    for client in opened:
        client.close()
