"""What an episode taught is learned before the next decision of its scope would wait for it."""

import time

from jitrl.service.desk import Desk

WANTED = ("refund", "cancel", "return", "track", "send")


def lived(desk, number):
    """An episode that solved a task of its own."""
    desk.episodes.start(f"{WANTED[number % 5]} the order {number}", key=f"{number}")
    for page, actions in (("home", ("orders", "help")), ("orders", WANTED)):
        done = actions[number % 5] if page == "orders" else actions[0]
        desk.episodes.decide(f"{number}", page, {a: float(a == done) for a in actions})
    desk.episodes.outcome(f"{number}", True, basis="test", is_trusted=True)


def test_lessons_are_fitted_though_nobody_asks_for_a_decision(tmp_path):
    with Desk(tmp_path / "a.db") as desk:
        for number in range(12):
            lived(desk, number)
        view, until = desk.memory.agent.view(""), time.monotonic() + 20.0
        while time.monotonic() < until and (view.version < desk.lookup.head() or view.is_fit_due):
            time.sleep(0.01)
        assert view.version == desk.lookup.head()
        assert not view.is_fit_due
        assert view.lessons.fit() is not None
