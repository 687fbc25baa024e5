"""Replay: a run repeated from a file of answers, without a model."""

from __future__ import annotations

from jitrl.errors import ModelError
from jitrl.models import calls

_SHOWN = 400


class ReplayMiss(ModelError):
    """The recording has no answer to what was asked. ``request`` says what that was."""

    def __init__(self, model: str, request: calls.Request) -> None:
        asked = calls.question(request)
        if len(asked) > _SHOWN:
            asked = f"{asked[: _SHOWN // 2]} … {asked[-_SHOWN // 2 :]}"
        super().__init__(
            f"the recording has no answer of {model} to a {type(request).__name__!r} request "
            f"(draw {getattr(request, 'draw', 0)}, attempt {request.attempt}): {asked!r}; it was "
            "made with other settings, or stopped earlier: run again with cache in place of replay"
        )
        self.request = request
