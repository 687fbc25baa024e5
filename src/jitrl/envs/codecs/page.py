"""The codec of pages that are read as an accessibility tree: a browser, or a site as text."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import groupby

from jitrl.envs.codecs.calls import Call, Element, Value, parse_call
from jitrl.envs.codecs.elements import Node, Page, read_page
from jitrl.envs.codecs.urls import url_key
from jitrl.errors import GroundingError, InputError
from jitrl.types import Observation, State

_ON_AN_ELEMENT = (
    "click dblclick hover focus clear check uncheck fill select select_option press upload_file"
)
_ON_NONE = (
    "answer back forward goto go_back go_forward new_tab tab_close tab_focus noop scroll "
    "keyboard_type keyboard_press keyboard_down keyboard_up keyboard_insert_text mouse_move "
    "mouse_click mouse_dblclick mouse_down mouse_up mouse_drag_and_drop mouse_upload_file "
    "send_msg_to_user report_infeasible"
)
VERBS: Mapping[str, int] = {
    **dict.fromkeys(_ON_AN_ELEMENT.split(), 1),
    **dict.fromkeys(_ON_NONE.split(), 0),
    "drag_and_drop": 2,
}
"""How many of a verb's first arguments are element ids; all others are taken as they are."""

_VISIBLE = frozenset({"clear", "check", "uncheck", "fill", "select", "select_option"})
_MOVING = frozenset({"back", "forward", "goto", "go_back", "go_forward", "new_tab", "tab_focus"})
_MOVING |= {"tab_close", "noop", "scroll", "hover", "focus", "mouse_move"}
_FIELD = ("value", "checked", "selected", "pressed", "expanded")
_ALERT = frozenset({"alert", "status", "dialog", "alertdialog"})
_UNSET = frozenset({"", "false", "False"})


class PageCodec:
    """Pages of one site: comparable states, and actions that survive changing element ids.

    The state is the place (URL key), the goal, and of the page its first line, what is filled in
    or selected, its alerts, and the buttons pressed since it was reached: what fields show needs no
    history, so that equal pages are equal states whichever way they were reached.

    Args:
        site: Name of the site; put before the path of every place.
        keep: Query parameters that tell places apart.
        verbs: How many leading arguments of a verb are element ids, for verbs beyond ``VERBS``.
        recent: Actions looked back on where ``observation.info`` does not say, under ``arrived``,
            how many actions had been taken when the page was reached.
        limit: Longest text that a model is shown, in characters.
        whole: Whether a digest of all that the page shows is part of the state, for sites whose
            addresses and titles do not tell their pages apart. Words alone would not: a page where
            one more box is checked has no new word if its label stands in the goal.
    """

    name = "page"

    def __init__(
        self,
        *,
        site: str = "",
        keep: Collection[str] = (),
        verbs: Mapping[str, int] | None = None,
        recent: int = 3,
        limit: int = 4000,
        whole: bool = False,
    ) -> None:
        self._site, self._keep = site, tuple(keep)
        self._verbs = {**VERBS, **(verbs or {})}
        self._recent, self._limit, self._whole = recent, limit, whole
        # A step asks twice for the actions of one page: to list them, and to ground one.
        self._last: tuple[Observation | None, dict[str, str]] = (None, {})

    def state(self, observation: Observation, history: Sequence[str]) -> State:
        """Place, goal, and what tells this page from others of its place."""
        page = read_page(observation.text)
        arrived = observation.info.get("arrived", max(0, len(history) - self._recent))
        pressed = sorted({a for a in history[arrived:] if _leaves_a_trace(a)})
        parts = [_title(page), *filter(None, map(_shown, page.nodes)), *pressed]
        if self._whole:
            parts.append(_digest(page, pressed))
        return State(_storable("\n".join(parts)), observation.goal, self.place(observation))

    def place(self, observation: Observation) -> str:
        """URL key of the page."""
        return url_key(observation.url, site=self._site, keep=self._keep)

    def actions(self, observation: Observation) -> tuple[str, ...]:
        """Canonical text of each listed action, without duplicates, in the order listed."""
        return tuple(self._listed(observation))

    def canonical(self, action: str, observation: Observation) -> str:
        """Canonical text of a raw action on this page.

        Raises:
            InputError: If it is not an action, or its verb is not known.
            GroundingError: If its element is not on the page, or its id stands there twice.
        """
        call, page = parse_call(action), read_page(observation.text)
        return self._replace(call, lambda value: _element(value, page)).canonical()

    def ground(self, action: str, observation: Observation) -> str:
        """The raw action that a canonical one stands for on this page.

        Where the environment lists its actions it is the listed text, to the letter.

        Raises:
            GroundingError: If it is not an action, or this page has no such element or action.
        """
        if observation.actions:
            raw = self._listed(observation).get(action)
            if raw is None:
                raise GroundingError(f"{self._page(observation)} has no {action!r}")
            return raw
        page = read_page(observation.text)
        try:
            call = parse_call(action)
            return self._replace(call, lambda value: self._id(value, page, observation)).raw()
        except GroundingError:
            raise
        except InputError as error:
            raise GroundingError(str(error)) from error

    def text(self, observation: Observation) -> str:
        """The page without ids; neighboring elements of one role share a line."""
        page = read_page(observation.text)
        by_line = {node.line: node for node in page.nodes}
        rows = [(by_line.get(i), line.strip()) for i, line in enumerate(page.lines) if line.strip()]
        out: list[str] = []
        for role, group in groupby(rows, key=lambda row: _joined_role(row[0])):
            if role:
                out.append(f"{role}: {' | '.join(n.element.label for n, _ in group if n)}")
            else:
                out += [_described(node) if node else line for node, line in group]
        text = _storable("\n".join(out))
        return text if len(text) <= self._limit else text[: self._limit - 1] + "…"

    def _listed(self, observation: Observation) -> dict[str, str]:
        """Raw text of each listed action by its canonical text."""
        known, listed = self._last
        if known is not observation:
            listed = {}
            for raw in observation.actions:
                listed.setdefault(self.canonical(raw, observation), raw)
            self._last = (observation, listed)
        return listed

    def _replace(self, call: Call, element: Callable[[Element | Value], Element | Value]) -> Call:
        """The call with its element arguments looked up."""
        n = self._verbs.get(call.verb)
        if n is None:
            raise InputError(
                f"verb {call.verb!r} is not known; known are {', '.join(sorted(self._verbs))}, "
                "and more can be given to the codec as verbs={name: number of element ids}"
            )
        if len(call.args) < n or any(name.endswith("bid") for name, _ in call.named):
            raise InputError(
                f"{call.canonical()!r} must name its element"
                f"{'s' if n > 1 else ''} in the first {n} argument{'s' if n > 1 else ''}"
            )
        if any(isinstance(a, Element) for a in call.args[n:]):
            raise InputError(f"{call.canonical()!r} names an element where {call.verb} takes none")
        return Call(call.verb, (*map(element, call.args[:n]), *call.args[n:]), call.named)

    def _id(self, value: Element | Value, page: Page, observation: Observation) -> str:
        """Id of an element of the page."""
        if not isinstance(value, Element):
            raise GroundingError(f"{value!r} is an element id, not an element like <link[Orders]>")
        if value not in page.places:
            alike = [str(e) for e in page.places if e.role == value.role]
            raise GroundingError(f"{self._page(observation)} has no {value}; it has {alike[:8]}")
        return page.places[value]

    def _page(self, observation: Observation) -> str:
        return f"page {self.place(observation)!r}"


def _element(value: Element | Value, page: Page) -> Element:
    """The element a raw argument names by its id."""
    id = str(value)
    if isinstance(value, Element) or id not in page.ids:
        twice = ", where it stands more than once" if id in page.ambiguous else ""
        raise GroundingError(f"no element [{id}] can be told on the page{twice}")
    return page.ids[id].element


def _digest(page: Page, pressed: Sequence[str]) -> str:
    """One word that differs where anything but ids differs."""
    nodes = {node.line: (str(node.element), node.attributes) for node in page.nodes}
    shown = [nodes.get(i, line.strip()) for i, line in enumerate(page.lines)]
    return hashlib.blake2b(repr([shown, pressed]).encode(), digest_size=6).hexdigest()


def _title(page: Page) -> str:
    """The first line, or its label where it is an element."""
    index = next((i for i, line in enumerate(page.lines) if line.strip()), -1)
    if index < 0:
        return ""
    if page.nodes and page.nodes[0].line == index:
        return page.nodes[0].element.label
    return page.lines[index].strip()


def _shown(node: Node) -> str:
    """What an element says about the progress on its page, or ""."""
    if node.element.role in _ALERT:
        return node.element.label
    values = [v for name in _FIELD if (v := node.attribute(name)) not in _UNSET]
    return f"{node.element} = {' '.join(values)}" if values else ""


def _leaves_a_trace(action: str) -> bool:
    """Whether an action may have changed the page in a way that its fields do not show."""
    verb = action.partition("(")[0]
    return verb not in _VISIBLE | _MOVING and not re.match(r"click\(<(?:link|menuitem)\b", action)


def _joined_role(node: Node | None) -> str:
    """The role under which an element joins its neighbors on one line, or ""."""
    return node.element.role if node and node.element.label and not node.attributes else ""


def _described(node: Node) -> str:
    values = [v for name in _FIELD if (v := node.attribute(name)) not in _UNSET]
    return " ".join(
        filter(None, [node.element.role, node.element.label, *(["="] * bool(values)), *values])
    )


def _storable(text: str) -> str:
    """Text without lone surrogates, which have no UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")
