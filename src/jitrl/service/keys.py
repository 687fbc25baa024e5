"""Keys of callers: what each may do, and for which tenant. Only their digests are kept.

A key looks like ``jitrl_ID_SECRET``. The file lists ids, names, tenants, scopes and SHA-256 digests
of secrets of 256 random bits; a slow digest would add nothing to that many.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import time
from collections.abc import Callable, Collection
from contextlib import closing
from pathlib import Path
from typing import Literal, get_args

import msgspec
from msgspec import Struct

from jitrl import given
from jitrl.errors import ConfigError, InputError, StoreError
from jitrl.registry import did_you_mean
from jitrl.service.errors import Unknown
from jitrl.stores.lock import FileLock

Scope = Literal["decide", "report:self", "report:trusted", "read", "curate", "metrics", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
"""``decide``: run episodes. ``report:self``: report as ``agent_self_report``. ``report:trusted``:
report on any basis. ``read``: look at decisions, rows, rules. ``curate``: quarantine and restore.
``metrics``: the counters of all tenants. ``admin``: all of these."""

TENANT = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?")
_RESERVED = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]|keys")
_SCHEMA = "jitrl.keys/1"
_MARK = "jitrl_"
_NAME = 100
_SECONDS = 10.0


class Key(Struct, frozen=True, forbid_unknown_fields=True):
    """One key, without its secret.

    Attributes:
        name: Who it was given to; the principal of all that comes with it.
        digest: SHA-256 of the secret, hex.
        created, revoked: Seconds since 1970; ``revoked`` is ``None`` while it may be used.
    """

    id: str
    name: str
    tenant: str
    scopes: tuple[Scope, ...]
    digest: str
    created: float
    revoked: float | None = None

    def may(self, scope: Scope) -> bool:
        """Whether it may be used for this."""
        if scope in self.scopes or "admin" in self.scopes:
            return True
        return scope == "report:self" and "report:trusted" in self.scopes


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    schema: str
    keys: tuple[Key, ...] = ()


class Keys:
    """The file of keys; a change by any process counts at the next call. Safe for threads."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._seen: tuple[int, int, int] | None = None
        self._keys: dict[str, Key] = {}

    def all(self) -> list[Key]:
        """All keys, the oldest first.

        Raises:
            ConfigError: If the file is not as it must be.
            StoreError: If it cannot be read.
        """
        self._refresh()
        return list(self._keys.values())

    def find(self, text: str) -> Key | None:
        """The key that ``text`` is, if it may be used. Errors as ``all``."""
        self._refresh()
        mark, _, rest = text.partition("_")
        id, _, secret = rest.partition("_")
        key = self._keys.get(id) if f"{mark}_" == _MARK else None
        wanted = key.digest if key else "0" * 64
        is_right = hmac.compare_digest(_digest(secret), wanted)  # as long for unknown ids
        return key if key is not None and is_right and key.revoked is None else None

    def add(self, name: str, tenant: str, scopes: Collection[str]) -> tuple[Key, str]:
        """A new key, and its text, which is told this once.

        Raises:
            InputError: If the name, the tenant or a scope cannot be used.
            ConfigError, StoreError: As ``all``, or if the file cannot be written.
        """
        if not given.name(name, "name").isprintable() or len(name) > _NAME:
            raise InputError(f"name is {name!r}; it must be at most {_NAME} printable characters")
        for scope in scopes:
            if scope not in SCOPES:
                close = did_you_mean(scope, SCOPES)
                raise InputError(f"no scope {scope!r}{close}; there are {', '.join(SCOPES)}")
        if not scopes:
            raise InputError(f"a key needs a scope; there are {', '.join(SCOPES)}")
        kept = tuple(scope for scope in SCOPES if scope in scopes)
        secret = secrets.token_urlsafe(32)
        id = secrets.token_hex(4)
        key = Key(id, name, checked_tenant(tenant), kept, _digest(secret), time.time())
        self._write(lambda keys: [*keys, key])
        return key, f"{_MARK}{id}_{secret}"

    def revoke(self, id: str) -> Key:
        """Let a key be used no more, from the next call of every process on.

        Raises:
            Unknown: If there is none of that id.
            ConfigError, StoreError: As ``add``.
        """
        found: list[Key] = []

        def without(keys: list[Key]) -> list[Key]:
            now = time.time()
            out = [
                msgspec.structs.replace(k, revoked=k.revoked or now) if k.id == id else k
                for k in keys
            ]
            found.extend(k for k in out if k.id == id)
            return out

        self._write(without)
        if not found:
            raise Unknown(f"{self.path} has no key {id!r}; `jitrl serve keys ls` lists them")
        return found[0]

    def _refresh(self) -> None:
        try:
            stat = os.stat(self.path)
        except FileNotFoundError:
            self._seen, self._keys = None, {}
            return
        except OSError as error:
            raise StoreError(f"{self.path} cannot be read: {error.strerror}") from error
        seen = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        if seen != self._seen:
            self._keys = {key.id: key for key in _read(self.path)}
            self._seen = seen

    def _write(self, change: Callable[[list[Key]], list[Key]]) -> None:
        try:
            with closing(FileLock(f"{self.path}.lock")) as lock, lock.held(_SECONDS):
                keys = list(_read(self.path)) if self.path.exists() else []
                body = msgspec.json.encode(_File(_SCHEMA, tuple(change(keys))))
                part = Path(f"{self.path}.{os.getpid()}.part")
                part.touch(mode=0o600)
                part.write_bytes(msgspec.json.format(body, indent=2) + b"\n")
                part.replace(self.path)
        except OSError as error:
            raise StoreError(f"{self.path} cannot be written: {error.strerror}") from error


def checked_tenant(tenant: str) -> str:
    """``tenant``, if a file can have its name.

    Raises:
        InputError: If not.
    """
    if not TENANT.fullmatch(tenant) or _RESERVED.fullmatch(tenant):
        raise InputError(
            f"tenant is {tenant!r}; it must be up to 63 of a-z, 0-9, '-' and '_', as its memory "
            "file is named by it"
        )
    return tenant


def _read(path: Path) -> tuple[Key, ...]:
    try:
        found = msgspec.json.decode(path.read_bytes(), type=_File)
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from error
    except msgspec.MsgspecError as error:
        raise ConfigError(f"{path} is no file of keys: {error}") from error
    if found.schema != _SCHEMA:
        raise ConfigError(f"{path} has schema {found.schema!r}; this version reads {_SCHEMA!r}")
    return found.keys


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
