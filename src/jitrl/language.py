"""Which language a goal is in: prompts, notes and judges speak it, too."""

from __future__ import annotations

import re

_HAN = re.compile(r"[\u4e00-\u9fff]")
_KANA = re.compile(r"[\u3040-\u30ff]")


def is_chinese(goal: str) -> bool:
    """Whether a goal has Chinese characters and no kana, as Japanese has."""
    return bool(_HAN.search(goal)) and not _KANA.search(goal)
