"""The worked examples run as they are, each with its framework, and get better than without."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import jitrl

EXAMPLES = Path(__file__).parents[2] / "examples"
ROUND = re.compile(r"^round (\d+): (\d+) without memory, (\d+) with it$", re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "package"),
    [
        pytest.param("langchain_support", "langchain", marks=pytest.mark.frameworks),
        pytest.param("openai_agents_support", "agents.run", marks=pytest.mark.frameworks),
        pytest.param("pydantic_ai_coding", "pydantic_ai", marks=pytest.mark.frameworks),
        pytest.param("openai_client_coding", "openai", marks=pytest.mark.frameworks),
        pytest.param("proxy_support", "uvicorn", marks=pytest.mark.server),
    ],
)
def test_success_rises_over_that_of_the_same_agent_without_memory(name, package, tmp_path):
    pytest.importorskip(package, reason=f"{package} is not installed")
    command = [sys.executable, "-W", "error", "-X", "utf8", str(EXAMPLES / f"{name}.py")]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", timeout=600
    )
    assert done.returncode == 0, done.stderr
    rounds = [(int(alone), int(learned)) for _, alone, learned in ROUND.findall(done.stdout)]
    assert len(rounds) == 6
    assert rounds[0][0] == rounds[0][1]  # an empty memory changes nothing
    alone, learned = (sum(pair[arm] for pair in rounds[3:]) for arm in (0, 1))
    assert learned >= alone + 6


@pytest.mark.frameworks
def test_the_first_hour_can_be_had_from_one_command_up_to_a_verdict(tmp_path):
    pytest.importorskip("langchain", reason="langchain is not installed")
    command = [
        sys.executable,
        "-W",
        "error",
        "-X",
        "utf8",
        EXAMPLES / "langchain_support.py",
        "m.db",
    ]
    done, again = (
        subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", timeout=600
        )
        for _ in range(2)
    )
    assert done.returncode == 0, done.stderr
    page = (EXAMPLES.parent / "docs" / "first-hour.md").read_text(encoding="utf-8")
    assert done.stdout.replace("m.db", "support.db") in page
    with jitrl.open(tmp_path / "m.db") as memory:
        lived = list(memory.store.episodes())
    right = [len(one.steps) for one in lived if one.outcome.value and not one.holdout]
    assert max(right) <= 3  # as many as the model alone takes: nothing is done once it is settled
    is_held = Counter(one.holdout for one in lived)
    assert is_held.total() == 60
    assert min(is_held.values()) >= 6
    assert (again.returncode, again.stderr) == (1, "m.db is there already; name a new file\n")
