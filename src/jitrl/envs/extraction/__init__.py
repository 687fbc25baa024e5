"""Documents and forms, in English and Chinese: an environment of its own making."""

from jitrl.envs.extraction.environment import DEMO, Extraction

__all__ = ["DEMO", "Extraction"]
