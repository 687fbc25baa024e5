"""Where the pages of the made memories and runs are: one address for each view, and some more."""

from jitrl.core.sentences import rule_id

RULE = "When you see protocol0 stage0, take push0"
"""A rule that somebody added to the run with rules, beside one that says the opposite."""
OPPOSITE = RULE.replace("take", "do not take")

PLACES = {
    "curve": "/p/jitrl/curve",
    "curve of a memory": "/p/support.db/curve",
    "decisions": "/p/support.db/decisions",
    "decision": "/p/support.db/decision?id=ticket-0060%230",
    "episodes": "/p/support.db/episodes",
    "episode": "/p/support.db/episode?key=ticket-0003",
    "memory": "/p/support.db/memory",
    "row": "/p/support.db/row?id=5",
    "rules": "/p/book/rules",
    "rule": f"/p/book/rule?id={rule_id(RULE)}",
    "decisions with rules": "/p/book/decisions?show=told",
    "evaluator": "/p/jitrl/evaluator",
    "cost": "/p/jitrl/cost",
    "doctor": "/p/jitrl/doctor",
    "home": "/",
    "problem": "/p/support.db/row?id=999999",
}
"""Name of a place to its address; the last two are of no memory."""
