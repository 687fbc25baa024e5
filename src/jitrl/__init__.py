"""jitrl: a frozen LLM agent that gets better with every episode."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_LAZY = {
    "open": "jitrl.api",
    "JitRL": "jitrl.api",
    "Episode": "jitrl.episode",
    "Candidate": "jitrl.types",
    "Decision": "jitrl.types",
    "State": "jitrl.types",
}
__all__ = ["Candidate", "Decision", "Episode", "JitRL", "State", "__version__", "open"]

if TYPE_CHECKING:
    from jitrl.api import JitRL, open
    from jitrl.episode import Episode
    from jitrl.types import Candidate, Decision, State


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'jitrl' has no attribute {name!r}")
