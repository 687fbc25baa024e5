"""Journaled episodes without what their decisions were made of, read fast."""

from __future__ import annotations

import sqlite3
from typing import Any

import msgspec

from jitrl.ports import Asked, Outline
from jitrl.stores import packing, reads
from jitrl.stores.stream import RowReader

_INFO = 11
"""Place of ``info`` in the raw record of an episode."""


def read_outline(db: sqlite3.Connection, reader: RowReader, raw: tuple[Any, ...]) -> Outline:
    """The states, actions and candidates of a raw episode record."""
    i, key, task = raw[:3]
    found = db.execute(
        "SELECT state_id, action FROM step WHERE episode_id = ? ORDER BY step", (i,)
    ).fetchall()
    reader.states(db, [state for state, _ in found])
    packed = reads.read_decisions(db, i, key) or [None] * len(found)
    steps = tuple(
        Asked(reader.state(state), action, packing.candidates(p) if p else ())  # type: ignore[arg-type]
        for (state, action), p in zip(found, packed, strict=True)
    )
    return Outline(key, task, msgspec.json.decode(raw[_INFO]), steps)
