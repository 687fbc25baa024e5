"""Built-ins and plugins by name: entry points, of which only the one that was named is loaded."""

from __future__ import annotations

import difflib
import inspect
import json
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Literal, get_origin, get_type_hints

import msgspec

from jitrl import config_values
from jitrl.errors import ConfigError, brief
from jitrl.functions import own_function

Kind = Literal["environments", "models", "embedders", "evaluators", "stores", "agents", "redactors"]

_OPTIONS: Mapping[str, tuple[str, str]] = {
    "environments": ("environment.options", "--env-options "),
    "models": ("model.options", "--model-options "),
    "evaluators": ("memory.evaluator_options", "--set memory.evaluator_options."),
    "agents": ("run.options", "--agent-options "),
}
"""Where the settings have the options of a kind, and how a command is given one."""


def names(kind: Kind) -> tuple[str, ...]:
    """All names of ``kind`` that installed packages offer, sorted."""
    return tuple(sorted({point.name for point in entry_points(group=f"jitrl.{kind}")}))


def load(kind: Kind, name: str) -> Any:
    """The class or function behind ``name``.

    An environment is also found as ``package.module:Class``; a module that is not installed is
    looked for in the present folder.

    Raises:
        ConfigError: If no package offers it, several do, or it cannot be imported.
        MissingExtra: If it needs an optional package, with the command that installs it.
    """
    if kind == "environments" and ":" in name:
        return own_function(name, "environment")
    points = list(entry_points(group=f"jitrl.{kind}", name=name))
    if not points:
        raise ConfigError(
            f"no {kind[:-1]} is named {brief(name)}{did_you_mean(name, names(kind))}; "
            f"there are {', '.join(names(kind))}"
        )
    if len({point.value for point in points}) > 1:
        raise ConfigError(
            f"{kind[:-1]} {name!r} is offered by several packages: "
            f"{', '.join(sorted(_origin(p) for p in points))}; uninstall all but one"
        )
    try:
        return points[0].load()
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f"{kind[:-1]} {name!r} ({_origin(points[0])}) cannot be loaded: {error}; "
            "reinstall or update that package"
        ) from error


def create(kind: Kind, name: str, options: Mapping[str, Any], **parts: Any) -> Any:
    """Load ``name`` and call it with ``options``, checked against its parameters.

    Text is converted to the annotated type, as it comes from flags and variables.

    Args:
        parts: What the caller lends (a store, a meter), where the parameters ask for it.

    Raises:
        ConfigError: As ``load``, for an unknown option, a value of the wrong type, and for an
            option that is needed and not given.
    """
    factory = load(kind, name)
    what, parameters = f"{kind[:-1]} {name!r}", inspect.signature(factory).parameters
    lent = {part: value for part, value in parts.items() if part in parameters}
    known = tuple(parameter for parameter in parameters if parameter not in parts)
    checked = _checked(what, factory, known, options)
    if missing := [p for p in known if p not in checked and _is_needed(parameters[p])]:
        word = "option" if len(missing) == 1 else "options"
        named = ", ".join(missing)
        raise ConfigError(f"{what} needs the {word} {named}{_given_as(kind, missing[0])}")
    return factory(**checked, **lent)


def did_you_mean(name: str, known: tuple[str, ...]) -> str:
    """`` (did you mean 'gamma'?)`` or nothing."""
    close = difflib.get_close_matches(name, known, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _checked(
    what: str, factory: Any, known: tuple[str, ...], options: Mapping[str, Any]
) -> dict[str, Any]:
    hints = get_type_hints(factory.__init__ if inspect.isclass(factory) else factory)
    checked = {}
    for name, value in options.items():
        if name not in known:
            raise ConfigError(
                f"{what} has no option {brief(name)}{did_you_mean(name, known)}; "
                f"it has {', '.join(known) or 'none'}"
            )
        hint = hints.get(name, Any)
        try:
            checked[name] = msgspec.convert(value, hint, strict=False, dec_hook=_convert)
        except (msgspec.ValidationError, UnicodeEncodeError) as error:
            raise ConfigError(
                f"{what}: option {name} is {brief(value)}: {error}{config_values.allowed(hint)}"
                f"{_as_list(name, value, hint)}"
            ) from error
    return checked


def _is_needed(parameter: inspect.Parameter) -> bool:
    is_open = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return not is_open and parameter.default is parameter.empty


def _given_as(kind: Kind, option: str) -> str:
    """How to give an option, where the settings have a place for it; "" where they have none."""
    if kind not in _OPTIONS:
        return ""
    group, flag = _OPTIONS[kind]
    said = f": give {flag}{option}=…, or set it in [{group}] of jitrl.toml"
    if kind == "models":
        said += f"; of a model that only writes: --set writer.options.{option}=…"
    return said


def _as_list(name: str, value: Any, hint: Any) -> str:
    """How to write a list, where one is wanted and a text was given."""
    if not isinstance(value, str) or not config_values.takes_list(hint):
        return ""
    return f"; a list is written as JSON: {json.dumps({name: [value]}, ensure_ascii=False)}"


def _convert(kind: type, value: Any) -> Any:
    if kind is Path and isinstance(value, str):
        return Path(value)
    if isinstance(value, get_origin(kind) or kind):
        return value
    raise TypeError(f"options of type {kind.__name__} can only be given from Python")


def _origin(point: EntryPoint) -> str:
    return f"{point.value} of {point.dist.name if point.dist else 'an unknown package'}"
