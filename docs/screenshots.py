"""Makes the pictures of docs/dashboard.md: `python docs/screenshots.py` writes docs/img.

Needs the extra `server`, playwright, Chromium, Pillow, and a font with Chinese letters. The memory
and the run that are shown are made by scripted models, the same every time.
"""

from __future__ import annotations

import io
import socket
import sys
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import uvicorn
from PIL import Image
from playwright.sync_api import sync_playwright

from jitrl.cli import main
from jitrl.envs.browser.chromium import installed
from jitrl.service.pages.opening import Ticket, app
from jitrl.service.pages.places import shelf

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "img"
LARGEST = 150_000
"""Bytes of a picture."""

sys.path.append(str(ROOT / "tests" / "pages"))
from made_desk import desk  # noqa: E402

CHOICE = "/p/support.db/decision?id=ticket-0158%230"
TEST_ACCOUNT = "/p/support.db/memory?episode=ticket-0010"
SHOTS = (
    ("dashboard-curve", "/p/jitrl/curve", "en-US", "light", (1280, 720)),
    ("dashboard-decision", CHOICE, "en-US", "light", (1280, 1060)),
    ("dashboard-quarantine", TEST_ACCOUNT, "en-US", "dark", (1280, 860)),
    ("dashboard-zh", CHOICE, "zh-CN", "light", (1280, 1060)),
)


def runs(folder: Path) -> Path:
    """A run with memory and one without."""
    words = ["compare", "--arm", "static", "--arm", "jitrl", "--env", "toy", "--model", "scripted"]
    words += ["--env-options", '{"tasks": 8, "size": 2}', "--attempts", "12", "--seeds", "2"]
    try:
        main([*words, "--out", str(folder)])
    except SystemExit as end:
        if end.code:
            raise
    return folder


def shot(browser: Any, url: str, opening: str, path: str, look: tuple[Any, ...]) -> bytes:
    """One picture."""
    locale, scheme, (width, height) = look
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, locale=locale
    )
    context.set_default_timeout(120_000)
    page = context.new_page()
    page.goto(opening)
    page.goto(url + path)
    for waiting in ("main .wait", "[hx-trigger=load]"):
        page.locator(waiting).wait_for(state="detached")
    if "episode=" in path:
        page.locator("[data-all=row]").check()
        page.get_by_role("button", name="Quarantine …").click()
        page.locator("#confirm button:not(:disabled)").wait_for()
        page.get_by_label("Reason").fill("the customer was a test account")
    if "/decision" in path:
        page.locator(".rows button.link").first.click()
        page.locator("#without table").wait_for()
        page.evaluate("scrollTo(0, 0)")
    time.sleep(0.5)
    picture = page.screenshot()
    context.close()
    return bytes(picture)


def small(picture: bytes) -> bytes:
    """The picture in 128 colors, without losing a line of text."""
    made = io.BytesIO()
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(128, dither=Image.Dither.NONE).save(made, "PNG", optimize=True)
    return made.getvalue()


def make() -> None:
    """Write all pictures."""
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        places = [desk(Path(folder) / "support.db", 160), runs(Path(folder) / "toy")]
        browser = playwright.chromium.launch(
            executable_path=installed(), args=["--no-sandbox"], timeout=120_000
        )
        for name, path, *look in SHOTS:
            ticket, listening = Ticket(), socket.socket()
            listening.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{listening.getsockname()[1]}"
            server = uvicorn.Server(
                uvicorn.Config(app(shelf(places), ticket, principal="ann"), log_level="error")
            )
            thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
            thread.start()
            picture = small(shot(browser, url, f"{url}/open/{ticket.text}", path, tuple(look)))
            server.should_exit = True
            thread.join(30)
            listening.close()
            if len(picture) > LARGEST:
                raise SystemExit(f"{name}.png has {len(picture)} bytes, more than {LARGEST}")
            (IMAGES / f"{name}.png").write_bytes(picture)


if __name__ == "__main__":
    make()
