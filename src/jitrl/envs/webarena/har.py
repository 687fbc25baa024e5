"""Recordings of requests, cut down to what scoring reads."""

from __future__ import annotations

import json
from pathlib import Path

from jitrl.errors import WorldError


def trim(path: Path, *, keep_bodies: bool) -> None:
    """Take the bodies of answers out of a HAR; a page of a shop has megabytes of them.

    Args:
        keep_bodies: Keep those that are JSON, which the checks of a few tasks read.

    Raises:
        WorldError: If there is no HAR, or it cannot be read or written.
    """
    try:
        har = json.loads(path.read_text(encoding="utf-8"))
        for entry in har["log"]["entries"]:
            content = entry["response"].get("content", {})
            if not (keep_bodies and "application/json" in content.get("mimeType", "")):
                content.pop("text", None)
                content.pop("encoding", None)
        path.write_text(json.dumps(har, ensure_ascii=False), encoding="utf-8")
    except (OSError, ValueError, LookupError, AttributeError) as error:
        raise WorldError(f"the browser's recording {path} cannot be read: {error!r}") from error
