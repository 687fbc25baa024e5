"""Instances of tasks: the values a goal names, and the plans that fulfil it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from random import Random

from jitrl.envs.backoffice.data import Record, Shop
from jitrl.envs.backoffice.plans import Plan
from jitrl.envs.backoffice.site import ROWS
from jitrl.envs.backoffice.spec import KINDS


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.split(";"))


NOTES = _listed(
    "Please call back;Sold out soon;Left at the door;Gift wrap it;Paid by phone;Wrong address;"
    "Ships on Monday;Second parcel;Fragile;Call first;Checked twice;No invoice"
)
TITLES = _listed(
    "Our Story;Good to Know;Read This First;Help Center;Team;House Rules;All Details;Short Guide;"
    "Service;Questions"
)
GROUPS = _listed("VIP;Press;Students;Partners;Staff;Club;Testers;Schools;Clinics;Guests")
CODES = _listed("SPRING;FALL;SUNNY;LUCKY;HELLO;BYE;EXTRA;SMALL;BIG;WOW")


@dataclass(frozen=True, slots=True)
class Draft:
    """One instance: the values its goal names, and the plans that fulfil it, in order.

    Attributes:
        spoken: The values are part of the wording: nothing that one would type.
    """

    values: Mapping[str, str]
    plans: tuple[Plan, ...]
    spoken: bool = False

    @property
    def typed(self) -> tuple[str, ...]:
        """The values that can be typed into a text field."""
        return () if self.spoken else tuple(self.values.values())


Drafts = Callable[[Shop, Random], Iterator[Draft]]
"""All instances in a shop, in an order drawn by the generator."""


def _each(shop: Shop, rng: Random, table: str, **where: str) -> Iterator[tuple[str, Record]]:
    """Records of a table in random order."""
    records = list(shop[table].items())
    rng.shuffle(records)
    for key, record in records:
        if all(record[name] == value for name, value in where.items()):
            yield key, record


def ask(table: str, field: str, name: str) -> Drafts:
    """Read a field on a record's page; the goal names the record as ``name``."""

    def drafts(shop: Shop, rng: Random) -> Iterator[Draft]:
        for key, record in _each(shop, rng, table):
            plan = Plan(table, key, {"Search": key}, answer=record[field])
            yield Draft({name: key}, (plan,))

    return drafts


def ask_list(kind: str, field: str, name: str) -> Drafts:
    """Read a cell of a list."""

    def drafts(shop: Shop, rng: Random) -> Iterator[Draft]:
        for key, record in _each(shop, rng, kind):
            yield Draft({name: key}, (Plan(kind, answer=record[field]),))

    return drafts


def first(kind: str, field: str, options: Sequence[str]) -> Drafts:
    """Name the first record of a list that is narrowed by a filter."""

    def drafts(shop: Shop, rng: Random) -> Iterator[Draft]:
        for option in rng.sample(options, len(options)):
            top = next(r for r in shop[kind].values() if r[field] == option)
            plan = Plan(kind, find={field: option}, answer=top["Product"])
            yield Draft({field.lower(): option}, (plan,))

    return drafts


def count(table: str, field: str, options: Sequence[str]) -> Drafts:
    """Count the records of a list that is narrowed by a filter."""

    def drafts(shop: Shop, rng: Random) -> Iterator[Draft]:
        for option in rng.sample(options, len(options)):
            n = sum(record[field] == option for record in shop[table].values())
            plan = Plan(table, find={field: option}, answer=str(n))
            yield Draft({field.lower(): option}, (plan,))

    return drafts


def count_of(table: str, owner: str, field: str, options: Sequence[str]) -> Drafts:
    """Count what one owner has in one state: search and filter."""

    def drafts(shop: Shop, rng: Random) -> Iterator[Draft]:
        records = shop[table].values()
        pairs = sorted({(record[owner], record[field]) for record in records})
        rng.shuffle(pairs)
        for whose, option in pairs:
            n = sum((r[owner], r[field]) == (whose, option) for r in records)
            plan = Plan(table, find={"Search": whose, field: option}, answer=str(n))
            yield Draft({owner.lower(): whose, field.lower(): option}, (plan,))

    return drafts


def press(table: str, button: str, name: str, **where: str) -> Drafts:
    """Press a button on a record's page."""

    def drafts(shop: Shop, rng: Random) -> Iterator[Draft]:
        for key, _ in _each(shop, rng, table, **where):
            yield Draft({name: key}, (Plan(table, key, {"Search": key}, button=button),))

    return drafts


def choose(table: str, field: str, option: str, name: str, **where: str) -> Drafts:
    """Choose an option on a record's page and save."""

    def drafts(shop: Shop, rng: Random) -> Iterator[Draft]:
        for key, record in _each(shop, rng, table, **where):
            if record[field] != option:
                plan = Plan(table, key, {"Search": key}, {field: option}, "Save")
                yield Draft({name: key}, (plan,))

    return drafts


def write(
    table: str, field: str, name: str, texts: Callable[[Random], str], button: str = "Save"
) -> Drafts:
    """Type a text on a record's page and save; the goal names it as ``text``."""

    def drafts(shop: Shop, rng: Random) -> Iterator[Draft]:
        for key, record in _each(shop, rng, table):
            text = texts(rng)
            if text != record.get(field):
                plan = Plan(table, key, {"Search": key}, {field: text}, button)
                yield Draft({name: key, "text": text}, (plan,))

    return drafts


def make(table: str, field: str, name: str, texts: Sequence[str], **more: str) -> Drafts:
    """Fill in the form for a new record and save."""

    def drafts(shop: Shop, rng: Random) -> Iterator[Draft]:
        for text in rng.sample(texts, len(texts)):
            values = {name: text}
            form = {field: text}
            for other, kind in more.items():
                drawn = f"{rng.randrange(15, 90)}" if kind == "number" else kind
                form[other] = drawn
                values |= {other.lower(): drawn} if kind == "number" else {}
            yield Draft(values, (Plan(table, "+", form=form, button="Save"),))

    return drafts


def config(field: str, texts: Callable[[Random], str]) -> Drafts:
    """Set a field of the configuration."""

    def drafts(shop: Shop, rng: Random) -> Iterator[Draft]:
        for _ in range(12):
            text = texts(rng)
            plan = Plan("config", "Default", form={field: text}, button="Save")
            yield Draft({"text": text}, (plan,))

    return drafts


def hold_two(shop: Shop, rng: Random) -> Iterator[Draft]:
    """Put two orders on hold that stand on the first page of the list."""
    pairs = list(permutations(list(shop["order"])[:ROWS], 2))
    rng.shuffle(pairs)
    for pair in pairs:
        plans = tuple(Plan("order", key, button="Hold") for key in pair)
        yield Draft(dict(zip(("order", "other"), pair, strict=True)), plans)


def restock(shop: Shop, rng: Random) -> Iterator[Draft]:
    """Set two fields of a product with one save."""
    for key, _ in _each(shop, rng, "product"):
        cost, quantity = price(rng), str(rng.randrange(201, 400))
        form = {"Price": cost, "Quantity": quantity}
        plan = Plan("product", key, {"Search": key}, form, "Save")
        yield Draft({"product": key, "price": cost, "quantity": quantity}, (plan,))


def approve(shop: Shop, rng: Random) -> Iterator[Draft]:
    """Approve a review that is waiting; it is listed apart from the others."""
    for key, record in _each(shop, rng, "review", Status="Pending"):
        plan = Plan("pending", key, form={"Status": "Approved"}, button="Save")
        values = {"nickname": record["Nickname"], "product": record["Product"]}
        yield Draft(values, (plan,))


def delete_review(shop: Shop, rng: Random) -> Iterator[Draft]:
    for key, record in _each(shop, rng, "review"):
        plan = Plan("review", key, {"Search": record["Nickname"]}, button="Delete")
        values = {"nickname": record["Nickname"], "product": record["Product"]}
        yield Draft(values, (plan,))


def price(rng: Random) -> str:
    return f"{rng.randrange(151, 300)}.00"


def phone(rng: Random) -> str:
    return f"777-{rng.randrange(1000, 9999)}"


def mail(rng: Random) -> str:
    return f"{rng.choice(('hello', 'office', 'team'))}{rng.randrange(100, 999)}@shop.test"


def number(low: int, high: int) -> Callable[[Random], str]:
    return lambda rng: str(rng.randrange(low, high))


def of(texts: Sequence[str]) -> Callable[[Random], str]:
    return lambda rng: rng.choice(texts)


def find(kinds: Mapping[str, str]) -> Drafts:
    """Find the list that a phrase describes."""

    def drafts(shop: Shop, rng: Random) -> Iterator[Draft]:
        for kind, phrase in rng.sample(list(kinds.items()), len(kinds)):
            key = "Default" if KINDS[kind].single else ""
            yield Draft({"what": phrase}, (Plan(kind, key),), spoken=True)

    return drafts


def run(buttons: Mapping[tuple[str, str], str]) -> Drafts:
    """Press a button of a list that a phrase describes."""

    def drafts(shop: Shop, rng: Random) -> Iterator[Draft]:
        for (kind, button), phrase in rng.sample(list(buttons.items()), len(buttons)):
            yield Draft({"what": phrase}, (Plan(kind, "*", button=button),), spoken=True)

    return drafts


def narrow(lists: Mapping[str, tuple[str, Sequence[str]]]) -> Drafts:
    """Show the part of a list that a filter leaves; the goal names the list and the option."""

    def drafts(shop: Shop, rng: Random) -> Iterator[Draft]:
        cases = [(k, f, option) for k, (f, options) in lists.items() for option in options]
        for kind, field, option in rng.sample(cases, len(cases)):
            values = {"what": KINDS[kind].label, "option": option}
            yield Draft(values, (Plan(kind, find={field: option}),), spoken=True)

    return drafts


def open_record(tables: Sequence[str]) -> Drafts:
    """Open a record's page."""

    def drafts(shop: Shop, rng: Random) -> Iterator[Draft]:
        cases = [(table, key) for table in tables for key in shop[table]]
        for table, key in rng.sample(cases, len(cases)):
            plan = Plan(table, key, {"Search": key})
            yield Draft({"kind": KINDS[table].one, "record": key}, (plan,))

    return drafts
