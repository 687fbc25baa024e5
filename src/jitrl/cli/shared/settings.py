"""Options that give settings, the same for every command that runs episodes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import typer

from jitrl import config
from jitrl.errors import ConfigError, brief

Flags = dict[str, dict[str, Any]]
Command = Callable[..., None]

OPTIONS: dict[str, tuple[str, str]] = {
    "--env": ("environment", "name"),
    "--env-options": ("environment", "options"),
    "--model": ("model", "name"),
    "--model-options": ("model", "options"),
    "--run-preset": ("run", "preset"),
    "--agent": ("run", "agent"),
    "--agent-options": ("run", "options"),
    "--book": ("run", "book"),
    "--tasks": ("run", "tasks"),
    "--attempts": ("run", "attempts"),
    "--seeds": ("run", "seeds"),
    "--schedule": ("run", "schedule"),
    "--order": ("run", "order"),
    "--protocol": ("run", "protocol"),
    "--rewards": ("run", "rewards"),
    "--until-plateau": ("run", "plateau"),
    "--max-steps": ("run", "max_steps"),
    "--max-failures": ("run", "max_failures"),
    "--workers": ("run", "workers"),
    "--preset": ("memory", "preset"),
    "--rule": ("memory", "rule"),
    "--gamma": ("memory", "gamma"),
    "--evaluator": ("memory", "evaluator"),
    "--max-calls": ("budget", "max_calls"),
    "--max-tokens": ("budget", "max_tokens"),
    "--max-dollars": ("budget", "max_dollars"),
}
"""Option to group and setting; every other setting is reached by `--set`."""

SERVE = {f"--{name}": ("serve", name) for name in config.Serve.__struct_fields__}
"""The same for `jitrl serve`."""


def with_settings(
    *, but: frozenset[str] = frozenset(), of: Mapping[str, tuple[str, str]] = OPTIONS
) -> Callable[[Command], Command]:
    """Give ``command(*, flags, ...)`` an option for each of ``OPTIONS``, and `--set`.

    They arrive as ``flags``: group to setting to checked value, as ``config.load`` takes them.

    Args:
        but: Options that the command does not take.
        of: Options in place of ``OPTIONS``.
    """
    options = {option: place for option, place in of.items() if option not in but}

    def decorate(command: Command) -> Command:
        def called(**given: Any) -> None:
            flags: Flags = {}
            for option, (group, name) in options.items():
                text = given.pop(f"{group}_{name}")
                if text is not None:
                    flags.setdefault(group, {})[name] = config.parse(group, name, text, option)
            merge(flags, given.pop("set_"), "--set")
            command(flags=flags, **given)

        own = inspect.signature(command, eval_str=True).parameters.values()
        shared = [
            _parameter(f"{group}_{name}", str | None, None, option, _help(group, name))
            for option, (group, name) in options.items()
        ]
        more = _parameter("set_", list[str], [], "--set", "Any setting, as memory.holdout=0.1.")
        parameters = [*(p for p in own if p.name != "flags"), *shared, more]
        called.__name__, called.__doc__ = command.__name__, command.__doc__
        called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        called.__annotations__ = {p.name: p.annotation for p in parameters}
        return called

    return decorate


def names(text: str) -> list[str]:
    """The names in a list like `static,jitrl`."""
    return [name.strip() for name in text.split(",") if name.strip()]


def _parameter(name: str, kind: Any, default: Any, option: str, said: str) -> inspect.Parameter:
    annotation = Annotated[kind, typer.Option(option, help=said, rich_help_panel="Settings")]
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, keyword, default=default, annotation=annotation)


def _help(group: str, name: str) -> str:
    default = config.default(group, name)
    said = config.describe(group, name)
    is_said = isinstance(default, str | int | float) and default != ""
    return f"{said} (default: {default})" if is_said else said


def merge(flags: Flags, items: Sequence[str], origin: str) -> None:
    """Put ``GROUP.SETTING=VALUE`` or ``GROUP.SETTING.KEY=VALUE`` into ``flags``.

    Raises:
        ConfigError: If an item has another form, or the setting does not exist.
    """
    for item in items:
        place, equals, text = item.partition("=")
        group, dot, rest = place.strip().partition(".")
        name, _, key = rest.partition(".")
        if not (equals and dot and name) or group not in config.GROUPS:
            raise ConfigError(
                f"{origin}: {brief(item)} is not of the form GROUP.SETTING=VALUE; groups are "
                f"{', '.join(config.GROUPS)}"
            )
        value = config.parse(group, name, f"{key}={text}" if key else text, origin)
        table = flags.setdefault(group, {})
        table[name] = {**table.get(name, {}), **value} if isinstance(value, dict) else value
