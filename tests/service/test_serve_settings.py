"""`jitrl serve` takes its options from the settings, too, and the command line counts before."""

import json
import subprocess
import sys

import pytest

from jitrl import config
from jitrl.cli.shared.settings import SERVE
from jitrl.run import folder as runs

JITRL = [sys.executable, "-m", "jitrl"]


def run(here, *args, **how):
    return subprocess.run(
        [*JITRL, *map(str, args)], cwd=here, capture_output=True, text=True, check=False, **how
    )


def written(here, **values):
    lines = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
    (here / "jitrl.toml").write_text("\n".join(["[serve]", *lines]), encoding="utf-8")


def test_the_settings_in_force_name_the_group(tmp_path):
    written(tmp_path, port=8400, deadline=500)
    done = run(tmp_path, "config", "--json")
    shown = {row["setting"]: row for row in json.loads(done.stdout)["settings"]}
    assert (shown["serve.port"]["value"], shown["serve.port"]["from"]) == (8400, "jitrl.toml")
    assert (shown["serve.host"]["value"], shown["serve.host"]["from"]) == ("127.0.0.1", "default")


@pytest.mark.server
def test_the_service_listens_as_the_settings_say(tmp_path):
    pytest.importorskip("fastapi", reason="fastapi is not installed (extra server)")
    written(tmp_path, folder="desks", host="::1.invalid", port=0)
    made = run(tmp_path, "serve", "keys", "add", "--name", "a", "--scope", "read")
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "desks" / "keys.json").exists()
    refused = run(tmp_path, "serve")
    assert refused.returncode == 3
    assert "cannot listen on ::1.invalid:0" in refused.stderr
    process = subprocess.Popen(
        [*JITRL, "serve", "--host", "127.0.0.1", "--json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        text = b""
        while not text.rstrip().endswith(b"}"):
            line = process.stdout.readline()
            assert line
            text += line
        assert json.loads(text)["address"].startswith("http://127.0.0.1:")
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--port", "70000"), "--port: serve.port is"),
        (("--deadline", "0"), "--deadline: serve.deadline is"),
        (("--set", "serve.rate=-1"), "serve.rate is"),
        (("--set", "serve.ports=1"), "serve has no setting 'ports', did you mean"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_by_its_name(tmp_path, asked, said):
    done = run(tmp_path, "serve", *asked)
    assert done.returncode == 3
    assert said.split(",")[0] in done.stderr


def test_each_setting_of_the_group_has_an_option():
    assert set(SERVE.values()) == {("serve", name) for name in config.Serve.__struct_fields__}


def test_how_a_service_listens_is_no_part_of_a_run():
    plain, other = config.Settings(), config.Settings(serve=config.Serve(port=1))
    assert runs.default(plain) == runs.default(other)
