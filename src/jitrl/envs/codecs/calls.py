"""The grammar of actions: ``verb(arguments)``, raw with element ids or canonical without.

Raw text is a call as Python or JSON would write its literals: ``fill('a51', 'x, y')``. Canonical
text names an element by role and label: ``fill(<textbox[Name]>, "x, y")``; the second of two
elements alike is ``<textbox[Name]#2>``. Both are read by one parser, and nothing is guessed.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from jitrl.errors import InputError

_MAX_DEPTH = 8
_VERB = re.compile(r"\s*([A-Za-z_][\w.]*)\s*\(\s*")
_NAME = re.compile(r"([A-Za-z_]\w*)\s*=\s*")
_STRING = re.compile(r"'((?:[^'\\]|\\.)*+)'|\"((?:[^\"\\]|\\.)*+)\"", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.])")
_WORD = re.compile(r"(?:true|True|false|False|null|None)(?!\w)")
_ELEMENT = re.compile(
    r"<([^\W\d][\w-]*)(?:\[((?:[^\]\\]|\\.)*+)\])?(?:#([1-9][0-9]*))?>", re.DOTALL
)
_COMMA = re.compile(r"\s*,\s*")
_SPACE = re.compile(r"\s*")
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U(000[0-9a-fA-F]{5}|0010[0-9a-fA-F]{4})"
    r"|([0-7]{1,3})|(.))",
    re.DOTALL,
)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_SIMPLE |= {"\\": "\\", "'": "'", '"': '"', "]": "]"}
# Characters that would end a line, cannot be stored as UTF-8, or are not seen.
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Element:
    """An element by what it is: the ``ordinal``-th of its role and label on the page."""

    role: str
    label: str = ""
    ordinal: int = 1

    def __str__(self) -> str:
        label = re.sub(r"[\\\]]", r"\\\g<0>", self.label)
        label = f"[{_HIDDEN.sub(_code_point, label)}]" if label else ""
        ordinal = f"#{self.ordinal}" if self.ordinal > 1 else ""
        return f"<{self.role}{label}{ordinal}>"


Value = str | int | float | bool | None | tuple["Value", ...]


@dataclass(frozen=True, slots=True)
class Call:
    """One action: a verb, its arguments in order, and those given by name."""

    verb: str
    args: tuple[Element | Value, ...] = ()
    named: tuple[tuple[str, Value], ...] = ()

    def canonical(self) -> str:
        """Canonical text; strings as JSON, other scripts unescaped."""
        return self._render(_json)

    def raw(self) -> str:
        """Text with Python literals, as browser environments take it."""
        return self._render(_literal)

    def _render(self, write: Callable[[Value], str]) -> str:
        parts = [str(a) if isinstance(a, Element) else write(a) for a in self.args]
        parts += [f"{name}={write(value)}" for name, value in self.named]
        return f"{self.verb}({', '.join(parts)})"


def parse_call(text: str) -> Call:
    """Read an action, raw or canonical.

    Raises:
        InputError: If ``text`` is not exactly one call with literal arguments.
    """
    start = _VERB.match(text)
    if start is None:
        raise InputError(f"{_short(text)} is not an action; write verb(arguments)")
    parser = _Parser(text, start.end())
    args: list[Element | Value] = []
    named: list[tuple[str, Value]] = []
    if not parser.skip(")"):
        while True:
            name = parser.take(_NAME)
            if name is not None:
                named.append((name[1], parser.value()))
            elif named:
                raise parser.error("an argument without a name follows one with a name")
            else:
                args.append(parser.argument())
            if not parser.take(_COMMA):
                break
        parser.take(_SPACE)
        if not parser.skip(")"):
            raise parser.error("expected ',' or ')'")
    if text[parser.at :].strip():
        raise parser.error("text after the closing parenthesis")
    return Call(start[1], tuple(args), tuple(named))


def unescape(text: str) -> str:
    """Undo the backslash escapes of Python and JSON strings; an unknown one stays as it is."""
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


class _Parser:
    """A position in a text, and the reading of one value from there."""

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at = text, at

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
        return found

    def skip(self, mark: str) -> bool:
        found = self.text.startswith(mark, self.at)
        self.at += len(mark) * found
        return found

    def argument(self) -> Element | Value:
        element = self.take(_ELEMENT)
        if element is None:
            return self.value()
        return Element(element[1], unescape(element[2] or ""), int(element[3] or 1))

    def value(self, depth: int = 0) -> Value:
        if (string := self.take(_STRING)) is not None:
            return unescape(string[1] if string[1] is not None else string[2])
        if (number := self.take(_NUMBER)) is not None:
            return self._number(number[0])
        if (word := self.take(_WORD)) is not None:
            return {"t": True, "f": False}.get(word[0][0].lower())
        if self.skip("[") and depth < _MAX_DEPTH:
            return self._items(depth)
        raise self.error("expected a text in quotes, a number, true, false, null or a list")

    def error(self, reason: str) -> InputError:
        return InputError(f"{_short(self.text)} is not an action: {reason} at character {self.at}")

    def _number(self, text: str) -> int | float:
        if len(text) > 40:
            raise self.error("a number of more than 40 characters")
        if text.lstrip("-").isdigit():
            return int(text)
        if not math.isfinite(value := float(text)):
            raise self.error("a number that is not finite")
        return value

    def _items(self, depth: int) -> tuple[Value, ...]:
        items: list[Value] = []
        self.take(_SPACE)
        while not self.skip("]"):
            items.append(self.value(depth + 1))
            if not self.take(_COMMA):
                self.take(_SPACE)
                if not self.skip("]"):
                    raise self.error("expected ',' or ']'")
                break
        return tuple(items)


def _json(value: Value) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_json, value))}]"
    return _HIDDEN.sub(_code_point, json.dumps(value, ensure_ascii=False))


def _literal(value: Value) -> str:
    return repr(_as_list(value))


def _as_list(value: Value) -> object:
    return [_as_list(v) for v in value] if isinstance(value, tuple) else value


def _code_point(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    if code:
        return chr(int(code, 16))
    if match[4]:
        return chr(int(match[4], 8))
    return _SIMPLE.get(match[5], match[0])


def _short(text: str) -> str:
    return repr(text if len(text) <= 120 else text[:117] + "…")
