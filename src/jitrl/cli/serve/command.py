"""`jitrl serve`: memories over HTTP, for agents in other processes and languages."""

from __future__ import annotations

import logging
import os
import socket
from typing import Annotated, Any

import typer

from jitrl import config
from jitrl.cli.serve import keys
from jitrl.cli.serve.options import FOLDER, HERE
from jitrl.cli.shared.output import JSON, emit, tell
from jitrl.cli.shared.settings import Flags, merge
from jitrl.errors import ConfigError, MissingExtra

app = typer.Typer(invoke_without_command=True)
app.add_typer(keys.app, name="keys")

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@app.callback()
def serve(
    context: typer.Context,
    folder: FOLDER = HERE,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for a free one.")] = 8321,
    deadline: Annotated[
        float,
        typer.Option(min=1, help="Milliseconds, then a decision is the model's own choice."),
    ] = 250.0,
    idle: Annotated[
        float, typer.Option(min=0, help="Minutes, then an episode nobody asks for is closed.")
    ] = 60.0,
    rate: Annotated[
        float, typer.Option(min=0, help="Requests a second for each key; 0 for no limit.")
    ] = 1000.0,
    body: Annotated[int, typer.Option(min=1, help="Largest body of a request, KiB.")] = 4096,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Any setting, as memory.holdout=0.1.")
    ] = None,
    json: JSON = False,
) -> None:
    """Serve memories over HTTP, on this machine alone unless told otherwise.

    Callers need a key: `jitrl serve keys add`. Prints its address once it listens, and runs until
    it is interrupted.
    """
    if context.invoked_subcommand is not None:
        return
    flags: Flags = {}
    merge(flags, set_ or [], "--set")
    settings = config.load(flags)
    uvicorn = _uvicorn()
    from jitrl.service.app import Bounds, create_app
    from jitrl.service.browsers import AT
    from jitrl.service.keys import Keys
    from jitrl.service.seats import Limits
    from jitrl.service.tenants import KEYS, Tenants

    if not any(key.revoked is None for key in Keys(folder / KEYS).all()):
        raise ConfigError(
            f"{folder} has no key, so nobody could ask; make one: jitrl serve keys add "
            f"--folder {folder} --name agent --scope decide --scope report:self"
        )
    limits = Limits(deadline=deadline / 1e3, idle=idle * 60.0)
    tenants = Tenants(folder, settings.memory, model=settings, limits=limits)
    application = create_app(tenants, bounds=Bounds(body=body * 1024, rate=rate, is_alone=True))
    listening = _listen(host, port)
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s %(message)s")
    logging.captureWarnings(True)
    address = _address(listening)
    if host not in _LOOPBACK:
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
