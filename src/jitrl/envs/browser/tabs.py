"""The tabs of one episode: loading, reading, and carrying out actions with mouse and keyboard."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Literal

from jitrl.envs.browser.scripts import scripts
from jitrl.envs.codecs.calls import Call

_CALL = "([name, ...given]) => window[Symbol.for('jitrl')]?.[name](...given)"
_READ = (  # as JSON text, which comes over at once
    "([hide, sites]) => JSON.stringify(window[Symbol.for('jitrl')]?.read(hide, new RegExp(sites)) "
    "?? {title: document.title, lines: ['(this page cannot be read)']})"
)
_PASS = """async ms => {
  await window[Symbol.for("jitrl.clock")]?.pass(ms);
  return window[Symbol.for("jitrl")]?.rested();
}"""
_QUIET = 30  # ms without a change after which a page is at rest
_MOST_RESTS = 100  # times that a page may go on to another one by itself
_MOMENT = 0.2  # seconds for an element to come to rest under the pointer
_NOTICE = 5.0  # seconds in which the browser asks for the page that a page goes to
_TRIES = 5  # readings of a page that is just being replaced
_EMPTY = ("about:blank", "chrome-error:")
_WAITED_FOR = frozenset({"document", "xhr", "fetch", "script", "stylesheet", "image"})


@dataclass(frozen=True, slots=True)
class TabSettings:
    """How pages are shown and waited for; see ``Browser``.

    Attributes:
        sites: Pattern of the addresses that may be loaded.
        timeout, settle: Seconds.
    """

    sites: str
    size: tuple[int, int]
    timeout: float
    settle: float
    clock: Literal["real", "virtual"]
    language: str
    hide: str


class Tabs:
    """A browser context of its own: cookies, history and tabs, of which the newest is shown.

    All methods are coroutines of one question each; errors are Playwright's own.

    Attributes:
        said: What the browser had to say since ``said`` was last emptied: dialogs, refusals.
        documents: How many documents were loaded.
    """

    def __init__(self, api: Any, browser: Any, settings: TabSettings) -> None:
        self._api, self._browser, self._settings = api, browser, settings
        self._context: Any = None
        self._pages: list[Any] = []
        self._sessions: dict[Any, Any] = {}
        self._busy: set[Any] = set()
        self._watch: Any = None
        self._own: set[str] = set()  # ids of tabs, and of those that pages of theirs opened,
        self._opening: set[str] = set()  # which are known before they are at hand
        self._clicked: int | None = None  # place of the element that the last action clicked
        self._has_left = False  # whether another page was asked for since the page was at rest
        self.said: list[str] = []
        self.documents = 0

    @property
    def page(self) -> Any:
        """The tab that is shown."""
        return self._pages[-1]

    @property
    def count(self) -> int:
        """How many tabs are open."""
        return len(self._pages)

    async def open(self, state: dict[str, Any] | None, har: Path | None = None) -> None:
        """Make the context and its first tab; ``close`` writes the recording ``har``."""
        wide, high = self._settings.size
        self._context = context = await self._browser.new_context(
            viewport={"width": wide, "height": high},
            locale=self._settings.language,
            timezone_id="UTC",
            reduced_motion="reduce",
            accept_downloads=False,
            service_workers="block",
            storage_state=state,
            record_har_path=har,
        )
        context.set_default_timeout(1000 * self._settings.timeout)
        for script in scripts(self._settings.clock):
            await context.add_init_script(script)
        await context.route(re.compile(f"^(?!{self._settings.sites})"), self._refuse)
        await context.route_web_socket(
            re.compile(f"^(?!{self._settings.sites.replace('http', 'ws')})"),
            lambda socket: socket.close(),
        )
        context.on("page", self._opened)
        context.on("request", self._asked)
        context.on("requestfinished", self._answered)
        context.on("requestfailed", self._answered)
        await context.new_page()
        found = await (await self._session()).send("Target.getTargetInfo")
        self._own.add(found["targetInfo"]["targetId"])
        self._watch = watch = await self._browser.new_browser_cdp_session()
        watch.on("Target.targetCreated", self._made)
        watch.on("Target.targetDestroyed", self._gone)
        await watch.send("Target.setDiscoverTargets", {"discover": True})

    async def close(self) -> None:
        """Close it with all its tabs."""
        await self._watch.detach()
        await self._context.close()

    async def go(self, url: str) -> None:
        """Load an address in the tab that is shown."""
        await self.page.goto(url, wait_until="load")

    async def forget_history(self) -> None:
        """Make the present page the first one."""
        session = await self._session()
        await session.send("Page.resetNavigationHistory")

    async def depth(self) -> int:
        """How many pages there are to go back to; an opened tab counts as one."""
        history = await (await self._session()).send("Page.getNavigationHistory")
        return int(history["currentIndex"]) + len(self._pages) - 1

    async def storage(self) -> dict[str, Any]:
        """Cookies and local storage."""
        state: dict[str, Any] = await self._context.storage_state()
        return state

    async def read(self) -> dict[str, Any]:
        """Title and lines of the page; it is read again where it was replaced meanwhile."""
        for last in (False,) * (_TRIES - 1) + (True,):
            try:
                asked = [self._settings.hide, f"^{self._settings.sites}"]
                found: dict[str, Any] = json.loads(await self.page.evaluate(_READ, asked))
                return found
            except self._api.Error:
                if last:
                    raise
                await self.page.wait_for_load_state("load")
        raise AssertionError("the last try returns or raises")

    async def rest(self) -> None:
        """Wait until the page has come to rest, for ``settle`` seconds at most."""
        until = monotonic() + self._settings.settle
        for _ in range(2 if self._settings.clock == "virtual" else _MOST_RESTS):
            try:
                has_missed = await self._run_on(max(0.0, until - monotonic()))
                if has_missed and self._clicked is not None:
                    await self._click_again()
                    await self._run_on(max(0.0, until - monotonic()))
            except self._api.Error:  # the page is just being replaced, or was closed
                if not self.page.is_closed():
                    await self.page.wait_for_load_state("load")
            if not self._waits(until):
                break
            while self._waits(until):
                await asyncio.sleep(0.01)
        await self.page.wait_for_load_state("load")
        if len(self._pages) > 1 and self.page.url.startswith(_EMPTY):  # it was refused its address
            await self.page.close()

    async def _run_on(self, seconds: float) -> bool:
        """Let the page run until nothing changes any more; whether the last click missed."""
        if self._settings.clock == "real":
            rested = await self._ask("settle", _QUIET, 1000 * seconds)
        else:
            rested, *_ = [
                await frame.evaluate(_PASS, 1000 * self._settings.settle)
                for frame in self.page.frames
            ]
        if rested is None:  # a page without the reader
            return False
        until = monotonic() + _NOTICE
        while rested["leaving"] and not self._has_left and monotonic() < until:
            await asyncio.sleep(0.01)  # a busy browser takes a while to ask for the next page
        self._has_left = False
        return not rested["landed"]

    def _waits(self, until: float) -> bool:
        """Whether something is on its way; only another page is waited for beyond ``until``."""
        if any(map(self._is_page, self._busy)):
            return True
        return monotonic() < until and bool(self._busy or len(self._opening) >= len(self._pages))

    async def perform(self, call: Call, place: int | None) -> None:
        """Carry out an action on the element at ``place`` of the last reading.

        What cannot be done is not done, and ``said`` says why.
        """
        text = str(call.args[-1]) if call.args else ""
        self._clicked = None
        match call.verb:
            case "click" | "dblclick" | "hover":
                await self._point(call.verb, place)
            case "check" | "uncheck":
                if await self._ask("checked", place) != (call.verb == "check"):
                    await self._point("click", place)
            case "fill" | "clear":
                await self._fill(place, text if call.verb == "fill" else "")
            case "select_option":
                self._done(await self._ask("choose", place, text))
            case "focus":
                self._done(await self._ask("focus", place))
            case "press":
                if self._done(await self._ask("focus", place)):
                    await self.page.keyboard.press(text)
            case "scroll":
                await self.page.evaluate("by => window.scrollBy(...by)", list(call.args))
            case "goto":
                await self.go(text)
            case "back":
                await self._go_back()

    async def picture(self, path: Path) -> None:
        """Write a PNG of what is in view."""
        await self.page.screenshot(path=path)

    async def _point(self, how: str, place: int | None) -> None:
        spot = await self._ask("point", place)
        if not self._done(spot):
            return
        mouse, x, y = self.page.mouse, spot["x"], spot["y"]
        if how == "hover":
            await mouse.move(x, y)
        else:
            await mouse.click(x, y, click_count=1 if how == "click" else 2)
            self._clicked = place if how == "click" else None

    async def _click_again(self) -> None:
        """A click missed what moved, or was loading a picture, once the pointer was over it."""
        place, self._clicked = self._clicked, None
        await asyncio.sleep(_MOMENT)
        spot = await self._ask("point", place)
        if spot is not None and "x" in spot:
            await self.page.mouse.click(spot["x"], spot["y"])

    async def _fill(self, place: int | None, text: str) -> None:
        """Replace a field's text as a person does; the last character by its key."""
        field = await self._ask("enter", place, text)
        if not self._done(field) or field["set"]:
            return
        keyboard = self.page.keyboard
        if not field["lines"]:
            text = re.sub(r"[\r\n]+", " ", text)
        if not text:
            await keyboard.press("Delete")
            return
        if text[:-1]:
            await keyboard.insert_text(text[:-1])
        await (
            keyboard.type(text[-1]) if text[-1].isprintable() else keyboard.insert_text(text[-1])
        )

    async def _go_back(self) -> None:
        history = await (await self._session()).send("Page.getNavigationHistory")
        if history["currentIndex"] > 0:
            await self.page.go_back(wait_until="load")
        elif len(self._pages) > 1:
            await self.page.close()

    async def _ask(self, name: str, *given: Any) -> Any:
        return await self.page.evaluate(_CALL, [name, *given])

    def _done(self, answer: Any) -> bool:
        """Whether a question of the page's reader was answered without a fault, which is noted."""
        fault = "the page cannot be read" if answer is None else answer.get("fault")
        if fault:
            self.said.append(f"Nothing was done: the element {fault}")
        return not fault

    async def _session(self) -> Any:
        page = self.page
        if page not in self._sessions:
            self._sessions[page] = await self._context.new_cdp_session(page)
        return self._sessions[page]

    async def _refuse(self, route: Any, request: Any) -> None:
        """Answer a request that leads off the sites; a page that wants to leave stays."""
        if request.is_navigation_request():
            self.said.append(f"Not allowed: {request.url[:200]}")
        if request.is_navigation_request() and self._frame(request) is not None:
            await route.fulfill(status=204)
        else:
            await route.abort("blockedbyclient")

    def _is_page(self, request: Any) -> bool:
        """Whether a page is asked for, not something in one."""
        if not request.is_navigation_request():
            return False
        frame = self._frame(request)
        return frame is None or frame.parent_frame is None

    def _frame(self, request: Any) -> Any:
        """The frame that asks; ``None`` for a tab that is just being opened."""
        try:
            return request.frame
        except self._api.Error:
            return None

    def _asked(self, request: Any) -> None:
        if request.resource_type in _WAITED_FOR:
            self._busy.add(request)
            self._has_left = self._has_left or self._is_page(request)

    def _answered(self, request: Any) -> None:
        self._busy.discard(request)

    def _made(self, event: Any) -> None:
        target = event["targetInfo"]
        if target["type"] == "page" and target.get("openerId") in self._own:
            self._own.add(target["targetId"])
            self._opening.add(target["targetId"])

    def _gone(self, event: Any) -> None:
        self._opening.discard(event["targetId"])

    def _opened(self, page: Any) -> None:
        self._pages.append(page)
        page.on("close", self._closed)
        page.on("dialog", self._answer)
        page.on("domcontentloaded", self._loaded)
        page.on("download", lambda file: self.said.append(f"Not downloaded: {file.url[:200]}"))

    def _closed(self, page: Any) -> None:
        self._pages.remove(page)
        self._sessions.pop(page, None)

    def _loaded(self, page: Any) -> None:
        self.documents += 1

    async def _answer(self, dialog: Any) -> None:
        """Confirm what a page asks; a question for a text is left unanswered."""
        kept = dialog.type != "beforeunload"
        if kept:
            self.said.append(dialog.message)
        await (dialog.dismiss() if dialog.type == "prompt" else dialog.accept())


def pattern(sites: Sequence[str]) -> str:
    """Regular expression of the addresses under ``sites``, and of those that load nothing."""
    return f"(?:{'|'.join(['about:', 'data:', 'blob:', *map(re.escape, sites)])})"
