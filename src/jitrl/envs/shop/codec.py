"""The codec of the shop: a page codec that knows menus and tabs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import unquote_plus, urlsplit

from jitrl.envs.codecs.calls import Element, parse_call
from jitrl.envs.codecs.page import PageCodec
from jitrl.types import Observation, State

READ = """() => {
  const text = (el) => el.textContent.replace(/\\s+/g, " ").trim();
  const toggles = [...document.querySelectorAll("[data-toggle=dropdown]")];
  const tabs = [...document.querySelectorAll("[data-toggle=tab]")];
  const open = (el) => el.getAttribute("aria-expanded") === "true" || tabs.includes(el);
  const place = (el) => toggles.filter((one) => text(one) === text(el)).indexOf(el) + 1;
  return {
    toggles: [...new Set([...toggles, ...tabs].map(text))],
    open: [...toggles, ...tabs.filter((tab) => tab.classList.contains("active"))]
      .filter(open)
      .map((el) => (place(el) > 1 ? `${text(el)}#${place(el)}` : text(el))),
    rows: document.querySelectorAll("table tbody tr").length,
  };
}"""
"""Script that finds the toggles of menus and tabs, which of them are open, and a table's rows."""


class ShopCodec(PageCodec):
    """Pages whose state says what was searched for, and which menus and tabs are open.

    A list that is searched or turned over is another one, and fields that are filled in do not say
    whether they were sent. The order in which menus were opened plays no part.

    ``observation.info`` holds, under ``toggles`` and ``open``, what ``READ`` finds in the page.
    """

    name = "shop"

    def __init__(self) -> None:
        super().__init__(site="shop")

    def state(self, observation: Observation, history: Sequence[str]) -> State:
        """As of a page, with what is open in place of the toggles that were pressed."""
        toggles = observation.info.get("toggles", ())
        state = super().state(
            observation, ["noop()" if _label(action) in toggles else action for action in history]
        )
        parts = [state.text, *(f"open: {name}" for name in observation.info.get("open", ()))]
        query = urlsplit(observation.url).query
        return replace(state, text="\n".join([*parts, *filter(None, [unquote_plus(query)])]))


def _label(action: str) -> str:
    """Label of the element that an action clicks on, or ""."""
    if not action.startswith("click("):
        return ""
    target = parse_call(action).args[0]
    return target.label if isinstance(target, Element) else ""
