"""Ways that several tasks share, from the first page to where the work is done."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from jitrl.envs.shop.templates import Step, button, fill, link

T = TypeVar("T")


def shuffled(rng: Random, records: Sequence[T]) -> list[T]:
    """The records in random order."""
    return rng.sample(records, len(records))


def to_order(number: str) -> tuple[Step, ...]:
    """From the dashboard to the page of an order, which a search for its number opens."""
    return (
        button("Fulfilment"),
        link("Orders"),
        fill("{Order number}: {Order number}", number),
        button("Search"),
    )


def to_product(title: str) -> tuple[Step, ...]:
    """From the dashboard to the form of a product."""
    return (*find_product(title), link(title, said=False))


def find_product(title: str) -> tuple[Step, ...]:
    """From the dashboard to the list of products, narrowed to one."""
    return (
        button("Catalogue"),
        link("Products"),
        fill("{Product title}:", title),
        button("Search"),
    )


def find_review(customer: str) -> tuple[Step, ...]:
    """From the dashboard to the reviews of one customer."""
    return (
        button("Content"),
        link("Reviews"),
        fill("{Customer name}:", customer),
        button("Search"),
    )


def search(title: str) -> tuple[Step, ...]:
    """From the shop's front to what it finds for a title."""
    return (fill("Search", title), button("Search"))


def to_page(title: str) -> tuple[Step, ...]:
    """From the shop's front to the page of a product."""
    return (*search(title), link(title, said=False))
