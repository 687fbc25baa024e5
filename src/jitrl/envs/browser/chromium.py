"""One Chromium process, found, started and asked through Playwright; every wait has an end."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import threading
from collections.abc import Coroutine
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from jitrl.envs.aside import APART, whole
from jitrl.errors import ConfigError, MissingExtra, WorldError

_NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "msedge",
)
_PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "~/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "%ProgramFiles%/Google/Chrome/Application/chrome.exe",
    "%ProgramFiles(x86)%/Google/Chrome/Application/chrome.exe",
    "%LocalAppData%/Google/Chrome/Application/chrome.exe",
    "%ProgramFiles(x86)%/Microsoft/Edge/Application/msedge.exe",
)
_FLAGS = (
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-color-profile=srgb",
)
_START, _END = 60.0, 10.0  # seconds; a busy machine takes a while
_THREAD = threading.local()


def playwright() -> Any:
    """The package's module ``async_api``.

    Raises:
        MissingExtra: If it is not installed.
    """
    try:
        import playwright.async_api
    except ImportError as error:
        raise MissingExtra("playwright is not installed: pip install 'jitrl[browser]'") from error
    return playwright.async_api


def installed() -> str | None:
    """Path of a Chromium, Chrome or Edge of this machine, if there is one."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    places = (Path(os.path.expandvars(place)).expanduser() for place in _PLACES)
    return found or next((str(place) for place in places if place.is_file()), None)


def require(executable: str | None) -> None:
    """Stop where there is no program to start; nothing but Playwright's driver is asked.

    Raises:
        MissingExtra: If Playwright is not installed.
        ConfigError: If ``executable`` is no file, or it is ``None`` and there is no browser.
    """
    api = playwright()
    if executable is not None or installed() is None:
        with whole():
            found = executable or asyncio.run(_asked(api))
        _program(found)


async def _asked(api: Any) -> str | None:
    async with api.async_playwright() as driver:
        return _own(driver)


def _own(driver: Any) -> str | None:
    """Path of Playwright's own Chromium, if it was installed."""
    path = str(driver.chromium.executable_path)
    return path if Path(path).is_file() else None


def _program(path: str | None) -> str:
    if path is None or not Path(path).is_file():
        what = "no Chromium was found" if path is None else f"{path!r} is no program"
        raise ConfigError(
            f"{what}: playwright install chromium, or apt-get install chromium, brew install "
            "--cask chromium, winget install Hibbiki.Chromium; a program elsewhere is named with "
            "the option executable"
        )
    return path


class Chromium:
    """A running browser, and a thread's way to wait for what it is asked.

    Playwright's own sync functions have no limit for scripts and mouse clicks, which a page may
    hold up for ever; so each question is a coroutine, and is waited for so long and no longer.

    Args:
        executable: Path of the program; ``None``: Playwright's own, else ``installed()``.

    Raises:
        MissingExtra: If Playwright is not installed.
        ConfigError: If there is no browser, or it does not start.
    """

    def __init__(self, executable: str | None, headless: bool) -> None:
        self._api = playwright()
        self._users = 0
        self._loop = asyncio.new_event_loop()
        # What Playwright starts on it does not hear Ctrl-C.
        apart: Any = partial(self._loop.subprocess_exec, **APART)  # type: ignore[arg-type]
        vars(self._loop)["subprocess_exec"] = apart
        self._driver: Any = None
        self.browser: Any = None
        try:
            with whole():
                self._driver = self.do(self._api.async_playwright().start(), _START)
                self.browser = self.do(self._launch(executable, headless), _START)
        except BaseException:
            self.end()
            raise

    @classmethod
    def of_this_thread(cls, executable: str | None, headless: bool) -> Chromium:
        """The thread's running browser of this kind, or a new one; ``leave`` gives it back."""
        running: dict[tuple[str | None, bool], Chromium]
        running = _THREAD.__dict__.setdefault("running", {})
        found = running.get((executable, headless))
        if found is None or found.has_ended:
            found = running[executable, headless] = cls(executable, headless)
        found._users += 1
        return found

    @property
    def has_ended(self) -> bool:
        """Whether nothing more can be asked."""
        return self._loop.is_closed() or self.browser is None or not self.browser.is_connected()

    def leave(self) -> None:
        """One user less; the last one ends the process."""
        self._users -= 1
        if self._users == 0:
            self.end()

    @whole()
    def do(self, question: Coroutine[Any, Any, Any], timeout: float) -> Any:
        """The answer to one question.

        Args:
            timeout: Seconds.

        Raises:
            WorldError: If it does not come in time, or the browser is gone.
        """
        if self._loop.is_closed():
            question.close()
            raise WorldError("the browser has ended; begin the episode anew")
        try:
            return self._loop.run_until_complete(asyncio.wait_for(question, timeout))
        except (TimeoutError, self._api.TimeoutError) as error:
            raise WorldError(f"the browser did not answer within {timeout:g} seconds") from error
        except self._api.Error as error:
            raise WorldError(f"the browser failed: {_first_line(error)}") from error

    @whole()
    def end(self) -> None:
        """End the process, whoever uses it; may be called twice."""
        loop, driver, browser = self._loop, self._driver, self.browser
        self._driver = self.browser = None
        if loop.is_closed():
            return
        for part in filter(None, (browser and browser.close, driver and driver.stop)):
            with suppress(WorldError):  # it hangs or is gone; ending the driver ends it
                self.do(part(), _END)
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()

    async def _launch(self, executable: str | None, headless: bool) -> Any:
        path = _program(executable or _own(self._driver) or installed())
        flags = [*_FLAGS, *(["--no-sandbox"] if _is_root() else [])]
        try:
            return await self._driver.chromium.launch(
                executable_path=path, headless=headless, args=flags, timeout=1000 * _START
            )
        except self._api.Error as error:
            raise ConfigError(
                f"{path} does not start as a browser: {_why(error)}; another is named with the "
                "option executable"
            ) from error


def _is_root() -> bool:
    return sys.platform != "win32" and os.geteuid() == 0


def _why(error: Exception) -> str:
    """The first line and what the program said; not the command line and the steps of its start."""
    _, *log = str(error).splitlines()
    said = dict.fromkeys(line.partition("[err]")[2].strip() for line in log if "[err]" in line)
    return "; ".join([_first_line(error), *said])


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
