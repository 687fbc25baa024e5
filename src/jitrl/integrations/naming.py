"""What an episode is called where its caller does not say: its task, and its key."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from jitrl.integrations.conversation import masked
from jitrl.integrations.tools import whole

_LONGEST = 4000  # characters of a text that name its task
_LETTERS = re.compile(r"[^\W\d_]+")
_PLACEHOLDER = re.compile(r"<\w+>")
_KEY = 32  # characters of a made-up key that say what it is of


def task_of(text: str) -> str:
    """The kind of thing that ``text`` asks for: the same for all texts but for what is masked.

    Rows of other tasks count for less the more is known of a task, so a number in its name would
    make every ticket a task of its own. A text of such numbers alone stays as it is: they are all
    that tells it from others.
    """
    if not isinstance(text, str):
        return text  # the memory says what is wrong with it
    text = whole(text)
    kind = " ".join(masked(text[:_LONGEST]).split())
    return kind if _LETTERS.search(_PLACEHOLDER.sub(" ", kind)) else text


def key_of(task: str, clean: Callable[[str], str]) -> str:
    """A key that no other episode has, short and readable: ``my-parcel-never-came-5f0c9a7be412``.

    Args:
        clean: Takes out of a text what must not be written down.
    """
    said = ""
    for word in _LETTERS.findall(_PLACEHOLDER.sub(" ", clean(task))):
        longer = f"{said}-{word}" if said else word[:_KEY]
        if len(longer) > _KEY:
            break
        said = longer
    return f"{said.lower() or 'episode'}-{os.urandom(6).hex()}"
