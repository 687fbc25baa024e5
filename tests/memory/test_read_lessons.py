"""What was read counts in lessons: it is learned to be read first, and then followed."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import replace

import pytest

from jitrl.bench.attempts import lived, opened
from jitrl.bench.priors import Known
from jitrl.envs.codecs.plain import PlainCodec
from jitrl.memory.explain import explain
from jitrl.memory.lessons import Fit
from jitrl.memory.replay import replay
from jitrl.run.loop import Trial, play
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Episode, Observation, Task, TimeStep

COLORS = ("red", "green", "blue", "gray", "pink")
PRESS = tuple(f"press {color}" for color in COLORS)
UNIFORM = Known("uniform")


class NoteCodec(PlainCodec):
    """The room without what was said last."""

    def state(self, observation, history):
        return super().state(replace(observation, text="A room with a note."), history)

    def reading(self, observation):
        return observation.info["said"]


class Notes:
    """A room in which a note says what to press; another press ends the episode without a point."""

    name = "notes"
    codec = NoteCodec()

    def tasks(self):
        return [Task(f"t{i}", "Do what is right.", params={"color": i}) for i in range(15)]

    def reset(self, task, *, seed=0):
        self.right = COLORS[task.params["color"] % len(COLORS)]
        return TimeStep(self._shown())

    def step(self, action):
        if action == "read note":
            return TimeStep(self._shown(f"Press the {self.right}."))
        won = action == f"press {self.right}"
        return TimeStep(self._shown("It clicks."), float(won), terminated=True)

    def close(self):
        pass

    def _shown(self, said=""):
        text = f"{said} A room with a note."
        return Observation(text, "Do what is right.", (*PRESS, "read note"), info={"said": said})


@pytest.fixture
def store() -> Iterator[SQLiteStore]:
    with SQLiteStore(":memory:") as store:
        yield store


def learned(store: SQLiteStore, world: Notes, tasks: int, attempts: int = 12) -> None:
    """Attempts at tasks, each without the others."""
    agent = opened("jitrl", {}, {}, store)
    every = world.tasks()
    others = {t.id: frozenset(o.id for o in every if o.id != t.id) for t in every}
    for index, task in enumerate(every[:tasks]):
        for attempt in range(attempts):
            lived(agent, Trial(task, index, attempt, 0), world, UNIFORM, exclude=others[task.id])


def fitted(store: SQLiteStore) -> Fit:
    view = opened("jitrl", {}, {}, store).view("")
    view.refresh()
    fit = view.lessons.fit()
    assert fit is not None
    return fit


def first(store: SQLiteStore, world: Notes, index: int = 14) -> Episode:
    task = world.tasks()[index]
    return play(Trial(task, index, 0, 1), world, UNIFORM, opened("jitrl", {}, {}, store).episode())


def test_a_new_task_is_read_first_and_solved_as_it_was_read(store):
    world = Notes()
    learned(store, world, tasks=10)
    scores = []
    for index in range(10, 15):
        episode = first(store, world, index)
        assert [s.action for s in episode.steps] == ["read note", PRESS[index % 5]]
        scores.append(episode.info["score"])
    assert scores == [1.0] * 5


def test_best_paths_without_the_reading_teach_it(store):
    world = Notes()
    learned(store, world, tasks=6)
    fit = fitted(store)
    assert {len(path.steps) for path in fit.paths} == {1}
    for task, found in fit.readings.items():
        color = COLORS[int(task[1:]) % len(COLORS)]
        assert found in ({}, {"read note": f"Press the {color}."})
    assert sum(map(bool, fit.readings.values())) >= 4
    assert fit.weight["as read",] > 1.0
    assert fit.weight["action", "read | note"] > 0.0


def test_what_no_path_has_a_use_for_is_not_taught(store):
    world = Notes()
    world._shown = lambda said="": Notes._shown(world, said and "Nothing is written here.")
    learned(store, world, tasks=6)
    fit = fitted(store)
    assert {"read note": "Nothing is written here."} in fit.readings.values()
    assert fit.weight["action", "read | note"] < 0.0


def test_a_refusal_that_says_the_same_of_all_is_not_taught(store):
    world = Notes()
    everything = "\n".join(f"Not {color}." for color in COLORS)
    world._shown = lambda said="": Notes._shown(world, said and everything)
    learned(store, world, tasks=6)
    fit = fitted(store)
    assert any(fit.readings.values())
    assert fit.weight["action", "read | note"] < 0.0
    assert not any(name[0] in ("read", "asked", "as read") for name in fit.weight)


def test_what_was_read_is_no_part_of_a_state_and_the_repeat_meets_its_own_rows(store):
    world = Notes()
    learned(store, world, tasks=1)
    rows = list(store.rows("t0/3/0"))
    assert {row.state for key in range(12) for row in store.rows(f"t0/{key}/0")} == {rows[0].state}


def test_decisions_after_reading_are_explained_and_made_again_to_the_last_digit(store):
    world = Notes()
    learned(store, world, tasks=10)
    agent = opened("jitrl", {}, {}, store)
    task = world.tasks()[14]
    episode = lived(agent, Trial(task, 14, 0, 1), world, UNIFORM)
    assert len(episode.steps) == 2
    for step in range(2):
        found = explain(agent, store, f"{episode.key}#{step}", most=2)
        assert found.exact
        assert found.taught is not None
    assert ("as read",) in {m.feature for m in found.taught.moved}
    assert replay(agent, store, ()).turned == ()


def test_rows_that_are_taken_back_take_what_they_read_with_them(store):
    world = Notes()
    learned(store, world, tasks=6)
    fit = fitted(store)
    task = next(task for task, found in fit.readings.items() if found)
    read = {e.key for e in store.episodes(task=task) if e.info["readings"]}
    assert not read & {path.episode for path in fit.paths}
    store.set_status("quarantined", episodes=read)
    without = fitted(store)
    assert without.goals.keys() == fit.goals.keys()
    assert without.readings == {**fit.readings, task: {}}


@pytest.mark.parametrize("found", ["5", "null", '[[99, "y"]]', "[[0, null]]", '{"a": 1}', "[1]"])
def test_readings_of_a_wrong_form_teach_nothing_and_stop_nobody(tmp_path, found):
    path, world = tmp_path / "memory.db", Notes()
    with SQLiteStore(path) as store:
        learned(store, world, tasks=6)
        with contextlib.closing(sqlite3.connect(path)) as db, db:
            db.execute("UPDATE episode SET info = json_set(info, '$.readings', json(?))", (found,))
        assert not any(fitted(store).readings.values())
        assert first(store, world).status == "terminated"
        agent = opened("jitrl", {}, {}, store)
        assert explain(agent, store, "t1/0/0#0", most=2)


def test_episodes_of_before_there_were_readings_teach_as_they_did(store):
    world = Notes()
    world.codec = PlainCodec()
    world._shown = lambda said="": replace(Notes._shown(world, said), text="A room with a note.")
    learned(store, world, tasks=6)
    assert "readings" not in store.episode("t1/0/0").info
    fit = fitted(store)
    assert not any(fit.readings.values())
