"""The page on frameworks: what a reader adds is short, and its requests do what it says."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "integrations.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
ADDED = [
    code for kind, code in BLOCKS if (kind == "python" and "with " in code) or "Capability" in code
]


@pytest.mark.parametrize("code", ADDED, ids=lambda code: code.split()[1])
def test_a_framework_needs_at_most_ten_lines(code):
    assert len([line for line in code.splitlines() if line.strip()]) <= 10


def test_there_is_a_block_for_each_framework():
    assert len(ADDED) == 4


@pytest.mark.server
def test_the_requests_of_the_page_do_what_it_says(tmp_path):
    pytest.importorskip("uvicorn", reason="uvicorn is not installed (extra server)")
    if shutil.which("curl") is None or shutil.which("sh") is None:
        pytest.skip("curl or sh is not installed")
    from chat_stub import TOOLS, served
    from test_proxy import asked, listening

    import jitrl
    from jitrl.integrations.guide import Guide
    from jitrl.service.proxy import SELF_SAID, app

    (lines,) = [code for kind, code in BLOCKS if kind == "sh"]
    (tmp_path / "request.json").write_text(json.dumps(asked()), encoding="utf-8")
    assert TOOLS
    with served() as stub, jitrl.open(tmp_path / "memory.db") as memory:
        made = app(Guide(memory), stub.url, accept={*SELF_SAID, "state_check"})
        with listening(made) as url:
            script = lines.replace("http://127.0.0.1:8788", url).replace("curl ", "curl -sSf ")
            done = subprocess.run(
                ["sh", "-ec", script], cwd=tmp_path, capture_output=True, text=True
            )
        assert done.returncode == 0, done.stderr
        assert "tool_calls" in done.stdout
        outcome = memory.store.episode("ticket-4711").outcome
    assert (outcome.value, outcome.basis) == (1.0, "state_check")
