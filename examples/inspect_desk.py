"""An Inspect evaluation whose agent gets better from sample to sample, without any account.

``answer`` stands for your model: it refunds whatever comes. ``settle`` and ``SAMPLES`` stand for
your tools and data. ``model=guided_model(...)`` is all that was added to the evaluation.
"""

import tempfile
from pathlib import Path
from typing import Literal

from inspect_ai import Task, eval
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.tool import Tool, ToolFunction, tool

from jitrl.integrations.inspect_ai import guided_model

SAMPLES = [
    Sample(id="broken", input="The lamp came broken.", target="resend: done"),
    Sample(id="twice", input="I was charged twice.", target="refund: done"),
    Sample(id="lost", input="My parcel never came.", target="trace: done"),
]
EPOCHS = 5


@tool
def settle() -> Tool:
    """Your tool; the way to settle a claim is a listed value, so each way is an action."""

    async def execute(how: Literal["refund", "resend", "trace"], order: int) -> str:
        """Settle a claim.

        Args:
            how: What to do about it.
            order: Number of the order.
        """
        return f"{how}: done"

    return execute


def answer(messages, tools, choice, config):
    """A frozen model in place of yours; it fills in the arguments of a tool that is forced."""
    is_forced = isinstance(choice, ToolFunction) and choice.name == "settle"
    if messages[-1].role == "tool" and not is_forced:
        said = ModelOutput.for_tool_call("mock", "submit", {"answer": messages[-1].text})
    else:
        said = ModelOutput.for_tool_call("mock", "settle", {"how": "refund", "order": 7})
    said.usage = ModelUsage()
    return said


def solved(memory: Path, logs: Path) -> list[int]:
    """Samples solved in each epoch, one sample after another."""
    desk = Task(
        name="desk",
        dataset=SAMPLES,
        epochs=EPOCHS,
        solver=react(tools=[settle()], model=guided_model(memory)),
        scorer=includes(),
    )
    model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    (log,) = eval(desk, model=model, max_samples=1, log_dir=str(logs), display="none")
    counts = [0] * EPOCHS
    for sample in log.samples or []:
        counts[sample.epoch - 1] += sample.scores["includes"].value == "C"
    return counts


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for number, count in enumerate(solved(Path(folder) / "desk.db", Path(folder)), 1):
            print(f"epoch {number}: {count} of {len(SAMPLES)} solved")
