"""Named settings: the default rule, the paper's, and what the released code does instead.

Those that were published name every setting, so that a better default leaves them as they are.
Fixed where the paper is silent (``paper-*``): beta 1, temperature 1, eps 1e-8.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from jitrl.core.admission import AS_PUBLISHED, Admission
from jitrl.core.credit import Returns
from jitrl.core.rule import UpdateRule
from jitrl.core.similarity import Retrieval
from jitrl.errors import ConfigError, brief


@dataclass(frozen=True, slots=True)
class Preset:
    """Everything that turns neighbors into a choice, under one name.

    Attributes:
        gamma: Discount of returns and values, in [0, 1].
        returns: How rewards become returns.
        admission: What may become memory, and what may come of it.
    """

    name: str
    rule: UpdateRule
    retrieval: Retrieval
    gamma: float
    returns: Returns = "discounted"
    admission: Admission = AS_PUBLISHED

    def changed(
        self,
        rule: Mapping[str, Any] | None = None,
        retrieval: Mapping[str, Any] | None = None,
        gamma: float | None = None,
        admission: Mapping[str, Any] | None = None,
    ) -> Preset:
        """This preset with some settings replaced.

        Where each source has one vote and the rule has no bound on what untrusted rows may move,
        it takes that of ``admission``.

        Raises:
            ConfigError: If a setting does not exist or has an impossible value.
        """
        limits = _override(self.admission, admission or {}, "admission")
        update = _override(self.rule, rule or {}, "rule")
        if limits.votes and update.untrusted is None:
            update = replace(update, untrusted=limits.nudge)
        return replace(
            self,
            rule=update,
            retrieval=_override(self.retrieval, retrieval or {}, "retrieval"),
            gamma=self.gamma if gamma is None else gamma,
            admission=limits,
        )


_PUBLISHED: dict[str, Any] = {
    "unit": "rows",
    "kernel": None,
    "backup": 0.0,
    "shrink": 0.0,
    "untried": "draw",
    "optimism": 0.8,
    "explore_rate": 0.65,
    "backoff": None,
    "floor": 0.0,
    "temperature_prior": 1.0,
    "beta": 1.0,
    "warmup": 1.0,
    "novelty": 0.0,
    "novelty_kernel": 0.05,
    "onward": 0.8,
    "repeat": 0.0,
    "repeat_action": 0.0,
    "episode": True,
    "untrusted": None,
    "temperature": 1.0,
    "kl_cap": None,
    "transfer": 0.0,
}
_PAPER = UpdateRule(
    **_PUBLISHED,
    baseline="neighbors",
    normalize="max_abs",
    eps=1e-8,
    prior="logit",
    memory_only="zero",
    choose="sample",
    bonus=5.0,
)
_RELEASED = UpdateRule(
    **_PUBLISHED,
    baseline="actions",
    normalize="max_positive",
    eps=0.0,
    prior="confidence",
    choose="argmax",
    bonus=1.0,
)
_SETS = Retrieval(
    kind="set",
    ngram=1,
    context_weight=None,
    context_ngram=None,
    match_place=False,
    threshold=0.8,
    k=None,
    cap=0.999,
)

_PRESETS = (
    Preset(
        "default",
        UpdateRule(),
        Retrieval(threshold=0.5),
        gamma=0.6,
        admission=Admission(votes=True, anomaly=10.0),
    ),
    Preset("paper-web", replace(_PAPER, explore=0.05), replace(_SETS, k=10), gamma=0.1),
    Preset(
        "paper-text",
        replace(_PAPER, explore=0.65),
        replace(_SETS, threshold=0.95, k=10),
        gamma=0.5,
    ),
    Preset(
        "released-web",
        replace(_RELEASED, explore=0.05, memory_only="zero"),
        replace(_SETS, context_weight=0.3, match_place=True),
        gamma=0.1,
        returns="substituted",
    ),
    Preset(
        "released-text",
        replace(_RELEASED, explore="memory", memory_only="positive"),
        replace(
            _SETS,
            kind="multiset",
            ngram=4,
            context_ngram=1,
            context_weight=0.3,
            threshold=0.95,
            k=10,
        ),
        gamma=0.5,
        returns="substituted",
    ),
)
NAMES = tuple(p.name for p in _PRESETS)


def load(name: str) -> Preset:
    """The preset of that name.

    Raises:
        ConfigError: If there is none.
    """
    for preset in _PRESETS:
        if preset.name == name:
            return preset
    raise ConfigError(f"no preset {brief(name)}; there are {', '.join(NAMES)}")


def _override(settings: Any, changes: Mapping[str, Any], what: str) -> Any:
    known = [f.name for f in fields(settings)]
    for key in changes:
        if key not in known:
            raise ConfigError(f"{what} has no setting {brief(key)}; it has {', '.join(known)}")
    try:
        return replace(settings, **changes)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"{what}: {error}") from error
