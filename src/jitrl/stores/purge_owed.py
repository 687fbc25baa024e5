"""What a purge still has to do beside a memory file, so that the next ends what a killed one began.

Once episodes are out of the memory, nobody can tell any more which reports were theirs. So it is
written down before they go, and taken off when it is done.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec

from jitrl.errors import StoreError
from jitrl.stores.lock import FileLock

SUFFIX = ".purging"
"""Follows the name of the memory file."""

_SECONDS = 60.0


class Owed(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What is still to be done.

    Attributes:
        reports: SHA-256 of the keys of episodes whose reports go.
        has_vectors: Vectors of texts go.
        answers: Seconds since 1970: calls before it may have been the subjects'; 0 if none.
    """

    reports: frozenset[str] = frozenset()
    has_vectors: bool = False
    answers: float = 0.0

    def joined(self, other: Owed) -> Owed:
        """Both."""
        return Owed(
            self.reports | other.reports,
            self.has_vectors or other.has_vectors,
            max(self.answers, other.answers),
        )

    def without(self, done: Owed) -> Owed:
        """What is left of it."""
        return Owed(
            self.reports - done.reports,
            self.has_vectors and not done.has_vectors,
            self.answers if self.answers > done.answers else 0.0,
        )


def digest(key: str) -> str:
    """The SHA-256 of an episode's key, in hexadecimal."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def digests(keys: Iterable[str]) -> frozenset[str]:
    """Of several."""
    return frozenset(map(digest, keys))


def owed(path: str) -> Owed:
    """What is still to be done beside the memory file at ``path``.

    Raises:
        StoreError: If it cannot be read.
    """
    file = _file(path)
    if not file.exists():
        return Owed()
    try:
        return msgspec.json.decode(file.read_bytes(), type=Owed)
    except (OSError, msgspec.MsgspecError) as error:
        raise StoreError(
            f"{file} does not say what a purge still has to do: {error}; delete it, and purge "
            "the same subjects again"
        ) from error


def note(path: str, more: Owed) -> Owed:
    """Write down, for good, that more is to be done; returns all of it."""
    with _alone(path):
        now = owed(path).joined(more)
        _put(path, now)
        return now


def settle(path: str, done: Owed) -> None:
    """Take off what is done."""
    with _alone(path):
        _put(path, owed(path).without(done))


def _file(path: str) -> Path:
    return Path(f"{os.path.realpath(path)}{SUFFIX}")


@contextmanager
def _alone(path: str) -> Iterator[None]:
    with closing(FileLock(f"{os.path.realpath(path)}.lock")) as lock, lock.held(_SECONDS):
        yield


def _put(path: str, now: Owed) -> None:
    file = _file(path)
    try:
        if now == Owed():
            file.unlink(missing_ok=True)
            return
        part = Path(f"{file}.part")
        with part.open("wb") as out:
            out.write(msgspec.json.encode(now))
            out.flush()
            os.fsync(out.fileno())
        os.replace(part, file)
    except OSError as error:
        raise StoreError(f"cannot write {file}: {error.strerror}") from error
