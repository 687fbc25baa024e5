"""How help writes options and arguments: a flag takes no value, an argument stands as it is."""

from __future__ import annotations

import re
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

_BULLET = re.compile(r"^-+\s+")
_BRACED = re.compile(r"^\{(.*)\}(\.\.\.)?$")


def plain(app: typer.Typer) -> None:
    """Let all commands of ``app`` and of what is in it write their help so."""
    app.info.cls = _Group
    for command in app.registered_commands:
        if not issubclass(command.cls or TyperCommand, _Command):
            command.cls = _Command
    for group in app.registered_groups:
        group.cls = _Group
        if group.typer_instance is not None:
            plain(group.typer_instance)


class _Command(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        return _without_values(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [_BRACED.sub(r"\1\2", piece) for piece in super().collect_usage_pieces(ctx)]


class SentenceCommand(_Command):
    """A command that takes a sentence, which may begin with a dash: `- When …` is no option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [_BULLET.sub("", arg) for arg in args])


class _Group(TyperGroup):
    def get_params(self, ctx: Any) -> list[Any]:
        return _without_values(super().get_params(ctx))


def _without_values(params: list[Any]) -> list[Any]:
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
    return params
