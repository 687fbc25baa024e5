"""Writes docs/cli.md and docs/settings.md from the code; `--check` only says if they are current.

Run it with `make docs`.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_type_hints

import msgspec
import typer
from msgspec import inspect as types

from jitrl import config, errors, presets, registry
from jitrl.cli.main import COMMANDS, build
from jitrl.cli.shared.settings import OPTIONS, SERVE

HERE = Path(__file__).parent
NOTICE = "<!-- Written by `make docs` from the code. Change it there. -->"
KINDS = {
    "environments": "environment.name",
    "models": "model.name",
    "embedders": "memory.retrieval.embedder",
    "agents": "run.agent",
    "evaluators": "memory.evaluator",
}
"""Kinds of entry points and the setting that names one of them."""


def main() -> None:
    pages = {"cli.md": cli(), "settings.md": settings()}
    stale = [
        name
        for name, text in pages.items()
        if not (HERE / name).is_file() or (HERE / name).read_text(encoding="utf-8") != text
    ]
    if "--check" in sys.argv:
        if stale:
            sys.exit(f"not current: {', '.join('docs/' + name for name in stale)}; run `make docs`")
        return
    for name in stale:
        (HERE / name).write_text(pages[name], encoding="utf-8", newline="\n")
        sys.stdout.write(f"wrote docs/{name}\n")


def cli() -> str:
    """The page on commands, their options and exit codes."""
    root: Any = typer.main.get_command(build(COMMANDS))
    lines = [
        "# Command line",
        "",
        NOTICE,
        "",
        "`jitrl [--debug] [--version] COMMAND`. Data goes to stdout (`--json`, first key "
        "`schema`), words and progress for people to stderr.",
        "",
        *_table(("command", "what it does"), [(f"`jitrl {c}`", COMMANDS[c]) for c in COMMANDS]),
        "",
        "## Exit codes",
        "",
        *_table(("code", "meaning"), list(_exit_codes())),
        "",
    ]
    for name in COMMANDS:
        lines += _command(f"jitrl {name}", root.commands[name])
    return "\n".join(lines)


def settings() -> str:
    """The page on settings and on the options of what can be named in them."""
    lines = [
        "# Settings",
        "",
        NOTICE,
        "",
        "A flag beats a variable, a variable beats `jitrl.toml` (or `[tool.jitrl]` in "
        "`pyproject.toml`), and that beats the default. Unknown names are errors. Secrets are read "
        "from the environment alone, under their provider's name (`OPENAI_API_KEY`). "
        "`jitrl config` shows what is in force and where it comes from; any setting can be given "
        "as `--set GROUP.SETTING=VALUE`. In variables and flags a list is written `a,b` and a "
        "table `a=1,b=x`; both may be JSON.",
        "",
        "```toml",
        "# jitrl.toml",
        "[memory]",
        'mode = "shadow"',
        "holdout = 0.1",
        "",
        "[model]",
        'name = "openai"',
        'options = { base_url = "http://localhost:8000/v1" }',
        "```",
        "",
    ]
    lines += ["Two variables are no settings, since they name folders of a machine:", ""]
    named = [(f"`{variable}`", meaning) for variable, meaning in config.FOLDERS.items()]
    lines += [*_table(("variable", "meaning"), named), ""]
    flags = {place: option for option, place in (*OPTIONS.items(), *SERVE.items())}
    for group, kind in config.GROUPS.items():
        lines += [f"## {group}", "", inspect.getdoc(kind) or "", ""]
        rows = [
            (
                f"`{group}.{field.name}`",
                _type(types.type_info(field.type)),
                _default(field),
                config.describe(group, field.name),
                f"`{flags[group, field.name]}`" if (group, field.name) in flags else "",
            )
            for field in msgspec.structs.fields(kind)
        ]
        lines += [*_table(("setting", "type", "default", "meaning", "flag"), rows), ""]
        if group == "memory":
            lines += _presets()
    for kind, setting in KINDS.items():
        lines += [f"## Built-in {kind}", ""]
        for name in registry.names(kind):
            lines += _adapter(setting, registry.load(kind, name), name)
    return "\n".join(lines)


def _presets() -> list[str]:
    """The settings inside `memory.rule` and others, and what each preset makes them."""
    lines = []
    for part, text in (
        (
            "rule",
            'Given as a table, in `jitrl.open("shop.db", rule={"beta": 45.0})` or '
            "`--rule beta=45`; what is not given stays as the preset has it. `null` here and on "
            "the command line is `None` in Python.",
        ),
        ("retrieval", "Given like those of the rule: `--set memory.retrieval=threshold=0.8`."),
        (
            "admission",
            "Given like those of the rule: `--set memory.admission=votes=true,rate=60`. What they "
            "are for is on the page [Trust](trust.md).",
        ),
    ):
        default = getattr(presets.load("default"), part)
        said = _arguments(inspect.getdoc(default) or "", "Attributes")
        rows = [
            (
                f"`{name}`",
                _type(types.type_info(kind)),
                _json(getattr(default, name)),
                _meaning(name, said),
            )
            for name, kind in get_type_hints(type(default)).items()
        ]
        lines += [f"### Settings of `memory.{part}`", "", text, ""]
        lines += [*_table(("setting", "type", "default", "meaning"), rows), ""]
    values = {name: _flat(presets.load(name)) for name in presets.NAMES}
    rows = [
        (f"`{setting}`", *(_json(values[name][setting]) for name in presets.NAMES))
        for setting in values["default"]
        if len({_json(values[name][setting]) for name in presets.NAMES}) > 1
    ]
    lines += [
        "### Presets",
        "",
        "What differs between the values of `memory.preset`; everything "
        "else is as above. `returns` comes with the preset alone.",
        "",
    ]
    return [*lines, *_table(("setting", *(f"`{name}`" for name in presets.NAMES)), rows), ""]


def _meaning(name: str, said: dict[str, str]) -> str:
    """What is said of a setting, or the setting that speaks of it."""
    text = said.get(name) or next(f"See `{k}`." for k, text in said.items() if name in text)
    return text.replace("|", "\\|")


def _flat(preset: presets.Preset) -> dict[str, Any]:
    groups = ("rule", "retrieval", "admission")
    parts = {group: asdict(getattr(preset, group)) for group in groups}
    inner = {f"{part}.{k}": v for part, given in parts.items() for k, v in given.items()}
    return {"gamma": preset.gamma, "returns": preset.returns, **inner}


def _json(value: Any) -> str:
    return f"`{json.dumps(value)}`"


def _exit_codes() -> Iterator[tuple[str, str]]:
    yield "0", "ok"
    yield (
        "1",
        "a check failed: `--require` was not met, `jitrl doctor` found something, episodes "
        "failed, or an unexpected error",
    )
    for kind in (errors.InputError, errors.ConfigError, errors.StoreError, errors.ModelError):
        yield str(kind.exit_code), _sentence(kind)
    yield str(errors.BudgetExceeded.exit_code), _sentence(errors.BudgetExceeded)
    yield "130", "interrupted; a run can be resumed"


def _command(path: str, command: Any) -> list[str]:
    lines = [f"## `{path}`", "", inspect.cleandoc(command.help or ""), ""]
    rows = [_option(param) for param in command.params if "--help" not in param.opts]
    if rows:
        lines += [*_table(("argument or option", "meaning", "default"), rows), ""]
    for name, inner in sorted(getattr(command, "commands", {}).items()):
        lines += _command(f"{path} {name}", inner)
    return lines


def _option(param: Any) -> tuple[str, str, str]:
    kind = getattr(param, "type_descriptor", None) or param.type
    choices = " \\| ".join(getattr(kind, "choices", None) or ())
    is_argument = param.param_type_name == "argument"
    names = [*param.opts, *param.secondary_opts]
    name = (param.metavar or param.name).upper() if is_argument else ", ".join(names)
    meaning, default = _parted(_line(param.help or ""))
    if param.required:
        shown = "required"
    elif default:
        shown = f"`{default}`"
    elif param.default is True:
        shown = f"`{param.opts[0]}`"
    else:
        given = param.default if isinstance(param.default, list | tuple) else [param.default]
        shown = ", ".join(f"`{one}`" for one in given if one not in (None, "") and one is not False)
    return f"`{name}`", f"{meaning} ({choices})" if choices else meaning, shown


def _parted(help: str) -> tuple[str, str]:
    """What an option means, and the default that its help ends with; "" if it names none."""
    found = re.fullmatch(r"(.*) \(default: (.*)\)", help)
    return (found[1], found[2]) if found else (help, "")


_LENT = frozenset(
    {
        *("store", "evaluator", "settings", "embedder", "meter", "writer", "hint", "member"),
        *("trainable", "replays"),
    }
)
"""Parts that are lent to an adapter; nobody sets them."""


def _adapter(setting: str, factory: Any, name: str) -> list[str]:
    """What can be named in a setting, and its own options; an embedder has none there."""
    lines = [f"### `{name}` (`{setting}`)", "", _sentence(factory), ""]
    said = _arguments(inspect.getdoc(factory) or "")
    rows = [
        (f"`{p.name}`", _quoted(p.default), said.get(p.name, ""))
        for p in inspect.signature(factory).parameters.values()
        if p.name not in _LENT and setting != KINDS["embedders"]
    ]
    if rows:
        lines += [*_table(("option", "default", "meaning"), rows), ""]
    return lines


def _arguments(doc: str, section: str = "Args") -> dict[str, str]:
    """A section of a docstring: name to meaning."""
    found = re.search(rf"^{section}:\n((?:[ ]+.*\n?|\n)+)", doc, re.MULTILINE)
    said: dict[str, str] = {}
    for entry in re.split(r"\n(?=    \S)", "\n" + found[1].rstrip())[1:] if found else []:
        names, _, meaning = entry.strip().partition(": ")
        said |= dict.fromkeys(names.split(", "), _line(meaning))
    return said


def _type(info: types.Type) -> str:
    match info:
        case types.Metadata():
            return _type(info.type)
        case types.UnionType():
            return " or ".join(_type(kind) for kind in info.types if _type(kind))
        case types.LiteralType():
            return " ".join(f"`{value}`" for value in info.values)
        case types.FrozenSetType() | types.VarTupleType():
            return f"list of {_type(info.item_type)}"
        case types.DictType():
            return "table"
        case types.NoneType():
            return ""
        case types.BoolType():
            return "`true` `false`"
        case types.IntType() | types.FloatType():
            word = "whole number" if isinstance(info, types.IntType) else "number"
            low = "" if info.ge is None else f" ≥ {info.ge:g}"
            return word + low + ("" if info.le is None else f", ≤ {info.le:g}")
        case _:
            return "text"


def _default(field: Any) -> str:
    if field.default is msgspec.NODEFAULT:
        return _quoted(field.default_factory())
    return _quoted(field.default)


def _quoted(value: Any) -> str:
    match value:
        case inspect.Parameter.empty:
            return "required"
        case frozenset():
            return f"`{','.join(sorted(value))}`"
        case tuple() if value:
            return f"`{','.join(map(str, value))}`"
        case None | "" | () | {}:
            return ""
        case _:
            return f"`{value}`"


def _sentence(thing: Any) -> str:
    return _line((inspect.getdoc(thing) or "").split("\n\n")[0])


def _line(text: str) -> str:
    return " ".join(text.split()).replace("``", "`")


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    return ["| " + " | ".join(row) + " |" for row in (head, ("---",) * len(head), *rows)]


if __name__ == "__main__":
    main()
