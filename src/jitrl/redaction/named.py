"""Redactors by name: those that are built in, and entry points of ``jitrl.redactors``."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import cast

from jitrl import registry
from jitrl.errors import ConfigError
from jitrl.ports.redaction import Redactor
from jitrl.redaction.keyfile import KeyFile
from jitrl.redaction.persons import Cards, Ids, Mails, Phones
from jitrl.redaction.placeholders import Placeholders
from jitrl.redaction.tokens import Keys, Passwords

BUILT_IN: dict[str, Callable[[], Redactor]] = {
    "keys": Keys,
    "passwords": Passwords,
    "cards": Cards,
    "mails": Mails,
    "phones": Phones,
    "ids": Ids,
}
"""Part of the package itself, not of its metadata: a broken installation redacts all the same."""

_NAME = re.compile("[A-Za-z][A-Za-z0-9_-]{0,15}")


def placeholders(names: Collection[str], path: str) -> Placeholders:
    """Redaction of what is written to the memory file at ``path``.

    Raises:
        ConfigError: If a name is unknown, or what it names finds nothing.
    """
    return Placeholders([_redactor(name) for name in dict.fromkeys(names)], KeyFile(path))


def masking() -> Placeholders:
    """Takes out all that the built-in redactors find, for texts that are read by people alone."""
    return Placeholders([make() for make in BUILT_IN.values()], None)


def known() -> tuple[str, ...]:
    """All names that can be given."""
    return (*BUILT_IN, *registry.names("redactors"))


def _redactor(name: str) -> Redactor:
    if name in BUILT_IN:
        return BUILT_IN[name]()
    if name not in registry.names("redactors"):
        raise ConfigError(
            f"no redactor is named {name!r}{registry.did_you_mean(name, known())}; there are "
            f"{', '.join(known())}"
        )
    made = registry.create("redactors", name, {})
    if not (hasattr(made, "find") and _NAME.fullmatch(str(getattr(made, "name", "")))):
        raise ConfigError(
            f"redactor {name!r} has no find(text), or its name {getattr(made, 'name', None)!r} is "
            "none of at most 16 ASCII letters"
        )
    return cast(Redactor, made)
