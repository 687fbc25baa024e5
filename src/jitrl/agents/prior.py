"""The frozen model's own choice, and the choice among its candidates by other numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from jitrl.core.rule import Choose, UpdateRule
from jitrl.core.update import decide, drawn, kl_divergence
from jitrl.errors import ConfigError, InputError
from jitrl.types import Decision, Proposal, Weighed

_LEAST = 1e-300  # probability that the logarithm can still take


def prior_of(agent: str, temperature: float, choose: Choose) -> UpdateRule:
    """The rule that draws from the prior.

    Raises:
        ConfigError: If a value is impossible.
    """
    try:
        return UpdateRule(temperature_prior=temperature, choose=choose, warmup=1.0)
    except ValueError as error:
        raise ConfigError(f"agent {agent}: {error}") from error


def own_choice(proposal: Proposal, prior: UpdateRule, rng: np.random.Generator) -> Decision:
    """The update without neighbors, which is the prior.

    Raises:
        InputError: If there are no candidates, one occurs twice, or a logit is not finite.
    """
    try:
        decision = decide(proposal.candidates, (), prior, rng)
    except ValueError as error:
        raise InputError(str(error)) from error
    return replace(decision, scorer=proposal.scorer)


def chosen_from(decision: Decision, weighed: Iterable[Weighed]) -> Decision:
    """The same decision among candidates with other numbers, by the number that was drawn.

    Args:
        weighed: The candidates with their new propensities, shape [A].
    """
    candidates = tuple(weighed)
    chance, policy, prior = (
        np.array([getattr(c, what) for c in candidates])
        for what in ("propensity", "probability", "prior")
    )
    return replace(
        decision,
        action=candidates[drawn(chance, decision.draws[0])].action,
        candidates=candidates,
        kl=kl_divergence(policy, np.maximum(prior, _LEAST)),
    )
