"""Each view in Chromium: nothing from outside, no error, readable by all, on a telephone, live."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from made_hostile import VIEWS, addresses
from made_places import PLACES

from jitrl.envs.browser.chromium import installed

pytestmark = [pytest.mark.browser, pytest.mark.server]

LOOKS = {
    "wide, light, English": (1280, "light", "en-US"),
    "telephone, dark, Chinese": (390, "dark", "zh-CN"),
}


class Served:
    """The pages on a port of this machine."""

    def __init__(self, *paths: Path) -> None:
        import socket

        import uvicorn

        from jitrl.service.pages.opening import Ticket, app
        from jitrl.service.pages.places import shelf

        ticket = Ticket()
        made = app(shelf(paths), ticket, principal="ann")
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.opening = f"{self.url}/open/{ticket.text}"
        config = uvicorn.Config(made, log_level="error", timeout_graceful_shutdown=2)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, args=([self._socket],), daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join(30)
        self._socket.close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=installed(), args=["--no-sandbox", "--disable-gpu"], timeout=120_000
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def served(memory: Path, runs: Path, book: Path) -> Iterator[Served]:
    made = Served(memory, runs, book)
    yield made
    made.close()


class Seen:
    """A window, and what went wrong in it."""

    def __init__(self, browser: Any, served: Served, width: int, scheme: str, locale: str) -> None:
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, locale=locale
        )
        self.context.set_default_timeout(60_000)
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.url = served.url
        self.page.goto(served.opening)
        self.cookies = self.context.cookies()

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.wrong.append(message.text)

    def go(self, path: str) -> None:
        """Open a page and wait until it asks for nothing more at once."""
        self.page.goto(self.url + path)
        for waiting in ("main .wait", "[hx-trigger=load]"):  # the policy forbids functions as texts
            self.page.locator(waiting).wait_for(state="detached")

    def faults(self) -> list[str]:
        """What axe finds that keeps somebody from using the page."""
        from axe_playwright_python.sync_playwright import Axe

        found = Axe().run(self.page).response["violations"]
        return [
            f"{one['id']}: {one['nodes'][0]['html']}"
            for one in found
            if one["impact"] in ("serious", "critical")
        ]


@pytest.fixture(scope="module", params=LOOKS)
def seen(request: Any, chromium: Any, served: Served) -> Iterator[Seen]:
    made = served if request.param == next(iter(LOOKS)) else None
    if made is None:  # a token lets in one browser, so each look has a server of its own
        memory, runs, book = (request.getfixturevalue(n) for n in ("memory", "runs", "book"))
        made = Served(memory, runs, book)
    window = Seen(chromium, made, *LOOKS[request.param])
    yield window
    window.context.close()
    if made is not served:
        made.close()


@pytest.mark.parametrize("place", PLACES)
def test_a_view_is_readable_by_all_and_asks_nothing_of_anybody_else(seen: Seen, place: str):
    pytest.importorskip("axe_playwright_python")
    seen.wrong.clear()
    seen.asked.clear()
    seen.go(PLACES[place])
    if place == "problem":
        seen.wrong = [said for said in seen.wrong if "400" not in said]
    assert seen.page.locator("h1").count() == 1
    assert seen.page.title()
    assert seen.faults() == []
    assert seen.wrong == []
    assert {url for url in seen.asked if not url.startswith(seen.url + "/")} == set()
    width = seen.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width[0] <= width[1]


def test_views_are_reached_by_keyboard_alone(seen: Seen):
    seen.go("/p/support.db/decisions")
    page = seen.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    reached = set()
    page.reload()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.textContent.trim()"))
    tabs = page.locator(".tabs a").all_text_contents()
    assert {name.strip() for name in tabs} <= reached
    link = page.locator("td a.key").first
    link.focus()
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    page.wait_for_url("**/decision?**")


def test_a_chart_is_drawn_and_tells_its_numbers_under_the_mouse(seen: Seen):
    seen.go("/p/jitrl/curve")
    chart = seen.page.locator("[data-chart] canvas")
    assert chart.count() == 1
    box = chart.bounding_box()
    seen.page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.5)
    tip = seen.page.locator(".tip")
    tip.wait_for()
    assert "n = 12" in tip.text_content()


def test_leaving_a_row_out_is_shown_beside_it(seen: Seen):
    seen.go("/p/support.db/decision?id=ticket-0060%230")
    seen.page.locator(".rows button.link").first.click()
    seen.page.locator("#without table").wait_for()
    assert seen.page.locator("#without tbody tr").count() >= 2
    assert seen.wrong == []


def test_rows_are_quarantined_with_the_list_before_one_confirms(chromium: Any, own_memory: Path):
    served = Served(own_memory)
    window = Seen(chromium, served, 1280, "light", "en-US")
    try:
        window.go("/p/support.db/memory?status=active")
        page = window.page
        page.get_by_label("Select all rows of this page").check()
        page.get_by_role("button", name="Quarantine …").click()
        confirm = page.locator("#confirm button")
        page.locator("#confirm button:not(:disabled)").wait_for()
        assert page.get_by_text("fall otherwise without these rows").count() >= 1
        page.get_by_label("Reason").fill("a trial")
        confirm.click()
        page.get_by_role("heading", name="In quarantine now").wait_for()
        window.go("/p/support.db/memory?status=quarantined")
        assert page.locator("td .status.quarantined").count() > 3
        assert window.wrong == []
    finally:
        window.context.close()
        served.close()


def test_a_curve_follows_a_run_while_it_goes_on(chromium: Any, own_memory: Path):
    import jitrl

    served = Served(own_memory)
    window = Seen(chromium, served, 1280, "light", "en-US")
    try:
        window.go("/p/support.db/curve")
        window.page.locator("p.note", has_text="23 episodes").first.wait_for()
        with jitrl.open(own_memory) as memory:
            for n in range(6):
                with memory.episode(f"desk:new-{n}", scope="support") as episode:
                    episode.decide("a new ticket", {"a": 0.0, "b": 1.0}, scorer="sequence")
                    episode.finish(True)
        window.page.locator("p.note", has_text="29 episodes").first.wait_for()
        assert window.page.locator("[data-chart] canvas").count() == 1
        assert window.wrong == []
    finally:
        window.context.close()
        served.close()


CUT = """() => [...document.querySelectorAll("main *, header *")].filter((e) => {
  const style = getComputedStyle(e);
  const isApart = e.closest(".crumbs, .where, .skip, svg, thead, input, select");
  if (isApart || !e.getClientRects().length) return false;
  const isCut = ["hidden", "clip"].includes(style.overflowX) && e.scrollWidth > e.clientWidth + 1;
  const isOut = e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll, .tabs");
  return isCut || isOut;
}).map((e) => e.outerHTML.slice(0, 200))"""
"""Elements whose text is cut off or leaves the window; crumbs stand whole elsewhere."""


@pytest.mark.parametrize("look", LOOKS)
def test_nothing_that_others_wrote_runs_is_cut_or_widens_a_page(
    chromium: Any, hostile_memory: Path, look: str
):
    pytest.importorskip("axe_playwright_python")
    served = Served(hostile_memory)
    window = Seen(chromium, served, *LOOKS[look])
    try:
        for number, address in enumerate(
            addresses(hostile_memory, "markup", "unbroken", "hebrew", "controls", "digits")
        ):
            window.wrong.clear()
            window.go(address)
            page = window.page
            wrong = [said for said in window.wrong if "404" not in said]
            assert wrong == [], address
            assert page.evaluate("window.done") is None, address
            assert page.locator("h1").is_visible(), address
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), address
            assert page.evaluate(CUT) == [], address
            if number <= len(VIEWS):
                assert window.faults() == [], address
        assert {url for url in window.asked if not url.startswith(served.url + "/")} == set()
    finally:
        window.context.close()
        served.close()


def test_a_run_of_an_odd_name_widens_no_page_of_a_telephone(
    chromium: Any, runs: Path, tmp_path: Path
):
    odd = "\u05d4\u05d7\u05d6\u05e8 <b>" + "W" * 150
    shutil.copytree(runs / "static", tmp_path / "runs" / "static")
    shutil.copytree(runs / "jitrl", tmp_path / "runs" / odd)
    served = Served(tmp_path / "runs")
    window = Seen(chromium, served, 390, "light", "en-US")
    page = window.page
    try:
        for view in ("", "curve", "episodes", "cost", "doctor"):
            window.go(f"/p/{quote(odd)}/{view}" if view else "/")
            if view == "curve":
                chart = page.locator("[data-chart] canvas").bounding_box()
                page.mouse.move(chart["x"] + chart["width"] * 0.6, chart["y"] + 60)
                page.locator(".tip").wait_for()
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), view
            assert page.evaluate(CUT) == [], view
        measured = page.locator(".checks td.text").first
        assert measured.evaluate("(e) => getComputedStyle(e).textAlign") == "left"
        assert window.wrong == []
    finally:
        window.context.close()
        served.close()


def test_a_page_of_odd_texts_is_used_by_keyboard_alone(chromium: Any, hostile_memory: Path):
    served = Served(hostile_memory)
    window = Seen(chromium, served, *LOOKS["telephone, dark, Chinese"])
    try:
        window.go(next(a for a in addresses(hostile_memory, "markup") if "/decision?" in a))
        page = window.page
        reached = set[str]()
        for _ in range(80):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.tagName"))
            if page.evaluate("document.activeElement.matches('.folded > summary')"):
                break
        assert "A" in reached
        page.keyboard.press("Enter")
        page.locator("details.folded[open] table").first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    finally:
        window.context.close()
        served.close()
