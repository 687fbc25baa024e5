"""`jitrl memory export`: the whole memory as JSON lines."""

from __future__ import annotations

import os
import time
from typing import Annotated

import typer

from jitrl.cli.memory.options import FILE, NAME, SCOPE, check_scope, reading, writable
from jitrl.cli.memory.target import said_of, written
from jitrl.cli.shared.output import JSON, emit, tell
from jitrl.errors import InputError
from jitrl.language import counted
from jitrl.stores import backup, jsonl, line, line_rules


def export(
    file: FILE,
    target: Annotated[str, typer.Argument(metavar="TARGET", help="JSONL file, or - for stdout.")],
    name: NAME = "default",
    scope: SCOPE = None,
    json: JSON = False,
) -> None:
    """Write the memory as JSON lines: one episode, rule or contrast a line."""
    if json and target == "-":
        raise InputError("--json and the export would share stdout; name a target file")
    counts = dict.fromkeys((line.SCHEMA, line_rules.RULE, line_rules.CONTRAST), 0)
    reading(file, name).close()
    with writable(file, name, readonly=True) as store, written(target, file) as out:
        for text in jsonl.export(store, scope=scope):
            out.write(text)
            counts[line_rules.schema_of(text)] += 1
        if not any(counts.values()):
            check_scope(store, scope)
    if os.path.isfile(target):
        backup.note(file, backup.Copy("export", os.path.realpath(target), time.time()))
    episodes, rules, contrasts = counts.values()
    book = f", {counted(rules, 'rule')}, {counted(contrasts, 'contrast')}"
    held = f"{counted(episodes, 'episode')}{book if rules or contrasts else ''}"
    tell(f"{held} written to {said_of(target)}")
    if json:
        facts = {"episodes": episodes, "rules": rules, "contrasts": contrasts, "target": target}
        emit({"schema": "jitrl.memory.export/1", **facts})
