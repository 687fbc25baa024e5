"""A support desk that learns what to do with a ticket: a memory with all that the pages show."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import jitrl

SCOPE = "support"
_TICKETS = ("late parcel", "wrong size", "broken lamp", "double charge", "lost parcel", "voucher")
_FIRST = ("look_up(order)", "ask(order number)", "refund(order)")
_LAST = ("refund(order)", "send(replacement)", "apologize()")


def desk(path: Path, episodes: int = 60) -> Path:
    """Make the memory file.

    A right first step is to look the order up; the right last one depends on the ticket. The
    made-up model prefers other ones. A fifth of the episodes is held out, some have no outcome,
    the third has a history of them, and the sixth is in quarantine.
    """
    rng = np.random.default_rng(7)
    with jitrl.open(path, holdout=0.2) as memory:
        for n in range(episodes):
            kind = n % len(_TICKETS)
            ticket = f"Ticket: {_TICKETS[kind]}\norder state: delivered\nage: {1 + n % 3} days"
            task = f"desk:{_TICKETS[kind].replace(' ', '-')}"
            with memory.episode(task, scope=SCOPE, key=f"ticket-{n + 1:04}") as episode:
                wish = {a: float(rng.normal(0.9 * (a == _FIRST[2]), 0.6)) for a in _FIRST}
                is_right = episode.decide(ticket, wish, scorer="sequence").action == _FIRST[0]
                if is_right:
                    seen = f"{ticket}\npayment settled, parcel {'lost' if kind % 3 else 'found'}"
                    wish = {a: float(rng.normal(0.9 * (a == _LAST[2]), 0.6)) for a in _LAST}
                    last = episode.decide(seen, wish, scorer="sequence").action
                    is_right = last == _LAST[kind % 3]
                if n % 23 == 7:
                    episode.finish()
                else:
                    basis = "user_feedback" if n % 4 == 3 else "state_check"
                    episode.finish(is_right, basis=basis, principal=f"agent-{n % 3}")
        memory.outcome("ticket-0003", True, basis="human", principal="ann")
        memory.outcome("ticket-0003", None, principal="ann")
        memory.outcome("ticket-0003", False, basis="human", principal="ann")
        memory.quarantine(episodes=["ticket-0006"], reason="a test account", principal="ann")
    return path
