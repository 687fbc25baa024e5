"""The first example of the page on rules: rules that help, of a model that anybody has."""

import re
import shlex
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "rules.md"


def test_the_rules_of_the_first_example_help(jitrl):
    page = PAGE.read_text(encoding="utf-8").replace("\\\n", " ")
    first, listing, *_ = (shlex.split(line) for line in re.findall(r"^\$ jitrl (.+)$", page, re.M))
    fewer = {"--attempts": "24"}  # a part of it
    first = [fewer.get(before, word) for before, word in zip(["", *first], first, strict=False)]
    done = jitrl(*first, "--tasks", "insurance:*,reminder:*,clinic:*,invoice:*", "--json")
    arms = {row["label"]: row["avg"] for row in done.data["rows"]}
    assert arms["rulebook"] > arms["static"] + 0.1
    listed = jitrl(*listing, "--json").data["rules"]
    assert any(row["effect"]["mean"] > 0.3 for row in listed)
    assert all("premium" in row["rule"]["text"] for row in listed)
