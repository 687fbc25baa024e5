"""Chinese for the words of the site."""

from __future__ import annotations

from collections.abc import Mapping

WORDS: Mapping[str, str] = {}
