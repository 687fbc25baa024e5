"""What the doctor reads from memory files and run folders, and that it only reads."""

import hashlib
import os
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

import jitrl
from jitrl import config
from jitrl.analysis.doctor import examine
from jitrl.analysis.doctor.load import load
from jitrl.errors import InputError, StoreError
from jitrl.run import experiment
from jitrl.run import folder as folders
from jitrl.run.ledger import Ledger
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Episode, Scored, State, Transition

STATE = "orders | order 7 | cancel | back"
LOGITS = {"cancel": 0.0, "back": 1.0}


def lived(path, n=8, **settings):
    """A memory of episodes in one state: one that ended well, then failures."""
    with jitrl.open(path, **settings) as memory:
        for i in range(n):
            with memory.episode("cancel order 7", scope="shop", key=f"e{i}") as episode:
                episode.decide(STATE, LOGITS)
                if i < n - 1:
                    episode.finish(outcome=i % 2)
    return path


def one(path, **settings):
    [case] = load([path], config.Memory(**settings))
    return case


def test_a_memory_file_is_read_with_its_decisions_and_rows(tmp_path):
    case = one(lived(tmp_path / "m.db"))
    attempts = list(case.attempts())
    assert [a.number for a in attempts] == list(range(8))
    assert [a.judged for a in attempts] == [0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, None]
    assert (attempts[-1].is_waiting, attempts[0].is_waiting) == (True, False)
    first, last = attempts[0].choices[0], attempts[-1].choices[0]
    assert (first.known, first.reached) == (0, 0)
    assert (last.known, last.reached, last.options) == (7, 1, 2)
    assert len(case.journals[0].rows.state) == 7
    assert next(iter(case.journals[0].states.values())).text == STATE


def test_steps_of_its_own_episode_are_no_rows_of_the_memory(tmp_path):
    with jitrl.open(tmp_path / "m.db") as memory, memory.episode("t") as episode:
        for _ in range(3):
            episode.decide(STATE, LOGITS)
        episode.finish(outcome=1)
    assert [(c.known, c.reached) for c in one(tmp_path / "m.db").choices()] == [(0, 0)] * 3


def test_turned_choices_name_what_outweighed_the_model_and_the_rows(tmp_path):
    case = one(lived(tmp_path / "m.db"))
    turned = [c for c in case.choices() if c.turned]
    assert turned
    assert all(c.push > 0 and c.spread == pytest.approx(1.0) for c in turned)
    assert {row for c in turned for row in c.rows} <= set(case.journals[0].owners)


def test_retired_and_quarantined_rows_are_left_out(tmp_path):
    path = lived(tmp_path / "m.db")
    with jitrl.open(path) as memory:
        memory.store.set_status("quarantined", episodes=["e1"])
        memory.outcome("e2", 1)  # retires a row and appends one
    rows = one(path).journals[0].rows
    assert len(rows.state) == 6
    assert "e1" not in [rows.keys[i] for i in rows.episode]


def test_episodes_that_acted_without_the_memory_on_purpose_are_marked(tmp_path):
    assert all(a.is_held for a in one(lived(tmp_path / "m.db", holdout=1.0)).attempts())


def test_what_somebody_else_noted_as_a_score_is_no_number_of_a_run(tmp_path):
    path, step = tmp_path / "m.db", Transition(State(STATE), "back")
    with SQLiteStore(path) as store:
        noted = Episode("k", "t", "", (step,), info={"score": "A+", "attempt": True})
        store.commit(noted, Scored((1.0,), "outcome"), ())
    assert [(a.score, a.number) for a in one(path).attempts()] == [(1.0, 0)]


@pytest.fixture
def runs(tmp_path, settings, parts):
    """A folder of a static run and one of the agent jitrl."""
    for agent in ("static", "jitrl"):
        experiment.run(settings(attempts=4, agent=agent), tmp_path / "both" / agent, parts(agent))
    return tmp_path / "both"


def test_a_folder_of_runs_is_read_against_its_static_one(runs):
    case = one(runs)
    assert (case.label, case.agent, case.base.agent) == ("jitrl", "jitrl", "static")
    assert len(list(case.attempts())) == 40
    assert case.spent


def test_runs_named_one_by_one_are_paired_too_and_a_static_one_alone_is_a_case(runs):
    assert one(runs / "static").base is None
    [case] = load([runs / "jitrl", runs / "static"], config.Memory())
    assert case.base.label == "static"


def test_runs_in_different_worlds_are_not_held_against_each_other(runs):
    file = runs / "static" / "run.json"
    record = msgspec.json.decode(file.read_bytes())
    record["settings"]["environment"]["options"] = {"size": 9}
    file.write_bytes(msgspec.json.encode(record))
    assert [case.base for case in load([runs], config.Memory())] == [None, None]


def test_a_run_that_is_not_finished_is_read_as_far_as_it_got(runs):
    (runs / "jitrl" / "seed-0.db").unlink()
    assert list(one(runs).attempts()) == []
    assert {f.status for f in examine(one(runs)).values()} == {"unknown", "fine"}


def digests(folder):
    return {p: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.rglob("*") if p.is_file()}


def test_nothing_is_written(runs):
    before = digests(runs)
    for case in load([runs], config.Memory()):
        examine(case)
    assert digests(runs) == before


def test_a_place_that_is_neither_file_nor_folder_is_named(tmp_path):
    with pytest.raises(InputError, match="no memory file or run folder nowhere"):
        load([Path("nowhere")], config.Memory())
    with pytest.raises(InputError, match="holds no run"):
        load([tmp_path], config.Memory())


def spent(folder):
    with closing(folders.spent(folder)) as ledger:
        return ledger.totals()


def test_a_ledger_that_is_only_read_says_the_same_and_stays_as_it_is(runs, tmp_path):
    folder = runs / "jitrl"
    os.utime(folder, ns=(1, 1))
    found = spent(folder)
    assert found
    assert folder.stat().st_mtime_ns == 1  # no log was made, not even for a moment
    ledger = Ledger(folder / "ledger.db")
    assert ledger.totals() == found
    assert spent(folder) == found  # while somebody has it open
    ledger.close()
    other = tmp_path / "other"
    other.mkdir()
    lived(other / "ledger.db")
    with pytest.raises(StoreError, match="something else than a ledger"):
        spent(other)
    (other / "ledger.db").write_text("no database")
    with pytest.raises(StoreError, match="as a ledger"):
        spent(other)
    assert spent(tmp_path / "nothing") == ()
