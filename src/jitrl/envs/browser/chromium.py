"""One Chromium process, found, started and asked through Playwright; every wait has an end."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

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
_START = 60.0  # seconds; a busy machine takes a while


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


def program(path: str | None) -> str:
    """``path``, if it is a file.

    Raises:
        ConfigError: If it is not, or there is none.
    """
    if path is None or not Path(path).is_file():
        what = "no Chromium was found" if path is None else f"{path!r} is no program"
        raise ConfigError(
            f"{what}: playwright install chromium, or apt-get install chromium, brew install "
            "--cask chromium, winget install Hibbiki.Chromium; a program elsewhere is named with "
            "the option executable"
        )
    return path


class Chromium:
    """A running browser, and the thread's way to wait for what it is asked.

    Playwright's own sync functions have no limit for scripts and mouse clicks, which a page may
    hold up for ever; so each question is a coroutine that is waited for, at most ``timeout``.

    Args:
        executable: Path of the program; ``None``: Playwright's own, else ``installed()``.
        timeout: Seconds for each question.

    Raises:
        MissingExtra: If Playwright is not installed.
        ConfigError: If there is no browser, or it does not start.
    """

    def __init__(self, *, executable: str | None, headless: bool, timeout: float) -> None:
        self._api = playwright()
        self._timeout = timeout
        self._loop = asyncio.new_event_loop()
        self._driver: Any = None
        self.browser: Any = None
        try:
            self._driver = self.do(self._api.async_playwright().start(), _START)
            self.browser = self.do(self._launch(executable, headless), _START)
        except BaseException:
            self.close()
            raise

    def do(self, question: Coroutine[Any, Any, Any], timeout: float | None = None) -> Any:
        """The answer to one question.

        Raises:
            WorldError: If it does not come in time, or the browser is gone.
        """
        limit = timeout or self._timeout
        try:
            return self._loop.run_until_complete(asyncio.wait_for(question, limit))
        except (TimeoutError, self._api.TimeoutError) as error:
            raise WorldError(f"the browser did not answer within {limit:g} seconds") from error
        except self._api.Error as error:
            raise WorldError(f"the browser failed: {_first_line(error)}") from error

    def close(self) -> None:
        """End the process; may be called twice."""
        loop, driver, browser = self._loop, self._driver, self.browser
        self._driver = self.browser = None
        if loop.is_closed():
            return
        for part in filter(None, (browser and browser.close, driver and driver.stop)):
            try:
                self.do(part())
            except WorldError:  # it hangs or is gone; ending the driver ends it
                continue
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()

    async def _launch(self, executable: str | None, headless: bool) -> Any:
        kind = self._driver.chromium
        own = Path(kind.executable_path)
        path = executable or (str(own) if own.is_file() else program(installed()))
        flags = [*_FLAGS, *(["--no-sandbox"] if _is_root() else [])]
        try:
            return await kind.launch(
                executable_path=path, headless=headless, args=flags, timeout=1000 * _START
            )
        except self._api.Error as error:
            raise ConfigError(f"{path} does not start as a browser: {error}") from error


def _is_root() -> bool:
    return sys.platform != "win32" and os.geteuid() == 0


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
