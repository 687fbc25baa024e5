"""A service in this process, and keys that may do some of it."""

from importlib.util import find_spec

import pytest
from served import Caller, Place

NEEDED = ("fastapi", "uvicorn", "prometheus_client", "httpx")
MISSING = [name for name in NEEDED if find_spec(name) is None]


def pytest_collection_modifyitems(items):
    for item in items:
        if MISSING and item.get_closest_marker("server"):
            item.add_marker(pytest.mark.skip(reason=f"{MISSING[0]} is not installed"))


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


@pytest.fixture
def ask(place):
    """Asks a service that runs in this process."""
    from fastapi.testclient import TestClient

    place.key("admin")
    with TestClient(place.app()) as client:
        yield Caller(place, client)
