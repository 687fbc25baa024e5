"""Purges: a subject out of a memory file, of its copies, and of what was made from it."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from jitrl.errors import InputError, StoreError
from jitrl.models import cache
from jitrl.models.vectors import FILE as VECTORS
from jitrl.models.vectors import forget as forget_vectors
from jitrl.redaction.keyfile import SUFFIX
from jitrl.redaction.named import BUILT_IN, placeholders
from jitrl.stores import backup, purge_owed, said
from jitrl.stores.place import BESIDE
from jitrl.stores.purge import Removed, purge, scrub
from jitrl.stores.purge_find import Subject, SubjectKind, Wanted, subject
from jitrl.stores.purge_owed import Owed, digests
from jitrl.stores.running import folder_beside, holding, unused
from jitrl.stores.sqlite import SQLiteStore

FileState = Literal["clean", "missing", "deleted", "left"]


@dataclass(frozen=True, slots=True)
class Named:
    """A subject of a purge, told without naming it: a receipt is kept where the data is not.

    Attributes:
        sha256: Of the value, in hexadecimal.
    """

    kind: SubjectKind
    sha256: str


@dataclass(frozen=True, slots=True)
class Cleaned:
    """One file that held, or may have held, something of the subjects.

    Attributes:
        state: ``left`` if something may still be there; ``why`` says what.
        memories: What was removed from each memory in it.
        entries: Of ``reports``, those removed that came with an idempotency key; of ``answers``,
            calls of a model.
    """

    path: str
    kind: Literal["memory", "backup", "export", "vectors", "running", "reports", "answers"]
    state: FileState
    why: str = ""
    memories: tuple[Removed, ...] = ()
    entries: int = 0


@dataclass(frozen=True, slots=True)
class PurgeReceipt:
    """What a purge did.

    Attributes:
        is_complete: Nothing of the subjects is left in any file that is known here.
        at: Seconds since 1970.
        principal: Who had it done.
    """

    subjects: tuple[Named, ...]
    files: tuple[Cleaned, ...]
    is_complete: bool
    at: float
    principal: str = ""
    dry_run: bool = False


def purged(
    store: SQLiteStore,
    subjects: Iterable[str | Subject],
    *,
    principal: str = "",
    also: Collection[str | os.PathLike[str]] = (),
    answers: Collection[str | os.PathLike[str]] = (),
    delete_exports: bool = False,
    dry_run: bool = False,
) -> PurgeReceipt:
    """Remove subjects from the file of ``store``, all its memories, and from its known copies.

    May be called again: what is gone is gone, and what could not be done is tried once more.

    Args:
        subjects: ``KIND=VALUE``: ``principal``, ``episode``, ``task`` or ``text``.
        principal: Who has it done; kept in the version stream and the receipt.
        also: Further copies of the file, which this package did not make.
        answers: Files of answers that models with a ``cache`` keep elsewhere; those in the folder
            of the memory are found.
        delete_exports: Delete the exports that were made; else they count as left.
        dry_run: Only count.

    Raises:
        InputError: If a subject is none.
        StoreError: If the memory file cannot be written; nothing changed then.
    """
    named = [one if isinstance(one, Subject) else subject(one) for one in subjects]
    if not named:
        raise InputError("nothing is named; give a subject as KIND=VALUE")
    wanted = Wanted.of(named, _as_written(named, store.path))
    at = "" if store.path == ":memory:" else os.path.realpath(store.path)
    work = _Work(wanted, principal, dry_run, at, purge_owed.owed(at) if at else Owed())
    files = [work.memory(store, "memory")]
    known = backup.copies(store.path)
    paths = {os.path.realpath(copy.path) for copy in known}
    for path in [c.path for c in known if c.kind == "backup"] + [
        os.fspath(one) for one in also if os.path.realpath(one) not in paths
    ]:
        files.append(work.copy(path))
    files += [work.export(c.path, is_deleted=delete_exports) for c in known if c.kind == "export"]
    if at:
        files += work.running(folder_beside(at))
        files += work.reports(said.file_beside(at))
        files += work.answers(_of_answers(store.path, answers))
        files += work.vectors(Path(at).parent / VECTORS)
        if not dry_run:
            backup.forget(store.path, {f.path for f in files if f.state in ("missing", "deleted")})
            work.settle(files)
    return PurgeReceipt(
        subjects=tuple(
            Named(one.kind, hashlib.sha256(one.value.encode()).hexdigest()) for one in named
        ),
        files=tuple(files),
        is_complete=not dry_run and all(file.state != "left" for file in files),
        at=time.time(),
        principal=principal,
        dry_run=dry_run,
    )


def _as_written(subjects: Iterable[Subject], path: str) -> dict[str, str]:
    """How the memory's redaction writes each value; nothing where it has no key yet."""
    if path == ":memory:" or not Path(f"{os.path.realpath(path)}{SUFFIX}").exists():
        return {}
    text = placeholders(tuple(BUILT_IN), path).text
    return {one.value: text(one.value) for one in subjects}


@dataclass(slots=True)
class _Work:
    """The same purge, on one file after another.

    Attributes:
        at: The memory file; "" if there is none.
        owed: What is to be done beside it, also by a purge before that did not come to its end.
    """

    wanted: Wanted
    principal: str
    dry_run: bool
    at: str
    owed: Owed

    def memory(
        self, store: SQLiteStore, kind: Literal["memory", "backup"], path: str = ""
    ) -> Cleaned:
        going = partial(purge, store, self.wanted, principal=self.principal)
        removed = tuple(going(dry_run=True)) if self.at or self.dry_run else ()
        if self.at:
            self._note(removed)
        why = ""
        if not self.dry_run:
            removed = tuple(going(dry_run=False))
            is_empty = scrub(store)
            if not is_empty:
                why = "its log is not empty: another process reads an older view; purge again"
            why = why or self._seen(store.path)
        return Cleaned(path or store.path, kind, "left" if why else "clean", why, removed)

    def _note(self, going: Sequence[Removed]) -> None:
        """Keep what these episodes will leave to be done, before they go."""
        is_named = bool(self.wanted.principals or self.wanted.episodes or self.wanted.tasks)
        has_steps = any(removed.steps for removed in going)
        more = Owed(
            digests(key for removed in going for key in removed.keys),
            has_steps,
            time.time() if is_named and has_steps else 0.0,
        )
        if more != Owed():
            self.owed = self.owed.joined(more) if self.dry_run else purge_owed.note(self.at, more)

    def settle(self, files: Iterable[Cleaned]) -> None:
        """Take off what was done of what is owed."""
        left = {file.kind for file in files if file.state == "left"}
        owed = self.owed
        purge_owed.settle(
            self.at,
            Owed(
                frozenset() if "reports" in left else owed.reports,
                owed.has_vectors and "vectors" not in left,
                0.0 if "answers" in left else owed.answers,
            ),
        )

    def copy(self, path: str) -> Cleaned:
        """A backup: a memory file of its own."""
        if not os.path.exists(path):
            return Cleaned(path, "backup", "missing")
        try:
            with SQLiteStore(path, create=False, readonly=self.dry_run) as store:
                done = self.memory(store, "backup", path)
        except StoreError as error:
            return Cleaned(path, "backup", "left", str(error))
        if not self.dry_run:
            Path(f"{os.path.realpath(path)}.lock").unlink(missing_ok=True)
        return done

    def export(self, path: str, *, is_deleted: bool) -> Cleaned:
        """JSON lines that were exported; they are not changed, only deleted."""
        if not os.path.exists(path):
            return Cleaned(path, "export", "missing")
        if not is_deleted or self.dry_run:
            return Cleaned(path, "export", "left", "delete it, or have it deleted, and export anew")
        try:
            os.unlink(path)
        except OSError as error:
            return Cleaned(path, "export", "left", str(error.strerror))
        return Cleaned(path, "export", "deleted")

    def vectors(self, path: Path) -> Iterator[Cleaned]:
        """Vectors of texts: made again where they are needed, so all of them go."""
        if not (self.owed.has_vectors and path.exists()):
            return
        if self.dry_run:
            yield Cleaned(str(path), "vectors", "left", "all vectors would be made again")
            return
        try:
            yield _emptied(path, "vectors", 0, forget_vectors(path))
        except StoreError as error:
            yield Cleaned(str(path), "vectors", "left", str(error))

    def running(self, folder: Path) -> list[Cleaned]:
        """Running episodes that a service keeps: deleted, unless one has them open."""
        if not (found := holding(folder, self.wanted)):
            return []
        if self.dry_run:
            why = "it would be deleted, unless a service has it"
            return [Cleaned(str(path), "running", "left", why) for path in found]
        with unused(folder) as is_unused:
            return [_without(path, is_unused) for path in found]

    def reports(self, path: Path) -> list[Cleaned]:
        """What a service remembers of reports with an idempotency key."""
        if not path.exists():
            return []
        keys = self.owed.reports
        try:
            if not (found := said.count(path, self.wanted, keys)):
                return []
            if self.dry_run:
                return [Cleaned(str(path), "reports", "left", "it would be cleaned", (), found)]
            found, is_empty = said.forget(path, self.wanted, keys)
        except StoreError as error:
            return [Cleaned(str(path), "reports", "left", str(error))]
        return [_emptied(path, "reports", found, is_empty)]

    def answers(self, paths: Iterable[Path]) -> Iterator[Cleaned]:
        """What models were asked: calls that say a text go; whose the others are nobody knows."""
        for path in paths:
            try:
                if not path.exists():
                    yield Cleaned(str(path), "answers", "missing")
                    continue
                is_unsure = cache.has_before(path, self.owed.answers)
                why = "delete it: it does not say whose prompts it holds" if is_unsure else ""
                found = cache.holding(path, self.wanted.says)
                if self.dry_run:
                    if found or why:
                        why = why or "it would be cleaned"
                        yield Cleaned(str(path), "answers", "left", why, (), found)
                    continue
                if found:
                    found, is_empty = cache.forget(path, self.wanted.says)
                    yield _emptied(path, "answers", found, is_empty, why)
                elif why:
                    yield Cleaned(str(path), "answers", "left", why)
            except StoreError as error:
                yield Cleaned(str(path), "answers", "left", str(error))

    def _seen(self, path: str) -> str:
        """Where a wanted text is still in the bytes of a file and what lies beside it."""
        if path == ":memory:":
            return ""
        for suffix in ("", *BESIDE):
            file = Path(f"{os.path.realpath(path)}{suffix}")
            if not file.exists():
                continue
            for text in self.wanted.texts:
                if _holds(file, text):
                    return f"{file.name} still holds the text (as a name of a memory?)"
        return ""


def _of_answers(memory: str, named: Collection[str | os.PathLike[str]]) -> list[Path]:
    """Files of answers: those in the folder of a memory, and those that are named."""
    folder = Path(os.path.realpath(memory)).parent
    found = [path for path in sorted(folder.iterdir()) if path.is_file() and cache.is_one(path)]
    known = {os.path.realpath(path) for path in found}
    return found + [Path(one) for one in named if os.path.realpath(one) not in known]


def _emptied(
    path: Path,
    kind: Literal["reports", "answers", "vectors"],
    found: int,
    is_empty: bool,
    why: str = "",
) -> Cleaned:
    why = why if is_empty else "its log is not empty: another process reads it; purge again"
    return Cleaned(str(path), kind, "left" if why else "clean", why, (), found)


def _without(path: Path, is_unused: bool) -> Cleaned:
    """A running episode, deleted if no service has it."""
    why = "" if is_unused else "a service has it running: end it there, or the service; purge again"
    if is_unused:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            why = str(error.strerror)
    return Cleaned(str(path), "running", "left" if why else "deleted", why)


_BLOCK = 1 << 20


def _holds(file: Path, text: str) -> bool:
    """Whether a text is in the bytes of a file, in small letters or as it is."""
    needle = text.encode()
    before = b""
    for block in _blocks(file):
        joined = before + block
        if needle in joined or needle in joined.lower():
            return True
        before = joined[-len(needle) :]
    return False


def _blocks(file: Path) -> Iterator[bytes]:
    with closing(file.open("rb")) as opened:
        while block := opened.read(_BLOCK):
            yield block
