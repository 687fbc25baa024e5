"""Who is answerable for a change where nobody is named: who is logged in."""

from __future__ import annotations

import getpass


def logged_in() -> str:
    """The name of the account; "" of one without a name."""
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        return ""
