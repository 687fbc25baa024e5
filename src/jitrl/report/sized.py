"""Numbers with so many decimals, and with an exponent where that would be a line of digits."""

from __future__ import annotations

_LARGE = 1e7


def sized(value: float, form: str) -> str:
    """``value`` in a form like ``+.2f``; from ten million on in ``+.2e``."""
    return format(value, form.replace("f", "e") if abs(value) >= _LARGE else form)
