"""`jitrl ui`: memories and runs in a browser, on this machine alone."""

from __future__ import annotations

import os
import socket
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from jitrl.cli.memory.options import NAME
from jitrl.cli.shared.answerable import answerable
from jitrl.cli.shared.output import JSON, emit, tell
from jitrl.cli.shared.settings import Flags, merge
from jitrl.errors import InputError, MissingExtra, StoreError


def ui(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH…", help="Memory files, run folders, folders of runs."),
    ],
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0: any that is free.")
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the address in a browser.")
    ] = True,
    readonly: Annotated[
        bool, typer.Option("--readonly", help="Let nothing be quarantined or restored.")
    ] = False,
    principal: Annotated[
        str, typer.Option(help="Who is answerable for what is changed; else who is logged in.")
    ] = "",
    memory: NAME = "default",
    setting: Annotated[
        list[str],
        typer.Option("--set", help="A setting that memory files were used with, as memory.preset."),
    ] = [],  # noqa: B006 - typer reads it
    json: JSON = False,
) -> None:
    """Show memories and runs in a browser: whether it helps, why a choice fell, what is remembered.

    It listens on 127.0.0.1 alone. The address that it prints holds a token that lets in one
    browser, once. Pages of a run that goes on follow it. Ctrl-C ends it.
    """
    try:
        import uvicorn

        from jitrl.service.pages.opening import Ticket, app
        from jitrl.service.pages.places import shelf
    except ImportError as error:
        raise MissingExtra(f"{error.name} is missing: pip install 'jitrl[server]'") from error
    flags: Flags = {}
    merge(flags, setting, "--set")
    for path in paths:
        if not path.exists():
            raise StoreError(f"there is no memory file or run folder {path}")
        _check_depth(path)
    places, ticket = shelf(paths, memory, flags), Ticket()
    made = app(places, ticket, principal=answerable(principal), may_curate=not readonly)
    with socket.socket() as listening:
        if os.name != "nt":  # there it would let another program take the port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(("127.0.0.1", port))
        except OSError as error:
            raise InputError(f"--port {port} cannot be used: {error.strerror}") from error
        listening.listen()  # so that who is quick with the address waits, and is not refused
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/open/{ticket.text}"
        tell(address)
        if json:
            emit({"schema": "jitrl.ui/1", "address": address})
        if browser:
            webbrowser.open(address)
        config = uvicorn.Config(made, log_level="warning", access_log=False, server_header=False)
        uvicorn.Server(config).run([listening])


_FEW = 4


def _check_depth(path: Path) -> None:
    """Refuse a folder whose runs lie one folder deeper.

    Raises:
        InputError: Naming the folders that hold them.
    """
    if not path.is_dir() or (path / "run.json").exists() or any(path.glob("*/run.json")):
        return
    if inside := sorted({str(one.parent.parent) for one in path.glob("*/*/run.json")}):
        more = f" and {len(inside) - _FEW} more" if len(inside) > _FEW else ""
        raise InputError(
            f"{path} holds no run itself; the folders in it hold some, so name one or more of "
            f"them: {', '.join(inside[:_FEW])}{more}"
        )
