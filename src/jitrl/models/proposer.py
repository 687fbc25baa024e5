"""The proposer that models are made of: a channel, a scorer, prior temperature and calibration."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from jitrl.errors import ConfigError, LogprobsUnavailable, ModelError
from jitrl.models.cache import AnswerFile
from jitrl.models.calls import Endpoint, Meter, Rejected
from jitrl.models.channel import Channel, Retry
from jitrl.models.prompts import Style
from jitrl.models.scorers import Scorer, Scores
from jitrl.types import Candidate, Prompt, Proposal

_log = logging.getLogger(__name__)


class ScoringProposer:
    """Gives z for the candidates of a step. Safe for threads.

    Each model is one with an endpoint and scorers of its own; none overrides what is here.

    Args:
        name: The model's name for people.
        endpoint: The provider.
        scorers: Tried in this order at the probe; with one, it is that or an error. Falling to
            the next is logged as a warning, once per provider and scorer.
        style: How steps are put into words; used for the content-free step of calibration.
        temperature: Prior temperature: z is divided by it.
        calibrate: Subtract the logits under a content-free goal, which are what the page and the
            wording alone bring about (one more score a step, shared by all goals on a page).
        cache: File that answers are kept in and looked up.
        replay: File that all answers come from; the provider is never asked.
        meter: Counts calls and holds the budget.
        retry: When a failed call is made again.

    Raises:
        ConfigError: If a setting is impossible, or two of them contradict each other.
        StoreError: If the file of answers cannot be used.
    """

    def __init__(
        self,
        name: str,
        endpoint: Endpoint,
        scorers: Sequence[Scorer],
        *,
        style: Style | None = None,
        temperature: float = 1.0,
        calibrate: bool = False,
        cache: Path | str | None = None,
        replay: Path | str | None = None,
        meter: Meter | None = None,
        retry: Retry | None = None,
    ) -> None:
        require(
            0 < temperature < math.inf, f"temperature must be finite and above 0, got {temperature}"
        )
        deaf = [scorer.name for scorer in scorers if not scorer.reads_logprobs]
        require(
            not (calibrate and deaf),
            f"calibrate needs scorers that read log-probabilities; {', '.join(deaf)} does not: "
            "use sequence or letters, or calibrate = false",
        )
        if replay is not None:
            require(cache is None, "cache and replay are both set; replay never asks the model")
            require(
                Path(replay).is_file(),
                f"there is no recording {replay}; make one by running with cache = {str(replay)!r}",
            )
        path = cache if replay is None else replay
        self.name = name
        self.channel = Channel(
            endpoint,
            cache=None if path is None else AnswerFile(path),
            replay=replay is not None,
            meter=meter,
            retry=retry,
        )
        self._scorers, self._is_list = list(scorers), len(scorers) > 1
        self._style = style or Style()
        self._temperature, self._calibrate = temperature, calibrate
        self._probed: Scorer | None = None
        self._reasons: list[str] = []
        self._lock = threading.RLock()

    def probe(self) -> str:
        """Ask a small question and settle on a scorer; later calls only say which one it is.

        Raises:
            LogprobsUnavailable: If the scorer that was named finds no usable log-probabilities.
            ModelError: If the provider failed, or no scorer of the list works with it.
        """
        return self._settled().name

    def propose(self, prompt: Prompt, rng: np.random.Generator) -> Proposal:
        """Candidates with logits, in the order of ``prompt.actions``. ``rng`` is not drawn from.

        Raises:
            InputError: If the step cannot be scored: actions that are equal, none where the
                scorer needs them, or more text than the model reads.
            LogprobsUnavailable: If the provider stopped giving log-probabilities.
            ModelError: If the provider failed after all retries.
            BudgetExceeded: If a call would pass a limit.
        """
        while True:
            scorer = self._settled()
            try:
                scores = self._score(scorer, prompt)
            except LogprobsUnavailable as error:
                with self._lock:
                    if scorer is self._scorers[0]:  # else another thread was here first
                        self._fall(error)
            else:
                break
        candidates = tuple(
            Candidate(action, logit / self._temperature) for action, logit in scores.logits.items()
        )
        return Proposal(candidates, scorer.name, self.channel.model, scores.calls)

    def _settled(self) -> Scorer:
        """The first scorer whose probe succeeds."""
        with self._lock:
            while self._probed is None:
                scorer = self._scorers[0]
                try:
                    scorer.probe(self.channel)
                except (LogprobsUnavailable, Rejected) as error:
                    self._fall(error)
                else:
                    self._probed = scorer
            return self._probed

    def _score(self, scorer: Scorer, prompt: Prompt) -> Scores:
        scores = scorer.score(self.channel, prompt)
        if not self._calibrate:
            return scores
        base = scorer.score(self.channel, self._style.content_free(prompt))
        return Scores(
            {action: logit - base.logits[action] for action, logit in scores.logits.items()},
            scores.calls + base.calls,
        )

    def _fall(self, error: ModelError) -> None:
        """Give the first scorer up, if another was configured."""
        if not self._is_list:
            raise error
        scorer = self._scorers[0]
        self._reasons.append(f"{scorer.name}: {error}")
        if len(self._scorers) == 1:
            raise ModelError(
                f"no configured scorer works with {self.channel.model}: {'; '.join(self._reasons)}"
            ) from error
        del self._scorers[0]
        self._probed = None
        _warn_once(self.channel.model, scorer.name, self._scorers[0].name, error)


_warned: set[tuple[str, str, str]] = set()


def _warn_once(model: str, scorer: str, following: str, error: ModelError) -> None:
    """Say that a scorer was given up, once per provider, model and pair of scorers."""
    if (model, scorer, following) not in _warned:
        _warned.add((model, scorer, following))
        _log.warning("scorer given up model=%s %s -> %s: %s", model, scorer, following, error)


def require(is_met: bool, message: str) -> None:
    """Refuse a setting.

    Raises:
        ConfigError: With ``message``, unless ``is_met``.
    """
    if not is_met:
        raise ConfigError(message)
