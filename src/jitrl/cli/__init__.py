"""The command line: `jitrl COMMAND`; a command's module is imported when it is called."""

from __future__ import annotations

from jitrl.cli.main import main

__all__ = ["main"]
