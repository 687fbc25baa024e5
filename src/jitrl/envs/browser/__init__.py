"""Real pages in a real browser: Chromium through Playwright, read as text, with a whitelist."""

from jitrl.envs.browser.browser import Browser
from jitrl.envs.browser.fields import quoted_values

__all__ = ["Browser", "quoted_values"]
