"""Where output goes: data to stdout, words, tables and progress for people to stderr."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Annotated, Any
from unicodedata import category

import msgspec
import typer
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from jitrl.errors import StoreError
from jitrl.report.unbroken import unbroken

JSON = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@cache
def people() -> Console:
    """The console on stderr. Brackets in a text are text: an action may hold ``<link[b]>``."""
    return _Console(stderr=True, highlight=False, markup=False, emoji=False)


class _Console(Console):
    """Subclassed because all that goes to people passes here, whoever made it."""

    def print(self, *objects: Any, **how: Any) -> None:
        for part in objects:
            _clean(part)
        if not how.get("soft_wrap"):
            objects = tuple(self._lines(part) for part in objects)
        super().print(*objects, **how)

    def _lines(self, part: Any) -> Any:
        """A text in lines that end where a line may; tables and the like lay out their own."""
        match part:
            case Text(no_wrap=None, overflow=None):
                return folded(part, self.width)
            case Group():
                return Group(*(self._lines(inner) for inner in part.renderables))
            case _:
                return part

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        blanks: list[Segment] = []  # not yet known to stand at the end of a line
        for segment in super().render(renderable, options):
            if segment.control:
                yield from (*blanks, segment)
                blanks = []
                continue
            text = segment.text if segment.text.isprintable() else printable(segment.text)
            if text.startswith("\n"):
                blanks = []
            shown = text.rstrip(" ")
            if shown:
                yield from (*blanks, Segment(shown, segment.style))
                blanks = []
            if shown != text:
                blanks.append(Segment(text[len(shown) :], segment.style))
        yield from blanks


def _clean(part: RenderableType) -> None:
    """Make texts harmless before they are laid out, so that columns have room for what is shown."""
    match part:
        case Text():
            part.plain = printable(part.plain)
        case Table():
            for column in part.columns:
                for cell in column.cells:
                    _clean(cell)
        case Group():
            for inner in part.renderables:
                _clean(inner)


def folded(text: Text, width: int) -> Text:
    """``text`` in lines of at most ``width`` columns, where a single piece is not wider.

    A line ends at a space, or beside a Chinese character, but not inside an interval, between a
    number and its unit, or before a closing mark.
    """
    plain = unbroken(text.plain)
    ends: list[int] = []  # where a line begins anew
    used = start = 0
    for piece in _PIECE.finditer(plain):
        if "\n" in piece[0]:
            used = 0
            continue
        word = piece[0].rstrip(" ")
        if used and used + cell_len(word) > width:
            ends.append(piece.start())
            used = 0
        used += cell_len(piece[0])
        start = piece.end()
    if not ends or start == 0:
        return text
    lines = text.divide(ends)
    for line in lines[:-1]:
        line.rstrip()
    return Text("\n", style=text.style, justify=text.justify, end=text.end).join(lines)


_WIDE, _CLOSING = "\u3400-\u9fff", "，。：；、）」》”！？,.;:!?)"
_PIECE = re.compile(
    rf"\n|[（「《“(]*(?:\d[\d.,:]*\u00a0[{_WIDE}]|[{_WIDE}]|[^ \n{_WIDE}（「《“{_CLOSING}]+"
    rf"(?:[,.;:!?)]+[^ \n{_WIDE}（「《“{_CLOSING}]+)*)?[{_CLOSING}]* *"
)


def emit(data: Mapping[str, Any]) -> None:
    """Print ``data``, whose first key is ``schema``, as JSON on stdout.

    JSON is UTF-8; where stdout is something else, it is written in ASCII.
    """
    text = as_json(data, 2)
    if (sys.stdout.encoding or "").lower().replace("-", "") != "utf8":
        text = json.dumps(json.loads(text), indent=2)
    sys.stdout.write(text + "\n")


def as_json(data: Mapping[str, Any], indent: int) -> str:
    """``data`` as JSON; in ASCII where the name of a file in it is no UTF-8."""
    try:
        return msgspec.json.format(msgspec.json.encode(data), indent=indent).decode()
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(data), indent=indent)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """For a block that writes ``path``.

    Raises:
        StoreError: If the system does not let it.
    """
    try:
        yield
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}") from error


def in_folder(path: Path, inside: Path | None = None) -> None:
    """Refuse a file that is to be written later and has no folder to lie in.

    Args:
        inside: A folder that will be there by then.

    Raises:
        StoreError: Naming the folder.
    """
    folder = path.resolve().parent
    if folder.is_dir() or (inside is not None and folder == inside.resolve()):
        return
    raise StoreError(f"{path} cannot be written: there is no folder {path.parent}; make it first")


def tell(text: str, style: str = "") -> None:
    """Print a line for people, in which markup and control characters do nothing."""
    people().print(Text(text.replace("\n", "�"), style=style), soft_wrap=True)


def note(text: str, style: str = "") -> None:
    """As ``tell``, in lines that end between words."""
    people().print(Text(text.replace("\n", "�"), style=style))


def table(*heads: str) -> Table:
    """A table without lines."""
    return Table(*heads, box=None, padding=(0, 2, 0, 0))


def printable(text: str) -> str:
    """Without control characters: what a page said must not steer the terminal. Lines stay."""
    return "".join(c if c in _KEPT or _is_shown(c) else "�" for c in text)


_KEPT = "\n\u200c\u200d"  # the joiners of some scripts and of emoji


def _is_shown(character: str) -> bool:
    return character.isprintable() or category(character) == "Zs"
