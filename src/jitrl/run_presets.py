"""Named settings of a run: how many episodes the paper plays, how long, and with which rule.

Source: arXiv:2601.18510, the tables of its appendix. They leave open the order of the episodes,
and say nothing of beta and the temperature (see ``presets``). The paper's evaluator is a model
that is told the outcome; which evaluator and which model a run has is not part of a preset.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

RunPreset = Literal["paper-web", "paper-text"]

_SEQUENCE = {"schedule": "sequential", "protocol": "repeat", "rewards": "after"}

RUNS: Mapping[RunPreset, Mapping[str, Mapping[str, Any]]] = {
    "paper-web": {
        "memory": {"preset": "paper-web"},
        "run": {"attempts": 5, "max_steps": 10, **_SEQUENCE},
    },
    "paper-text": {
        "memory": {"preset": "paper-text"},
        "run": {"attempts": 50, "max_steps": 60, **_SEQUENCE},
    },
}
"""Group to setting to value, by name: WebArena's protocol and Jericho's."""
