"""What a newcomer reads is true: blocks run, links lead somewhere, both languages keep step."""

import io
import re
import subprocess
import sys
import tokenize
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

import jitrl

ROOT = Path(__file__).parents[1]
PAGES = [
    "README.md",
    "README.zh-CN.md",
    "docs/index.md",
    "docs/how-it-works.md",
    "docs/own-agent.md",
    "docs/zh/how-it-works.md",
    "docs/zh/own-agent.md",
]
TRANSLATIONS = [
    ("README.md", "README.zh-CN.md"),
    ("docs/how-it-works.md", "docs/zh/how-it-works.md"),
    ("docs/own-agent.md", "docs/zh/own-agent.md"),
]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
END = "end of a block"


def read(page):
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page):
    """Language and text of each code block."""
    return BLOCK.findall(read(page))


def headings(page):
    prose = BLOCK.sub("", read(page))
    return [len(marks) for marks in re.findall(r"^(#+) ", prose, re.MULTILINE)]


def without_comments(code):
    """Tokens of Python code that do something."""
    skipped = {tokenize.COMMENT, tokenize.NL}
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    return [token.string for token in tokens if token.type not in skipped]


def commands(page):
    """What a reader may copy: programs without their comments, and shell commands as they are."""
    return [
        without_comments(text) if language == "python" else text
        for language, text in blocks(page)
        if language in ("python", "console", "toml")
    ]


def examples(page):
    """Each Python block with the output that is printed right under it, if there is one."""
    found = blocks(page)
    for (language, code), (kind, shown) in pairwise([*found, ("", "")]):
        if language == "python":
            yield code, shown if kind == "text" and f"{code}```\n\n```text" in read(page) else None


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_page_run_in_order_and_print_what_they_show(page, tmp_path):
    parts = list(examples(page))
    program = tmp_path / "page.py"
    program.write_text("".join(f"{code}\nprint({END!r})\n" for code, _ in parts), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-X", "utf8", str(program)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout.split(f"{END}\n")[:-1]
    assert len(printed) == len(parts)
    for (code, shown), output in zip(parts, printed, strict=True):
        assert shown in (None, output), code


@pytest.mark.parametrize("page", PAGES)
def test_links_of_a_page_lead_to_files_that_are_there(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", BLOCK.sub("", read(page))):
        if not target.startswith("https://"):
            assert (ROOT / page).parent.joinpath(target).exists(), target


@pytest.mark.parametrize("page", ["README.md", "README.zh-CN.md"])
def test_a_readme_is_at_most_150_lines(page):
    assert len(read(page).splitlines()) <= 150


@pytest.mark.parametrize(("english", "chinese"), TRANSLATIONS)
def test_both_languages_have_the_same_headings_and_commands(english, chinese):
    assert headings(english) == headings(chinese)
    assert commands(english) == commands(chinese)


def test_the_readme_shows_both_commands():
    shown = "".join(text for language, text in blocks("README.md") if language == "console")
    assert "$ make demo\n" in shown
    assert "$ make test\n" in shown


@pytest.mark.parametrize("page", ["README.md", "README.zh-CN.md"])
@pytest.mark.parametrize("part", ["demo-output", "test-output", "results"])
def test_outputs_and_results_of_a_readme_are_filled_in(page, part):
    inside = re.search(rf"<!-- {part} -->\n(.*?)<!-- /{part} -->", read(page), re.DOTALL)
    assert inside
    assert inside[1].strip(), f"{page} has nothing between <!-- {part} --> and <!-- /{part} -->"


def test_one_version_is_named_everywhere():
    assert tomllib.loads(read("pyproject.toml"))["project"]["version"] == jitrl.__version__
    assert f"\nversion: {jitrl.__version__}\n" in read("CITATION.cff")
    assert f"\n## [{jitrl.__version__}]" in read("CHANGELOG.md")


def test_a_change_is_one_sentence_of_a_kind():
    notes = sorted((ROOT / "changelog.d").glob("*.md"))
    assert notes
    for note in notes:
        assert note.suffixes[-2] in (".added", ".changed", ".fixed", ".removed"), note.name
        assert note.read_text(encoding="utf-8").strip().count("\n") == 0, note.name
