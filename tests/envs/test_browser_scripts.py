"""The scripts that read a page, as texts; no browser is needed."""

import re
from pathlib import Path

import jitrl
from jitrl.envs.browser.scripts import scripts

PARTS = sorted((Path(jitrl.__file__).parent / "envs" / "browser" / "page").glob("*.js"))


def test_every_part_of_the_reader_is_in_its_script_once():
    reader, _ = scripts("real")
    assert PARTS
    assert [reader.count(part.read_text(encoding="utf-8")) for part in PARTS] == [1] * len(PARTS)


def test_no_two_parts_of_the_reader_give_one_name():
    source = "\n".join(part.read_text(encoding="utf-8") for part in PARTS)
    names = re.findall(r"^(?:const|let|class|function\*?) (\w+)", source, re.MULTILINE)
    assert "read" in names
    assert len(names) == len(set(names))


def test_the_clock_comes_first_where_it_is_virtual():
    clock, *rest = scripts("virtual")
    assert "jitrl.clock" in clock
    assert tuple(rest) == scripts("real")
