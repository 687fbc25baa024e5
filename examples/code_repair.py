"""The world of the coding examples: broken functions, their tests, tools, and a model of habits.

Nothing here knows of a memory. ``habit`` stands for a frozen language model: it reads the code,
then mostly suspects the end of a loop, and runs the tests. Run alone, this file prints how often
that mends a function.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Literal

import jitrl

How = Literal["include the end", "allow equality", "strip the text"]
EDITS: dict[str, tuple[str, str]] = {
    "include the end": ("len(xs) - 1", "len(xs)"),
    "allow equality": ("> 18", ">= 18"),
    "strip the text": ("name in", "name.strip() in"),
}
BROKEN: dict[str, tuple[str, list[tuple[str, object]]]] = {
    "The sum is too small.": (
        "def total(xs):\n    return sum(xs[i] for i in range(len(xs) - 1))\n",
        [("total([1, 2, 3])", 6), ("total([])", 0)],
    ),
    "People of eighteen are refused.": (
        "def is_adult(age):\n    return age > 18\n",
        [("is_adult(18)", True), ("is_adult(17)", False)],
    ),
    "Names with blanks are not found.": (
        "def is_known(name, names):\n    return name in names\n",
        [("is_known(' Ann', ['Ann'])", True), ("is_known('Bob', ['Ann'])", False)],
    ),
}
SCHEMAS: dict[str, Any] = {
    "read_code": {"type": "object", "properties": {}},
    "edit": {
        "type": "object",
        "properties": {"how": {"type": "string", "enum": list(EDITS)}},
        "required": ["how"],
    },
    "run_tests": {"type": "object", "properties": {}},
}


class Workshop:
    """One broken function at a time; ``name`` tells runs apart."""

    def __init__(self) -> None:
        self.chance = random.Random(0)
        self.name, self.code, self._report = "", "", ""

    def begin(self, report: str, number: int, seed: int) -> str:
        """Somebody reports a fault; the report is returned."""
        self.name = f"{seed}-{number}-{list(BROKEN).index(report)}"
        self.chance = random.Random(self.name)
        self.code, self._report = BROKEN[report][0], report
        return report

    def read_code(self) -> str:
        """Read the function."""
        return self.code

    def edit(self, how: How) -> str:
        """Change the function in one way."""
        before, after = EDITS[how]
        changed = self.code.replace(before, after)
        if after in self.code or changed == self.code:
            return "there was nothing to change"
        self.code = changed
        return "changed"

    def run_tests(self) -> str:
        """Run the tests of the function."""
        world: dict[str, Any] = {}
        exec(self.code, world)
        tests = BROKEN[self._report][1]
        failed = [call for call, wanted in tests if eval(call, world) != wanted]
        return f"failed: {', '.join(failed)}" if failed else "all tests passed"

    @property
    def is_mended(self) -> bool:
        """The outcome: whether the tests pass."""
        return self.run_tests() == "all tests passed"

    def habit(self, used: list[str], forced: str = "") -> tuple[str, dict[str, str]] | None:
        """What the frozen model calls after the tools it ``used``; ``None``: it answers."""
        if forced == "none" or (not forced and "run_tests" in used):
            return None
        order = ["read_code", "edit", "run_tests"]
        tool = forced or next(name for name in order if name not in used)
        if tool != "edit":
            return tool, {}
        usual = self.chance.random() < 0.8
        return tool, {"how": "include the end" if usual else self.chance.choice(list(EDITS))}


Work = Callable[[str], None]
Make = Callable[[jitrl.JitRL, Workshop], AbstractContextManager[Work]]
"""A memory and a workshop make what works on one text, while a block lasts."""


def compare(make: Make, rounds: int = 6) -> None:
    """Mend all functions round by round, by three seeds, without and with memory; print both."""
    alone, learned = (played(make, mode, rounds) for mode in ("off", "act"))
    print(f"of {3 * len(BROKEN)} functions a round, those whose tests pass in the end:")
    for number, pair in enumerate(zip(alone, learned, strict=True), 1):
        print(f"round {number}: {pair[0]} without memory, {pair[1]} with it")


def played(
    make: Make,
    mode: Literal["off", "act"],
    rounds: int,
) -> list[int]:
    """Functions mended in each round, of three seeds together."""
    mended = [0] * rounds
    for seed in range(3):
        workshop = Workshop()
        with (
            jitrl.open(":memory:", seed=seed, mode=mode) as memory,
            make(memory, workshop) as work,
        ):
            for number in range(rounds):
                for report in BROKEN:
                    work(workshop.begin(report, number, seed))
                    mended[number] += workshop.is_mended
    return mended


@contextmanager
def unaided(memory: jitrl.JitRL, workshop: Workshop) -> Iterator[Work]:
    """The habit by itself."""

    def work(report: str) -> None:
        used: list[str] = []
        while (call := workshop.habit(used)) is not None:
            getattr(workshop, call[0])(**call[1])
            used.append(call[0])

    yield work


if __name__ == "__main__":
    print("the habit alone mends, of 9 functions a round:", *played(unaided, "off", 8))
