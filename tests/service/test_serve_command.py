"""`jitrl serve` and its keys, in processes of their own, fuzzed and under load."""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

ROOT = Path(__file__).parents[2]
JITRL = [sys.executable, "-m", "jitrl"]


def run(*args, **how):
    return subprocess.run(
        [*JITRL, *map(str, args)], capture_output=True, text=True, check=False, **how
    )


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Address, key and log of a service that runs until all tests are over."""
    tmp_path = tmp_path_factory.mktemp("served")
    folder = ("--folder", tmp_path / "memories")
    made = run("serve", "keys", "add", "--name", "ops", "--scope", "admin", *folder)
    assert made.returncode == 0, made.stderr
    command = [*JITRL, "serve", *map(str, folder), "--port", "0", "--rate", "0", "--json"]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log)
    try:
        text = b""
        while not text.rstrip().endswith(b"}"):
            line = process.stdout.readline()
            assert line, (tmp_path / "log").read_text()
            text += line
        address = json.loads(text)["address"]
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and not _is_ready(address):
            time.sleep(0.1)
        yield address, made.stdout.strip(), tmp_path / "log"
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()


def _is_ready(address):
    try:
        with urlopen(f"{address}/readyz", timeout=30) as answer:
            return answer.status == 200
    except OSError:
        return False


def test_keys_are_made_listed_and_revoked(tmp_path):
    at = ("--folder", tmp_path)
    scopes = ("--scope", "decide", "--scope", "report:self")
    made = run("serve", "keys", "add", "--name", "agent", "--tenant", "shop", *scopes, *at)
    assert made.returncode == 0, made.stderr
    assert made.stdout.startswith("jitrl_")
    secret = made.stdout.strip().split("_", 2)[2]
    listed = json.loads(run("serve", "keys", "ls", "--json", *at).stdout)
    (key,) = listed["keys"]
    assert (key["name"], key["tenant"], key["scopes"]) == (
        "agent",
        "shop",
        ["decide", "report:self"],
    )
    shown = run("serve", "keys", "ls", *at)
    assert secret not in shown.stdout + shown.stderr + json.dumps(listed) + made.stderr
    assert run("serve", "keys", "revoke", key["id"], *at).returncode == 0
    assert run("serve", "keys", "revoke", "nobody", *at).returncode == 4


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps no modes of files")
def test_a_folder_that_is_made_is_its_users_alone(tmp_path):
    folder = tmp_path / "memories"
    assert (
        run("serve", "keys", "add", "--name", "a", "--scope", "read", "--folder", folder).returncode
        == 0
    )
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.server
def test_it_does_not_start_without_a_key_and_says_how_to_make_one(tmp_path):
    done = run("serve", "--folder", tmp_path, "--port", "0", timeout=120)
    assert done.returncode == 3
    assert "jitrl serve keys add" in done.stderr


@pytest.mark.server
def test_it_listens_on_this_machine_alone_and_tells_its_address(served):
    from jitrl.service.client import Client

    address, key, log = served
    assert address.startswith("http://127.0.0.1:")
    with Client(address, key) as client:
        with client.episode("t", key="k") as episode:
            assert episode.decide("page", {"yes": 1.0, "no": 0.0}).action == "yes"
            assert episode.outcome(True, basis="test").rows == 1
        assert len(client.rows().rows) == 1
    assert key.split("_", 2)[2] not in log.read_text()


@pytest.mark.server
def test_it_tells_the_address_of_the_dashboard_which_a_key_opens(served):
    address, key, log = served
    (at,) = re.findall(r"^dashboard: (\S+) ", log.read_text(), re.M)
    assert at == f"{address}/ui/"
    basic = base64.b64encode(f"anybody:{key}".encode()).decode()
    for where in (at, at.rstrip("/")):  # without the last slash, too
        asked = Request(where, headers={"Authorization": f"Basic {basic}"})
        with urlopen(asked, timeout=60) as page:
            assert (page.status, page.url.startswith(at)) == (200, True)


@pytest.mark.server
def test_an_address_that_is_taken_is_named(served, tmp_path):
    port = served[0].rpartition(":")[2]
    run("serve", "keys", "add", "--name", "a", "--scope", "read", "--folder", tmp_path / "b")
    done = run("serve", "--folder", tmp_path / "b", "--port", port, timeout=120)
    assert done.returncode == 3
    assert port in done.stderr


@pytest.mark.server
def test_nothing_that_a_fuzzer_sends_is_answered_otherwise_than_declared(served, tmp_path):
    fuzzer = shutil.which("schemathesis", path=str(Path(sys.executable).parent))
    if fuzzer is None:
        pytest.skip("schemathesis is not installed")
    address, key, log = served
    config = tmp_path / "schemathesis.toml"
    config.write_text(f'[headers]\nAuthorization = "Bearer {key}"\n')
    command = [fuzzer, "--config-file", config, "run", f"{address}/openapi.json"]
    command += ["--checks", "all", "--phases", "fuzzing", "--max-examples", "5", "--no-color"]
    command += ["--suppress-health-check", "all", "--request-timeout", "60", "--seed", "1"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=900
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:] + log.read_text()[-2000:]


@pytest.mark.server
@pytest.mark.parametrize("what", ["load", "soak"])
def test_load_and_soak_are_measured_without_an_error(what):
    asked = ("--records", 300, "--minutes", 0.05, "--rate", 20, "--players", 2)
    done = run("bench", "serve", "--what", what, *asked, "--deadline", 60_000, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["schema"], found["what"]) == ("jitrl.bench.serve/1", what)
    assert (found["errors"], found["degraded"]) == (0, 0), found["first_error"]
    kinds = {of["kind"]: of for of in found["times"]}
    assert {"all", "start", "decide"} <= kinds.keys()
    assert kinds["all"]["requests"] == 60
    assert 0 < kinds["all"]["p50"] <= kinds["all"]["p99"] <= kinds["all"]["worst"]


@pytest.mark.server
def test_the_examples_of_the_page_work_as_they_stand(served, tmp_path):
    bash, curl = shutil.which("bash"), shutil.which("curl")
    if bash is None or curl is None:
        pytest.skip("bash or curl is not installed")
    address, _, log = served
    folder = ("--folder", log.parent / "memories")
    scopes = "decide", "report:self"
    agent, checker = (
        run("serve", "keys", "add", "--name", name, *options, *folder)
        for name, options in (
            ("agent", [part for scope in scopes for part in ("--scope", scope)]),
            ("check", ["--scope", "report:trusted"]),
        )
    )
    own, check = agent.stdout.strip(), checker.stdout.strip()
    page = (ROOT / "docs/service.md").read_text(encoding="utf-8")
    blocks = {"sh": "", "py": ""}
    for kind, block in re.findall(r"^```(sh|py)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        blocks[kind] += block
    program = tmp_path / "example.sh"
    program.write_text("set -e\n" + blocks["sh"].replace("curl -sS", "curl -sSf"), encoding="utf-8")
    done = subprocess.run(
        [bash, program],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"], "URL": address, "KEY": own, "CHECK": check},
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(one) for one in re.findall(r"\{.*?\}", done.stdout)]
    started, chosen, told, _, _, took, mail, noted, attached = answers
    assert (took["id"], took["steps"]) == ("visit-2", 1)
    assert (started["id"], chosen["action"], told["rows"]) == ("visit-1", "open Emails", 1)
    assert (mail["id"], noted["notes"], attached["rules"]) == ("mail-1", "", [])
    example = f"URL, KEY, CHECK = {address!r}, {own!r}, {check!r}\n{blocks['py']}"
    example += "\nprint(choice.degraded)"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", example], capture_output=True, text=True, check=False
    )
    printed = "open Emails\nopen Reviews\n"
    assert (done.returncode, done.stdout) == (0, f"{printed}False\n"), done.stderr
    assert f"```text\n{printed}```" in page
