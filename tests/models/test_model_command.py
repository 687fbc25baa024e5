import json
import subprocess
import sys

import pytest


def jitrl(*words, cwd=None):
    command = [sys.executable, "-m", "jitrl", "model", *words]
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", check=False, cwd=cwd
    )


def test_models_are_listed_with_what_they_need():
    done = jitrl("ls", "--json")
    found = json.loads(done.stdout)
    assert found["schema"] == "jitrl.model.ls/1"
    assert {"embedded", "openai", "scripted"} <= {one["name"] for one in found["models"]}
    assert all(one["about"] or one["needs"] for one in found["models"])


def test_check_loads_a_model_and_scores_a_step(small_model):
    done = jitrl("check", "embedded", "-o", f"path={small_model}", "--json")
    found = json.loads(done.stdout)
    assert (found["schema"], found["model"], found["scorer"]) == (
        "jitrl.model.check/1",
        "small",
        "sequence",
    )
    assert len(found["candidates"]) == 2
    assert "works with scorer sequence" in done.stderr


def test_check_takes_the_model_of_the_settings(tmp_path):
    (tmp_path / "jitrl.toml").write_text(
        '[model]\nname = "scripted"\noptions = {default = 1.5}\n', encoding="utf-8"
    )
    done = jitrl("check", "--json", cwd=tmp_path)
    assert {one["logit"] for one in json.loads(done.stdout)["candidates"]} == {1.5}


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("check", "nothing"), 2, "no model is named 'nothing'"),
        (("check", "scripted", "-o", "seed"), 2, "KEY=VALUE"),
        (("check", "scripted", "-o", "sede=1"), 3, "did you mean 'seed'"),
        (("check", "embedded", "-o", "path=/nowhere.gguf"), 5, "cannot read model file"),
    ],
)
def test_what_cannot_be_checked_ends_with_the_code_of_its_kind(words, code, message):
    done = jitrl(*words)
    assert done.returncode == code
    assert message in " ".join(done.stderr.split())


@pytest.mark.model
def test_install_finds_the_model_that_is_there(real_model):
    done = jitrl("install", "--json")
    found = json.loads(done.stdout)
    assert (found["schema"], found["path"]) == ("jitrl.model.install/1", str(real_model))
    assert "already installed" in done.stderr


@pytest.mark.model
def test_the_benchmark_reports_times(real_model):
    done = jitrl("bench", "--states", "1", "--prompt-tokens", "20", "--json")
    found = json.loads(done.stdout)
    assert found["schema"] == "jitrl.bench.scoring/1"
    assert found["fresh"]["cpu_median"] > 0
    assert found["weights_mb"] == pytest.approx(537.9, abs=0.1)
