"""GGUF container: metadata and tensors of a model file, tensors dequantised to float32.

The format is that of ggml's specification, versions 2 and 3, little endian. Only the tensor types
that small instruct models are distributed in are read: F32, F16, Q8_0 and Q4_1.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jitrl.errors import ModelError

_SCALARS = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd", strict=True))
_STRING, _ARRAY = 8, 9


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """Where a tensor lies. ``shape`` has the fastest axis last, as numpy has it."""

    name: str
    shape: tuple[int, ...]
    kind: _Kind
    offset: int

    @property
    def size(self) -> int:
        """Bytes in the file."""
        return math.prod(self.shape) // self.kind.block * self.kind.dtype.itemsize


@dataclass(frozen=True, slots=True)
class _Kind:
    """A tensor type: ``block`` weights are stored together in one record of ``dtype``."""

    name: str
    block: int
    dtype: np.dtype[Any]


_KINDS = {
    0: _Kind("F32", 1, np.dtype("<f4")),
    1: _Kind("F16", 1, np.dtype("<f2")),
    3: _Kind("Q4_1", 32, np.dtype([("scale", "<f2"), ("low", "<f2"), ("quants", "u1", 16)])),
    8: _Kind("Q8_0", 32, np.dtype([("scale", "<f2"), ("quants", "i1", 32)])),
}


class GGUF:
    """One open model file. Tensors are mapped, and read when asked for.

    Raises:
        ModelError: If the file is missing, cut short, not GGUF, or of a version or type that is
            not supported.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            self._bytes = np.memmap(self.path, np.uint8, "r")
        except (OSError, ValueError) as error:  # ValueError: an empty file cannot be mapped
            raise ModelError(f"cannot read model file {self.path}: {error}") from error
        cursor = _Cursor(self._bytes, self.path)
        self.metadata: Mapping[str, Any] = cursor.metadata()
        self.tensors: Mapping[str, TensorInfo] = cursor.tensors(self.metadata)

    def value(self, key: str) -> Any:
        """A metadata value.

        Raises:
            ModelError: If the file does not have it.
        """
        try:
            return self.metadata[key]
        except KeyError:
            raise ModelError(f"{self.path}: the model file has no metadata {key!r}") from None

    def tensor(self, name: str) -> np.ndarray:
        """A tensor as float32, in its own memory.

        Raises:
            ModelError: If the file does not have it.
        """
        try:
            info = self.tensors[name]
        except KeyError:
            raise ModelError(f"{self.path}: the model file has no tensor {name!r}") from None
        raw = self._bytes[info.offset : info.offset + info.size].view(info.kind.dtype)
        return _dequantize(raw, info.kind.name).reshape(info.shape)


def _dequantize(raw: np.ndarray, kind: str) -> np.ndarray:
    """Weights of the blocks in ``raw``, flat and float32."""
    if kind in {"F32", "F16"}:
        return raw.astype(np.float32)
    scale = raw["scale"].astype(np.float32)[:, None]
    quants = raw["quants"]
    out = np.empty((len(raw), 32), np.float32)
    if kind == "Q8_0":
        np.multiply(quants, scale, out=out)
        return out
    # Q4_1: the low nibbles are weights 0-15 of the block, the high nibbles 16-31
    np.multiply(quants & 15, scale, out=out[:, :16])
    np.multiply(quants >> 4, scale, out=out[:, 16:])
    out += raw["low"].astype(np.float32)[:, None]
    return out


class _Cursor:
    """Reads the header front to back and refuses to run over the end of the file."""

    def __init__(self, data: np.ndarray, path: Path) -> None:
        self._data, self._path, self._at = data.data, path, 0
        if bytes(self._take(4)) != b"GGUF":
            raise ModelError(f"{path} is not a GGUF model file: it starts with {bytes(data[:4])!r}")
        version = self._scalar("I")
        if version not in (2, 3):
            raise ModelError(f"{path} is GGUF version {version}; versions 2 and 3 are supported")
        self._tensors, self._keys = self._scalar("Q"), self._scalar("Q")

    def metadata(self) -> dict[str, Any]:
        found = {}
        for _ in range(self._keys):
            key = self._text()
            found[key] = self._value(self._scalar("I"))
        return found

    def tensors(self, metadata: Mapping[str, Any]) -> dict[str, TensorInfo]:
        found = {}
        for _ in range(self._tensors):
            name, axes = self._text(), self._scalar("I")
            if axes > 4:
                raise ModelError(f"{self._path}: tensor {name!r} has {axes} axes; at most 4 exist")
            shape = tuple(reversed([int(self._scalar("Q")) for _ in range(axes)]))
            code, offset = self._scalar("I"), self._scalar("Q")
            kind = _KINDS.get(code)
            if kind is None:
                known = ", ".join(k.name for k in _KINDS.values())
                raise ModelError(
                    f"{self._path}: tensor {name!r} has type {code}; supported are {known}"
                )
            found[name] = TensorInfo(name, shape, kind, offset)
        alignment = metadata.get("general.alignment", 32)
        if not isinstance(alignment, int) or alignment < 1:
            raise ModelError(f"{self._path}: general.alignment is {alignment!r}")
        start = -(-self._at // alignment) * alignment
        placed = {
            name: TensorInfo(name, info.shape, info.kind, start + info.offset)
            for name, info in found.items()
        }
        for info in placed.values():
            if info.shape and info.shape[-1] % info.kind.block:
                raise ModelError(f"{self._path}: tensor {info.name!r} has a torn last block")
            if info.offset + info.size > len(self._data):
                raise ModelError(f"{self._path} is cut short: tensor {info.name!r} is not whole")
        return placed

    def _take(self, size: int) -> memoryview:
        if size > len(self._data) - self._at:
            raise ModelError(f"{self._path} is cut short: its header ends at byte {self._at}")
        self._at += size
        return self._data[self._at - size : self._at]

    def _scalar(self, code: str) -> Any:
        return struct.unpack("<" + code, self._take(struct.calcsize("<" + code)))[0]

    def _text(self) -> str:
        raw = bytes(self._take(self._scalar("Q")))
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ModelError(f"{self._path}: a text in the header is not UTF-8") from error

    def _value(self, kind: int) -> Any:
        if kind == _STRING:
            return self._text()
        if kind == _ARRAY:
            inner, count = self._scalar("I"), self._scalar("Q")
            if inner == _STRING:
                if count > len(self._data):
                    raise ModelError(f"{self._path} is cut short: a list of {count} texts")
                return [self._text() for _ in range(count)]
            dtype = np.dtype("<" + self._code(inner))
            return np.frombuffer(self._take(count * dtype.itemsize), dtype)
        return self._scalar(self._code(kind))

    def _code(self, kind: int) -> str:
        try:
            return _SCALARS[kind]
        except KeyError:
            raise ModelError(f"{self._path}: metadata of unknown type {kind}") from None
