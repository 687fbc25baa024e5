"""`jitrl serve`: memories over HTTP, for agents in other processes and languages."""

from __future__ import annotations

import logging
import os
import socket
from pathlib import Path
from typing import Any

import typer

from jitrl import config
from jitrl.cli.serve import keys
from jitrl.cli.shared.output import JSON, emit, tell
from jitrl.cli.shared.settings import SERVE, Flags, with_settings
from jitrl.errors import ConfigError, MissingExtra

app = typer.Typer(invoke_without_command=True)
app.add_typer(keys.app, name="keys")

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@app.callback()
@with_settings(of=SERVE)
def serve(context: typer.Context, flags: Flags, json: JSON = False) -> None:
    """Serve memories over HTTP, on this machine alone unless told otherwise.

    Callers need a key: `jitrl serve keys add`. Prints its address once it listens, and runs until
    it is interrupted.
    """
    if context.invoked_subcommand is not None:
        return
    settings = config.load(flags)
    of, folder = settings.serve, Path(settings.serve.folder)
    uvicorn = _uvicorn()
    from jitrl.service.app import create_app
    from jitrl.service.browsers import AT
    from jitrl.service.keys import Keys
    from jitrl.service.seats import Limits
    from jitrl.service.serving import Bounds
    from jitrl.service.tenants import KEYS, Tenants

    if not any(key.revoked is None for key in Keys(folder / KEYS).all()):
        raise ConfigError(
            f"{folder} has no key, so nobody could ask; make one: jitrl serve keys add "
            f"--folder {folder} --name agent --scope decide --scope report:self"
        )
    limits = Limits(deadline=of.deadline / 1e3, idle=of.idle * 60.0)
    tenants = Tenants(folder, settings.memory, model=settings, limits=limits)
    bounds = Bounds(body=of.body * 1024, rate=of.rate, is_alone=True)
    application = create_app(tenants, bounds=bounds)
    listening = _listen(of.host, of.port)
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s %(message)s")
    logging.captureWarnings(True)
    address = _address(listening)
    if of.host not in _LOOPBACK:
        tell("Keys travel in plain text: put something that speaks TLS in front.", style="yellow")
    tell(f"listening on {address} · memories in {folder} · stop with Ctrl-C")
    dashboard = f"{address}{AT}/"
    tell(f"dashboard: {dashboard} · any name, and as password a key with the scope read")
    if json:
        about = {"address": address, "dashboard": dashboard, "process": os.getpid()}
        emit({"schema": "jitrl.serve/1", **about})
    server = uvicorn.Server(
        uvicorn.Config(
            application,
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=10,
        )
    )
    server.run(sockets=[listening])


def _uvicorn() -> Any:
    """The server.

    Raises:
        MissingExtra: If a package of the extra is not there.
    """
    try:
        import fastapi
        import prometheus_client
        import uvicorn
    except ImportError as error:
        raise MissingExtra(
            f"the service needs {error.name}: pip install 'jitrl[server]'"
        ) from error
    del fastapi, prometheus_client
    return uvicorn


def _listen(host: str, port: int) -> socket.socket:
    """A socket that takes connections.

    Raises:
        ConfigError: If the address cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=512)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {host}:{port}: {error.strerror or error}; name another --port"
        ) from error


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
