"""Contract of embedders, as checks that any implementation can be put to, and one without a model.

Usage, in a test module of a plugin::

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    def test_my_embedder_keeps_the_contract(check):
        check(MyEmbedder)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b

import numpy as np

from jitrl.ports import Embedder

Factory = Callable[[], Embedder]

WIDTH = 16
_TEXTS = ("orders", "订单 列表", "the same page, twice as long " * 40, "\x00", "😀 C++ ü", "ORDERS")


class HashedWords:
    """Vectors of word counts, each word in the place and with the sign of its hash.

    Attributes:
        asked: Every text it was asked for, in order.
        fails: While it is set, ``embed`` raises it.
    """

    def __init__(self, name: str = "hashed words") -> None:
        self.name = name
        self.asked: list[str] = []
        self.fails: Exception | None = None

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """As :meth:`Embedder.embed`."""
        if self.fails is not None:
            raise self.fails
        self.asked += texts
        made = embed(texts).astype(np.float64)
        lengths = np.linalg.norm(made, axis=1, keepdims=True)
        np.divide(made, lengths, out=made, where=lengths > 0)
        return made.astype(np.float32)


def embed(texts: Sequence[str]) -> np.ndarray:
    """The counts themselves, for ``memory.retrieval.embedder = "jitrl.testing.embedder:embed"``."""
    made = np.zeros((len(texts), WIDTH))
    for row, text in zip(made, texts, strict=True):
        for word in text.split():
            digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=2).digest()
            row[digest[0] % WIDTH] += 1.0 if digest[1] % 2 else -1.0
    return made


def an_embedder_says_who_it_is(make: Factory) -> None:
    """It has a name, the same each time it is made."""
    names = {make().name for _ in range(2)}
    assert len(names) == 1, f"it changes its name: {names}"
    assert names.pop().strip(), "the embedder has no name"


def vectors_have_length_one_and_one_width(make: Factory) -> None:
    """Float32, finite; where nothing can be said of a text, its vector is 0."""
    found = make().embed(_TEXTS)
    assert found.dtype == np.float32, f"vectors are {found.dtype}"
    assert found.ndim == 2, f"the shape is {found.shape}"
    assert len(found) == len(_TEXTS), "not one vector per text"
    lengths = np.linalg.norm(found, axis=1)
    assert np.all((abs(lengths - 1.0) < 1e-3) | (lengths == 0.0)), f"lengths are {lengths}"


def a_text_has_one_vector_whatever_is_beside_it(make: Factory) -> None:
    """To the last bit, and from another embedder of the same name as well."""
    together = make().embed(_TEXTS)
    other = make()
    for text, vector in reversed(list(zip(_TEXTS, together, strict=True))):
        assert np.array_equal(other.embed([text])[0], vector), f"{text[:20]!r} has two vectors"


CHECKS: tuple[Callable[[Factory], None], ...] = (
    an_embedder_says_who_it_is,
    vectors_have_length_one_and_one_width,
    a_text_has_one_vector_whatever_is_beside_it,
)
