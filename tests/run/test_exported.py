"""What the library itself writes, in every mode and by every rule, comes back by `--trust`."""

from contextlib import suppress
from functools import partial

import pytest

import jitrl
from jitrl import presets
from jitrl.core.credit import derive_rows
from jitrl.run import experiment, folder
from jitrl.stores import jsonl, line
from jitrl.stores.sqlite import SQLiteStore

SITE = {"start": ("left", "right"), "left": ("a", "b", "c"), "right": ("b", "d")}


def read(lines):
    return [line.parse(text) for text in lines]


def lived(path, **settings):
    """A memory of twelve short episodes, one of them aborted and one without an outcome."""
    with jitrl.open(path, seed=3, **settings) as memory:
        for i in range(12):
            with memory.episode(f"t{i % 2}", scope="s", key=str(i)) as episode:
                page = "start"
                while page in SITE:
                    actions = dict.fromkeys(SITE[page], -0.5) | {SITE[page][0]: 2.0}
                    page = episode.decide(page, actions, allowed={*actions, "d"}).action
                    episode.reward(0.1 * i - 0.3)
                if i != 5:
                    episode.finish(page == "d", basis="llm_judge" if i == 7 else "test")
        with suppress(RuntimeError), memory.episode("t0", scope="s", key="x") as episode:
            episode.decide("start", {"left": 0.0, "right": 1e100})
            raise RuntimeError


@pytest.mark.parametrize("mode", ["act", "shadow", "off"])
@pytest.mark.parametrize("preset", presets.NAMES)
@pytest.mark.filterwarnings("ignore:scope .* mixes")
def test_every_decision_is_imported_and_explained(tmp_path, preset, mode):
    path, copy = tmp_path / "m.db", tmp_path / "copy.db"
    own = {"mode": mode, "preset": preset, "holdout": 0.2}
    lived(path, **own)
    with jitrl.open(path, **own) as source, jitrl.open(copy, **own) as memory:
        lines = list(jsonl.export(source.store))
        done = jsonl.read(memory.store, lines, memory.agent.derive, trust=True)
        assert (done.episodes, done.skipped) == (13, ())
        assert read(jsonl.export(memory.store)) == read(lines)
        for decision in memory.store.decisions():
            assert memory.explain(decision.id) == source.explain(decision.id)
        assert memory.replay(without=[1, 2]) == source.replay(without=[1, 2])


@pytest.mark.parametrize("agent", ["static", "tabular", "jitrl"])
def test_every_agents_episodes_are_imported(tmp_path, settings, parts, agent):
    experiment.run(settings(attempts=3, tasks=4, agent=agent), tmp_path / "r", parts(agent))
    with (
        SQLiteStore(folder.store_path(tmp_path / "r", 0), readonly=True) as store,
        SQLiteStore(":memory:") as copy,
    ):
        lines = list(jsonl.export(store))
        assert jsonl.read(copy, lines, partial(derive_rows, gamma=0.6), trust=True).episodes == 12
        assert read(jsonl.export(copy)) == read(lines)
