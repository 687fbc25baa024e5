"""Actions of a tool-calling agent: a tool, and the shape of its arguments.

The shape is what can be known before the arguments are written, so that the tool that a model
called and one that it did not call are named alike:

    an argument with listed values (enum, literal, boolean)   with its value     how="refund"
    every other argument that is required                     with its type      order_id: string
    every other argument that is optional                     not at all

So ``settle(how="refund", order_id: string)`` and ``settle(how="resend", order_id: string)`` are two
actions, and a refund of order 17 and one of order 18 are one. Several calls in one answer are one
action, in alphabetical order; an answer without a call is the action ``answer``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from jitrl.errors import ConfigError

ANSWER = "answer"
"""The action of answering without a call; a tool's action has parentheses."""

Values = Mapping[str, Mapping[str, Collection[Any]]]
"""Tool → argument → its values, for arguments whose schema does not list them."""

_FORMS = 16  # most actions of one tool; beyond, the argument with most values keeps its type alone
_LONGEST = 500  # characters of a name or a listed value; one that is longer is none of the list
_MOST = 9000  # characters of an action
_HALF = re.compile("[\ud800-\udfff]")
_DEPTH = 8  # references that are followed in a schema
_SCALAR = str | int | float | bool | None
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that is offered.

    Attributes:
        parameters: JSON schema of its arguments.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """A call that a model wrote; arguments that are no JSON object stay the text they are.

    Attributes:
        tool: A text that can be written down, whatever the model wrote.
    """

    tool: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)

    def __post_init__(self) -> None:
        tool = self.tool if isinstance(self.tool, str) else ""
        object.__setattr__(self, "tool", whole(tool[:_LONGEST]))

    @classmethod
    def read(cls, tool: str, arguments: object) -> Call:
        """A call whose arguments may be JSON text, as providers send them."""
        if isinstance(arguments, str):
            try:
                found = json.loads(arguments or "{}")
            except (ValueError, RecursionError):
                return cls(tool, arguments)
            return cls(tool, found if isinstance(found, dict) else arguments)
        return cls(tool, dict(arguments) if isinstance(arguments, Mapping) else {})


@dataclass(frozen=True, slots=True)
class Form:
    """What an action asks for: a tool, and the listed arguments with their values.

    Attributes:
        fixed: Arguments that make this form, and their values.
        left_out: Listed arguments that this form does without.
    """

    tool: str
    fixed: tuple[tuple[str, Any], ...] = ()
    left_out: frozenset[str] = frozenset()

    def filled(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """``arguments`` with what the form fixes; all else as the model wrote it."""
        kept = {name: value for name, value in arguments.items() if name not in self.left_out}
        return {**kept, **dict(self.fixed)}


class Shape:
    """The shapes that calls of one tool can have.

    Args:
        values: Listed values of arguments whose schema lists none.
    """

    def __init__(self, tool: Tool, values: Mapping[str, Collection[Any]] | None = None) -> None:
        self.tool, self._schema = tool, tool.parameters
        found = self._schema.get("properties")
        self._properties: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
        required = self._schema.get("required")
        self._required = frozenset(required if isinstance(required, list) else ())
        listed = {name: self._values(given) for name, given in self._properties.items()}
        listed |= {name: tuple(given) for name, given in (values or {}).items()}
        self._listed = {name: given for name, given in listed.items() if given}
        while self._count() > _FORMS:
            self._listed.pop(max(self._listed, key=lambda name: (len(self._listed[name]), name)))

    def forms(self) -> dict[str, Form]:
        """All actions of the tool, in the order of the listed values."""
        names = sorted(self._listed)
        forms: dict[str, Form] = {}
        for chosen in product(*(self._options(name) for name in names)):
            given = dict(zip(names, chosen, strict=True))
            fixed = tuple((n, v) for n, v in given.items() if v is not _ABSENT)
            absent = frozenset(n for n, v in given.items() if v is _ABSENT)
            forms.setdefault(self.action(dict(fixed)), Form(self.tool.name, fixed, absent))
        return forms

    def action(self, arguments: Mapping[str, Any] | str) -> str:
        """The action of a call: the same text for calls of the same shape."""
        if isinstance(arguments, str):
            return f"{self.tool.name}(unreadable)"
        known = [*self._listed, *(name for name in self._required if name not in self._listed)]
        if not self._properties:
            known += [name for name in arguments if name not in known]
        parts = []
        for name in sorted(set(known)):
            if name in self._listed:
                value = arguments.get(name, self._default(name))
                if value is not _ABSENT:
                    parts.append(f"{name}={_written(value)}")
            elif name in self._properties:
                parts.append(f"{name}: {self._type(self._properties[name])}")
            else:
                parts.append(f"{name}: {_type_of(arguments.get(name))}")
        said = whole(f"{self.tool.name}({', '.join(parts)})")
        return said if len(said) <= _MOST else f"{self.tool.name}(unreadable)"

    def _options(self, name: str) -> tuple[Any, ...]:
        """Values of a listed argument; leaving it out is one, unless that means its default."""
        values = self._listed[name]
        if name in self._required or self._default(name) is not _ABSENT:
            return values
        return (*values, _ABSENT)

    def _count(self) -> int:
        count = 1
        for name in self._listed:
            count *= len(self._options(name))
        return count

    def _default(self, name: str) -> Any:
        given = self._properties.get(name)
        return given.get("default", _ABSENT) if isinstance(given, Mapping) else _ABSENT

    def _values(self, schema: Any, depth: int = 0) -> tuple[Any, ...]:
        """The values that a schema lists; none if it lists none, or not all."""
        schema = self._followed(schema, depth)
        if "const" in schema:
            found: tuple[Any, ...] = (schema["const"],)
        elif isinstance(schema.get("enum"), list):
            found = tuple(schema["enum"])
        elif schema.get("type") in ("boolean", "null"):
            found = (True, False) if schema["type"] == "boolean" else (None,)
        else:
            parts = schema.get("anyOf") or schema.get("oneOf") or ()
            some = [self._values(part, depth + 1) for part in parts] if depth < _DEPTH else []
            found = tuple(v for part in some for v in part) if all(some) else ()
        return found if all(isinstance(value, _SCALAR) for value in found) else ()

    def _type(self, schema: Any, depth: int = 0) -> str:
        schema = self._followed(schema, depth)
        kind = schema.get("type")
        if isinstance(kind, str):
            return kind
        if isinstance(kind, list):
            names = [str(name) for name in kind]
        else:
            parts = schema.get("anyOf") or schema.get("oneOf") or ()
            names = [self._type(part, depth + 1) for part in parts] if depth < _DEPTH else []
        return "|".join(sorted({name for name in names if name != "null"})) or "any"

    def _followed(self, schema: Any, depth: int) -> Mapping[str, Any]:
        """The schema that a local reference leads to."""
        for _ in range(_DEPTH - min(depth, _DEPTH)):
            if not isinstance(schema, Mapping) or "$ref" not in schema:
                break
            at: Any = self._schema
            for step in str(schema["$ref"]).removeprefix("#/").split("/"):
                at = at.get(step) if isinstance(at, Mapping) else None
            schema = at
        return schema if isinstance(schema, Mapping) else {}


def listed(values: object) -> Values:
    """``values``, if it is what ``Values`` says.

    Raises:
        ConfigError: If it is not.
    """
    if not isinstance(values, Mapping):
        raise ConfigError(f"values is {values!r}; it must be {{tool: {{argument: [values]}}}}")
    for tool, arguments in values.items():
        if not isinstance(arguments, Mapping):
            raise ConfigError(
                f"values[{tool!r}] is {arguments!r}; it must be {{argument: [values]}}"
            )
        for name, given in arguments.items():
            is_list = isinstance(given, Collection) and not isinstance(given, str | Mapping)
            if not is_list or not given or not all(isinstance(v, _SCALAR) for v in given):
                raise ConfigError(
                    f"values[{tool!r}][{name!r}] is {given!r}; it must be a list of values"
                )
    return values


def together(actions: Sequence[str]) -> str:
    """The action of an answer that makes several calls; ``answer`` if it makes none.

    Where that would be longer than an action may be, each is named once, and the rest is cut.
    """
    said = " + ".join(sorted(actions))
    if len(said) > _MOST:
        said = f"{' + '.join(sorted(set(actions)))[:_MOST]} + …"
    return said or ANSWER


def whole(text: str) -> str:
    """``text`` with ``\ufffd`` for each half of a surrogate pair, which no file can hold.

    JSON of other languages brings them, where a text was cut inside of a character.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return _HALF.sub("\ufffd", text)
    return text


def _written(value: object) -> str:
    """A value as JSON, other scripts unescaped; quotation marks in a text are escaped."""
    try:
        written = json.dumps(value, ensure_ascii=False, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return _type_of(value)
    return whole(written) if len(written) <= _LONGEST else _type_of(value)


def _type_of(value: object) -> str:
    """Name of a value's JSON type."""
    for kind, name in ((bool, "boolean"), (str, "string"), (int | float, "number")):
        if isinstance(value, kind):
            return name
    if value is None:
        return "null"
    return "object" if isinstance(value, Mapping) else "array"
