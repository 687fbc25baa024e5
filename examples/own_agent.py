"""An agent of your own with a memory: a support desk whose frozen model prefers help pages.

Run it twice: what it learned is in ``support.db``. ``llm`` and ``Desk`` stand for what you have;
the lines from ``jitrl.open`` to ``finish`` are all that was added.
"""

import math
import os
from typing import Literal

import jitrl

TICKETS = {
    "I was charged twice": "refund order",
    "Where is my parcel?": "track parcel",
    "I cannot log in": "reset password",
    "How do I print a label?": "send help page",
}


def llm(ticket: str, screen: str) -> dict[str, float]:
    """Your frozen model: a confidence from 0 to 100 for each tool that it finds plausible."""
    if screen == "inbox":
        return {"send help page": 80.0, "look up customer": 50.0, "close ticket": 10.0}
    return {"send help page": 80.0, "refund order": 40.0, "track parcel": 30, "reset password": 20}


class Desk:
    """Your world: a ticket is looked into, then one tool settles it, or does not."""

    def __init__(self, ticket: str) -> None:
        self.ticket, self.screen = ticket, "inbox"
        self.is_open, self.is_solved = True, False

    def use(self, tool: str) -> None:
        """Use one tool."""
        if tool == "look up customer":
            self.screen = "customer"
        else:
            self.is_open, self.is_solved = False, tool == TICKETS[self.ticket]


def logit(confidence: float) -> float:
    """A stated confidence on the scale on which corrections are made."""
    p = min(max(confidence / 100, 0.02), 0.98)
    return math.log(p / (1 - p))


def rounds(
    path: str | os.PathLike[str], count: int, mode: Literal["off", "shadow", "act"] = "act"
) -> list[int]:
    """Tickets solved in each of ``count`` rounds through all of them."""
    solved = []
    with jitrl.open(path, mode=mode) as agent:
        for _ in range(count):
            solved.append(0)
            for ticket in TICKETS:
                desk = Desk(ticket)
                with agent.episode(ticket, scope="support") as episode:
                    while desk.is_open:
                        scores = {tool: logit(c) for tool, c in llm(ticket, desk.screen).items()}
                        state = jitrl.State(desk.screen, context=ticket)
                        desk.use(episode.decide(state, scores).action)
                    episode.finish(outcome=desk.is_solved, basis="state_check")
                solved[-1] += desk.is_solved
    return solved


if __name__ == "__main__":
    for number, count in enumerate(rounds("support.db", 8), 1):
        print(f"round {number}: {count} of {len(TICKETS)} tickets solved")
