"""Games that the tests of text worlds play, made once a session."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def made_games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the games of textworld, by recipe and seed, as they are asked for."""
    pytest.importorskip("textworld")
    return tmp_path_factory.mktemp("games")
