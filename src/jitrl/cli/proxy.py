"""`jitrl proxy`: a memory between agents in any language and their model's provider."""

from __future__ import annotations

import ipaddress
import os
import socket
from pathlib import Path
from typing import Annotated

import typer

from jitrl import config
from jitrl.api import JitRL
from jitrl.cli.shared.output import JSON, emit, tell
from jitrl.cli.shared.settings import Flags, merge
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
        typer.Option(help="A tool that the memory never changes a choice to; may be repeated."),
    ] = None,
    writes: Annotated[
        list[str] | None,
        typer.Option(
            help="A tool that changes something, so that the memory does not try it out; may be "
            "repeated, * for all."
        ),
    ] = None,
    accept: Annotated[
        list[str] | None,
        typer.Option(
            help="A basis that callers may give for an outcome, beside agent_self_report, "
            "user_feedback and llm_judge; may be repeated."
        ),
    ] = None,
    observed: Annotated[
        bool,
        typer.Option(
            help="Keep what the model was shown last at each turn, redacted and cut, beside the "
            "masked state."
        ),
    ] = True,
    idle: Annotated[
        float, typer.Option(min=1, help="Seconds until a quiet episode is kept without outcome.")
    ] = 3600.0,
    setting: Annotated[
        list[str],
        typer.Option("--set", help="A setting of the memory, as memory.holdout=0.2."),
    ] = [],  # noqa: B006 - typer reads it
    json: JSON = False,
) -> None:
    """Let agents in any language learn: a proxy for chats and responses with tools.

    Point the client's base address at it and send the header X-JitRL-Episode with a key for each
    run; requests without it go through as they are. Keys of the provider come from the client. It
    says where it listens as soon as it does. Ctrl-C ends it.
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
    flags: Flags = {}
    merge(flags, setting, "--set")
    settings = config.load(flags)
    with JitRL(memory, settings.memory, model=settings) as opened:
        guide = Guide(
            opened,
            scope=scope,
            unforced=unforced or (),
            writes=writes or (),
            observed=observed,
        )
        made = app(guide, upstream, accept={*SELF_SAID, *(accept or ())}, idle=idle)
        with _listening(host, port) as listening:
            name = f"[{host}]" if ":" in host else host
            address = f"http://{name}:{listening.getsockname()[1]}/v1"
            tell(f"listening on {address} · memory in {memory} · stop with Ctrl-C")
            if json:
                emit({"schema": "jitrl.proxy/1", "address": address, "memory": str(memory)})
            server = uvicorn.Config(
                made, log_level="warning", access_log=False, timeout_graceful_shutdown=5
            )
            uvicorn.Server(server).run([listening])


def _listening(host: str, port: int) -> socket.socket:
    """A socket that accepts connections, so that who is quick with the address waits.

    Raises:
        StoreError: If the port is taken.
    """
    opened = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    if os.name != "nt":  # there it would let another program take the port
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((host, port))
        opened.listen()
    except OSError as error:
        opened.close()
        raise StoreError(f"cannot listen at {host}:{port}; try another --port") from error
    return opened


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
