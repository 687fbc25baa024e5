"""What every agent is told about its memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Protocol

from jitrl.memory.index import Kernel
from jitrl.types import Basis, Mode


class MemorySettings(Protocol):
    """``config.Memory`` is one, and says more."""

    @property
    def mode(self) -> Mode: ...

    @property
    def holdout(self) -> float: ...

    @property
    def preset(self) -> str: ...

    @property
    def rule(self) -> Mapping[str, Any]: ...

    @property
    def retrieval(self) -> Mapping[str, Any]: ...

    @property
    def gamma(self) -> float | None: ...

    @property
    def trusted(self) -> Collection[Basis]: ...

    @property
    def principal(self) -> str: ...

    @property
    def kernel(self) -> Kernel: ...

    @property
    def admission(self) -> Mapping[str, Any]: ...

    @property
    def snapshot(self) -> str: ...

    @property
    def canary(self) -> str: ...

    @property
    def canary_share(self) -> float: ...
