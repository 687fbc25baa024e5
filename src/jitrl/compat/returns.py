"""Discounted returns with the released code's substitution of zeros."""

from __future__ import annotations

from collections.abc import Sequence

Reward = float | None
"""Evaluator points of one step; ``None`` where the evaluator gave none."""


def released_return_web(own: Reward, rewards: Sequence[Reward], gamma: float) -> float:
    """``sum gamma^u x_u``; a reward of 0 or ``None`` is replaced by the row's own.

    So 3, 0, 0 with gamma .5 is 5.25, not 3. An own reward of ``None`` counts as 0 (released code,
    not in the paper).

    Args:
        own: Evaluator's reward of the row's own step.
        rewards: Rewards from the row's own step to the end, shape [T - t].
    """
    stand_in = 0.0 if own is None else own
    total = 0.0
    for u, reward in enumerate(rewards):
        total += gamma**u * (reward or stand_in)
    return total


def released_return_text(own: Reward, rewards: Sequence[Reward], gamma: float) -> float:
    """As :func:`released_return_web`, but a reward of ``None`` is an error.

    The first reward may differ from ``own``: the text side stores the game's reward where the
    evaluator gave 0 (released code, not in the paper).

    Raises:
        TypeError: If a reward that counts is ``None``, as the released code does.
    """
    total = 0.0
    for u, reward in enumerate(rewards):
        counted = own if reward == 0 else reward
        if counted is None:
            raise TypeError(f"step {u} of the row has no reward; the text side needs one for each")
        total += gamma**u * counted
    return total


def correct_return(rewards: Sequence[Reward], gamma: float) -> float:
    """``sum gamma^u r_u`` (eq. 3), a missing reward counted as 0: what should have been stored."""
    total = 0.0
    for u, reward in enumerate(rewards):
        total += gamma**u * (reward or 0.0)
    return total
