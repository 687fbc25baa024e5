"""A table of long texts: where it is too wide, each text takes a line of its own, uncut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from jitrl.cli.shared.output import folded, printable

_INDENT, _GAP = 2, 2
_UNBOUND = 100_000


@dataclass(slots=True)
class Listing:
    """Rows of texts and numbers; a table if it fits, else a block of lines for each row.

    Attributes:
        heads: Headings; the first column is a text.
        texts: Columns that get a line of their own where the table does not fit.
        left: Columns of a few words, flush left; what is left are numbers, flush right.
        is_wrapped: Where the table does not fit, the first column goes on below, word by word.
        is_numbered: Where the table does not fit, its headings are broken at their words; where
            that does not do, its numbers alone make one, its headings broken only where needed,
            and the texts stand below it by the number of their row. Else each row is a block of
            lines.
        notes: Lines after the last row, as for what is not listed.
    """

    heads: Sequence[str]
    texts: frozenset[int] = frozenset({0})
    left: frozenset[int] = frozenset()
    is_wrapped: bool = False
    is_numbered: bool = False
    notes: list[str] = field(default_factory=list)
    _rows: list[tuple[list[Text], str]] = field(default_factory=list)

    def add(self, *cells: str | Text, style: str = "") -> None:
        """Add a row; what is missing at its end is empty."""
        made = [Text(printable(cell)) if isinstance(cell, str) else cell for cell in cells]
        made += [Text("")] * (len(self.heads) - len(made))
        self._rows.append((made, style))

    def cut(self, more: int, note: str) -> None:
        """Note how many rows are left out, if any; ``{0}`` of the note is their number."""
        if more > 0:
            self.notes.append(note.format(more))

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        table = self._table()
        least = Measurement.get(console, options.update(width=_UNBOUND), table).minimum
        if (least if self.is_wrapped else breadth(table, console)) <= options.max_width:
            yield table
        elif self.is_numbered and breadth(self._table(True), console) <= options.max_width:
            yield self._table(True)
        elif self.is_numbered and breadth(self._numbers(True), console) <= options.max_width:
            is_broken = breadth(self._numbers(), console) > options.max_width
            yield self._numbers(is_broken)
            yield from (folded(text, options.max_width) for text in self._texts())
        else:
            yield from (folded(text, options.max_width) for text in self._blocks())
        yield from (Text(note, style="dim") for note in self.notes)

    def _table(self, is_broken: bool = False) -> Table:
        """All columns; headings that are wider than what they stand over may be ``is_broken``."""
        table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
        for i in range(len(self.heads)):
            is_flush_left = i in self.texts | self.left
            justify: Literal["left", "right"] = "left" if is_flush_left else "right"
            least = self._breadth(i) if self.is_wrapped and i > 0 else None
            table.add_column(
                self._head(i, is_broken),
                justify=justify,
                header_style="dim",
                min_width=least,
                vertical="bottom" if is_broken else "top",
            )
        for cells, style in self._rows:
            table.add_row(*cells, style=style)
        return table

    def _head(self, i: int, is_broken: bool) -> Text:
        """A heading; where it ``is_broken`` and too wide, a word a line."""
        is_wide = cell_len(self.heads[i]) > self._breadth(i, 0)
        return Text(self.heads[i].replace(" ", "\n") if is_broken and is_wide else self.heads[i])

    def _numbers(self, is_broken: bool = False) -> Table:
        """The columns that are no texts, after the number of each row."""
        short = [i for i in range(len(self.heads)) if i not in self.texts]
        table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
        lines: Literal["top", "bottom"] = "bottom" if is_broken else "top"
        table.add_column(
            Text("#"), justify="right", header_style="dim", no_wrap=True, vertical=lines
        )
        for i in short:
            justify: Literal["left", "right"] = "left" if i in self.left else "right"
            head = self._head(i, is_broken)
            table.add_column(
                head, justify=justify, header_style="dim", no_wrap=True, vertical=lines
            )
        for number, (cells, style) in enumerate(self._rows, 1):
            table.add_row(f"{number}", *(cells[i] for i in short), style=style)
        return table

    def _texts(self) -> Iterator[Text]:
        """What each number stands for; its texts go on below each other."""
        first, *rest = sorted(self.texts)
        width = len(str(len(self._rows)))
        yield Text(f"{'#':>{width}}  {self.heads[first]}", style="dim")
        for number, (cells, style) in enumerate(self._rows, 1):
            yield _styled(Text(f"{number:>{width}}  ", overflow="fold") + cells[first], style)
            blank = " " * (width + _GAP)
            said = [(self.heads[i], cells[i]) for i in rest if cells[i].plain]
            for head, cell in said:
                yield _styled(Text(f"{blank}{head}: ", overflow="fold") + cell, style)

    def _blocks(self) -> Iterator[Text]:
        first, *rest = sorted(self.texts)
        short = [i for i in range(len(self.heads)) if i not in self.texts]
        widths = {i: self._breadth(i) for i in short}

        def line(cells: Sequence[Text]) -> Text:
            made = Text(" " * _INDENT, overflow="fold")
            for i in short:
                blank = " " * (widths[i] - cell_len(cells[i].plain))
                made.append_text(cells[i] + blank if i in self.left else Text(blank) + cells[i])
                made.append(" " * _GAP)
            made.rstrip()
            return made

        yield Text(self.heads[first], style="dim", overflow="fold")
        heads = [Text(head) for head in self.heads]
        if short:
            yield _styled(line(heads), "dim")
        for cells, style in self._rows:
            yield _styled(Text(overflow="fold") + cells[first], style)
            if short:
                yield _styled(line(cells), style)
            for i in rest:
                if cells[i].plain:
                    said = Text(f"{' ' * _INDENT}{self.heads[i]}: ", overflow="fold")
                    yield _styled(said + cells[i], style)

    def _breadth(self, i: int, head: int | None = None) -> int:
        """Columns of the terminal that a column takes when nothing is cut.

        Args:
            head: What its heading takes; ``None``: the whole of it, in one line.
        """
        least = cell_len(self.heads[i]) if head is None else head
        return max([least, *(cell_len(row[i].plain) for row, _ in self._rows)])


def figures(*heads: str) -> Listing:
    """A table of names and numbers, none of which is cut."""
    return Listing(heads, is_wrapped=True)


def breadth(shown: RenderableType, console: Console) -> int:
    """Columns of the terminal that ``shown`` takes when nothing is cut."""
    options = console.options.update(width=_UNBOUND)
    return Measurement.get(console, options, shown).maximum


def _styled(text: Text, style: str) -> Text:
    text.stylize_before(style)
    return text
