"""Lines of an accessibility tree: ``[id] role 'label' value='x', required``.

Two ways of writing labels are read. Python literals (``"Men's Shirts"``, ``'it\\'s'``) are exact;
labels between single quotes without any escaping (``'Men's Shirts'``) are taken up to the quote
after which only attributes follow.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache

from jitrl.envs.codecs.calls import Element, unescape

_LINE = re.compile(r"\s*\[([^\[\]\s]+)\]\s+([^\W\d][\w-]*)(.*)$", re.DOTALL)
_QUOTED = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
_LITERAL = re.compile(rf"\s+({_QUOTED})")
_PAIR = rf"[^\W\d][\w-]*+\s*+[:=]\s*+(?:{_QUOTED}|[^\s,'\"]++)"
_ATTRIBUTES = re.compile(rf"(?:\s*+,\s*+(?:{_PAIR}|[^\W\d][\w-]*+)|\s++{_PAIR})*+[\s,]*+$")
_ATTRIBUTE = re.compile(rf"([^\W\d][\w-]*+)\s*+[:=]\s*+({_QUOTED}|[^\s,'\"]++)")
_MAX_QUOTES = 64  # how many closing quotes are tried in a label that is not escaped


@dataclass(frozen=True, slots=True)
class Node:
    """One element line of a page.

    Attributes:
        element: What it is, free of its id.
        attributes: Names and values after the label (``value``, ``checked`` …), in order.
        line: Index of its line in the text.
    """

    id: str
    element: Element
    attributes: tuple[tuple[str, str], ...]
    line: int

    def attribute(self, name: str) -> str:
        """The value of an attribute, or "" if there is none."""
        return next((value for key, value in self.attributes if key == name), "")


@dataclass(frozen=True, slots=True)
class Page:
    """A page's lines and the elements found in them.

    Attributes:
        ids: Node by id.
        places: Id by element.
        ambiguous: Ids that stand before more than one element; they are in neither map.
    """

    lines: tuple[str, ...]
    nodes: tuple[Node, ...]
    ids: dict[str, Node] = field(default_factory=dict)
    places: dict[Element, str] = field(default_factory=dict)
    ambiguous: frozenset[str] = frozenset()


def element_line(id: str, role: str, label: str, **attributes: str) -> str:
    """The line of one element, such that ``read_page`` finds exactly this label."""
    more = "".join(f" {name}={value!r}" for name, value in attributes.items())
    return f"[{id}] {role}{f' {label!r}' if label else ''}{more}"


@lru_cache(maxsize=64)
def read_page(text: str) -> Page:
    """Find the elements of a page."""
    lines = tuple(text.split("\n"))
    nodes: list[Node] = []
    counts: Counter[tuple[str, str]] = Counter()
    for index, line in enumerate(lines):
        found = _LINE.match(line) if "[" in line else None
        named = _label(found[3]) if found is not None else None
        if found is None or named is None:
            continue
        label, rest = named
        counts[found[2], label] += 1
        element = Element(found[2], label, counts[found[2], label])
        attributes = tuple((m[1], _plain(m[2])) for m in _ATTRIBUTE.finditer(rest))
        nodes.append(Node(found[1], element, attributes, index))
    repeated = frozenset(id for id, n in Counter(node.id for node in nodes).items() if n > 1)
    return Page(
        lines,
        tuple(nodes),
        {node.id: node for node in nodes if node.id not in repeated},
        {node.element: node.id for node in nodes if node.id not in repeated},
        repeated,
    )


def _label(rest: str) -> tuple[str, str] | None:
    """Label and attributes of what follows a role; ``None`` if it is not an element line."""
    if _ATTRIBUTES.match(rest):
        return "", rest
    literal = _LITERAL.match(rest)
    if literal and _ATTRIBUTES.match(rest, literal.end()):
        return unescape(literal[1][1:-1]), rest[literal.end() :]
    opening = re.match(r"\s+(['\"])", rest)
    if opening is None:
        return None
    start = opening.end()
    end = start - 1
    for _ in range(_MAX_QUOTES):
        end = rest.find(opening[1], end + 1)
        if end < 0:
            return None
        if _ATTRIBUTES.match(rest, end + 1):
            return rest[start:end], rest[end + 1 :]
    return None


def _plain(value: str) -> str:
    return unescape(value[1:-1]) if value[0] in "'\"" else value
