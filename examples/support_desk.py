"""The world of the support examples: tickets, tools, an order-state check, and a model of habits.

Nothing here knows of a memory. ``habit`` stands for a frozen language model: it looks at the order
first, then explains most complaints away, whatever the order says. Run alone, this file prints how
often that is right.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Literal

import jitrl

How = Literal["refund", "resend", "explain"]
TICKETS: dict[str, tuple[str, How]] = {
    "My parcel {} never came.": ("lost on its way", "resend"),
    "You charged me twice for {}.": ("paid twice", "refund"),
    "When will {} be here?": ("on its way, due tomorrow", "explain"),
}
SCHEMAS = {
    "get_order": {
        "type": "object",
        "properties": {"order": {"type": "string"}},
        "required": ["order"],
    },
    "settle": {
        "type": "object",
        "properties": {
            "order": {"type": "string"},
            "how": {"type": "string", "enum": ["refund", "resend", "explain"]},
        },
        "required": ["order", "how"],
    },
}


class Desk:
    """One ticket at a time, and the order it is about; ``name`` tells runs apart."""

    def __init__(self) -> None:
        self.chance = random.Random(0)
        self.name, self.order, self.settled, self._kind = "", "", "", ""

    def begin(self, kind: str, number: int, seed: int) -> str:
        """A customer writes; what they write is returned."""
        self.name = f"{seed}-{number}-{list(TICKETS).index(kind)}"
        self.chance = random.Random(self.name)
        self.order, self.settled, self._kind = f"A-{1000 + 7 * number + seed}", "", kind
        return kind.format(self.order)

    def get_order(self, order: str) -> str:
        """Look up an order."""
        return (
            f"Order {order}: {TICKETS[self._kind][0]}." if order == self.order else "no such order"
        )

    def settle(self, order: str, how: How) -> str:
        """Settle a complaint about an order; the first time counts."""
        self.settled = self.settled or how
        return f"The order is settled: {self.settled}."

    @property
    def is_right(self) -> bool:
        """The check: whether the order is in the state that it should be in."""
        return self.settled == TICKETS[self._kind][1]

    def habit(self, used: list[str], forced: str = "") -> tuple[str, dict[str, str]] | None:
        """What the frozen model calls after the tools it ``used``; ``None``: it answers."""
        if forced == "none" or (not forced and "settle" in used):
            return None
        tool = forced or ("settle" if "get_order" in used else "get_order")
        if tool == "get_order":
            return tool, {"order": self.order}
        how = "explain" if self.chance.random() < 0.8 else self.chance.choice(["refund", "resend"])
        return tool, {"order": self.order, "how": how}


Work = Callable[[str], None]
Make = Callable[[jitrl.JitRL, Desk], AbstractContextManager[Work]]
"""A memory and a desk make what works on one text, while a block lasts."""


def compare(make: Make, rounds: int = 6) -> None:
    """Play all tickets round by round, by three seeds, without and with memory; print both."""
    alone, learned = (played(make, mode, rounds) for mode in ("off", "act"))
    print(f"of {3 * len(TICKETS)} tickets a round, settled as they should be:")
    for number, pair in enumerate(zip(alone, learned, strict=True), 1):
        print(f"round {number}: {pair[0]} without memory, {pair[1]} with it")


def played(
    make: Make,
    mode: Literal["off", "act"],
    rounds: int,
) -> list[int]:
    """Tickets settled rightly in each round, of three seeds together."""
    right = [0] * rounds
    for seed in range(3):
        desk = Desk()
        with (
            jitrl.open(":memory:", seed=seed, mode=mode) as memory,
            make(memory, desk) as work,
        ):
            for number in range(rounds):
                for kind in TICKETS:
                    work(desk.begin(kind, number, seed))
                    right[number] += desk.is_right
    return right


def kept(make: Make, file: str, rounds: int = 20) -> None:
    """Play all tickets round by round into a new memory file, a fifth of them without memory."""
    if Path(file).exists():
        sys.exit(f"{file} is there already; name a new file")
    desk = Desk()
    with jitrl.open(file, holdout=0.2) as memory, make(memory, desk) as work:
        for number in range(rounds):
            for kind in TICKETS:
                work(desk.begin(kind, number, 0))
    print(f"{rounds * len(TICKETS)} tickets are in {file}; to see them: jitrl ui {file}")


@contextmanager
def unaided(memory: jitrl.JitRL, desk: Desk) -> Iterator[Work]:
    """The habit by itself."""

    def work(text: str) -> None:
        used: list[str] = []
        while (call := desk.habit(used)) is not None:
            getattr(desk, call[0])(**call[1])
            used.append(call[0])

    yield work


if __name__ == "__main__":
    print("the habit alone settles rightly, of 9 tickets a round:", *played(unaided, "off", 8))
