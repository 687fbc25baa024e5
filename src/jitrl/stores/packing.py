"""Decisions as bytes: every number exact, no field names, one place per step."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np

from jitrl.errors import InputError, RecordError
from jitrl.types import Candidate, Capped, Decision, Lesson, Neighbor, Neighbors, Spoken, Weighed

# A field's place in its class is the format: add fields at the end, with a default, and old
# files stay readable; anything else needs a migration. A test pins the order.
_HEAD = tuple(f.name for f in fields(Decision) if f.name not in ("candidates", "neighbors"))
_head = attrgetter(*_HEAD)
_weighed = attrgetter(*(f.name for f in fields(Weighed)))


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} is neither text nor a number")


_SHORT = 200  # bytes that are not worth compressing
_COMPRESSED = b"\x78"
_encode = msgspec.msgpack.Encoder(enc_hook=_plain).encode
_decode = msgspec.msgpack.Decoder().decode


def pack(decisions: Sequence[Decision | None]) -> bytes:
    """The decisions of an episode, one place per step, shape [T].

    Raises:
        InputError: If a decision holds something that is not text or a number.
    """
    return _compressed(pack_plain(decisions))


def pack_plain(decisions: Sequence[Decision | None]) -> bytes:
    """As ``pack``, for what does not stay: larger, and made at once."""
    try:
        return _encode(
            [
                d and (_head(d), list(map(_weighed, d.candidates)), list(_records(d.neighbors)))
                for d in decisions
            ]
        )
    except (TypeError, UnicodeEncodeError, OverflowError) as error:
        raise InputError(f"a decision cannot be stored: {error}") from error


def encoded(packed: list[Any]) -> bytes:
    """The bytes of what ``unpack`` gave, changed or not."""
    return _compressed(_encode(packed))


def _compressed(plain: bytes) -> bytes:
    return zlib.compress(plain, 1) if len(plain) > _SHORT else plain


def _records(neighbors: Sequence[Neighbor]) -> Iterable[tuple[object, ...]]:
    return neighbors.records() if isinstance(neighbors, Neighbors) else neighbors


def unpack(body: bytes) -> list[Any]:
    """The packed decision of each step, for ``build``; ``None`` where there is none."""
    is_compressed = body[:1] == _COMPRESSED  # no list begins with this byte
    packed: list[Any] = _decode(zlib.decompress(body) if is_compressed else body)
    return packed


def build(packed: Any) -> Decision:
    """One decision, equal to the one that was packed."""
    head, candidates, neighbors = packed
    named: dict[str, Any] = dict(zip(_HEAD, head, strict=False))
    named["draws"] = tuple(named["draws"])
    if isinstance(named.get("allowed"), list):
        named["allowed"] = tuple(named["allowed"])
    if named.get("lesson") is not None:
        named["lesson"] = Lesson(*named["lesson"])
    named["capped"] = tuple(Capped(*c) for c in named.get("capped", ()))
    named["marked"] = tuple((action, risk) for action, risk in named.get("marked", ()))
    named["notes"] = tuple(Spoken(*one) for one in named.get("notes", ()))
    return Decision(
        candidates=tuple(Weighed(*c) for c in candidates),
        neighbors=tuple(_neighbor(n) for n in neighbors),
        **named,
    )


_CANDIDATE = tuple(f.name for f in fields(Weighed)).index
_ACTION, _LOGIT, _SOURCE = map(_CANDIDATE, ("action", "logit", "source"))


def candidates(packed: Any) -> tuple[Candidate, ...]:
    """What one packed decision could choose from, without what was made of it."""
    return tuple(Candidate(c[_ACTION], c[_LOGIT], c[_SOURCE]) for c in packed[1])


def checked(body: bytes, crc: int, key: str) -> bytes:
    """``body``, if its checksum is right.

    Raises:
        RecordError: If the bytes changed since they were written.
    """
    if zlib.crc32(body) != crc:
        raise RecordError(
            f"the decisions of episode {key!r} are damaged on disk (checksum); "
            "take a backup or an export"
        )
    return body


_ROWS = Neighbor._fields.index("rows")


def _neighbor(values: list[Any]) -> Neighbor:
    values[_ROWS] = tuple(values[_ROWS])
    return Neighbor(*values)
