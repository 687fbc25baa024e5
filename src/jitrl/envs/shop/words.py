"""The site's own words in a language, from the translations that django-oscar ships."""

from __future__ import annotations

import re
from collections.abc import Callable
from gettext import GNUTranslations
from importlib.util import find_spec
from pathlib import Path

from jitrl.envs.instances import Language

_FOLDERS = {"en": "en_US", "zh": "zh_Hans"}


def words(language: Language) -> Callable[[str], str]:
    """A function that says what the site's pages write for one of its original words.

    Originals are British (``basket``). In a text with braces each part in braces is translated,
    ``{Order number}:``; a context may stand before an original and ``\\x04``. What has no
    translation stays as it is.
    """
    spec = find_spec("oscar")
    places = (spec.submodule_search_locations if spec else None) or [""]
    folder = Path(places[0]) / "locale" / _FOLDERS[language] / "LC_MESSAGES"
    with (folder / "django.mo").open("rb") as file:
        known = GNUTranslations(file).gettext

    def said(text: str) -> str:
        return known(text).rpartition("\x04")[2]

    def word(text: str) -> str:
        if "{" not in text:
            return said(text)
        return re.sub(r"\{([^}]+)\}", lambda part: said(part[1]), text)

    return word
