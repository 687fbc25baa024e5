"""The benchmark's records, its linear scan, its statistics and its command."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from jitrl.bench.speed.episodes import STEPS, episode
from jitrl.bench.speed.linear import LinearRow, scan
from jitrl.bench.speed.records import World, facts
from jitrl.bench.speed.timing import quantiles, times_faster


def test_records_are_the_same_for_the_same_seed_and_others_for_another():
    world = World(5000)
    first, again, other = world.draw(200, 0), World(5000).draw(200, 0), world.draw(200, 1)
    assert [world.state(first, i) for i in range(200)] == [
        world.state(again, i) for i in range(200)
    ]
    assert (first.keys() == again.keys()).all()
    assert (first.keys() != other.keys()).any()


def test_keys_are_equal_exactly_where_states_are():
    world = World(2000)
    records = world.draw(2000, 0)
    of = {}
    for i, key in enumerate(records.keys().tolist()):
        assert of.setdefault(key, world.state(records, i)) == world.state(records, i)
    assert len(set(of.values())) >= 0.99 * len(of)  # goals may repeat on a site


def test_a_million_records_have_the_states_that_the_targets_speak_of():
    counted = facts(World(1_000_000).draw(1_000_000, 0))
    assert counted["distinct_states"] == pytest.approx(444_000, rel=0.02)
    assert counted["largest_scope_states"] == pytest.approx(84_000, rel=0.02)


def test_the_linear_scan_returns_rows_of_its_scope_best_and_newest_first():
    rows = [
        LinearRow("a", frozenset({"x", "y"}), 0),
        LinearRow("b", frozenset({"x", "y"}), 0),
        LinearRow("a", frozenset({"x", "y", "z"}), 1),
        LinearRow("a", frozenset({"q"}), 2),
        LinearRow("a", frozenset({"x", "y"}), 0),
        LinearRow("a", frozenset(), 3),
    ]
    assert scan(rows, "a", {"x", "y"}, 0.5) == [(1.0, 4), (1.0, 0), (2 / 3, 2)]


def test_quantiles_are_taken_in_each_repeat():
    times = [1.0, 2.0, 3.0, 11.0, 12.0, 13.0]
    p50 = quantiles(times, repeats=2).p50
    assert (p50.median, p50.low, p50.high) == (7.0, 2.0, 12.0)
    assert quantiles(times).worst == 13.0
    with pytest.raises(ValueError, match="6 times cannot be cut into 4 repeats"):
        quantiles(times, repeats=4)


def test_a_ratio_of_paired_times_has_an_interval_around_it():
    fast = np.linspace(1.0, 2.0, 50)
    ratio = times_faster((fast * 10).tolist(), fast.tolist(), 99)
    assert ratio.low == pytest.approx(10.0)
    assert ratio.median == pytest.approx(10.0)
    assert ratio.high == pytest.approx(10.0)


def test_episodes_are_of_one_task_and_pay_at_the_end():
    world = World(3000)
    records = world.draw(360, 0, run=STEPS)
    lived = [episode(world, records, number, "s", 0.5) for number in range(12)]
    for each in lived:
        assert {row.task for row in each.rows} == {each.episode.task}
        assert sum(each.scored.rewards) == each.rows[-1].reward
        assert each.rows[-1].ret == each.rows[-2].ret * 2
    assert {each.rows[-1].reward for each in lived} == {0.0, 1.0}


def test_the_command_prints_every_number_as_json_and_the_scan_agrees():
    done = subprocess.run(
        [
            *(sys.executable, "-c", "from jitrl.cli import main; main()", "bench", "decide"),
            *("--records", "1500", "--queries", "30", "--repeats", "2", "--json"),
        ],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "200"},
    )
    report = json.loads(done.stdout)
    assert report["schema"] == "jitrl.bench/1"
    assert {"cpu", "python", "numpy", "jitrl"} <= set(report["machine"])
    assert report["records"]["records"] == 1500
    answers = report["answers"]
    asked = [(row["memory"], row["threshold"]) for row in answers]
    assert asked == [("scopes", 0.8), ("scopes", 0.7), ("one scope", 0.8), ("one scope", 0.7)]
    assert all(row["linear"]["queries"] == 30 for row in answers)
    assert [row["linear"]["mismatches"] for row in answers] == [0, 0, 0, 0]
    assert all(row["found_p99"] > 0 and row["neighbors_p99"] > 0 for row in answers)
    for what in ("decision_cpu", "later_cpu"):
        assert all(row[what]["p50"]["median"] > 0 for row in answers)
    assert [row["rows_before"] for row in report["appended"]] == [0, 0, 1500, 1500]
    assert all(memory["file_bytes_per_row"] > 0 for memory in report["memories"])
    assert "times faster" in done.stderr
