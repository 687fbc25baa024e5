"""The addresses of the service."""

from __future__ import annotations

from starlette.convertors import Convertor, register_url_convertor


class _Name(Convertor[str]):
    """Part of an address before a colon, so that `/k` and `/k:restore` are two addresses."""

    regex = "[^/:]+"

    def convert(self, value: str) -> str:
        """The part as it is."""
        return value

    def to_string(self, value: str) -> str:
        """The same back."""
        return value


register_url_convertor("name", _Name())
