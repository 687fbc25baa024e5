"""Logs of Inspect evaluations (`.eval`, or their JSON) as recorded runs: a sample is a run."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from jitrl.errors import MissingExtra, RecordError, StoreError
from jitrl.integrations.conversation import Turn
from jitrl.integrations.inspect_turns import (
    basis_of,
    calls_of,
    key_of,
    message_of,
    outcome_of,
    task_of,
    turn_of,
)
from jitrl.recorded.turns import SCORER, step_of
from jitrl.stores.line_run import SCHEMA, RunLine, dump
from jitrl.stores.lines import Skipped
from jitrl.types import EpisodeStatus


def runs(
    path: str, left_out: list[Skipped], *, scope: str | None = None, score: str = ""
) -> Iterator[bytes]:
    """The runs of a log, sample by sample, as lines of recorded runs.

    Args:
        left_out: Takes samples that called no tool.
        scope: Of all runs; ``None``: the name of the evaluation's task.
        score: Name of the scorer whose score is the outcome; "": the first that gives a number.

    Raises:
        MissingExtra: If inspect-ai is not installed.
        StoreError: If there is no such file.
        RecordError: If it is no log.
    """
    try:
        from inspect_ai.log import read_eval_log, read_eval_log_samples
    except ImportError as error:
        raise MissingExtra(
            "logs of Inspect are read with inspect-ai: pip install 'jitrl[inspect]'"
        ) from error
    form: Any = "json" if path.endswith(".json") else "eval"
    if form == "eval" and os.path.isfile(path) and not zipfile.is_zipfile(path):
        raise RecordError(f"{path} is no zip archive, and so no log of Inspect")
    how = {"resolve_attachments": "core", "format": form}
    try:
        header = read_eval_log(path, header_only=True, format=form).eval
        samples = read_eval_log_samples(path, all_samples_required=False, **how)
        for number, sample in enumerate(samples, 1):
            run = _run(header, sample, scope, score)
            if run is None:
                left_out.append(Skipped(number, f"sample {sample.id}: no tool was called"))
            else:
                yield dump(run)
    except FileNotFoundError as error:
        raise StoreError(f"cannot read {path}: there is no such file") from error
    except (ValueError, RuntimeError, KeyError, OSError) as error:
        raise RecordError(f"{path} cannot be read as a log of Inspect: {error}") from error


def _run(header: Any, sample: Any, scope: str | None, score: str) -> RunLine | None:
    turns = _asked(sample) or _said(sample)
    if not any(turn.calls for turn in turns):
        return None
    found = outcome_of(sample.scores, score)
    status: EpisodeStatus = "terminated"
    if sample.error or sample.limit:
        status = "aborted" if sample.error else "truncated"
    told = {"eval": header.eval_id, "sample": sample.id, "epoch": sample.epoch}
    return RunLine(
        SCHEMA,
        key_of(sample.uuid or f"{header.eval_id}/{sample.id}/{sample.epoch}"),
        task_of(header.task, sample.id),
        tuple(step_of(turn) for turn in turns),
        scope=header.task if scope is None else scope,
        outcome=found[1] if found else None,
        basis=basis_of(found[0]) if found else "import",
        evaluator=found[0] if found else "outcome",
        status=status,
        agent=header.model,
        scorer=SCORER,
        started=_seconds(sample.started_at),
        finished=_seconds(sample.completed_at),
        info={"inspect": told},
    )


def _asked(sample: Any) -> list[Turn]:
    """The turns that the model was asked for with tools; of one that was asked twice, the last.

    What was called is what the conversation has: an answer may have been changed on its way there.
    """
    events = [e for e in sample.events if e.event == "model" and e.tools and not e.error]
    said = [m for e in events for m in e.input] + list(sample.messages)
    called = {m.id: calls for m in said if (calls := calls_of(m))}
    found: dict[tuple[str, ...], Turn] = {}
    for event in events:
        shown = tuple(f"{m.role} {m.id} {m.text}" for m in event.input)
        turn = turn_of(event.input, event.tools, event.output, event.tool_choice)
        if turn.calls:
            turn = replace(turn, calls=called.get(event.output.message.id, turn.calls))
        first = found.pop(shown, turn)
        found[shown] = replace(turn, tools=first.tools, can_answer=first.can_answer)
    return list(found.values())


def _said(sample: Any) -> list[Turn]:
    """The turns of a log without events, from its messages; nobody knows what was offered."""
    messages = [message_of(m) for m in sample.messages]
    return [
        Turn(messages[:at], (), calls_of(m))
        for at, m in enumerate(sample.messages)
        if m.role == "assistant"
    ]


def _seconds(at: str | None) -> float:
    return datetime.fromisoformat(at).timestamp() if at else 0.0
