"""Settings: flag > JITRL_* variable > jitrl.toml or [tool.jitrl] > default, each key checked.

What `run.preset` brings is as weak as a default.

A variable is named JITRL_<GROUP>_<SETTING>, as in JITRL_MEMORY_MODE. Secrets come from the
environment alone, under the name that their provider gave them (OPENAI_API_KEY).
"""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_type_hints

import msgspec
from msgspec import Struct, inspect

from jitrl import config_values
from jitrl.config_groups import (
    Budget,
    Environment,
    Memory,
    Model,
    Options,
    Order,
    Protocol,
    Rewards,
    Rules,
    Run,
    Schedule,
    Serve,
    Settings,
    Writer,
)
from jitrl.errors import ConfigError, brief
from jitrl.registry import did_you_mean
from jitrl.run_presets import RUNS

__all__ = [
    "Budget",
    "Environment",
    "Memory",
    "Model",
    "Options",
    "Order",
    "Protocol",
    "Rewards",
    "Rules",
    "Run",
    "Schedule",
    "Serve",
    "Settings",
    "Source",
    "Writer",
    "checked",
    "default",
    "describe",
    "digest",
    "load",
    "parse",
    "sources",
    "variables",
]

_SECRET = re.compile(r"(^|_)(key|secret|token|password)$")


@dataclass(frozen=True, slots=True)
class Source:
    """Some settings and where they were given.

    Attributes:
        origin: ``flag``, ``variable`` or the name of a file.
        values: Group to setting to checked value.
    """

    origin: str
    values: Mapping[str, Mapping[str, Any]]


GROUPS: dict[str, type[Struct]] = get_type_hints(Settings)
FOLDERS = {
    "JITRL_CACHE_DIR": "Where what can be made again is kept, as generated games; unset: the "
    "user's cache folder.",
    "JITRL_GAMES_DIR": "Where the story files for the environment `jericho` lie.",
}
"""Variables that are no settings: folders of a machine, which leave the digest of a run alone."""


def load(
    flags: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    env: Mapping[str, str] | None = None,
    folder: Path | None = None,
    caller: str = "flag",
) -> Settings:
    """The settings in force.

    Args:
        flags: Group to setting to value, as given on the command line or by a caller.
        env: Variables; the process's own if not given.
        folder: Where jitrl.toml or pyproject.toml may lie; the current one if not given.
        caller: Who gave ``flags``, for messages.

    Raises:
        ConfigError: If a key is unknown, a value is not allowed, or a secret is not in a variable.
    """
    merged: dict[str, dict[str, Any]] = {group: {} for group in GROUPS}
    for source in sources(flags, env=env, folder=folder, caller=caller):
        for group, values in source.values.items():
            for name, value in values.items():
                if isinstance(value, dict):
                    value = {**merged[group].get(name, {}), **value}
                merged[group][name] = value
    return msgspec.convert(merged, Settings)


def checked(memory: Memory) -> Memory:
    """``memory``, which may have been made without its values being looked at.

    Raises:
        ConfigError: If a value is not allowed.
    """
    if not isinstance(memory, Memory):
        raise ConfigError(f"settings are {brief(memory)}; they must be a jitrl.config.Memory")
    for name in memory.__struct_fields__:
        _value("memory", name, getattr(memory, name), "settings")
    return memory


def sources(
    flags: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    env: Mapping[str, str] | None = None,
    folder: Path | None = None,
    caller: str = "flag",
) -> tuple[Source, ...]:
    """Checked settings by where they were given, weakest first."""
    folder, env = folder or Path(), os.environ if env is None else env
    given = (
        *_from_file(folder),
        Source("variable", _from_variables(env)),
        Source("flag", _checked(flags or {}, caller)),
    )
    named = [s.values["run"]["preset"] for s in given if "preset" in s.values.get("run", {})]
    if not named or named[-1] is None:
        return given
    return (Source(f"run preset {named[-1]}", RUNS[named[-1]]), *given)


def digest(value: Any) -> str:
    """Twelve hex digits that change with any setting of ``value``."""
    raw = msgspec.json.encode(value, order="deterministic")
    return hashlib.sha256(raw).hexdigest()[:12]


def _from_file(folder: Path) -> tuple[Source, ...]:
    own, project = _toml(folder / "jitrl.toml"), _toml(folder / "pyproject.toml")
    shared = project.get("tool", {}).get("jitrl", {})
    if own and shared:
        raise ConfigError(
            f"settings in jitrl.toml and in [tool.jitrl] of pyproject.toml in {folder.absolute()}; "
            "keep one of the two"
        )
    name = "jitrl.toml" if own else "pyproject.toml [tool.jitrl]"
    return (Source(name, _checked(own or shared, name)),)


def _toml(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path} cannot be read as TOML: {error}") from error


def _from_variables(env: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    known = variables()
    given: dict[str, dict[str, Any]] = {}
    for variable in sorted(name for name in env if name.startswith("JITRL_")):
        if variable in FOLDERS:
            continue
        if variable not in known:
            close = did_you_mean(variable, (*known, *FOLDERS))
            raise ConfigError(f"variable {variable} names no setting{close}; unset it")
        group, name = known[variable]
        given.setdefault(group, {})[name] = parse(group, name, env[variable], variable)
    return given


def variables() -> dict[str, tuple[str, str]]:
    """Every JITRL_* variable that is read, and the group and setting it gives."""
    return {
        f"JITRL_{group}_{name}".upper(): (group, name)
        for group, kind in GROUPS.items()
        for name in kind.__struct_fields__
    }


def describe(group: str, name: str) -> str:
    """What a setting means, in a sentence."""
    info = inspect.type_info(_hint(group, name, "docs"))
    extra = info.extra_json_schema if isinstance(info, inspect.Metadata) else None
    return str((extra or {}).get("description", ""))


def default(group: str, name: str) -> Any:
    """What a setting is when nobody gives it."""
    return getattr(GROUPS[group](), name)


def parse(group: str, name: str, text: str, origin: str) -> Any:
    """The checked value that ``text`` stands for: ``5``, ``a,b`` (a list), ``a=1,b=x`` (a table).

    Lists and tables may be JSON as well.

    Raises:
        ConfigError: If the setting is unknown or its type does not allow the text.
    """
    value = config_values.read(text, _hint(group, name, origin), f"{origin}: {group}.{name}")
    return _value(group, name, value, origin, strict=False)


def _checked(values: Mapping[str, Any], origin: str) -> dict[str, dict[str, Any]]:
    for group, table in values.items():
        if group not in GROUPS:
            raise ConfigError(
                f"{origin}: there is no group of settings {brief(group)}"
                f"{did_you_mean(group, tuple(GROUPS))}; there are {', '.join(GROUPS)}"
            )
        if not isinstance(table, Mapping):
            raise ConfigError(f"{origin}: {group} is a group of settings, got {brief(table)}")
    return {
        group: {name: _value(group, name, value, origin) for name, value in table.items()}
        for group, table in values.items()
    }


def _hint(group: str, name: str, origin: str) -> Any:
    hints = get_type_hints(GROUPS[group], include_extras=True)
    if _SECRET.search(name):
        raise ConfigError(
            f"{origin}: {group}.{name} looks like a secret; secrets are read from the environment "
            "alone, under their provider's name (OPENAI_API_KEY)"
        )
    if name not in hints:
        raise ConfigError(
            f"{origin}: {group} has no setting {brief(name)}{did_you_mean(name, tuple(hints))}; "
            f"it has {', '.join(hints)}"
        )
    return hints[name]


def _value(group: str, name: str, value: Any, origin: str, *, strict: bool = True) -> Any:
    hint = _hint(group, name, origin)
    if isinstance(value, Mapping):
        for key in value:
            if _SECRET.search(str(key)):
                _hint(group, key, origin)
    return config_values.convert(value, hint, f"{origin}: {group}.{name}", strict=strict)
