"""Numbers of distinct states: the same state, the same number."""

from __future__ import annotations

from hashlib import blake2b
from sys import getsizeof

from jitrl.types import State

_SHARDS = 64  # a dict that grows is copied: a pause of 3 ms at 87,000 entries, so there are many


class StateIds:
    """Numbers from 0 in the order of giving. One thread gives, any number find meanwhile."""

    def __init__(self) -> None:
        self._ids: tuple[dict[bytes, int], ...] = tuple([{} for _ in range(_SHARDS)])
        self._count = 0

    def __len__(self) -> int:
        """Number of distinct states."""
        return self._count

    def find(self, key: bytes) -> int | None:
        """Number of the state of that key; ``None`` if it has none."""
        return self._ids[key[0] % _SHARDS].get(key)

    def give(self, key: bytes) -> int:
        """The next number, for a state that has none yet."""
        self._ids[key[0] % _SHARDS][key] = number = self._count
        self._count += 1
        return number

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        each = getsizeof(self._count) + getsizeof(bytes(16))
        return self._count * each + sum(map(getsizeof, self._ids))


def key(state: State) -> bytes:
    """Key of a state that no other state shares."""
    head = f"{len(state.text)},{len(state.context)};"
    whole = head + state.text + state.context + state.place
    return blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=16).digest()
