"""What a page was asked for, and what it is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from jitrl.errors import InputError
from jitrl.report.words import Language
from jitrl.service.pages.jobs import Job, Jobs
from jitrl.service.pages.places import Place
from jitrl.service.pages.viewers import Viewer
from jitrl.service.pages.words import Words

PATIENCE = 0.75
"""Seconds that a page waits for what takes long, before it says that it is being made."""

LONGEST = 60_000
"""Characters of a parameter, at most: keys have 10,000, and rows are named by the thousand."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request for a view of a place.

    Attributes:
        base: What all addresses begin with.
        given: Parameters of the address.
        form: What was posted, each name with all of its values.
    """

    viewer: Viewer
    place: Place
    view: str
    base: str
    lang: Language
    words: Words
    jobs: Jobs
    given: Mapping[str, str]
    form: Mapping[str, list[str]] = field(default_factory=dict)

    @property
    def seed(self) -> int | None:
        """Whose memory of a run; ``None`` for the first."""
        return self.whole("seed") if self.given.get("seed") else None

    def text(self, name: str, most: int = LONGEST) -> str:
        """A parameter; "" if it is missing.

        Raises:
            InputError: If it is longer than any that a page makes.
        """
        found = self.given.get(name, "")
        if len(found) > most:
            raise InputError(f"{name} is too long ({len(found)} characters)")
        return found

    def whole(self, name: str, otherwise: int = 0) -> int:
        """A parameter that is a whole number.

        Raises:
            InputError: If it is none.
        """
        found = self.text(name)
        if not found:
            return otherwise
        if not found.isascii() or not found.isdigit() or len(found) > 18:
            raise InputError(f"{name} is {found!r}; it must be a whole number")
        return int(found)

    def to(self, view: str, /, **given: Any) -> str:
        """The address of a view of the same place and seed."""
        seed = {} if self.seed is None else {"seed": self.seed}
        kept = {k: v for k, v in {**seed, **given}.items() if v not in (None, "")}
        return self.path(self.place, view) + (f"?{urlencode(kept)}" if kept else "")

    def path(self, place: Place, view: str) -> str:
        """The address of a view of a place."""
        return f"{self.base}/p/{quote(place.name, safe='')}/{view}"

    def here(self, **given: Any) -> str:
        """This address with some parameters changed."""
        return self.to(self.view, **{**self.given, **given})

    def along(self, view: str) -> str:
        """The address of another view with the parameters of this one."""
        return self.to(view, **self.given)

    def later(self, what: str, work: Callable[[Callable[[int, int], None]], Any]) -> Job:
        """The result of ``work``, which may take long: kept until the place changes.

        The job may not be over yet; the page then says so, and asks again.
        """
        about = {"what": what, "place": self.place.name, "seed": self.seed}
        about["stamp"] = self.place.stamp()
        return self.jobs.shared(self.viewer.secret, about, work, PATIENCE)


def row_ids(text: str) -> tuple[int, ...]:
    """Rows named by their numbers with commas between them, each once.

    Raises:
        InputError: If one is no number of a row.
    """
    texts = {part for part in text.split(",") if part}
    if not all(part.isascii() and part.isdigit() and len(part) < 18 for part in texts):
        raise InputError("a row is named by its number")
    return tuple(sorted(map(int, texts)))


@dataclass(frozen=True, slots=True)
class Shown:
    """A template and what it is filled with.

    Attributes:
        is_part: Whether it stands in a page that is there already.
        status: Of HTTP.
    """

    template: str
    values: Mapping[str, Any]
    is_part: bool = False
    status: int = 200


View = Callable[[Asked], Shown]
