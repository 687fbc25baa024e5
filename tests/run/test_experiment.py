import os
import threading
import time
from dataclasses import replace
from functools import partial

import msgspec
import pytest
from tabular import Tabular

from jitrl import config, registry
from jitrl.analysis import results
from jitrl.envs.toy import Toy
from jitrl.errors import BudgetExceeded, ConfigError, InputError, JitRLError, ModelError, StoreError
from jitrl.models.scripted import Scripted
from jitrl.run import experiment, folder, schedule
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Scored, Unscored


def journal(place, seed=0):
    """All episodes of a seed: key to (score, actions)."""
    with SQLiteStore(folder.store_path(place, seed), readonly=True) as store:
        return {
            e.key: (e.info.get("score"), tuple(step.action for step in e.steps))
            for e in store.episodes()
        }


class Slow(Toy):
    """A protocol whose later tasks are done sooner, so that parallel runs get out of order."""

    def reset(self, task, *, seed=0):
        time.sleep(0.01 if task.params["i"] % 2 == 0 else 0.0)
        return super().reset(task, seed=seed)


class Shared(Toy):
    """Tasks that look alike: the rows of each match in the others."""

    def __init__(self, families=("f", "f")):
        super().__init__("protocol", tasks=len(families), size=1, seed=3)
        self._tasks = tuple(
            replace(task, id=f"T{i + 1}", family=family)
            for i, (task, family) in enumerate(zip(self._tasks, families, strict=True))
        )

    def _observe(self, run):
        return replace(super()._observe(run), text="the same page")


class Failing(Scripted):
    """A model that fails at the calls numbered in ``at``."""

    def __init__(self, at, error):
        super().__init__(noise=1.0)
        self.at, self.error, self.asked = set(at), error, 0

    def propose(self, prompt, rng):
        self.asked += 1
        if self.asked in self.at:
            raise self.error
        return super().propose(prompt, rng)


def test_every_task_is_played_in_every_attempt_and_seed_once(tmp_path, settings, parts):
    tally = experiment.run(settings(attempts=3, seeds=2), tmp_path / "r", parts())
    assert (tally.played, tally.done, tally.total, tally.failed) == (60, 60, 60, 0)
    assert set(journal(tmp_path / "r", 1)) == {
        f"protocol:{i}/{attempt}/1" for i in range(10) for attempt in range(3)
    }


@pytest.mark.parametrize(
    ("run", "first"),
    [
        ({}, ["protocol:0/0/0", "protocol:1/0/0", "protocol:0/1/0", "protocol:1/1/0"]),
        (
            {"order": "task"},
            ["protocol:0/0/0", "protocol:0/1/0", "protocol:1/0/0", "protocol:1/1/0"],
        ),
        (
            {"schedule": "rounds", "workers": 3},
            ["protocol:0/0/0", "protocol:1/0/0", "protocol:0/1/0", "protocol:1/1/0"],
        ),
    ],
    ids=["by attempt", "by task", "rounds"],
)
def test_episodes_are_learned_in_the_order_of_the_schedule(tmp_path, settings, parts, run, first):
    make = parts(tasks=2, environment=partial(Slow, "protocol", tasks=2, size=2))
    experiment.run(settings(attempts=2, **run), tmp_path / "r", make)
    assert list(journal(tmp_path / "r")) == first


def test_memory_makes_later_attempts_better(tmp_path, settings, parts):
    for agent in ("static", "tabular"):
        experiment.run(settings(attempts=12, agent=agent), tmp_path / agent, parts(agent))
    static, tabular = results.gather([str(tmp_path)])
    assert tabular.scores[:, :, -3:].mean() > static.scores[:, :, -3:].mean() + 0.3


@pytest.mark.parametrize("agent", ["tabular", "jitrl"])
@pytest.mark.parametrize("schedule", ["sequential", "rounds"])
def test_parallel_runs_give_the_numbers_of_serial_ones(tmp_path, settings, parts, schedule, agent):
    for workers in (1, 4):
        experiment.run(
            settings(attempts=4, seeds=3, schedule=schedule, workers=workers),
            tmp_path / str(workers),
            parts(agent, environment=partial(Slow, "protocol", tasks=10, size=2)),
        )
    for seed in range(3):
        one, four = (list(journal(tmp_path / w, seed).items()) for w in ("1", "4"))
        assert one == four


def test_under_rounds_no_episode_sees_another_of_its_attempt(tmp_path, settings, parts):
    seen = []

    class Watching(Tabular):
        def episode(self, *, exclude=frozenset(), until=None):
            seen.append(until)
            return super().episode(exclude=exclude, until=until)

    make = parts()
    make = replace(make, agent=lambda store, evaluator, memory, meter: Watching(store, evaluator))
    experiment.run(settings(attempts=3, schedule="rounds"), tmp_path / "r", make)
    assert [len(set(seen[i : i + 10])) for i in (0, 10, 20)] == [1, 1, 1]
    assert seen[0] == 0 < seen[10] < seen[20]


def test_in_sequence_nothing_is_hidden(tmp_path, settings, parts):
    experiment.run(settings(attempts=6, tasks=1), tmp_path / "s", parts())
    experiment.run(settings(attempts=6, tasks=1, schedule="rounds"), tmp_path / "r", parts())
    assert journal(tmp_path / "s") == journal(tmp_path / "r")


def test_a_finished_run_plays_nothing_again(tmp_path, settings, parts):
    experiment.run(settings(attempts=2), tmp_path / "r", parts())
    model = Scripted(noise=1.0)
    tally = experiment.run(settings(attempts=2), tmp_path / "r", parts(model=model))
    assert (tally.played, tally.done, model.calls) == (0, 20, 0)


@pytest.mark.parametrize("agent", ["tabular", "jitrl"])
@pytest.mark.parametrize("schedule", ["sequential", "rounds"])
def test_a_run_that_was_cut_short_ends_as_if_it_had_not_been(
    tmp_path, settings, parts, schedule, agent
):
    wanted = settings(attempts=4, seeds=2, schedule=schedule)
    alike = partial(Shared, ("f",) * 8)  # so that it matters what each may see
    experiment.run(wanted, tmp_path / "whole", parts(agent, environment=alike))
    for at in (6, 6, 6, 6):
        model = Failing([at], BudgetExceeded("no more calls"))
        with pytest.raises(BudgetExceeded):
            experiment.run(wanted, tmp_path / "cut", parts(agent, model=model, environment=alike))
    experiment.run(wanted, tmp_path / "cut", parts(agent, environment=alike))
    for seed in range(2):
        whole, cut = (list(journal(tmp_path / p, seed).items()) for p in ("whole", "cut"))
        assert whole == cut


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("at", [4, 8])
@pytest.mark.parametrize("schedule", ["sequential", "rounds"])
def test_a_run_that_was_killed_before_it_learned_rules_ends_as_if_it_had_not_been(
    tmp_path, settings, parts, schedule, at
):
    class Mortal(SQLiteStore):
        left = at

        def commit(self, *args, **more):
            receipt = super().commit(*args, **more)
            self.left -= 1
            if not self.left:
                raise Killed
            return receipt

    def agent(store, evaluator, memory, meter):
        lent = {"store": store, "evaluator": evaluator, "settings": memory, "writer": None}
        return registry.create("agents", "rulebook", {"attempts": 4, "temperature": 9.0}, **lent)

    model = Scripted(noise=2.0, heeds=3.0)
    world = partial(Toy, "protocol", size=2, seed=1)
    make = replace(parts(model=model, environment=world), agent=agent)
    wanted = settings(attempts=8, tasks=1, schedule=schedule)
    experiment.run(wanted, tmp_path / "whole", make)
    with pytest.raises(Killed):
        experiment.run(wanted, tmp_path / "cut", replace(make, store=Mortal))
    experiment.run(wanted, tmp_path / "cut", make)
    assert journal(tmp_path / "whole") == journal(tmp_path / "cut")
    whole, cut = (book(tmp_path / place) for place in ("whole", "cut"))
    assert whole == cut
    assert len(whole[1]) == 2


def book(place, seed=0):
    """Rules and contrasts of a seed, with the version of each."""
    with SQLiteStore(folder.store_path(place, seed), readonly=True) as store:
        rules = [(rule.text, rule.status, rule.version) for rule in store.rules()]
        return rules, [contrast.id for contrast in store.contrasts()]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"attempts": 3}, "run.attempts: 2 → 3"),
        ({"attempts": 2, "protocol": "transfer"}, "run.protocol: 'repeat' → 'transfer'"),
        ({"attempts": 2, "tasks": 4}, r"run.tasks: \['protocol:0'.* → "),
    ],
)
def test_resuming_with_other_settings_names_what_differs(
    tmp_path, settings, parts, changed, message
):
    experiment.run(settings(attempts=2, tasks=5), tmp_path / "r", parts())
    with pytest.raises(ConfigError, match=message):
        experiment.run(settings(**{"tasks": 5, **changed}), tmp_path / "r", parts())


def test_resuming_with_more_workers_is_no_other_run(tmp_path, settings, parts):
    experiment.run(settings(attempts=2), tmp_path / "r", parts())
    experiment.run(settings(attempts=2, workers=2, max_failures=9), tmp_path / "r", parts())
    assert len(folder.read(tmp_path / "r").sessions) == 2


def test_where_answers_are_kept_makes_no_other_run(tmp_path, settings, parts):
    for place in ("a.db", "b.db"):
        model = config.Model(options={"cache": place})
        wanted = msgspec.structs.replace(settings(attempts=1), model=model)
        assert experiment.run(wanted, tmp_path / "r", parts()).done == 10


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path, settings, parts):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(InputError, match="not empty and holds no run"):
        experiment.run(settings(), tmp_path, parts())
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    "left", [("run.json.partial",), ("run.lock",), ("run.json.partial", "run.lock")]
)
def test_a_start_that_got_no_further_is_begun_again(tmp_path, settings, parts, left):
    place = tmp_path / "r"
    place.mkdir()
    for name in left:
        (place / name).write_text("")
    assert experiment.run(settings(attempts=1), place, parts()).done == 10
    assert not (place / "run.json.partial").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="it stands for a full disk")
def test_a_record_that_cannot_be_written_leaves_nothing_behind(tmp_path, settings, parts):
    place = tmp_path / "r"
    place.mkdir()
    (place / "run.json.partial").symlink_to("/dev/full")
    with pytest.raises(StoreError, match=r"run\.json cannot be written: No space left"):
        experiment.run(settings(attempts=1), place, parts())
    assert [path.name for path in place.iterdir()] == ["run.lock"]
    assert experiment.run(settings(attempts=1), place, parts()).done == 10


def test_two_processes_cannot_run_one_folder_at_once(tmp_path, settings, parts):
    inside, done = threading.Event(), threading.Event()

    def hold(progress):
        inside.set()
        done.wait(10)

    run = partial(experiment.run, settings(attempts=2), tmp_path / "r", parts())
    first = threading.Thread(target=run, kwargs={"watch": hold})
    first.start()
    try:
        assert inside.wait(10)
        with pytest.raises(ConfigError, match="another process is running"):
            run()
    finally:
        done.set()
        first.join()


def test_a_failed_episode_is_recorded_counted_and_played_again_on_resume(tmp_path, settings, parts):
    wanted = settings(attempts=2)
    steps = []
    model = Failing([5], ModelError("the provider is away"))
    tally = experiment.run(wanted, tmp_path / "r", parts(model=model), watch=steps.append)
    assert (tally.played, tally.failed, tally.done, tally.total) == (19, 1, 19, 20)
    [failed] = [step for step in steps if step.episode is None]
    key = failed.trial.key
    with SQLiteStore(folder.store_path(tmp_path / "r", 0), readonly=True) as store:
        record = store.record(f"{key}!1")
    assert record.episode.status == "aborted"
    assert "ModelError: the provider is away" in record.episode.info["error"]
    assert isinstance(record.judgment, Unscored)
    with pytest.raises(InputError, match="1 of 20 episodes are missing"):
        results.read(tmp_path / "r")
    again = experiment.run(wanted, tmp_path / "r", parts())
    assert (again.played, again.done) == (1, 20)
    assert results.read(tmp_path / "r").failures == 1


def test_a_failure_is_recorded_whatever_characters_it_names(tmp_path, settings, parts):
    model = Failing([1], ModelError("the provider said \ud800"))
    tally = experiment.run(settings(), tmp_path / "r", parts(model=model))
    assert tally.failed == 1
    with SQLiteStore(folder.store_path(tmp_path / "r", 0), readonly=True) as store:
        [failed] = [e for e in store.episodes() if e.status == "aborted"]
    assert r"the provider said \ud800" in failed.info["error"]


def test_too_many_failures_stop_the_run_with_the_last_one(tmp_path, settings, parts):
    model = Failing(range(1, 99), ModelError("the provider is away"))
    with pytest.raises(ModelError, match=r"3 episodes failed.*allows 2.*provider is away"):
        experiment.run(settings(max_failures=2), tmp_path / "r", parts(model=model))
    model = Failing(range(1, 99), ZeroDivisionError("bug"))
    with pytest.raises(JitRLError, match="ZeroDivisionError: bug") as caught:
        experiment.run(settings(max_failures=0), tmp_path / "other", parts(model=model))
    assert caught.value.exit_code == 1


@pytest.mark.parametrize("error", [ConfigError("x"), BudgetExceeded("x")])
def test_what_cannot_be_mended_by_going_on_stops_at_once(tmp_path, settings, parts, error):
    with pytest.raises(type(error)):
        experiment.run(settings(), tmp_path / "r", parts(model=Failing([3], error)))
    assert len(journal(tmp_path / "r")) <= 2


def test_an_environment_is_made_anew_after_it_failed(tmp_path, settings, parts):
    made, closed = [], []

    class Fragile(Toy):
        def __init__(self):
            super().__init__("protocol", tasks=4, size=2)
            made.append(self)

        def reset(self, task, *, seed=0):
            if len(made) == 2 and task.params["i"] == 1:
                raise OSError("the browser is gone")
            return super().reset(task, seed=seed)

        def close(self):
            closed.append(self)

    tally = experiment.run(settings(attempts=1), tmp_path / "r", parts(environment=Fragile))
    assert (tally.played, tally.failed) == (3, 1)
    assert made == closed
    assert len(made) == 3  # one to list the tasks, one that broke, one that did the rest


def test_every_thread_closes_its_own_environment(tmp_path, settings, parts):
    made, closed = {}, {}

    class Owned(Toy):
        def __init__(self):
            super().__init__("protocol", tasks=10, size=2)
            made[self] = threading.get_ident()

        def reset(self, task, *, seed=0):
            assert threading.get_ident() == made[self]
            time.sleep(0.005)
            return super().reset(task, seed=seed)

        def close(self):
            closed[self] = threading.get_ident()

    wanted = settings(attempts=2, schedule="rounds", workers=3)
    experiment.run(wanted, tmp_path / "r", parts(environment=Owned))
    assert made == closed
    assert len(made) == 4


def test_an_interrupt_ends_the_run_soon_and_it_can_be_resumed(tmp_path, settings, parts):
    def press(progress):
        if progress.done == 7:
            raise KeyboardInterrupt

    wanted = settings(attempts=4)
    with pytest.raises(KeyboardInterrupt):
        experiment.run(wanted, tmp_path / "r", parts(), watch=press)
    assert 7 <= len(journal(tmp_path / "r")) <= 8
    assert experiment.run(wanted, tmp_path / "r", parts()).done == 40


def test_tasks_are_chosen_by_number_by_name_and_by_pattern(settings):
    tasks = Toy("protocol", tasks=12).tasks()

    def chosen(which):
        return [task.id for task in schedule.select(tasks, settings(tasks=which).run)]

    assert chosen(2) == ["protocol:0", "protocol:1"]
    assert chosen(("protocol:1*", "protocol:0")) == [
        "protocol:0",
        "protocol:1",
        "protocol:10",
        "protocol:11",
    ]
    with pytest.raises(ConfigError, match="no task matches 'order'"):
        chosen(("order",))
    with pytest.raises(
        ConfigError, match=r"run.tasks is 13, the environment has 12; .*--env-options"
    ):
        chosen(13)


def test_two_tasks_of_one_id_are_refused_before_a_folder_is_made(tmp_path, settings, parts):
    class Doubled(Toy):
        def tasks(self):
            return [*super().tasks()] * 2

    doubled = replace(parts("static"), environment=Doubled)
    with pytest.raises(ConfigError, match=r"has 2 tasks 'protocol:0'.* name nothing twice"):
        experiment.run(settings(), tmp_path / "run", doubled)
    assert not (tmp_path / "run").exists()


def test_a_seed_named_twice_is_refused(tmp_path, settings, parts):
    with pytest.raises(ConfigError, match=r"run.seeds is \[3, 3\]; name each seed once"):
        experiment.run(settings(seeds=(3, 3)), tmp_path / "run", parts("static"))
    assert not (tmp_path / "run").exists()


def test_a_task_draws_the_same_chance_whichever_others_are_run(tmp_path, settings, parts):
    experiment.run(settings(attempts=1), tmp_path / "all", parts("static"))
    experiment.run(settings(attempts=1, tasks=("protocol:7",)), tmp_path / "one", parts("static"))
    key = "protocol:7/0/0"
    assert journal(tmp_path / "all")[key] == journal(tmp_path / "one")[key]


@pytest.mark.parametrize(
    ("protocol", "families", "excluded"),
    [
        ("repeat", ("f", "f"), [0, 0, 0, 0]),
        ("transfer", ("f", "f"), [0, 0, 1, 1]),
        ("transfer-family", ("f", "f"), [0, 1, 2, 3]),
        ("transfer-family", ("f", "g"), [0, 0, 1, 1]),
        ("transfer-family", ("", ""), [0, 0, 1, 1]),
    ],
)
def test_transfer_leaves_out_the_own_task_or_family_and_counts_the_rows(
    tmp_path, settings, parts, protocol, families, excluded
):
    make = parts(environment=partial(Shared, families))
    experiment.run(settings(attempts=2, protocol=protocol), tmp_path / "r", make)
    with SQLiteStore(folder.store_path(tmp_path / "r", 0), readonly=True) as store:
        found = [episode.info["excluded"] for episode in store.episodes()]
    assert found == excluded
    result = results.read(tmp_path / "r")
    assert result.excluded == max(excluded)
    assert result.setting("run", "protocol") == protocol


def test_the_judgment_is_in_the_journal(tmp_path, settings, parts):
    experiment.run(settings(attempts=1), tmp_path / "r", parts())
    with SQLiteStore(folder.store_path(tmp_path / "r", 0), readonly=True) as store:
        for record in store.records():
            assert isinstance(record.judgment, Scored)
            assert sum(record.judgment.rewards) == record.episode.info["score"]
            assert record.episode.config == folder.read(tmp_path / "r").digest


def test_a_run_says_how_long_it_took_and_what_started_it(tmp_path, settings, parts):
    ask = settings(attempts=2)
    experiment.run(ask, tmp_path / "r", parts(), command="jitrl run")
    found = results.read(tmp_path / "r")
    assert found.commands == ("jitrl run",)
    assert [spell.phase for spell in found.spells] == ["act", "learn"]
    assert [spell.times for spell in found.spells] == [20, 20]
    assert found.record.sessions[0].seconds >= max(s.seconds for s in found.spells)
    assert [path.is_file() for path in found.journals] == [True]


def test_a_start_that_had_nothing_to_play_took_no_time(tmp_path, settings, parts):
    for start in range(2):
        experiment.run(settings(attempts=1), tmp_path / "r", parts(), command=f"start {start}")
    found = results.read(tmp_path / "r")
    assert found.commands == ("start 0",)
    first, second = results.read(tmp_path / "r").record.sessions
    assert first.seconds > 0
    assert second.seconds == 0.0
