"""Functions of the user's own: handed over as they are, or named as ``package.module:name``."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from jitrl.errors import ConfigError, brief


def own_function(given: Any, what: str = "function") -> Callable[..., Any]:
    """The function that ``given`` is, or names.

    A module that is not installed is looked for in the present folder. What the module itself
    raises comes through, unless it is an ``ImportError``.

    Args:
        what: It is called in messages.

    Raises:
        ConfigError: If it cannot be imported or called.
    """
    found = _imported(given, what) if isinstance(given, str) else given
    if not callable(found):
        raise ConfigError(
            f"{what} {brief(given)} cannot be called; give a function, or name one as "
            "package.module:name"
        )
    return found  # type: ignore[no-any-return]


def _imported(path: str, what: str) -> Any:
    module, _, name = path.partition(":")
    if module.startswith("."):
        raise ConfigError(
            f"{what} {brief(path)} names a module from somewhere else; write it as "
            "package.module:name"
        )
    try:
        return getattr(_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(
            f"{what} {brief(path)} cannot be imported: {error}; write it as package.module:name"
        ) from error


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0] or os.getcwd() in sys.path:
            raise
    sys.path.append(os.getcwd())  # last, so that no file there hides an installed package
    importlib.invalidate_caches()
    return importlib.import_module(name)
