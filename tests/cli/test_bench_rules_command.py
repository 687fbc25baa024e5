"""`jitrl bench rules` from the command line."""

import json
import os
import re
import subprocess
import sys
import time

import pytest

from jitrl.bench.rules.life import there
from jitrl.cli.bench.numbers import say_fewer

SMALL = ("--templates", "1", "--rounds", "1", "--seeds", "1")


def test_what_became_of_planted_rules_is_shown_and_printed(jitrl):
    done = jitrl("bench", "rules", "--what", "gates", "--arms", "harmful, gates", *SMALL, "--json")
    assert done.code == 0, done.err
    assert done.data["schema"] == "jitrl.bench.rules/6"
    assert done.err.startswith(f"gates, {len(done.data['results'])} arms: ")
    last = done.data["results"][-1]
    assert {"mean", "low", "high"} <= set(last["score"])
    assert last["arm"]["name"] == "planted harmful, gates off"
    harmful = last["planted"]["harmful"]
    assert (harmful["admitted"], harmful["told"]) == (0, 1)
    assert harmful["gone"] == {"10": 0.0, "20": 0.0, "40": 0.0, "80": 0.0}
    told = done.data["protocol"]["told_until_retired"]
    assert {status: set(of) for status, of in told.items()} == {
        status: {"-0.3", "-0.6", "-0.9"} for status in ("candidate", "active")
    }
    assert "planted harmful, gates off" in done.err
    assert "until it is retired" in done.err
    assert "were asked for" not in done.err


def test_no_more_templates_count_than_the_world_has(capfd):
    say_fewer(999, there("backoffice", 1), "templates")
    said = capfd.readouterr().err
    assert said == f"999 templates were asked for; there are {there('backoffice', 1)}\n"
    assert 0 < there("backoffice", 1) < 999


def test_rules_are_measured_in_documents_as_well(jitrl):
    done = jitrl("bench", "rules", "--world", "extraction", "--arms", "rules", *SMALL, "--json")
    assert done.code == 0, done.err
    assert done.data["protocol"]["environment"] == "extraction"
    none, rules = done.data["results"]
    assert [result["arm"]["name"] for result in (none, rules)] == ["none", "rules"]
    assert none["asked"] is None
    assert rules["asked"]["steps"] > rules["asked"]["full"] == 0
    (row,) = (line for line in done.err.splitlines() if line.startswith("rules") and "+ " in line)
    assert row.split()[4:] == [str(of) for of in rules["asked"].values()]


@pytest.mark.parametrize("flag", ["--right", "--heeds"])
def test_numbers_that_are_not_finite_are_refused(jitrl, flag):
    done = jitrl("bench", "rules", flag, "inf")
    assert done.code == 2
    assert "must be a finite number" in done.err


@pytest.mark.skipif(os.name != "posix", reason="processes are killed by a signal")
def test_what_was_killed_goes_on_and_ends_as_if_it_had_not_been(jitrl, tmp_path):
    small = ("bench", "rules", "--arms", "rules", *SMALL[:-1], "3", "--json")
    kept = tmp_path / "kept"
    command = [sys.executable, "-m", "jitrl", *small, "--out", str(kept)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while process.poll() is None and not list(kept.glob("*.json")):
            time.sleep(0.01)
        process.kill()
        assert process.stdout.read() == b""
    before = {path: path.stat().st_mtime_ns for path in kept.glob("*.json")}
    assert 0 < len(before) < 6
    whole, gone_on = jitrl(*small), jitrl(*small, "--out", kept)
    assert gone_on.code == 0, gone_on.err
    assert gone_on.data["results"] == whole.data["results"]
    assert re.sub("[0-9.]+ minutes", "", gone_on.err) == re.sub("[0-9.]+ minutes", "", whole.err)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    files = list(kept.glob("*.json"))
    assert len(files) == 6
    for path in files:
        path.write_text(json.dumps(json.loads(path.read_bytes()) | {"seconds": 60.0}))
    again = jitrl(*small, "--out", kept)
    assert again.data["results"] == whole.data["results"]
    assert again.data["protocol"]["minutes_of_one_process"] == 6.0
    assert "; 6.0 minutes of one process." in " ".join(again.err.split())


def test_other_settings_do_not_go_on_where_these_were(jitrl, tmp_path):
    kept = ("--arms", "none", *SMALL, "--out", tmp_path / "kept", "--json")
    some, others = jitrl("bench", "rules", *kept), jitrl("bench", "rules", "--right", "9", *kept)
    assert some.data["results"] != others.data["results"]
    assert len(list((tmp_path / "kept").iterdir())) == 2


def test_every_round_is_shown_and_what_it_rests_on(jitrl):
    long = ("--templates", "1", "--rounds", "11", "--seeds", "1")
    done = jitrl("bench", "rules", "--arms", "none", *long, "--json")
    (none,) = done.data["results"]
    rows = [line.split() for line in done.err.splitlines()]
    heads = [row for row in rows if row[:1] == ["round"]]
    assert [at for head in heads for at in head[1:]] == [str(n) for n in range(1, 12)]
    first, *tables = (row[1:] for row in rows if row[:1] == ["none"])
    assert first[0] == str(none["n"]) == "1"
    assert [float(mean) for row in tables for mean in row] == pytest.approx(
        none["rounds"], abs=0.001
    )
    said = " ".join(done.err.split())
    assert "1 seed, 1 template of 3 tasks, 11 rounds of 8 attempts; " in said
    assert said.endswith(" minutes of one process.")
