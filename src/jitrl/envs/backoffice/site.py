"""The pages of the back office, and what each use of their elements does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from jitrl.envs.backoffice.data import Record, Shop
from jitrl.envs.backoffice.kinds import Kind
from jitrl.envs.backoffice.spec import KINDS, SECTIONS, section_of

ROWS = 4
Question = Literal["", "count", "name", "value"]
Edit = tuple[str, str, str]
"""Table, key of a record (``+`` a new one, ``*`` all of them) and field (or button)."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where one is: ``name`` is a section or a kind, ``key`` a record of it."""

    what: Literal["dashboard", "section", "list", "record", "new"] = "dashboard"
    name: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class Go:
    """Open another page."""

    to: Address


@dataclass(frozen=True, slots=True)
class Put:
    """Fill or choose a value on this page."""

    field: str
    value: str


@dataclass(frozen=True, slots=True)
class Press:
    """Press a button that may change the shop."""

    button: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer the question; the text is as shown."""

    text: str


Effect = Go | Put | Press | Answer


@dataclass(frozen=True, slots=True)
class Widget:
    """An element of a page.

    Attributes:
        uses: Verb, further arguments as shown, and effect of each way to use it.
    """

    role: str
    label: str
    value: str = ""
    uses: tuple[tuple[str, tuple[str, ...], Effect], ...] = ()


@dataclass(frozen=True, slots=True)
class View:
    """A page, in the language it is shown in.

    Attributes:
        answers: Texts that can be given as the answer here.
        up: Where ``back()`` leads; ``None`` at the dashboard.
    """

    title: str
    path: str
    lines: tuple[str, ...]
    widgets: tuple[Widget, ...]
    answers: tuple[str, ...] = ()
    up: Address | None = None


@dataclass(slots=True)
class Session:
    """One visit to the back office: where one is, what is filled in, what was changed.

    Attributes:
        typed: Texts that can be typed: the values that the goal names.
        question: What kind of answer the goal asks for; "" if it asks for none.
        word: Translation of labels and fixed values.
        form: Values filled in on this page and not saved.
        edits: Changes made to the shop.
        notes: What the site said of each change.
    """

    shop: Shop
    typed: Sequence[str]
    question: Question
    word: Callable[[str], str]
    at: Address = Address()
    form: dict[str, str] = field(default_factory=dict)
    edits: dict[Edit, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def apply(self, effect: Go | Put | Press) -> None:
        """Do what a use of an element does."""
        match effect:
            case Go(to):
                self.at, self.form = to, {}
            case Put(name, value):
                if self.at.what == "list" and name != "Page":
                    self.form.pop("Page", None)
                self.form[name] = value
            case Press(button):
                self._press(KINDS[self.at.name], button)

    def get(self, table: str, key: str, name: str) -> str:
        """A field of a record as it is now."""
        return self.edits.get((table, key, name), self.shop[table][key].get(name, ""))

    def matches(self, kind: Kind) -> list[str]:
        """Keys of the records that a list shows, all pages together."""
        wanted = [kind.where] if kind.where[0] else []
        wanted += [(kind.filter, self.form[kind.filter])] if kind.filter in self.form else []
        text = self.form.get("Search", "").casefold()
        return [
            key
            for key in self.shop[kind.table]
            if self.get(kind.table, key, "Deleted") != "Yes"
            and all(self.get(kind.table, key, name) == value for name, value in wanted)
            and any(text in self.get(kind.table, key, c).casefold() for c in kind.columns)
        ]

    def view(self) -> View:
        """The present page."""
        at = self.at
        if at.what == "dashboard":
            links = [self._link(name, Address("section", name)) for name in SECTIONS]
            widgets = (*self._alerts(), *links)
            return View(self.word("Dashboard"), "admin/dashboard", (), widgets)
        if at.what == "section":
            kinds = (KINDS[name] for name in SECTIONS[at.name])
            links = [self._link(kind.label, front(kind)) for kind in kinds]
            return self._page(self.word(at.name), f"admin/menu/{at.name.lower()}", (), links, ())
        kind = KINDS[at.name]
        return {"list": self._list, "record": self._record, "new": self._new}[at.what](kind)

    def _list(self, kind: Kind) -> View:
        keys = self.matches(kind)
        page = int(self.form.get("Page", "1"))
        shown = keys[(page - 1) * ROWS : page * ROWS]
        cells = [[self._cell(kind, key, column) for column in kind.columns] for key in shown]
        heads = [self.word(column) for column in kind.columns]
        lines = [self.word("{} records found").format(len(keys))]
        lines += [" | ".join(row) for row in [heads, *cells]] if cells else []
        widgets = []
        if _opened(kind):
            uses = tuple(("fill", (text,), Put("Search", text)) for text in self.typed)
            widgets.append(
                Widget("textbox", self.word("Search"), self.form.get("Search", ""), uses)
            )
        if kind.filter:
            widgets.append(self._choice(kind, kind.filter, self.form.get(kind.filter, "")))
        if _opened(kind):
            record = [Address("record", kind.table, key) for key in shown]
            widgets += [
                Widget("link", row[0], uses=(("click", (), Go(to)),))
                for row, to in zip(cells, record, strict=True)
            ]
        if page > 1:
            widgets.append(Widget("spinbutton", self.word("Page"), str(page)))
        if len(keys) > page * ROWS:
            turn = Put("Page", str(page + 1))
            widgets.append(Widget("link", self.word("Next Page"), uses=(("click", (), turn),)))
        if kind.new:
            widgets.append(self._link("Add New", Address("new", kind.name)))
        widgets += [self._button(button) for button in kind.bulk]
        answers: Sequence[str] = {
            # Where one cannot narrow the list there is nothing to count.
            "count": [str(n) for n in range(max(0, len(keys) - 1), len(keys) + 3)][
                : 4 * bool(kind.filter)
            ],
            "name": [row[0] for row in cells],
            "value": [self._cell(kind, key, kind.value) for key in shown if kind.value],
            "": (),
        }[self.question]
        return self._page(self.word(kind.label), f"admin/{kind.path}/", lines, widgets, answers)

    def _record(self, kind: Kind) -> View:
        key = self.at.key
        number = list(self.shop[kind.table]).index(key) + 11
        name = "" if kind.single else f" {self._cell(kind, key, kind.key)}"
        shown = [(self.word(f), self._cell(kind, key, f)) for f in kind.fields]
        lines = [f"{label}: {value}" for label, value in shown]
        widgets = [
            self._field(kind, f, self.form.get(f, self.get(kind.table, key, f))) for f in kind.edit
        ]
        buttons = [*kind.buttons, *([kind.save] if kind.edit else [])]
        widgets += [self._button(button) for button in buttons]
        answers: tuple[str, ...] = ()
        if self.question == "value":
            answers = tuple(value for _, value in shown)
            answers += tuple(v for f in kind.edit if (v := self._cell(kind, key, f)))
        path = f"admin/{kind.path}/edit/id/{number}/"
        return self._page(self.word(kind.one) + name, path, lines, widgets, answers)

    def _new(self, kind: Kind) -> View:
        widgets = [self._field(kind, f, self.form.get(f, "")) for f in kind.new]
        widgets.append(self._button(kind.save))
        title = self.word("New {}").format(self.word(kind.one))
        return self._page(title, f"admin/{kind.path}/new/", (), widgets, ())

    def _page(
        self,
        title: str,
        path: str,
        lines: Sequence[str],
        widgets: Sequence[Widget],
        answers: Sequence[str],
    ) -> View:
        """A page below the dashboard."""
        menu = self._link("Menu", Address())
        return View(
            title,
            path,
            tuple(lines),
            (*self._alerts(), menu, *widgets),
            tuple(dict.fromkeys(answers)),
            above(self.at),
        )

    def _alerts(self) -> list[Widget]:
        """What was changed so far; it stands on each page, as nothing else tells of it."""
        return [Widget("alert", note) for note in self.notes]

    def _cell(self, kind: Kind, key: str, name: str) -> str:
        return self.word(self.get(kind.table, key, name))

    def _link(self, label: str, to: Address) -> Widget:
        return Widget("link", self.word(label), uses=(("click", (), Go(to)),))

    def _button(self, label: str) -> Widget:
        return Widget("button", self.word(label), uses=(("click", (), Press(label)),))

    def _field(self, kind: Kind, name: str, value: str) -> Widget:
        if name in kind.options:
            return self._choice(kind, name, value)
        uses = tuple(("fill", (self.word(text),), Put(name, text)) for text in self.typed)
        return Widget("textbox", self.word(name), self.word(value), uses)

    def _choice(self, kind: Kind, name: str, value: str) -> Widget:
        uses = tuple(
            ("select", (self.word(option),), Put(name, option))
            for option in kind.options[name]
            if option != value
        )
        return Widget("combobox", self.word(name), self.word(value), uses)

    def _press(self, kind: Kind, button: str) -> None:
        """Change the shop as a button says."""
        if self.at.what == "list":
            self.edits[kind.name, "*", button] = "Done"
            self.notes.append(f"{self.word(kind.label)}: {self.word(button)}")
            return
        key = self.at.key if self.at.what == "record" else "+"
        changes = dict([kind.buttons[button]]) if button in kind.buttons else self.form
        for name, value in changes.items():
            before: Record = self.shop[kind.table].get(key, {})
            if before.get(name, "") == value:
                self.edits.pop((kind.table, key, name), None)
            else:
                self.edits[kind.table, key, name] = value
                title = self.view().title
                self.notes.append(f"{title}: {self.word(name)} = {self.word(value)}")
        self.form = {}


def pages(shop: Shop) -> Iterator[Address]:
    """One address of each kind of page."""
    yield Address()
    for section, names in SECTIONS.items():
        yield Address("section", section)
        for kind in (KINDS[name] for name in names):
            if not kind.single:
                yield Address("list", kind.name)
            if kind.one:
                yield Address("record", kind.name, next(iter(shop[kind.name])))
            if kind.new:
                yield Address("new", kind.name)


def _opened(kind: Kind) -> bool:
    """Whether the list's records have pages of their own."""
    return bool(KINDS[kind.table].one)


def front(kind: Kind) -> Address:
    """Where the menu leads for a kind."""
    return Address("record", kind.name, "Default") if kind.single else Address("list", kind.name)


def above(at: Address) -> Address:
    """The page that a page is reached from."""
    if at.what == "section":
        return Address()
    if at.what == "list" or KINDS[at.name].single:
        return Address("section", section_of(KINDS[at.name]))
    return Address("list", at.name)
