"""Standard input of the MCP server, as the protocol's package can read it, with an end on a signal.

The package reads it in a thread that nothing but its end can wake, and answers no line that it
cannot read. Half of a surrogate pair makes one such; programs in other languages send it where they
cut a text inside of a character.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import IO

from jitrl.integrations.tools import whole

_log = logging.getLogger(__name__)

_ENDS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def mended() -> Iterator[None]:
    """Read standard input through this while the block runs.

    A signal that ends the process ends the input first, as if the client had left, and strikes once
    the block is over. A second one strikes at once.
    """
    wire, (out, into) = os.fdopen(os.dup(0), "rb"), os.pipe()
    os.dup2(out, 0)
    os.close(out)
    before = {number: signal.getsignal(number) for number in _ENDS}
    caught: list[int] = []

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def end(number: int, _: FrameType | None) -> None:
        caught.append(number)
        restore()
        _lead_nowhere(into)

    for number in _ENDS:
        signal.signal(number, end)
    pump = threading.Thread(target=_pump, args=(wire, into), daemon=True)
    pump.start()
    try:
        yield
    finally:
        restore()
        for one in caught:
            signal.raise_signal(one)


def _lead_nowhere(into: int) -> None:
    """End what is read at the other side of a pipe.

    It is not closed: a line may just be written to it, and its number would be that of another file
    when the pipe is ended again.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, into)
    os.close(nowhere)


def _pump(wire: IO[bytes], into: int) -> None:
    """Write each line on, mended."""
    with suppress(OSError), os.fdopen(into, "wb", closefd=False) as out:  # nobody reads it any more
        for line in wire:
            out.write(_mended(line))
            out.flush()
    _lead_nowhere(into)


def _mended(line: bytes) -> bytes:
    """A line without halves of surrogate pairs; as it is if it cannot be read, which is logged."""
    try:
        found = json.loads(line)
        return whole(json.dumps(found, ensure_ascii=False)).encode() + b"\n"
    except (ValueError, RecursionError) as error:
        if line.strip():
            _log.warning("a line on standard input is no JSON, and is not answered: %s", error)
        return line
