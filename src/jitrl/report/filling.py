"""Templates filled in: whatever is done to their words leaves the texts of others as they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from string import Formatter
from typing import Any

_KEPT = re.compile("\0(\\d+)\0")


class Filling(Formatter):
    """Fills one template; subclassed because this is how the standard library shows values."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def keep(self, text: str) -> str:
        """What stands for ``text`` until the words around it are settled."""
        self._texts.append(text)
        return f"\0{len(self._texts) - 1}\0"

    def made(self, template: str, values: Mapping[str, Any], settle: Callable[[str], str]) -> str:
        """The template with its values, its own words as ``settle`` makes them."""
        said = settle(self.vformat(template, (), values))
        return _KEPT.sub(lambda found: self._texts[int(found[1])], said)
