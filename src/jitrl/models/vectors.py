"""Remembered vectors: each text is embedded once, and its vector kept in a file.

The file is derived: whoever deletes it only has the texts embedded again. It lies beside the memory
files of a folder, and any number of threads and processes may use it at once.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from jitrl.errors import ModelError
from jitrl.language import counted
from jitrl.models.datafile import DataFile, Kind
from jitrl.ports import Embedder

_log = logging.getLogger(__name__)

_KIND = Kind(
    "a file of vectors",
    application=0x6A726C76,
    version=1,
    schema=(
        """CREATE TABLE IF NOT EXISTS vector(
            embedder TEXT NOT NULL,
            text BLOB NOT NULL,
            vector BLOB NOT NULL,
            PRIMARY KEY (embedder, text)
        )""",
    ),
)
FILE = "jitrl-vectors.db"
_MOST = 500  # texts in one statement
_TYPE = np.dtype("<f4")
_LENGTH = 1e-3  # how far a vector may be from length 1


class Remembered:
    """An embedder that asks ``embedder`` for no text twice. Safe for threads.

    A vector of another embedder is another vector: the name is part of its key. Where two processes
    embed one text at the same time, both use what the first one wrote.

    Args:
        path: The file, made if it is missing; ``:memory:`` for one that vanishes. Where it cannot
            be written, as on a read-only disk, vectors are kept in this process alone.
        recent: Vectors of this many texts are kept in this process, the latest used.

    Raises:
        StoreError: If the file is something else, is newer, or cannot be read. A damaged one can be
            deleted.
    """

    def __init__(self, embedder: Embedder, path: Path | str, *, recent: int = 4096) -> None:
        self.name = embedder.name
        self._embedder, self._most = embedder, recent
        self._file = DataFile(path if _is_writable(str(path)) else ":memory:", _KIND)
        self._recent: OrderedDict[bytes, np.ndarray] = OrderedDict()
        self._lock = threading.Lock()
        self._width = 0

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """As :meth:`Embedder.embed`; an empty text has the vector 0.

        Raises:
            ModelError: If the embedder failed, or returned something else than vectors.
            StoreError: If the file cannot be used.
        """
        keys = [_key(text) for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if text}
        found = self._latest(new)
        found.update(self._stored([key for key in new if key not in found]))
        missing = [key for key in new if key not in found]
        if missing:
            found.update(self._made(missing, [new[key] for key in missing]))
        widths = {len(vector) for vector in found.values()}
        if len(widths) > 1:
            raise ModelError(
                f"vectors of {self.name} have {' and '.join(map(str, sorted(widths)))} numbers, "
                f"those in {self._file.path} among them; delete that file, so that they are made "
                "anew"
            )
        self._keep(found)
        if not self._width:
            self._width = len(found[next(iter(found))]) if found else self._asked(["a"]).shape[1]
        vectors = np.zeros((len(texts), self._width), np.float32)
        for row, key, text in zip(vectors, keys, texts, strict=True):
            if text:
                row[:] = found[key]
        return vectors

    def close(self) -> None:
        """Release the file; may be called twice."""
        self._file.close()

    def _latest(self, new: Mapping[bytes, str]) -> dict[bytes, np.ndarray]:
        with self._lock:
            found = {key: self._recent[key] for key in new if key in self._recent}
            for key in found:
                self._recent.move_to_end(key)
        return found

    def _keep(self, found: Mapping[bytes, np.ndarray]) -> None:
        with self._lock:
            self._recent.update(found)
            while len(self._recent) > self._most:
                self._recent.popitem(last=False)

    def _stored(self, keys: Sequence[bytes]) -> dict[bytes, np.ndarray]:
        """Those that the file holds."""
        found: dict[bytes, np.ndarray] = {}
        for start in range(0, len(keys), _MOST):
            with self._file.reading() as db:
                found.update(self._read(db, keys[start : start + _MOST]))
        return found

    def _read(
        self, db: sqlite3.Connection, keys: Sequence[bytes]
    ) -> Iterator[tuple[bytes, np.ndarray]]:
        marks = ",".join("?" * len(keys))
        query = f"SELECT text, vector FROM vector WHERE embedder = ? AND text IN ({marks})"
        for key, raw in db.execute(query, (self.name, *keys)).fetchall():
            vector = np.frombuffer(raw, _TYPE).astype(np.float32) if len(raw) % 4 == 0 else None
            if vector is not None and self._fits(vector[None]):
                yield key, vector

    def _made(self, keys: Sequence[bytes], texts: Sequence[str]) -> dict[bytes, np.ndarray]:
        """New vectors, once they are in the file; or those of a process that was faster."""
        found = dict(zip(keys, self._asked(texts), strict=True))
        with self._file.transaction() as db:
            for start in range(0, len(keys), _MOST):
                there = dict(self._read(db, keys[start : start + _MOST]))
                new = [key for key in keys[start : start + _MOST] if key not in there]
                db.executemany(
                    "INSERT OR REPLACE INTO vector VALUES (?, ?, ?)",
                    [(self.name, key, found[key].astype(_TYPE).tobytes()) for key in new],
                )
                found.update(there)
        return found

    def _asked(self, texts: Sequence[str]) -> np.ndarray:
        vectors = np.asarray(self._embedder.embed(texts))
        if vectors.dtype != np.float32 or len(vectors) != len(texts) or not self._fits(vectors):
            raise ModelError(
                f"embedder {self.name} returned {vectors.dtype} of shape {vectors.shape} for "
                f"{counted(len(texts), 'text')}; float32 vectors of length 1 (or 0) "
                "and one width are wanted"
            )
        return vectors

    def _fits(self, vectors: np.ndarray) -> bool:
        """Whether these can be vectors of this embedder; the first ones say how wide they are."""
        if vectors.ndim != 2 or not vectors.shape[1] or not np.isfinite(vectors).all():
            return False
        if self._width and vectors.shape[1] != self._width:
            return False
        lengths = np.linalg.norm(vectors, axis=1)
        return bool(((abs(lengths - 1.0) < _LENGTH) | (lengths == 0.0)).all())


def beside(memory: str) -> str:
    """The file of vectors that all memory files of a folder share."""
    return memory if memory == ":memory:" else os.path.join(os.path.dirname(memory), FILE)


def forget(path: Path) -> bool:
    """Remove all vectors from a file and its log; they are made again where they are needed.

    Returns:
        Whether the log is empty; it is not while another process reads.

    Raises:
        StoreError: If the file cannot be used.
    """
    with closing(DataFile(path, _KIND)) as file:
        with file.transaction() as db:
            db.execute("PRAGMA secure_delete = ON")
            db.execute("DELETE FROM vector")
        with file.reading() as db:
            db.execute("VACUUM")
            (busy, _, _) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _is_writable(path: str) -> bool:
    """Whether the file can be written, or made; says so if not."""
    needed = [path] if os.path.exists(path) else []
    needed.append(os.path.dirname(path) or ".")
    is_writable = path == ":memory:" or all(
        os.access(at, os.W_OK) or not os.path.exists(at) for at in needed
    )
    if not is_writable:
        _log.info("vectors are not kept, since their file cannot be written: %s", path)
    return is_writable
