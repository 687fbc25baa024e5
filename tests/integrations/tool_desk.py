"""A support desk for tests: a lost parcel is to be sent again; the habit is to refund it."""

from jitrl.integrations.tools import Call

TASK = "Parcel A-17 is lost."
KIND = "Parcel <id> is lost."  # what the memory makes of it
LOST = "lost on its way"
ANSWERED = "All is settled."
SCHEMAS = {
    "look": {"properties": {"order": {"type": "string"}}, "required": ["order"]},
    "settle": {
        "properties": {
            "order": {"type": "string"},
            "how": {"type": "string", "enum": ["refund", "resend"]},
        },
        "required": ["order", "how"],
    },
}
REFUND, RESEND = (f'settle(how="{how}", order: string)' for how in ("refund", "resend"))


class Desk:
    """What the tools do; ``settled`` is how the order was settled first."""

    def __init__(self):
        self.settled = ""

    def settle(self, how):
        self.settled = self.settled or how
        return f"settled: {how}"

    def call(self, tool, arguments):
        return LOST if tool == "look" else self.settle(arguments["how"])

    @property
    def is_solved(self):
        return self.settled == "resend"


def habit(used, forced=None):
    """The call that a frozen model makes; ``None``: it answers in words.

    Args:
        used: Tools that were used so far.
        forced: The tool that it must call, or "none".
    """
    if forced == "none" or (not forced and "settle" in used):
        return None
    name = forced or ("settle" if "look" in used else "look")
    return Call(name, {"order": "A-17"} if name == "look" else {"order": "A-17", "how": "refund"})


def rounds(guide, desk, run, count=12, **finish):
    """Whether each of ``count`` episodes solved the task."""
    solved = []
    for number in range(count):
        desk.__init__()
        with guide.episode("lost parcel", key=f"round-{number}") as episode:
            run()
            episode.finish(outcome=desk.is_solved, **{"basis": "state_check", **finish})
        assert not episode.degraded
        solved.append(desk.is_solved)
    return solved
