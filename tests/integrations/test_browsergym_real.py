"""The example of docs/browsergym.md in the real BrowserGym."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from jitrl.envs.browser.chromium import installed

PAGE = Path(__file__).parents[2] / "docs" / "browsergym.md"
NEEDED = ("browsergym", "miniwob", "playwright")
pytestmark = [
    pytest.mark.browsergym,
    pytest.mark.skipif(
        not all(map(find_spec, NEEDED)) or installed() is None,
        reason="needs browsergym-miniwob, miniwob and Chromium",
    ),
]
WHERE = """
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)
"""


@pytest.fixture
def environment(tmp_path):
    """Variables under which Playwright finds this machine's own Chromium."""
    variables = os.environ | {
        "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path / "browsers"),
        "JITRL_MODEL_NAME": "scripted",
        "JITRL_MODEL_OPTIONS": "noise=1.0",
    }
    done = subprocess.run(
        [sys.executable, "-c", WHERE], capture_output=True, text=True, check=True, env=variables
    )
    wanted = Path(done.stdout.strip())
    wanted.parent.mkdir(parents=True)
    wanted.symlink_to(installed())
    return variables


def test_the_example_of_the_documentation_learns_in_the_real_browsergym(tmp_path, environment):
    code = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    done = subprocess.run(
        [sys.executable, "-c", code[0]],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    scores = [[float(n) for n in line.strip("[]").split(",")] for line in done.stdout.splitlines()]
    assert len(scores) == 3
    assert scores[-1] == [1.0, 1.0]
