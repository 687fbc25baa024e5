"""`jitrl proxy`: a memory between agents in any language and their model's provider."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Annotated

import typer

from jitrl.errors import ConfigError, MissingExtra, StoreError


def proxy(
    upstream: Annotated[
        str, typer.Option(help="Address of the provider, as a client's base_url.")
    ] = "https://api.openai.com/v1",
    memory: Annotated[Path, typer.Option(help="File of the memory.")] = Path("memory.db"),
    host: Annotated[
        str, typer.Option(help="Address to listen at; no other machine reaches the default.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at.")] = 8788,
    scope: Annotated[str, typer.Option(help="Scope where a request names none.")] = "",
    unforced: Annotated[
        list[str] | None,
        typer.Option(help="A tool that the memory never turns a choice to; may be repeated."),
    ] = None,
    accept: Annotated[
        list[str] | None,
        typer.Option(
            help="A basis that callers may give for an outcome, beside agent_self_report, "
            "user_feedback and llm_judge; may be repeated."
        ),
    ] = None,
    idle: Annotated[
        float, typer.Option(min=1, help="Seconds until a quiet episode is kept without outcome.")
    ] = 3600.0,
) -> None:
    """Let agents in any language learn: a proxy for chats and responses with tools.

    Point the client's base address at it and send the header X-JitRL-Episode with a key for each
    run; requests without it go through as they are. Keys of the provider come from the client.
    """
    try:
        import uvicorn
    except ImportError as error:
        raise MissingExtra("jitrl proxy needs uvicorn: pip install 'jitrl[server]'") from error
    from jitrl.integrations.guide import Guide
    from jitrl.service.proxy import SELF_SAID, app

    if not _is_loopback(host):
        raise ConfigError(
            f"host is {host!r}, which other machines reach, and the proxy asks nobody who they "
            "are; listen at 127.0.0.1, behind a server that does"
        )
    accepted = {*SELF_SAID, *(accept or ())}
    guide = Guide(memory, scope=scope, unforced=unforced or ())
    try:
        made = app(guide, upstream, accept=accepted, idle=idle)
        try:
            uvicorn.run(
                made, host=host, port=port, log_level="warning", timeout_graceful_shutdown=5
            )
        except SystemExit as error:
            raise StoreError(f"cannot listen at {host}:{port}; try another --port") from error
    finally:
        guide.memory.close()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
