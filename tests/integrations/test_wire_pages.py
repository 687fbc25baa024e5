"""The pages on Inspect and OpenTelemetry are true: blocks run and print what they show."""

import subprocess
import sys
from importlib.util import find_spec

import pytest
import typer
from test_readme import END, anchors, examples, invocations, targets

from jitrl.cli.main import COMMANDS, build

NEEDS = {"inspect": "inspect_ai", "telemetry": "opentelemetry"}


@pytest.mark.frameworks
@pytest.mark.parametrize("page", NEEDS)
def test_the_blocks_of_a_page_run_in_order_and_print_what_they_show(page, tmp_path):
    if not find_spec(NEEDS[page]):
        pytest.skip(f"{NEEDS[page]} is not installed")
    parts = list(examples(f"docs/{page}.md"))
    program = tmp_path / "page.py"
    program.write_text("".join(f"{code}\nprint({END!r})\n" for code, _ in parts), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-X", "utf8", str(program)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout.split(f"{END}\n")[:-1]
    assert len(printed) == len(parts)
    for (code, shown), output in zip(parts, printed, strict=True):
        assert shown in (None, output), code


@pytest.mark.parametrize("page", NEEDS)
def test_links_and_commands_of_a_page_lead_somewhere(page):
    for file, heading in targets(f"docs/{page}.md"):
        assert file.exists(), file
        assert not heading or heading in anchors(file.read_text(encoding="utf-8")), heading
    for words in invocations(f"docs/{page}.md"):
        command = typer.main.get_command(build(COMMANDS))
        while hasattr(command, "commands"):
            command, words = command.commands[words[0]], words[1:]
        command.make_context("jitrl", words)
