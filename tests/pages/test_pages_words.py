"""The parts that pages are made of: words in both languages, templates, and vendored files."""

import hashlib
import json
import re
import string
from pathlib import Path

import pytest

import jitrl
from jitrl.service.pages.words import SAID, Words, preferred

PAGES = Path(jitrl.__file__).parent / "service" / "pages"
TEMPLATES = sorted((PAGES / "templates").glob("*.html"))
VENDOR = PAGES / "static" / "vendor"
KEY = re.compile(r"""\bt\(\s*["']([\w.]+)["']\s*(~?)|["']([a-z_]+\.[a-z_.]+)["']\s+if\b""")


def fields(text):
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)


@pytest.mark.parametrize("key", SAID)
def test_each_word_is_said_in_both_languages_with_the_same_blanks(key):
    english, chinese = SAID[key]
    assert english.strip()
    assert chinese.strip()
    assert fields(english) == fields(chinese)
    assert english != chinese or not re.search("[a-z]{3}", english)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_templates_ask_for_words_that_are_there(template):
    for key, is_joined, other in KEY.findall(template.read_text(encoding="utf-8")):
        if is_joined:
            assert [k for k in SAID if k.startswith(key)], key
        else:
            assert (key or other) in SAID


def test_every_word_is_used():
    said = "".join(p.read_text(encoding="utf-8") for p in (*TEMPLATES, *PAGES.rglob("*.py")))
    joined = {key for key, is_joined, _ in KEY.findall(said) if is_joined}
    joined |= {"reason.", "verdict."}
    unused = [
        key
        for key in SAID
        if said.count(f'"{key}"') + said.count(f"'{key}'") < 2
        and not any(key.startswith(start) for start in joined)
    ]
    assert unused == []


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_templates_have_no_script_style_or_word_of_their_own(template):
    text = template.read_text(encoding="utf-8")
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:|\|\s*safe\b", text)
    assert not re.search(r"<script(?![^>]*\ssrc=)", text)
    assert "https://" not in text
    plain = re.sub(r"\{%.*?%\}|\{\{.*?\}\}", " ", text, flags=re.DOTALL)
    prose = re.sub(r"<[^>]*>|&\w+;", " ", plain)
    words = set(re.findall(r"[A-Za-z]{3,}|[\u4e00-\u9fff]+", prose))
    assert words <= {"JitRL", "jitrl", "English", "中文", "Spearman", "Pearson"}


def test_vendored_files_are_the_ones_that_are_named_with_their_licences():
    listed = json.loads((VENDOR / "versions.json").read_text(encoding="utf-8"))
    named = {name for part in listed for name in (*part["files"], part["licence_file"])}
    assert named == {path.name for path in VENDOR.iterdir()} - {"versions.json"}
    for part in listed:
        for name, digest in part["files"].items():
            assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == digest, name
        licence = (VENDOR / part["licence_file"]).read_text(encoding="utf-8")
        assert part["says"] in licence
        assert part["source"].endswith(f"@{part['version']}")


@pytest.mark.parametrize(
    ("chosen", "accepted", "language"),
    [
        ("", "", "en"),
        ("", "zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("", "de, en-GB;q=0.9, zh;q=0.5", "en"),
        ("", "fr, zh;q=0", "en"),
        ("", "zh;q=much", "en"),
        ("zh", "en", "zh"),
        ("en", "zh", "en"),
        ("klingon", "zh", "zh"),
    ],
)
def test_a_language_that_was_chosen_counts_before_the_browsers(chosen, accepted, language):
    assert preferred(chosen, accepted) == language


def test_nouns_after_one_are_singular_in_english():
    words = Words("en")
    assert words("marked.active", n=1) == "Taking part again: 1 row"
    assert words("preview.rows", n=21) == "21 rows"
    assert "11 episodes" in words("episodes.lead", n=11)
    assert words("cost.extra_said", gained=1.0, base="static") == "answers; 1 success beyond static"
