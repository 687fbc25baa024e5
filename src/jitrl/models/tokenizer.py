"""Byte-level BPE as SmolLM2 uses it: text to token ids.

Text is cut into digits and words first (each number character alone, then GPT-2's pattern), each
piece is written in the byte alphabet, and the pair that was merged earliest in training is joined
until none is left. Special tokens are only made by :meth:`Tokenizer.special`: text that happens to
contain ``<|im_end|>`` stays text, so a page cannot end the turn it is quoted in.
"""

from __future__ import annotations

import heapq
import re
import unicodedata
from collections.abc import Sequence

from jitrl.errors import ModelError
from jitrl.models.gguf import GGUF

_SPACE = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"  # Unicode White_Space
_LETTERS = r"[^\W\d_]"
_WORDS = re.compile(
    r"'s|'t|'re|'ve|'m|'ll|'d"
    rf"| ?{_LETTERS}+"
    rf"| ?(?:[^\w{_SPACE}]|_)+"
    rf"|[{_SPACE}]+(?![^{_SPACE}])|[{_SPACE}]+"
)
_CACHED_WORDS = 50_000


class Tokenizer:
    """Token ids of the vocabulary that a model file carries.

    Args:
        file: Its ``tokenizer.ggml.*`` metadata is read.

    Raises:
        ModelError: If the file's tokenizer is of another kind.
    """

    def __init__(self, file: GGUF) -> None:
        kind = (file.value("tokenizer.ggml.model"), file.value("tokenizer.ggml.pre"))
        if kind != ("gpt2", "smollm"):
            raise ModelError(
                f"{file.path}: tokenizer {'/'.join(map(str, kind))} is not supported; "
                "gpt2/smollm is, as in SmolLM2"
            )
        self.tokens: Sequence[str] = file.value("tokenizer.ggml.tokens")
        self._ids = {token: i for i, token in enumerate(self.tokens)}
        merges = file.value("tokenizer.ggml.merges")
        self._ranks = {tuple(merge.split(" ")): rank for rank, merge in enumerate(merges)}
        self._words: dict[str, tuple[int, ...]] = {}

    def special(self, token: str) -> int:
        """Id of a control token, such as ``<|im_start|>``.

        Raises:
            ModelError: If the vocabulary lacks it.
        """
        try:
            return self._ids[token]
        except KeyError:
            raise ModelError(f"the model's vocabulary has no {token!r}") from None

    def encode(self, text: str) -> list[int]:
        """Token ids of plain text; surrogates that UTF-8 cannot hold become ``?``."""
        ids: list[int] = []
        for piece in _split_numbers(text.encode("utf-8", "replace").decode("utf-8")):
            for word in [piece] if _is_number(piece[0]) else _WORDS.findall(piece):
                ids.extend(self._word(word))
        return ids

    def _word(self, word: str) -> tuple[int, ...]:
        known = self._words.get(word)
        if known is None:
            if len(self._words) >= _CACHED_WORDS:
                self._words = {}
            # a few control bytes have no token in SmolLM2's vocabulary and are left out
            parts = self._merge([_ALPHABET[byte] for byte in word.encode()])
            known = self._words[word] = tuple(self._ids[p] for p in parts if p in self._ids)
        return known

    def _merge(self, parts: list[str]) -> list[str]:
        """Join pairs, earliest merge first, leftmost first among equals; a heap keeps the order."""
        right = [*range(1, len(parts)), -1]
        left = [-1, *range(len(parts) - 1)]
        heap = [(rank, i) for i in range(len(parts)) if (rank := self._rank(parts, right, i)) >= 0]
        heapq.heapify(heap)
        while heap:
            rank, i = heapq.heappop(heap)
            if self._rank(parts, right, i) != rank:
                continue  # one of the two has been joined to something else since
            joined = right[i]
            parts[i], parts[joined] = parts[i] + parts[joined], ""
            right[i] = right[joined]
            if right[i] >= 0:
                left[right[i]] = i
            for start in (left[i], i):
                if (rank := self._rank(parts, right, start)) >= 0:
                    heapq.heappush(heap, (rank, start))
        return [part for part in parts if part]

    def _rank(self, parts: list[str], right: list[int], i: int) -> int:
        """Rank of the merge of part ``i`` with the next one; -1 if there is none."""
        if i < 0 or not parts[i] or right[i] < 0:
            return -1
        return self._ranks.get((parts[i], parts[right[i]]), -1)


def _byte_alphabet() -> list[str]:
    """A printable character for each byte: itself where it prints, else one from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    alphabet = {byte: chr(byte) for byte in printable}
    for byte in range(256):
        alphabet.setdefault(byte, chr(256 + len(alphabet) - len(printable)))
    return [alphabet[byte] for byte in range(256)]


_ALPHABET = _byte_alphabet()


def _is_number(character: str) -> bool:
    return unicodedata.category(character).startswith("N")


def _split_numbers(text: str) -> list[str]:
    """``text`` cut so that each number character (any script) stands alone."""
    pieces: list[str] = []
    start = 0
    for i, character in enumerate(text):
        if not character.isalpha() and _is_number(character):
            pieces += [text[start:i], character]
            start = i + 1
    pieces.append(text[start:])
    return [piece for piece in pieces if piece]
