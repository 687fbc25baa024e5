"""Search over the distinct states of one memory scope: what an index is, and the one by words."""

from __future__ import annotations

from sys import getsizeof
from typing import Literal, NamedTuple, Protocol

import numpy as np

from jitrl.core.similarity import Retrieval, bags, group
from jitrl.errors import MissingExtra
from jitrl.memory.index_bags import BagIndex, Scan, scan
from jitrl.memory.state_ids import StateIds, key
from jitrl.types import State

Kernel = Literal["numpy", "numba"]

ABOVE_ZERO = 5e-324


class Similar(NamedTuple):
    """States found, most similar first, the newest first among equals.

    Attributes:
        ids: int64, shape [K].
        similarities: float64 in (0, 1], shape [K]; 1.0 only for the very state asked for.
    """

    ids: np.ndarray
    similarities: np.ndarray


class Index(Protocol):
    """Distinct states of one scope: each added once, found exactly.

    Adders must take turns (the caller's lock); any number may search at the same time, without
    locks. A search finds every state whose ``add`` returned before the search began, and perhaps
    some that are being added, never half of one.
    """

    def __len__(self) -> int:
        """Number of distinct states."""
        ...

    def find(self, state: State) -> int | None:
        """Id of exactly this state; ``None`` if it was never added."""
        ...

    def add(self, state: State) -> int:
        """Id of ``state``, counted from 0 in the order of adding; the same state, the same id."""
        ...

    def search(self, state: State, floor: float | None = None) -> Similar:
        """All states whose similarity is above 0 and at least ``floor``.

        Args:
            floor: In [0, 1]; the threshold of the settings if ``None``.

        Raises:
            ModelError: If it has an embedder, and that failed.
        """
        ...

    @property
    def nbytes(self) -> int:
        """Bytes held, arrays and dictionaries."""
        ...


class StateIndex:
    """An ``Index`` by the words that states have in common."""

    def __init__(self, retrieval: Retrieval, kernel: Kernel = "numpy") -> None:
        """Make an empty index.

        Raises:
            MissingExtra: If ``kernel`` is "numba" and numba is not installed.
        """
        self.retrieval = retrieval
        self._ids = StateIds()
        self._vocabulary: dict[str, int] = {}
        run = scan_of(kernel)
        weight = retrieval.context_weight
        self._weight = 0.0 if weight is None else weight
        self._text = BagIndex(run)
        self._context = BagIndex(run)

    def __len__(self) -> int:
        return len(self._ids)

    def find(self, state: State) -> int | None:
        """As ``Index.find``."""
        return self._ids.find(key(state))

    def add(self, state: State) -> int:
        """As ``Index.add``."""
        digest = key(state)
        known = self._ids.find(digest)
        if known is not None:
            return known
        found = bags(state, self.retrieval)
        text, context = self._numbered(found.text), self._numbered(found.context)
        apart = group(state, self.retrieval)
        # The heavier part is searched, and grows last: what is found there is in the other too.
        if self._weight > 0.5:
            self._text.add(text, locate=True)
            self._context.add(context, apart)
        else:
            if self._weight > 0.0:
                self._context.add(context, locate=True)
            self._text.add(text, apart)
        return self._ids.give(digest)

    def search(self, state: State, floor: float | None = None) -> Similar:
        """As ``Index.search``."""
        least = self.retrieval.threshold if floor is None else floor
        ids, similarities = self._near(state, least)
        similarities = np.minimum(similarities, self.retrieval.cap)
        same = self.find(state)
        if same is not None:
            here = (ids == same).nonzero()[0]
            if len(here):
                similarities[here] = 1.0
            else:
                ids, similarities = np.append(ids, same), np.append(similarities, 1.0)
        found = np.count_nonzero(similarities >= max(least, ABOVE_ZERO))
        order = np.lexsort((-ids, -similarities))[:found]
        return Similar(ids[order].astype(np.int64), similarities[order])

    @property
    def nbytes(self) -> int:
        """As ``Index.nbytes``."""
        numbers = len(self._vocabulary) * getsizeof(len(self))
        words = sum(map(getsizeof, list(self._vocabulary))) + getsizeof(self._vocabulary) + numbers
        return self._text.nbytes + self._context.nbytes + self._ids.nbytes + words

    def _near(self, state: State, least: float) -> tuple[np.ndarray, np.ndarray]:
        """Every state that may reach ``least``, with its similarity before the cap."""
        found = bags(state, self.retrieval)
        text, context = self._known(found.text), self._known(found.context)
        apart = group(state, self.retrieval)
        if self._weight == 0.0:
            return self._text.search(text, len(found.text), least, apart)
        share = 1.0 - self._weight
        if self._weight > 0.5:
            floor = (least - share) / self._weight - 1e-9
            ids, alike = self._context.search(context, len(found.context), floor, apart)
            other = self._text.jaccard(ids, text, len(found.text))
            return ids, share * other + self._weight * alike
        floor = (least - self._weight) / share - 1e-9
        ids, alike = self._text.search(text, len(found.text), floor, apart)
        other = self._context.jaccard(ids, context, len(found.context))
        return ids, share * alike + self._weight * other

    def _numbered(self, features: set[str]) -> list[int]:
        """Numbers of features from 1; unknown ones get the next."""
        vocabulary = self._vocabulary
        numbers = self._known(features)
        if len(numbers) < len(features):
            numbers = [vocabulary.setdefault(f, len(vocabulary) + 1) for f in features]
        return numbers

    def _known(self, features: set[str]) -> list[int]:
        """Numbers of those features that some state has."""
        get = self._vocabulary.get
        return [number for number in map(get, features) if number]


def scan_of(name: Kernel) -> Scan:
    """The search kernel of that name.

    Raises:
        MissingExtra: If it is "numba" and numba is not installed.
    """
    if name == "numpy":
        return scan
    try:
        from jitrl.memory import signature_numba
    except ImportError as error:
        raise MissingExtra(
            "the compiled search needs numba: pip install 'jitrl[numba]', or use kernel 'numpy'"
        ) from error
    compiled: Scan = signature_numba.scan
    return compiled
