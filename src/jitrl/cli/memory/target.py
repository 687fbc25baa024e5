"""Where `jitrl memory export` writes: stdout, a device or pipe, or a file that is complete."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from jitrl.errors import InputError, StoreError
from jitrl.stores.place import BESIDE, file_id


@contextmanager
def written(target: str, file: str) -> Iterator[BinaryIO]:
    """Stdout for `-`; what is no regular file, as it is; else a file that appears when complete.

    Raises:
        InputError: If ``target`` is the memory ``file``, or belongs to it.
        StoreError: If it cannot be written.
    """
    if target == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    spare(target, file)
    try:
        if os.path.exists(target) and not os.path.isfile(target):
            with Path(target).open("wb") as device:
                yield device
            return
        real = Path(os.path.realpath(target))
        part = Path(f"{real}.{os.getpid()}.part")
        out = part.open("xb")
        try:
            with out:
                yield out
                out.flush()
                os.fsync(out.fileno())
            part.replace(real)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise StoreError(f"cannot write {target}: {error.strerror}") from error


def said_of(target: str) -> str:
    """What a target is called: `-` is stdout."""
    return "stdout" if target == "-" else target


def spare(target: str, file: str) -> None:
    """Refuse a target that is the memory ``file``, or belongs to it.

    Raises:
        InputError: If it does.
    """
    to, of = os.path.realpath(target), os.path.realpath(file)
    for suffix in ("", *BESIDE):
        own = f"{of}{suffix}"
        if to == own or file_id(to) == file_id(own) is not None:
            raise InputError(f"{target} is {own}, which belongs to the memory; name another target")
