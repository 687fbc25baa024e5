"""BrowserGym's observations as pages: what a page says, and what can be done on it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jitrl.envs.browser.fields import quoted_values
from jitrl.envs.codecs.calls import Call, unescape
from jitrl.envs.codecs.elements import Node, Page, read_page
from jitrl.errors import InputError, MissingExtra
from jitrl.types import Observation

Listed = Callable[[Observation], Sequence[str]]
"""Raw actions that can be taken on a page."""

_CLICKED = frozenset({"button", "link", "checkbox", "radio", "tab", "switch", "option", "treeitem"})
_CLICKED |= {"menuitem", "menuitemcheckbox", "menuitemradio", "DisclosureTriangle"}
_TYPED = frozenset({"textbox", "searchbox", "spinbutton"})
_CHOSEN = frozenset({"combobox", "listbox"})
_WITHOUT_ID = re.compile(r"([A-Za-z]\w*)\s+('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")
_CLICKABLE = re.compile(r",\s*clickable\b")
_HIDDEN = frozenset({"InlineTextBox", "LineBreak"})


def observation(obs: Mapping[str, Any], *, list_actions: Listed | None) -> Observation:
    """What an agent is shown of a BrowserGym observation.

    Args:
        list_actions: What can be done on the page; ``None``: actions are not listed.

    Raises:
        InputError: If the goal or the accessibility tree is missing.
        MissingExtra: If there is only ``axtree_object``, and BrowserGym is not installed.
    """
    text = page_text(axtree(obs))
    if error := str(obs.get("last_action_error") or ""):
        title, _, rest = text.partition("\n")
        text = f"{title}\n[error] alert {error.strip().splitlines()[0][:200]!r}\n{rest}"
    page = Observation(text, _goal(obs), url=str(obs.get("url", "")))
    if list_actions is None:
        return page
    return Observation(text, page.goal, tuple(list_actions(page)), page.url)


def axtree(obs: Mapping[str, Any]) -> str:
    """The accessibility tree of an observation as BrowserGym writes it.

    Raises:
        InputError: If there is none.
        MissingExtra: If it must be flattened, and BrowserGym is not installed.
    """
    if "axtree_txt" in obs:
        return str(obs["axtree_txt"])
    if "axtree_object" not in obs:
        raise InputError(
            "the observation has neither axtree_txt nor axtree_object; it has "
            f"{', '.join(sorted(obs))}"
        )
    try:
        from browsergym.utils.obs import flatten_axtree_to_str
    except ImportError as error:
        raise MissingExtra(
            "an observation with axtree_object needs BrowserGym: pip install browsergym-core, or "
            "put the flattened tree into axtree_txt"
        ) from error
    return str(
        flatten_axtree_to_str(
            obs["axtree_object"],
            extra_properties=obs.get("extra_element_properties"),
            with_clickable="extra_element_properties" in obs,
        )
    )


def page_text(tree: str) -> str:
    """The lines of a flattened accessibility tree: title, elements with an id, and texts."""
    lines: list[str] = []
    label = ""
    for line in tree.split("\n"):
        bare = line.strip()
        named = _WITHOUT_ID.search(bare)
        said = unescape(named[2][1:-1]).strip() if named else ""
        if bare.startswith("["):
            lines.append(line)
            label = said
        elif named is None or named.start() > 0:
            lines += [bare] * bool(bare)
        # The text in an element repeats its label.
        elif said and named[1] not in _HIDDEN and (named[1], said) != ("StaticText", label):
            lines.append(f"text {said}" if said.startswith("[") else said)
    return "\n".join(lines)


def page_actions(page: Observation) -> tuple[str, ...]:
    """What can be done on a page: clicks, values of the goal into fields, options of lists.

    The values are what stands in quotation marks in the goal.
    """
    read, typed = read_page(page.text), quoted_values(page.goal)
    actions: list[Call] = []
    inside: tuple[int, str] | None = None  # indentation and id of the list that options belong to
    for node in read.nodes:
        role, depth = node.element.role, _depth(read, node)
        if inside is not None and depth <= inside[0]:
            inside = None
        if node.id in read.ambiguous or node.attribute("disabled") == "True":
            continue
        if role == "option" and inside is not None:
            if node.attribute("selected") != "True" and node.element.label:
                actions.append(Call("select_option", (inside[1], node.element.label)))
        elif role in _CHOSEN and _has_options(read, node):
            inside = depth, node.id
        elif role in _TYPED | _CHOSEN:
            held = node.attribute("value")
            actions += [Call("click", (node.id,))] * (not typed)
            actions += [Call("fill", (node.id, value)) for value in typed if value != held]
            actions += [Call("press", (node.id, "Enter"))] * bool(held)
        elif role in _CLICKED or _CLICKABLE.search(read.lines[node.line]):
            actions.append(Call("click", (node.id,)))
    return tuple(call.raw() for call in actions) or ("noop()",)


def _depth(page: Page, node: Node) -> int:
    line = page.lines[node.line]
    return len(line) - len(line.lstrip())


def _has_options(page: Page, node: Node) -> bool:
    """Whether the elements inside ``node`` are options."""
    depth = _depth(page, node)
    later = page.nodes[page.nodes.index(node) + 1 :]
    return bool(later) and later[0].element.role == "option" and _depth(page, later[0]) > depth


def _goal(obs: Mapping[str, Any]) -> str:
    goal = obs.get("goal")
    if not goal:
        parts = obs.get("goal_object") or ()
        goal = "\n".join(str(part["text"]) for part in parts if part.get("type") == "text")
    if not goal:
        raise InputError("the observation has no goal, and no text in goal_object")
    return str(goal)
