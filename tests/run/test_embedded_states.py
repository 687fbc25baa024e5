"""Memories that are searched by an embedding: decisions, explanations, records of runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import jitrl
from jitrl import config
from jitrl.errors import ConfigError
from jitrl.run import experiment, folder
from jitrl.run.compose import compose
from jitrl.run.embedding import identity

FUNCTION = "jitrl.testing.embedder:embed"
RETRIEVAL = {"kind": "embedding", "embedder": FUNCTION, "threshold": 0.3}
PAGES = tuple(f"a list of {what} orders" for what in ("all", "new", "old", "our"))


def opened(path: Path, **changes: Any) -> jitrl.JitRL:
    return jitrl.open(path, retrieval={**RETRIEVAL, **changes})


def live(memory: jitrl.JitRL, key: str, action: str, outcome: float) -> None:
    with memory.episode("t", key=key) as episode:
        for page in PAGES[:3]:
            episode.decide(page, {"open": 5.0 * (action == "open"), "back": 0.0})
        episode.finish(outcome)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.db"


def test_what_worked_on_a_similar_page_decides_on_a_new_one(path: Path) -> None:
    with opened(path) as memory:
        live(memory, "k0", "open", 1.0)
        with memory.episode("t", key="k1") as episode:
            found = episode.decide(PAGES[3], {"back": 1.0, "open": 0.0})
            assert found.action == "open"
            assert found.neighbors
            assert all(n.rows and 0.3 <= n.similarity < 1.0 for n in found.neighbors)
            same = episode.decide(PAGES[0], {"open": 0.0, "back": 0.0})
            assert max(n.similarity for n in same.neighbors) == 1.0
            episode.finish(1.0)


def test_explanation_replay_and_quarantine_do_not_depend_on_the_kind(path: Path) -> None:
    with opened(path) as memory:
        for number, (action, outcome) in enumerate([("open", 1.0), ("back", 0.0), ("open", 0.0)]):
            live(memory, f"k{number}", action, outcome)
        for step in range(3):
            explained = memory.explain(f"k2#{step}")
            assert explained.exact
            assert all(c.exact for c in explained.without)
        before = [n for n in memory.explain("k2#1").decision.neighbors if n.rows]
        assert memory.replay(without=[]) == []
        assert memory.quarantine(episodes=["k0"]) == 3
        live(memory, "k3", "open", 0.0)
        after = memory.explain("k3#1")
        assert after.exact
        assert before
        gone = {row for n in before for row in n.rows if row <= 3}
        assert gone
        assert not gone & {row for n in after.decision.neighbors for row in n.rows}
    with opened(path) as again:
        assert again.explain("k3#1").exact


def test_the_vectors_lie_beside_the_memory_and_may_be_deleted(path: Path) -> None:
    with opened(path) as memory:
        live(memory, "k0", "open", 1.0)
        live(memory, "k1", "open", 1.0)
        decided = memory.explain("k1#1").decision
    vectors = path.with_name("jitrl-vectors.db")
    assert vectors.is_file()
    vectors.unlink()
    with opened(path) as memory:
        assert memory.explain("k1#1").exact
        assert memory.explain("k1#1").decision == decided
    assert vectors.is_file()


def test_a_missing_embedder_stops_it_where_it_is_named(path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no embedder is named 'mine'; .*embedded"):
        opened(path, embedder="mine")
    with pytest.raises(ConfigError, match="cannot be imported"):
        opened(path, embedder="nowhere_at_all:f")


def settings(**memory: Any) -> config.Settings:
    return config.load(
        {
            "environment": {"name": "toy", "options": {"tasks": 3, "size": 2}},
            "model": {"name": "scripted"},
            "run": {"attempts": 2, "seeds": 2, "workers": 2},
            "memory": {"retrieval": memory},
        },
        env={},
    )


def record(where: Path) -> Mapping[str, Any]:
    found: dict[str, Any] = json.loads((where / "run.json").read_text())
    return found


def test_a_run_records_the_embedder_with_its_digest_and_shares_one_file(tmp_path: Path) -> None:
    asked = settings(**RETRIEVAL)
    tally = experiment.run(asked, tmp_path / "r", compose(asked))
    assert (tally.done, tally.failed) == (12, 0)
    found = record(tmp_path / "r")
    assert found["settings"]["memory"]["retrieval"] == RETRIEVAL
    assert found["embedder"] == identity(asked.memory)
    assert found["embedder"].startswith(f"{FUNCTION} ")
    assert len(list((tmp_path / "r").glob("jitrl-vectors.db"))) == 1


def test_a_run_does_not_go_on_with_another_embedder(tmp_path: Path) -> None:
    asked = settings(**RETRIEVAL)
    parts = compose(asked)
    experiment.run(asked, tmp_path / "r", parts)
    other = replace(parts, embedder="changed")
    with pytest.raises(ConfigError, match=r"embedder: 'jitrl\.testing.*' → 'changed'"):
        experiment.run(asked, tmp_path / "r", other)


def test_a_run_by_words_has_the_digest_it_always_had(tmp_path: Path) -> None:
    asked = settings(threshold=0.4)
    experiment.run(asked, tmp_path / "r", compose(asked))
    found = folder.read(tmp_path / "r")
    assert found.embedder == ""
    counted = folder._counted(found.settings)
    assert found.digest == config.digest([counted, found.told])


def test_a_run_that_names_no_embedder_stops_before_its_first_episode() -> None:
    with pytest.raises(ConfigError, match="no embedder is named 'mine'"):
        compose(settings(kind="embedding", embedder="mine"))
    assert compose(settings(embedder="mine")).embedder == ""  # words are compared
