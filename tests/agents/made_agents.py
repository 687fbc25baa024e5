"""Every agent that comes with the package, opened by name on parts that the tests hold."""

from jitrl import registry
from jitrl.config import Memory
from jitrl.models.channel import Channel
from jitrl.models.scripted import ScriptedEndpoint
from jitrl.models.writer import ChannelWriter

ANSWERS = {
    "reflexion": "I pushed the wrong one at stage0; next time push1.",
    "awm": '{"workflows": [{"description": "Win", "steps": ["push1", "push0"]}]}',
    "evotest": '{"guidance": ["Push another one."], "remember": [{"place": "stage0", "action": '
    '"push2"}], "temperature": 1.5, "explore": true, "notes": "all"}',
    "rulebook": '{"rules": ["When you see stage0, push2"]}',
}

ALL = {
    "jitrl": {},
    "static": {},
    "ucb": {"width": 0.3},
    "thompson": {"sd": 0.5},
    "memory": {},
    "reflexion": {},
    "reflexion-model": {"author": "model"},
    "awm": {},
    "awm-model": {"author": "model"},
    "evotest": {},
    "evotest-model": {"author": "model"},
    "prompt-update": {},
    "replay-best": {},
    "oracle-hint": {},
    "rulebook": {"attempts": 2},
    "rulebook-model": {"attempts": 2, "author": "model"},
}
"""Label to options; the part of the label before a dash and ``model`` is the agent's name."""


def opened(label, store, evaluator, *, writer=None, settings=None, hint=None, **options):
    """The agent of this label."""
    name = label.removesuffix("-model")

    def written():
        if writer is not None:
            return writer
        return ChannelWriter(Channel(ScriptedEndpoint([ANSWERS[name]])))

    return registry.create(
        "agents",
        name,
        {**ALL[label], **options},
        store=store,
        evaluator=evaluator,
        settings=settings or Memory(),
        writer=written,
        hint=hint or (lambda: lambda task, history: f"push{len(history)}"),
    )
