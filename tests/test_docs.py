import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from jitrl.cli.main import COMMANDS, build

ROOT = Path(__file__).parents[1]


def options(command):
    """The parameters of a command and of all below it."""
    yield from command.params
    for inner in getattr(command, "commands", {}).values():
        yield from options(inner)


def test_the_pages_on_commands_and_settings_are_current():
    command = [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_no_option_is_said_to_have_an_empty_default(command):
    root = typer.main.get_command(build([command]))
    said = {param.name: param.help or "" for param in options(root)}
    assert said
    assert not [name for name, text in said.items() if re.search(r"default:\s*[)\]]", text)]


def test_the_page_on_commands_has_defaults_in_their_column_as_one_writes_them():
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    rows = [re.split(r" (?<!\\)\| ?", row) for row in re.findall(r"^\| `.*$", page, re.MULTILINE)]
    listed = [row for row in rows if len(row) == 4]
    assert any(name == "| `--agent`" and default == "`jitrl`" for name, _, default, _ in listed)
    assert not [row for row in listed if "(default:" in row[1]]
    assert not [row for row in listed if re.search(r"[\['\]]|\b(True|False|None)\b|``", row[2])]
