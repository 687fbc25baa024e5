"""Credit: the memory rows that an episode and its judgment give."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from typing import Literal

import numpy as np

from jitrl.core.returns import returns_to_go, substituted_returns
from jitrl.types import TRUSTED_BASES, Episode, Judgment, Row, Unscored

Returns = Literal["discounted", "substituted"]

_RETURNS: dict[Returns, Callable[[np.ndarray, float], np.ndarray]] = {
    "discounted": returns_to_go,
    "substituted": substituted_returns,
}


def derive_rows(
    episode: Episode,
    judgment: Judgment,
    *,
    gamma: float,
    trusted: Collection[str] = TRUSTED_BASES,
    returns: Returns = "discounted",
) -> tuple[Row, ...]:
    """One row a step; none for an unscored episode.

    The source of a row is its episode where the basis of its outcome is trusted, and its
    principal otherwise: ten rows of one principal are one voice.

    Args:
        gamma: Discount of the returns, in [0, 1].
        trusted: Bases whose episodes count one by one.
        returns: ``discounted`` (eq. 3) or ``substituted`` (released code, not in the paper).

    Raises:
        ValueError: If there is not one reward a step, or a reward is not finite.
    """
    if isinstance(judgment, Unscored):
        return ()
    if len(judgment.rewards) != len(episode.steps):
        raise ValueError(
            f"episode {episode.key!r} needs a reward of each step ({len(episode.steps)}), and "
            f"{judgment.evaluator} gave {len(judgment.rewards)}"
        )
    gains = _RETURNS[returns](np.asarray(judgment.rewards, dtype=float), gamma)
    principal = episode.outcome.principal if episode.outcome else episode.principal
    source = episode.key if judgment.basis in trusted else f"principal:{principal}"
    digest = row_digest(judgment.evaluator, judgment.told, gamma, returns)
    last = len(episode.steps) - 1
    return tuple(
        Row(
            episode=episode.key,
            step=t,
            task=episode.task,
            scope=episode.scope,
            state=step.state,
            action=step.action,
            reward=float(judgment.rewards[t]),
            ret=float(gains[t]),
            next_state=step.next_state,
            terminal=t == last and episode.status == "terminated",
            evaluator=judgment.evaluator,
            told=judgment.told,
            basis=judgment.basis,
            principal=principal,
            source=source,
            digest=digest,
            novelty=step.novelty,
        )
        for t, step in enumerate(episode.steps)
    )


def row_digest(evaluator: str, told: bool, gamma: float, returns: Returns = "discounted") -> str:
    """What made a row, in 12 hex digits: evaluator, told or blind, gamma, kind of returns."""
    made_by = f"1|{evaluator}|{told}|{gamma!r}|{returns}"
    return hashlib.blake2b(made_by.encode(), digest_size=6).hexdigest()
