"""What runs in every frame before the page's own scripts: clock, reader, and an end to motion."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

_HERE = Path(__file__).parent
_PARTS = ("listening", "text", "names", "reach", "uses", "reading", "resting", "acting")
"""Files of ``page/`` in their order; they share names, so they are one script."""

_READER = """(() => {
"use strict";
const KEY = Symbol.for("jitrl");
if (window[KEY]) return;
%s
})();"""
_STILL = """(() => {
  const put = () => {
    const style = document.createElement("style");
    style.textContent = "*, *::before, *::after { transition: none !important; " +
      "animation: none !important; scroll-behavior: auto !important; }";
    document.documentElement.append(style);
  };
  if (document.documentElement) put();
  else new MutationObserver((_, watch) => {
    if (document.documentElement) { watch.disconnect(); put(); }
  }).observe(document, { childList: true });
})()"""


def scripts(clock: Literal["real", "virtual"]) -> tuple[str, ...]:
    """The scripts in their order; ``window[Symbol.for("jitrl")]`` is the reader."""
    time = (_text("clock.js"),) if clock == "virtual" else ()
    return (*time, _READER % "\n".join(_text(f"page/{part}.js") for part in _PARTS), _STILL)


def _text(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
