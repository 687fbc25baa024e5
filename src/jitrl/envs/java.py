"""The Java process that some games run in, behind a Python package of theirs."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from jitrl.envs.aside import popen
from jitrl.errors import MissingExtra

_START = 60.0  # seconds; a busy machine takes a while


def require_java(package: str) -> None:
    """Look for Java before the package does.

    Raises:
        MissingExtra: If there is none, or it does not start.
    """
    java = shutil.which("java")
    wrong = "" if java is None else _wrong(java)
    if java is None or wrong:
        raise MissingExtra(
            f"{package} needs Java 8 or newer on PATH{wrong}: install a Java runtime, for example "
            "with apt-get install default-jre-headless, brew install openjdk or "
            "winget install EclipseAdoptium.Temurin.21.JRE"
        )


@cache
def _wrong(java: str) -> str:
    """What a program says that is there and does not start, as the one that macOS comes with."""
    try:
        done = subprocess.run([java, "-version"], capture_output=True, timeout=_START, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f" ({error})"
    said = (done.stderr or done.stdout).decode(errors="replace").strip().partition("\n")[0]
    return f" ({java} does not start: {said})" if done.returncode else ""


def start_java(make: Callable[[], Any]) -> Any:
    """The package's environment that ``make`` starts, whose Java process does not hear Ctrl-C.

    The packages have py4j start it, which could do so, but they do not ask it to. It ends with the
    pipe to us, if nothing ends it before.
    """
    gateway: Any = import_module("py4j.java_gateway")
    gateway.Popen = popen  # for every one that it starts, as environments start in threads
    return make()


def end_java(env: Any) -> None:
    """Stop the Java process of a package's environment, and close the pipes that it leaves open."""
    process = env._gateway.java_process
    env.close()
    process.wait(timeout=10)
    for pipe in (process.stdin, process.stdout):
        pipe.close()
