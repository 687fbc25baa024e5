"""`jitrl mcp`: a memory as an MCP server on stdin and stdout."""

from __future__ import annotations

from typing import Annotated

import typer

from jitrl import config
from jitrl.cli.memory.options import FILE, NAME
from jitrl.cli.shared.settings import Flags, merge


def mcp(
    file: FILE,
    scope: Annotated[str, typer.Option(help="Of runs that name none.")] = "",
    principal: Annotated[
        str, typer.Option(help="Who is answerable for what the agent reports.")
    ] = "mcp",
    name: NAME = "default",
    deadline: Annotated[
        float, typer.Option(min=1, help="Milliseconds, then advice is the agent's own choice.")
    ] = 5000.0,
    setting: Annotated[
        list[str], typer.Option("--set", help="Any setting, as memory.holdout=0.1.")
    ] = [],  # noqa: B006 - typer reads it
) -> None:
    """Offer a memory to an agent's model by the Model Context Protocol, on stdin and stdout.

    Tools: start, advise, recall, record, report. What the agent reports counts as its own word
    (agent_self_report), whatever it says. The file is made if it does not exist; any number of
    servers may share it.
    """
    flags: Flags = {}
    merge(flags, setting, "--set")
    settings = config.load(flags)
    from jitrl.service.adviser import Adviser
    from jitrl.service.desk import Desk
    from jitrl.service.mcp import server
    from jitrl.service.mcp_input import mended
    from jitrl.service.seats import Limits

    limits = Limits(deadline=deadline / 1e3)
    opened = Desk(file, settings.memory, memory=name, model=settings, limits=limits)
    with mended(), opened as desk:
        server(Adviser(desk, scope=scope, principal=principal)).run()
