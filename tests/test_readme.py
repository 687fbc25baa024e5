"""What a newcomer reads is true: blocks run, links lead somewhere, both languages keep step."""

import io
import os
import re
import shlex
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from itertools import pairwise
from os.path import relpath
from pathlib import Path

import pytest
import typer

import jitrl
from jitrl import config
from jitrl.cli.main import COMMANDS, build
from jitrl.cli.shared.settings import OPTIONS, merge

ROOT = Path(__file__).parents[1]
TRANSLATIONS = [
    ("README.md", "README.zh-CN.md"),
    *((f"docs/{p.name}", f"docs/zh/{p.name}") for p in sorted((ROOT / "docs/zh").glob("*.md"))),
]
PAGES = [page for pair in TRANSLATIONS for page in pair]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d+(?:[.,]\d+)*|(?<!\w)\.\d+")
UNITS = {"135 million": "1.35 亿"}
"""Numbers that the two languages write with different digits."""
END = "end of a block"
TESTS = ROOT / "tests"
NEEDS = {
    "integrations.md": ("langchain", "agents.run", "pydantic_ai", "openai"),
    "mcp.md": ("mcp",),
}
"""Packages without which the blocks of a page cannot run."""


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
    """What a reader may copy, without its comments; of a block in words its numbers."""
    for language, text in blocks(page):
        match language:
            case "python":
                yield language, without_comments(text)
            case "text":
                yield language, NUMBER.findall(text)
            case _:
                yield language, re.sub(r"(^|[ \t]+)# .*$", "", text, flags=re.MULTILINE)


def sections(page):
    """The prose of each section, with its heading."""
    return re.split(r"^(?=#+ )", BLOCK.sub("", read(page)), flags=re.MULTILINE)


def facts(section):
    """Numbers, code and rows of tables, as often as they are there; addresses are not looked at."""
    said = re.sub(r"\]\([^)]*\)", "]", section)
    for english, chinese in UNITS.items():
        said = said.replace(chinese, english)
    rows = re.findall(r"^\|", said, re.MULTILINE)
    items = re.findall(r"^ *- ", said, re.MULTILINE)
    code = [" ".join(found.split()) for found in re.findall(r"`[^`]+`", said)]
    return Counter(NUMBER.findall(said) + code + rows + items)


def targets(page):
    """Where the links of the prose lead: file and heading, "" for the page itself or its top."""
    for link in re.findall(r"\]\(([^)]+)\)", BLOCK.sub("", read(page))):
        if not link.startswith("https://"):
            file, _, heading = link.partition("#")
            yield (ROOT / page).parent.joinpath(file) if file else ROOT / page, heading


def anchors(text):
    """Anchors of the headings, as GitHub makes them."""
    for heading in re.findall(r"^#+ (.*)$", BLOCK.sub("", text), re.MULTILINE):
        yield re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def invocations(page):
    """Command lines of `jitrl` in the blocks for a shell, as lists of words."""
    for language, text in blocks(page):
        if language in ("console", "sh", ""):
            for line in text.replace("\\\n", " ").splitlines():
                words = shlex.split(line.removeprefix("$ "), comments=True)
                if words[:1] == ["jitrl"]:
                    yield words[1:]


def examples(page):
    """Each Python block with the output that is printed right under it, if there is one."""
    found = blocks(page)
    for (language, code), (kind, shown) in pairwise([*found, ("", "")]):
        if language == "python":
            yield code, shown if kind == "text" and f"{code}```\n\n```text" in read(page) else None


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_page_run_in_order_and_print_what_they_show(page, tmp_path):
    for package in NEEDS.get(Path(page).name, ()):
        pytest.importorskip(package, reason=f"{package} is not installed")
    parts = list(examples(page))
    program = tmp_path / "page.py"
    yours = TESTS / "pages" / Path(page).with_suffix(".py").name  # what a page says the reader has
    before = yours.read_text(encoding="utf-8") if yours.is_file() else ""
    blocks_of = "".join(f"{code}\nprint({END!r})\n" for code, _ in parts)
    program.write_text(f"{before}\n{blocks_of}", encoding="utf-8")
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "error",
            "-W",
            "ignore:an episode with key:UserWarning",
            "-X",
            "utf8",
            str(program),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        env={**os.environ, "TESTS_OF_PAGES": str(TESTS)},
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout.split(f"{END}\n")[:-1]
    assert len(printed) == len(parts)
    for (code, shown), output in zip(parts, printed, strict=True):
        assert shown in (None, output), code


@pytest.mark.parametrize("page", PAGES)
def test_links_of_a_page_lead_to_headings_that_are_there(page):
    for file, heading in targets(page):
        assert file.exists(), file
        assert not heading or heading in anchors(file.read_text(encoding="utf-8")), heading


@pytest.mark.parametrize("page", PAGES)
def test_commands_of_a_page_are_taken_by_the_command_line(page):
    for words in invocations(page):
        command = typer.main.get_command(build(COMMANDS))
        while hasattr(command, "commands"):
            if command.invoke_without_command and words[:1] not in [[n] for n in command.commands]:
                break
            command, words = command.commands[words[0]], words[1:]
        given = command.make_context("jitrl", words).params
        for option, (group, name) in OPTIONS.items():
            if text := given.get(f"{group}_{name}"):
                config.parse(group, name, text, option)
        merge({}, given.get("set_") or (), "--set")


@pytest.mark.parametrize("page", ["README.md", "README.zh-CN.md"])
def test_a_readme_is_at_most_150_lines(page):
    assert len(read(page).splitlines()) <= 150


@pytest.mark.parametrize(("english", "chinese"), TRANSLATIONS)
def test_both_languages_have_the_same_headings_and_commands(english, chinese):
    assert headings(english) == headings(chinese)
    assert list(commands(english)) == list(commands(chinese))


@pytest.mark.parametrize(("english", "chinese"), TRANSLATIONS)
def test_both_languages_have_the_same_numbers_and_names_in_each_section(english, chinese):
    for section, other in zip(sections(english), sections(chinese), strict=True):
        ours, theirs = facts(section), facts(other)
        assert (ours - theirs, theirs - ours) == ({}, {}), section.partition("\n")[0]


@pytest.mark.parametrize(("english", "chinese"), TRANSLATIONS)
def test_both_languages_lead_to_each_other(english, chinese):
    for page, other in ((english, chinese), (chinese, english)):
        assert f"]({relpath(other, Path(page).parent).replace(chr(92), '/')})" in read(page)


@pytest.mark.parametrize("chinese", [chinese for _, chinese in TRANSLATIONS])
def test_a_chinese_page_leads_to_chinese_pages_where_there_are_some(chinese):
    translated = {ROOT / english: other for english, other in TRANSLATIONS}
    found = {file.resolve() for file, _ in targets(chinese)}
    own = {c: ROOT / e for e, c in TRANSLATIONS}[chinese]
    assert not found & translated.keys() - {own}


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
