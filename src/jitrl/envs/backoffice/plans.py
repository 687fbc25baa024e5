"""How a task is solved, from wherever in the site one is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from jitrl.envs.backoffice.kinds import Kind
from jitrl.envs.backoffice.site import (
    ROWS,
    Address,
    Answer,
    Edit,
    Effect,
    Go,
    Press,
    Put,
    Session,
    above,
    front,
)
from jitrl.envs.backoffice.spec import KINDS, section_of


@dataclass(frozen=True, slots=True)
class Plan:
    """One thing to do: a list, perhaps a record of it, and what to do there.

    Without a button and an answer it is enough to get there.

    Attributes:
        kind: Name of the list's kind.
        key: The record to open; ``+`` for a new one, "" for none, ``*`` for all of the list.
        find: Text to search for and filter to choose, by field.
        form: Values to fill in on the record's page.
        button: Button to press there; "" if the plan ends with an answer.
        answer: The answer, in English; "" if none is asked for.
    """

    kind: str
    key: str = ""
    find: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)
    button: str = ""
    answer: str = ""

    @property
    def edits(self) -> Mapping[Edit, str]:
        """The changes of the shop that this makes."""
        if not self.button:
            return {}
        kind = KINDS[KINDS[self.kind].table]
        if self.key == "*":
            return {(kind.name, "*", self.button): "Done"}
        changes = dict([kind.buttons[self.button]]) if self.button in kind.buttons else self.form
        return {(kind.name, self.key, name): value for name, value in changes.items()}

    def arrived(self, session: Session) -> bool:
        """Whether the page that the plan is about is shown, with just what it is to be found by."""
        if session.at != self._goal(KINDS[self.kind]):
            return False
        form = {name: value for name, value in session.form.items() if name != "Page"}
        return session.at.what != "list" or form == self.find

    def step(self, session: Session) -> Effect:
        """What to do next on the present page."""
        at, kind = session.at, KINDS[self.kind]
        if at == self._goal(kind):
            return self._work(session)
        if at == Address("list", kind.name):
            return self._look(session, kind)
        if at == Address("section", section_of(kind)):
            return Go(front(kind))
        if at == Address():
            return Go(Address("section", section_of(kind)))
        up = above(at)
        return Go(up if up == Address("list", kind.name) else Address())

    def _goal(self, kind: Kind) -> Address:
        """The page on which the work is done."""
        if self.key == "+":
            return Address("new", kind.name)
        if self.key and self.key != "*":
            return Address("record", kind.table, self.key)
        return Address("list", kind.name)

    def _look(self, session: Session, kind: Kind) -> Effect:
        """Narrow the list, turn its pages, open what is sought."""
        if self.key == "+":
            return Go(self._goal(kind))
        wrong = session.form.keys() - self.find.keys() - {"Page"}
        if wrong:
            return Go(above(session.at))
        for name, value in self.find.items():
            if session.form.get(name) != value:
                return Put(name, value)
        page = int(session.form.get("Page", "1"))
        if self.key == "*":
            return Press(self.button)
        if not self.key:
            if session.word(self.answer) in session.view().answers:
                return Answer(session.word(self.answer))
        elif self.key in session.matches(kind)[(page - 1) * ROWS : page * ROWS]:
            return Go(self._goal(kind))
        if page * ROWS >= len(session.matches(kind)):  # it is on a page before this one
            return Go(above(session.at))
        return Put("Page", str(page + 1))

    def _work(self, session: Session) -> Effect:
        """Fill in, then press the button or answer."""
        if session.at.what == "list":
            return self._look(session, KINDS[self.kind])
        if session.form.keys() - self.form.keys():
            return Go(above(session.at))
        for name, value in self.form.items():
            if session.form.get(name) != value:
                return Put(name, value)
        return Press(self.button) if self.button else Answer(session.word(self.answer))
