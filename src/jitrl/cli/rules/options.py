"""Options of `jitrl rules` that several commands take."""

from __future__ import annotations

from typing import Annotated

import typer

from jitrl.report.words import Language
from jitrl.types import RuleStatus

RULE = Annotated[str, typer.Argument(metavar="RULE", help="Id of the rule, or how it begins.")]
IDS = Annotated[list[str], typer.Argument(metavar="RULE…", help="Ids of rules, or how they begin.")]
SCOPE = Annotated[str | None, typer.Option(help="Only this scope.")]
STATUS = Annotated[RuleStatus | None, typer.Option(help="Only this status.")]
REASON = Annotated[str, typer.Option(help="Why; kept in the history of the rule.")]
PRINCIPAL = Annotated[
    str, typer.Option(help="Who is answerable; kept likewise; else who is logged in.")
]
SUCCESS = Annotated[float, typer.Option(min=0.0, max=1.0, help="Least score that is a win.")]
LANG = Annotated[Language, typer.Option(help="Language of what is said.")]
