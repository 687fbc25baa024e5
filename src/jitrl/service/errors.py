"""What a caller of the service can get wrong beyond the values handed in."""

from __future__ import annotations

from jitrl.errors import InputError, StoreError


class Unknown(StoreError):
    """There is nothing of that id, or it is somebody else's; the two cannot be told apart."""


class Conflict(InputError):
    """What is asked for does not go together with what was said before."""


def ended(key: str) -> Conflict:
    """What is asked of an episode that is over."""
    return Conflict(f"episode {key!r} is over; start another one")


class NotAllowed(InputError):
    """Whoever asks may not do this."""


class Full(StoreError):
    """There is no room for more; it may be tried again later."""


class Reused(Conflict):
    """An idempotency key came with something else before."""

    def __init__(self, key: str) -> None:
        """``key`` as it is kept: a slash stands between whose it is and what they called it."""
        said = key.partition("/")[2] or key
        super().__init__(f"something else was said with idempotency key {said!r}; take another one")
