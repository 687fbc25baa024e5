"""The frozen model's own choice, for agents that leave its scores alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jitrl.core.rule import Choose, UpdateRule
from jitrl.core.update import decide
from jitrl.errors import ConfigError, InputError
from jitrl.types import Decision, Proposal


def prior_of(agent: str, temperature: float, choose: Choose) -> UpdateRule:
    """The rule that draws from the prior.

    Raises:
        ConfigError: If a value is impossible.
    """
    try:
        return UpdateRule(temperature_prior=temperature, choose=choose)
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
