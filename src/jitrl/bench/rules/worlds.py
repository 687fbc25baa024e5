"""The worlds that rules are measured in: each knows the right action wherever an episode strays."""

from __future__ import annotations

from typing import Literal

from jitrl.envs.backoffice import Backoffice
from jitrl.envs.extraction import Extraction

INSTANCES = 3
"""Tasks of a template."""
WorldName = Literal["backoffice", "extraction"]
World = Backoffice | Extraction
"""Their tasks name a template (``params["template"]``)."""


def opened_world(name: WorldName, seed: int) -> World:
    """A world with ``INSTANCES`` tasks of each template.

    Args:
        seed: Another seed is another shop, or other documents.
    """
    if name == "backoffice":
        return Backoffice(instances=INSTANCES, seed=seed)
    return Extraction(instances=INSTANCES, seed=seed)
