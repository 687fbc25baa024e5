"""The Java process that some games run in, behind a Python package of theirs."""

from __future__ import annotations

import shutil
from typing import Any

from jitrl.errors import MissingExtra


def require_java(package: str) -> None:
    """Look for Java before the package does.

    Raises:
        MissingExtra: If there is none.
    """
    if shutil.which("java") is None:
        raise MissingExtra(
            f"{package} needs Java 8 or newer on PATH: install a Java runtime, for example with "
            "apt-get install default-jre-headless, brew install openjdk or "
            "winget install EclipseAdoptium.Temurin.21.JRE"
        )


def end_java(env: Any) -> None:
    """Stop the Java process of a package's environment, and close the pipes that it leaves open."""
    process = env._gateway.java_process
    env.close()
    process.wait(timeout=10)
    for pipe in (process.stdin, process.stdout):
        pipe.close()
