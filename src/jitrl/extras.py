"""The command that installs an optional package here, for the Python that is running."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

_PLAIN = re.compile(r"(?<!-m )pip install (?:'|\")?jitrl\[([\w,-]+)\](?:'|\")?")


def here(message: str) -> str:
    """``message`` with each ``pip install 'jitrl[EXTRA]'`` as the command that works here."""
    return _PLAIN.sub(lambda found: command(found[1]), message)


def command(extra: str) -> str:
    """The command that installs an extra for the Python that is running.

    It names the place that this package was installed from, as a checkout.
    """
    python = running()
    pip = f"{python} -m pip install" if find_spec("pip") else f"uv pip install --python {python}"
    return f"{pip} {target(extra, _origin(), Path.cwd())}"


def target(extra: str, origin: Mapping[str, Any], folder: Path) -> str:
    """What pip is to install, quoted for a shell.

    Args:
        origin: Where the package came from (PEP 610, direct_url.json); empty: an index.
        folder: The folder that the command is given in.
    """
    url = str(origin.get("url", ""))
    if "dir_info" in origin:
        root = Path(url2pathname(urlsplit(url).path))
        place = "." if root == folder else str(root)
        option = "-e " if origin["dir_info"].get("editable") else ""
        return option + _quoted(f"{place}[{extra}]")
    if not url:
        return _quoted(f"jitrl[{extra}]")
    version = origin.get("vcs_info", {}).get("vcs")
    return _quoted(f"jitrl[{extra}] @ {f'{version}+' if version else ''}{url}")


def _origin() -> Mapping[str, Any]:
    try:
        raw = metadata.distribution("jitrl").read_text("direct_url.json")
    except metadata.PackageNotFoundError:  # run from its sources
        return {}
    found: Mapping[str, Any] = json.loads(raw or "{}")
    return found


def running() -> str:
    """The shortest name of the running Python that a shell in the present folder knows."""
    for name in ("python", "python3"):
        found = shutil.which(name)
        if found and os.path.normcase(found) == os.path.normcase(sys.executable):
            return name
    path = Path(sys.executable)
    near = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    return _quoted(str(near)) if " " in str(near) else str(near)


def _quoted(text: str) -> str:
    return f'"{text}"' if sys.platform == "win32" else shlex.quote(text)
