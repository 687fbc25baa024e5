import re
import shlex
import subprocess
import sys
from pathlib import Path

from jitrl import registry

PAGE = (Path(__file__).parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")


def test_every_agent_is_on_the_page_on_agents():
    table = re.search(r"^\| name .*?\n\n", PAGE, re.MULTILINE | re.DOTALL)[0]
    named = {name for row in table.splitlines()[2:] for name in re.findall(r"`([^`]+)`", row)}
    assert set(registry.names("agents")) <= named


def test_the_comparison_of_the_page_runs(tmp_path):
    (command,) = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    program, *words = shlex.split(command.replace("\\\n", " "))
    assert program == "jitrl"
    done = subprocess.run(
        [sys.executable, "-m", "jitrl", *words], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    table = {line.split(" ")[0].rstrip("†*") for line in done.stderr.splitlines()}
    assert set(re.findall(r"--arm (\S+)", command)) <= table
