"""Precedents: what is brought up to date for a fit is what would be read anew."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from jitrl.core.features import SiteMap
from jitrl.core.transfer import Block
from jitrl.memory.paths import Path
from jitrl.memory.precedents import Precedent
from jitrl.ports import Asked, Outline
from jitrl.types import Candidate, State

GO, CART, ORDERS = "click(<link[Shop]>)", "click(<link[Cart]>)", "click(<link[My orders]>)"
ALL = (GO, CART, ORDERS)
OUTLINE = Outline(
    "one",
    "open my orders",
    {},
    tuple(
        Asked(
            State("page", "open my orders", page),
            action,
            tuple(Candidate(a, float(i)) for i, a in enumerate(ALL)),
        )
        for page, action in (("home", GO), ("shop", ORDERS))
    ),
)
PATH = Path("one", 1.0, (0, 1))
NOWHERE = SiteMap({}, {})
SITE = SiteMap({("home", GO): "shop"}, {"home": {GO}, "shop": {ORDERS, CART}})


def precedent() -> Precedent:
    return Precedent(OUTLINE, PATH, {}, 1.0)


def content(block: Block) -> Any:
    arrays = (block.lines, block.columns, block.values, block.starts, block.chosen, block.z)
    return block.names, [array.tolist() for array in arrays]


@pytest.mark.parametrize(
    ("site", "telling"),
    [
        (NOWHERE, {"open": 1.0, "my": 0.5, "orders": 0.25}),
        (SITE, {"open": 1.0, "my": 0.5, "orders": 1.0}),
        (NOWHERE, {"open": 0.0, "my": 0.5, "orders": 1.0}),
        (NOWHERE, {"open": 1.0, "my": 0.0, "orders": 1.0}),
    ],
)
def test_what_is_brought_up_to_date_is_what_would_be_read_anew(
    site: SiteMap, telling: Mapping[str, float]
) -> None:
    kept = precedent()
    first = kept.block(NOWHERE, lambda token: 1.0)
    before = content(first)
    again = kept.block(site, telling.__getitem__)
    assert content(again) == content(precedent().block(site, telling.__getitem__))
    assert content(again) == content(Block(precedent().choices(site, telling.__getitem__)))
    assert content(first) == before != content(again)
    assert content(kept.block(NOWHERE, lambda token: 1.0)) == before


def test_what_did_not_change_is_not_made_again() -> None:
    kept = precedent()
    assert kept.block(SITE, lambda token: 1.0) is kept.block(SITE, lambda token: 1.0)


def test_the_steps_of_a_path_are_choices_among_what_was_offered() -> None:
    found = precedent().choices(SITE, lambda token: 1.0)
    assert [choice.chosen for choice in found] == [0, 2]
    assert [len(choice.features) for choice in found] == [3, 3]
    assert np.exp(found[0].z).sum() == pytest.approx(1.0)
    assert found[0].features[0]["ahead",] > 0.0
