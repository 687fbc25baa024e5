"""Who is answerable for a change: who is named, else who is logged in."""

from __future__ import annotations

import getpass

from jitrl import given
from jitrl.errors import InputError


def logged_in() -> str:
    """The name of the account; "" of one without a name."""
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        return ""


def answerable(principal: str) -> str:
    """The principal that is named, else who is logged in.

    Raises:
        InputError: If nobody is named, and the account has no name; a change has somebody who is
            answerable for it.
    """
    named = principal.strip() or logged_in()
    if not named:
        raise InputError(
            "nobody is logged in under a name; say who is answerable: --principal NAME"
        )
    return given.text(named, "--principal")
