"""The command line: `jitrl COMMAND` is ``COMMAND.py`` here, or ``COMMAND/command.py``.

A folder holds what is the command's own; what several commands take and show is in ``shared``.
``main`` finds the command and imports no other, ``usage`` is how help is written.
"""

from __future__ import annotations

from jitrl.cli.main import main

__all__ = ["main"]
