"""The command that installs an extra is one that works: this Python, and the place it came from."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from jitrl import extras
from jitrl.errors import MissingExtra

HERE = Path.cwd()
HOME = HERE / "my checkout"
EDITABLE = {"url": HOME.as_uri(), "dir_info": {"editable": True}}


@pytest.mark.parametrize(
    ("origin", "folder", "said"),
    [
        ({}, HERE, ["jitrl[plot]"]),
        (EDITABLE, HOME, ["-e", ".[plot]"]),
        (EDITABLE, HERE, ["-e", f"{HOME}[plot]"]),
        ({"url": HOME.as_uri(), "dir_info": {}}, HOME, [".[plot]"]),
        (
            {"url": "https://host/jitrl.git", "vcs_info": {"vcs": "git", "commit_id": "1"}},
            HERE,
            ["jitrl[plot] @ git+https://host/jitrl.git"],
        ),
        (
            {"url": "https://host/jitrl.whl", "archive_info": {}},
            HERE,
            ["jitrl[plot] @ https://host/jitrl.whl"],
        ),
    ],
)
def test_what_is_installed_is_the_package_from_where_it_came(origin, folder, said):
    assert shlex.split(extras.target("plot", origin, folder)) == said


def test_the_command_begins_with_the_python_that_runs(tmp_path):
    program = "import shlex; from jitrl import extras; print(extras.command('plot'))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    python, *rest = shlex.split(done.stdout)
    if python == "uv":
        python = rest[rest.index("--python") + 1]
    prefix = "import sys; print(sys.prefix)"
    ran = subprocess.run([python, "-c", prefix], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == sys.prefix
    assert rest[-1].endswith("[plot]")


def test_a_missing_extra_tells_the_command_and_leaves_other_words_alone():
    said = str(MissingExtra("x is missing: pip install 'jitrl[a-b]', or pip install x"))
    assert said == f"x is missing: {extras.command('a-b')}, or pip install x"
    again = extras.here(said)
    assert again == said
