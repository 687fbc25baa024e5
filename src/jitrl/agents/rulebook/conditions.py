"""What a condition in free words speaks of, without the words that any condition has."""

from __future__ import annotations

import re

from jitrl.core.rules import SAY_LITTLE
from jitrl.core.similarity import words

_FRAME_ENGLISH = """
when whenever if while after before once unless where given there then has have had having contains
contain containing includes include including shows show shown showing says say said asks ask asked
asking wants want wanted needs need needed requires require required named names mentions mention
mentioned see sees seen appears appear goal task input text page step state user can do does
"""
_FRAME = frozenset(_FRAME_ENGLISH.split())
_FRAME_CHINESE = re.compile(
    "如果|假如|要是|一旦|每当|每次|^[当若]|[时之]候?[后前]?$|用户(?=要求|需要|想要|提到)|(?:目标|任务|输入|文本|页面)[里中上内]?|步骤|状态"
    "|看到|见到|遇到|碰到|发现|收到|出现|显示|包含|含有|包括|提到|要求|需要|想要|[的了]"
)


def content(condition: str) -> frozenset[str]:
    """Words of a condition that say what must be there; none if all of them are of its frame.

    Of *the input contains a date* that is *date*; 目标里提到日期时 gives 日期.
    """
    bare = _FRAME_CHINESE.sub(" ", condition)
    return frozenset(words(bare) if bare.strip() else ()) - SAY_LITTLE - _FRAME
