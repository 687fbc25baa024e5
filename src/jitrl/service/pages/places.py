"""What the pages show: memory files, runs, and folders of runs, each under a name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from jitrl.analysis import sight
from jitrl.config import Memory
from jitrl.errors import InputError, StoreError
from jitrl.run import folder as folders
from jitrl.run.folder import Record
from jitrl.stores.paging import Paging
from jitrl.stores.sqlite import SQLiteStore

Kind = Literal["memory", "run"]


@dataclass(frozen=True, slots=True)
class Place:
    """A memory file, or a run with a memory file for each seed.

    Attributes:
        name: How addresses call it; unique on a shelf.
        path: The file, or the folder of the run.
        memory: Name of the memory in the file.
        flags: Settings it was used with that differ from those recorded, or in force.
    """

    name: str
    kind: Kind
    path: Path
    memory: str = "default"
    flags: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def record(self) -> Record | None:
        """What the run says of itself; ``None`` of a memory file."""
        return folders.read(self.path) if self.kind == "run" else None

    def seeds(self) -> tuple[int, ...]:
        """Seeds of the run that were begun; of a memory file none."""
        record = self.record()
        if record is None:
            return ()
        return tuple(s for s in record.seeds if folders.store_path(self.path, s).is_file())

    def journals(self) -> tuple[Path, ...]:
        """Its memory files that are there."""
        if self.kind == "memory":
            return (self.path,)
        return tuple(folders.store_path(self.path, seed) for seed in self.seeds())

    def file(self, seed: int | None) -> tuple[Path, Memory]:
        """A memory file, and the settings it was used with.

        Raises:
            InputError: If the run has no such seed.
            StoreError: If the seed was not begun yet.
        """
        file, settings = sight.found(self.path, seed, self.flags)
        if not file.is_file():
            raise StoreError(f"{file} is not there yet: the run has not begun it")
        return file, settings

    @contextmanager
    def reading(self, seed: int | None = None) -> Iterator[Opened]:
        """One of its memories, to be looked at."""
        file, settings = self.file(seed)
        with closing(SQLiteStore(file, memory=self.memory, readonly=True)) as store:
            yield Opened(store, Paging(store), settings, self.flags)

    @contextmanager
    def writing(self, seed: int | None = None) -> Iterator[SQLiteStore]:
        """One of its memories, to be curated; no file or memory is made."""
        with self.reading(seed) as found:
            path = found.store.path
        with closing(SQLiteStore(path, memory=self.memory)) as store:
            yield store

    def stamp(self) -> str:
        """Another text whenever there is something new to see; cheap."""
        parts = []
        for file in self.journals():
            with closing(SQLiteStore(file, memory=self.memory, readonly=True)) as store:
                parts.append(str(store.head()))
        if self.kind == "run":
            parts.append(str((self.path / "run.json").stat().st_mtime_ns))
        return "-".join(parts)


@dataclass(frozen=True, slots=True)
class Opened:
    """A memory that is being looked at.

    Attributes:
        settings: What it was used with.
    """

    store: SQLiteStore
    paging: Paging
    settings: Memory
    flags: Mapping[str, Mapping[str, Any]]

    def agent(self) -> Any:
        """Who decided with it."""
        own = self.flags.get("memory", {})
        return sight.looking(self.store, self.settings, trusted="trusted" not in own)


@dataclass(frozen=True, slots=True)
class Shelf:
    """All places that somebody may see."""

    places: tuple[Place, ...]

    def place(self, name: str) -> Place:
        """The place of that name.

        Raises:
            InputError: If there is none.
        """
        for place in self.places:
            if place.name == name:
                return place
        known = ", ".join(place.name for place in self.places)
        raise InputError(f"there is nothing called {name!r} here; there are {known}")

    def runs(self) -> tuple[Place, ...]:
        """The runs among them."""
        return tuple(place for place in self.places if place.kind == "run")


def shelf(
    paths: Sequence[Path],
    memory: str = "default",
    flags: Mapping[str, Mapping[str, Any]] | None = None,
) -> Shelf:
    """The places in ``paths``; a folder of runs stands for all of them.

    Raises:
        InputError: If there is nothing to show.
        StoreError: If a file is no memory.
    """
    found: list[Place] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(one.parent for one in path.glob("*/run.json"))
            is_many = inside and not (path / "run.json").is_file()
            for folder in inside if is_many else [path]:
                folders.read(folder)
                found.append(_named(found, "run", folder, "default", flags or {}))
        else:
            with closing(SQLiteStore(path, memory=memory, readonly=True)):
                found.append(_named(found, "memory", path, memory, flags or {}))
    if not found:
        raise InputError("name a memory file, a run folder or a folder of runs")
    return Shelf(tuple(found))


def _named(
    before: Sequence[Place],
    kind: Kind,
    path: Path,
    memory: str,
    flags: Mapping[str, Mapping[str, Any]],
) -> Place:
    """A place under a name that no other has."""
    real = path.resolve()
    plain, above = (
        text.encode("utf-8", "backslashreplace").decode() for text in (real.name, real.parent.name)
    )
    name, number = plain, 2
    if any(place.name == name for place in before):
        name = plain = f"{plain} ({above})"
    while any(place.name == name for place in before):
        name, number = f"{plain} {number}", number + 1
    return Place(name, kind, path, memory, flags)
