"""The key of a memory's placeholders, in a file of its own beside the memory."""

from __future__ import annotations

import os
import secrets
import threading
from contextlib import suppress
from pathlib import Path

from jitrl.errors import StoreError

SUFFIX = ".redaction-key"
"""Follows the name of the memory file."""

_BYTES = 32


class KeyFile:
    """Reads the key of a memory file, or makes it; all processes get the same one. Thread-safe.

    Who copies the memory file alone does not have it, so what was redacted stays unknown to them.

    Args:
        path: Of the memory file; ``:memory:`` has a key that is nowhere written.
    """

    def __init__(self, path: str) -> None:
        self._path = None if path == ":memory:" else Path(f"{os.path.realpath(path)}{SUFFIX}")
        self._key = b""
        self._lock = threading.Lock()

    def __call__(self) -> bytes:
        """The key, 32 bytes.

        Raises:
            StoreError: If the file is there but holds no key, or cannot be read.
        """
        with self._lock:
            if not self._key:
                self._key = self._found() if self._path else secrets.token_bytes(_BYTES)
            return self._key

    def _found(self) -> bytes:
        path = self._path
        assert path is not None
        if not path.exists():
            self._make(path)
        if not path.exists():  # nothing can be written here, so nothing will
            return secrets.token_bytes(_BYTES)
        try:
            key = bytes.fromhex(path.read_text(encoding="ascii").strip())
        except (OSError, ValueError) as error:
            raise StoreError(f"{path} cannot be read as a key: {error}") from error
        if len(key) != _BYTES:
            raise StoreError(f"{path} holds {len(key)} bytes, a key has {_BYTES}; take a backup")
        return key

    @staticmethod
    def _make(path: Path) -> None:
        """Write a new key for its owner alone, whole, unless another process was faster."""
        part = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
        with suppress(OSError):
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                os.write(descriptor, f"{secrets.token_hex(_BYTES)}\n".encode("ascii"))
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            try:
                os.link(part, path)
            except FileExistsError:
                pass
            except OSError:  # no links on this disk
                if not path.exists():
                    os.replace(part, path)
            finally:
                part.unlink(missing_ok=True)
