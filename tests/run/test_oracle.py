import threading
from functools import partial

import msgspec
import pytest

from jitrl import config
from jitrl.analysis.results import read
from jitrl.envs.toy import Toy
from jitrl.errors import ConfigError
from jitrl.run import experiment
from jitrl.run.compose import compose
from jitrl.run.oracle import Oracle
from jitrl.types import Task


class Golden:
    """An environment that knows one way, and counts how often it was asked for it."""

    def __init__(self, asked, closed):
        self.asked, self.closed = asked, closed

    def gold(self, task):
        self.asked.append(task.id)
        return ["up", "take"]

    def close(self):
        self.closed.append(self)


class Ignorant:
    def close(self):
        pass


TASK = Task("t", "Win.")


def test_an_environment_that_stands_somewhere_is_asked_where_it_stands():
    oracle = Oracle("toy", partial(Toy, "maze", size=3))
    hint, world = oracle.hint(), oracle.environment()
    task, taken = world.tasks()[0], []
    shown = world.reset(task)
    while not (shown.terminated or shown.truncated):
        taken.append(hint(task, taken))
        shown = world.step(taken[-1])
    assert shown.reward == 1.0
    assert len(taken) <= 8


def test_each_thread_is_told_of_its_own_episode():
    oracle = Oracle("toy", partial(Toy, "protocol", size=2, tasks=2, seed=3))
    hint, told = oracle.hint(), {}
    barrier = threading.Barrier(2)

    def one(i):
        world = oracle.environment()
        task = world.tasks()[i]
        world.reset(task)
        barrier.wait()
        told[i] = (hint(task, ()), world.oracle_action())

    threads = [threading.Thread(target=one, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(said == own for said, own in told.values())


def test_a_known_way_is_followed_as_far_as_the_episode_follows_it():
    asked, closed = [], []
    hint = Oracle("golden", lambda: Golden(asked, closed)).hint()
    assert hint(TASK, ()) == "up"
    assert hint(TASK, ("up",)) == "take"
    assert hint(TASK, ("down",)) is None
    assert hint(TASK, ("up", "take")) is None
    assert asked == ["t"]
    assert len(closed) == 2  # the one that was looked at, and the one that was asked


class Lost:
    """An environment that does not know the way from where it stands."""

    def oracle_action(self):
        return None

    def close(self):
        pass


def test_an_environment_that_knows_no_way_on_says_nothing():
    oracle = Oracle("lost", Lost)
    hint = oracle.hint()
    oracle.environment()
    assert hint(TASK, ("down",)) is None


def test_an_environment_that_knows_nothing_is_refused():
    with pytest.raises(ConfigError, match="'ignorant' does not know the right action"):
        Oracle("ignorant", Ignorant).hint()


@pytest.mark.parametrize("agent", ["oracle-hint", "memory", "prompt-update", "awm", "replay-best"])
def test_a_run_in_threads_gives_the_numbers_of_a_serial_one(agent, tmp_path):
    scores = []
    for workers in (1, 3):
        chosen = msgspec.structs.replace(
            config.Settings(),
            environment=config.Environment(name="toy", options={"tasks": 4, "size": 2}),
            model=config.Model(name="scripted", options={"noise": 1.0}),
            run=config.Run(agent=agent, attempts=3, schedule="rounds", workers=workers),
        )
        folder = tmp_path / str(workers)
        experiment.run(chosen, folder, compose(chosen))
        scores.append(read(folder).scores.tolist())
    assert scores[0] == scores[1]
