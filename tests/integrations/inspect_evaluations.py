"""Run by the tests in a process of its own: evaluations with a memory, and their logs read again.

Prints JSON. Inspect leaves streams to the garbage collector, which the tests' process must not.
"""

import json
import runpy
import sys
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.log import list_eval_logs, read_eval_log, write_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes

import jitrl
from jitrl.cli import main
from jitrl.core.sentences import rule_id
from jitrl.integrations.inspect_ai import InspectGuide, guided_model
from jitrl.recorded import inspect_logs
from jitrl.types import Rule

folder, example = Path(sys.argv[1]), runpy.run_path(sys.argv[2])
found = {"solved": example["solved"](folder / "desk.db", folder / "logs")}

(logged,) = list_eval_logs(str(folder / "logs"))
log = read_eval_log(logged)
found["notes"] = [
    message.metadata["jitrl"]
    for sample in log.samples
    for message in sample.messages
    if message.role == "assistant" and message.metadata
]
write_eval_log(log, str(folder / "log.json"), "json")
for name, path in (("eval", logged.name), ("json", str(folder / "log.json"))):
    found[name] = [json.loads(line) for line in inspect_logs.runs(path, [], scope="other")]


def imported(*args):
    try:
        main(["memory", "import", *args])
    except SystemExit as end:
        return end.code


path = logged.name.removeprefix("file://")
found["import"] = [imported(str(folder / "new.db"), path), imported(str(folder / "desk.db"), path)]

calls = []


def unreliable(messages, tools, choice, config):
    calls.append(len(messages))
    if len(calls) == 2:
        raise RuntimeError("the provider is gone")
    said = ModelOutput.for_tool_call("mock", "settle", {"how": "refund", "order": 7})
    if messages[-1].role == "tool":
        said = ModelOutput.for_tool_call("mock", "submit", {"answer": "done"})
    said.usage = ModelUsage()
    return said


def wordy(messages, tools, choice, config):
    said = ModelOutput.from_content("mock", "I cannot say.")
    said.usage = ModelUsage()
    return said


told = "When the task is to do it, call settle with how resend"
found["systems"] = []


def listening(messages, tools, choice, config):
    found["systems"].append("".join(m.text for m in messages if m.role == "system"))
    said = ModelOutput.for_tool_call("mock", "submit", {"answer": "done"})
    said.usage = ModelUsage()
    return said


with jitrl.open(folder / "ruled.db", rules={"attempts": 0, "holdout": 0.01}) as memory:
    rule = Rule(rule_id(told), told, "mine", author="ann", status="active")
    memory.store.add_rules([rule])
    task = Task(
        name="told",
        dataset=[Sample(id="s", input="Do it: the task.", target="done")],
        solver=react(
            tools=[example["settle"]()], model=guided_model(InspectGuide(memory, scope="mine"))
        ),
        scorer=includes(),
    )
    mock = get_model("mockllm/model", custom_outputs=listening, memoize=False)
    eval(task, model=mock, display="none", log_dir=str(folder / "told"))
    found["told"] = [one.use.told for one in memory.store.rule_uses()[rule.id]]

with jitrl.open(folder / "other.db", mode="off") as memory:
    guide = InspectGuide(memory, score="includes", basis="human", scope="mine")
    how = {"display": "none", "log_dir": str(folder / "more"), "max_samples": 1}
    for model, more in ((unreliable, {"retry_on_error": 1}), (wordy, {"message_limit": 4})):
        task = Task(
            name="again",
            dataset=[Sample(id="s", input="Do it.", target="done")],
            solver=react(tools=[example["settle"]()], model=guided_model(guide)),
            scorer=includes(),
        )
        mock = get_model("mockllm/model", custom_outputs=model, memoize=False)
        eval(task, model=mock, **how, **more)
left_out = []
for logged in list_eval_logs(str(folder / "more")):
    list(inspect_logs.runs(logged.name, left_out))
found["left_out"] = [skipped.reason for skipped in left_out]
print(json.dumps(found))
