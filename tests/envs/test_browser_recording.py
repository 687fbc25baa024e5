"""What a browser records of an episode, and when it lets go of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jitrl.envs.browser import Browser
from jitrl.errors import InputError

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser(site: Any) -> Iterator[Browser]:
    made = Browser(sites=[site.url], timeout=20, settle=0.2)
    yield made
    made.close()


def asked(path: Path) -> list[str]:
    """Paths of the pages in a recording."""
    entries = json.loads(path.read_text("utf-8"))["log"]["entries"]
    urls = [entry["request"]["url"] for entry in entries]
    return ["/" + url.split("/", 3)[3] for url in urls if not url.endswith("favicon.ico")]


def test_each_episode_has_a_recording_of_its_own(site: Any, browser: Browser, tmp_path: Path):
    site.show("<h1>Two</h1>", "/two")
    start = site.show("<a href='/two'>Two</a>")
    for name in ("a", "b"):
        browser.begin(start, har=tmp_path / f"{name}.har")
        link = next(a for a in browser.observe("").actions if a.startswith("click"))
        if name == "a":
            browser.act(link)
        assert not (tmp_path / f"{name}.har").exists()
        browser.end()
    assert asked(tmp_path / "a.har") == ["/", "/two"]
    assert asked(tmp_path / "b.har") == ["/"]


def test_after_its_end_there_is_no_page_until_another_episode_begins(
    site: Any, browser: Browser, tmp_path: Path
):
    start = site.show("<h1>One</h1>")
    browser.begin(start)
    browser.end()
    browser.end()
    with pytest.raises(InputError, match="no page is open; call begin"):
        browser.observe("")
    browser.begin(start, fresh=False)
    assert "One" in browser.observe("").text
