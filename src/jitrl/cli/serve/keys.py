"""`jitrl serve keys`: make, list and revoke the keys of callers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec
import typer

from jitrl.cli.serve.options import FOLDER, place
from jitrl.cli.shared.listing import Listing
from jitrl.cli.shared.output import JSON, emit, people, tell

app = typer.Typer(no_args_is_help=True, help="Make, list and revoke the keys of callers.")


@app.command()
def add(
    scope: Annotated[
        list[str],
        typer.Option(
            help="What it may do; may be repeated: decide, report:self, report:trusted, read, "
            "curate, metrics, admin."
        ),
    ],
    name: Annotated[str, typer.Option(help="Who gets it; answerable for all that it says.")],
    tenant: Annotated[str, typer.Option(help="Whose memory it is for.")] = "default",
    folder: FOLDER = None,
    json: JSON = False,
) -> None:
    """Make a key. It is printed to stdout this once; the file keeps its digest alone."""
    from jitrl.service.keys import Keys
    from jitrl.service.tenants import KEYS, made

    key, text = Keys(made(place(folder)) / KEYS).add(name, tenant, scope)
    tell(f"key {key.id} of {key.name} for tenant {key.tenant}: {', '.join(key.scopes)}")
    tell("It is not shown again.", style="dim")
    if json:
        emit({"schema": "jitrl.serve.key/1", "id": key.id, "key": text})
    else:
        print(text)


@app.command()
def ls(folder: FOLDER = None, json: JSON = False) -> None:
    """List keys, the oldest first; their secrets are not known."""
    from jitrl.service.keys import Keys
    from jitrl.service.tenants import KEYS

    found = Keys(place(folder) / KEYS).all()
    if json:
        plain = [msgspec.to_builtins(key) for key in found]
        for facts in plain:
            del facts["digest"]
        emit({"schema": "jitrl.serve.keys/1", "keys": plain})
        return
    heads = ["id", "name", "tenant", "scopes", "made", "revoked"]
    listed = Listing(heads, left=frozenset(range(len(heads))))
    for key in found:
        listed.add(
            key.id, key.name, key.tenant, " ".join(key.scopes), _day(key.created), _day(key.revoked)
        )
    people().print(listed)


@app.command()
def revoke(
    id: Annotated[str, typer.Argument(metavar="ID", help="Id of the key, as `ls` lists it.")],
    folder: FOLDER = None,
    json: JSON = False,
) -> None:
    """Let a key be used no more, from the next request on."""
    from jitrl.service.keys import Keys
    from jitrl.service.tenants import KEYS

    key = Keys(place(folder) / KEYS).revoke(id)
    tell(f"key {key.id} of {key.name} is revoked")
    if json:
        emit({"schema": "jitrl.serve.revoked/1", "id": key.id, "revoked": key.revoked})


def _day(at: float | None) -> str:
    return "" if at is None else datetime.fromtimestamp(at).strftime("%Y-%m-%d %H:%M")
