"""``python -m jitrl.compat FOLDER``: replay golden files and print matches per file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from jitrl.compat.replay import FileReport, replay_file
from jitrl.language import counted

SHOWN = 5
"""Mismatches printed per file."""


def main(argv: Sequence[str] | None = None, out: TextIO | None = None) -> int:
    """Replay all ``*.json`` of a folder; 0 if every case matches, 1 if not, 2 on wrong usage."""
    parser = argparse.ArgumentParser(
        prog="python -m jitrl.compat",
        description="Replay golden files of the released code's behavior.",
    )
    parser.add_argument("folder", type=Path, help="folder with golden *.json files")
    folder: Path = parser.parse_args(argv).folder
    if not folder.is_dir():
        parser.error(f"{folder} is not a folder; name one that holds golden *.json files")
    paths = sorted(folder.glob("*.json"))
    if not paths:
        parser.error(f"{folder} holds no golden file (*.json)")
    reports = []
    for path in paths:
        reports.append(replay_file(path))
        for line in _lines(reports[-1]):
            _write(line, out or sys.stdout)
    return 0 if all(report.is_match for report in reports) else 1


def _lines(report: FileReport) -> list[str]:
    if report.problem:
        return [f"{report.name}  {report.problem}"]
    lines = [f"{report.name}  {report.matched}/{report.total}"]
    for mismatch in report.mismatches[:SHOWN]:
        lines += [
            f"  {mismatch.where}",
            f"    expected {mismatch.expected}",
            f"    got      {mismatch.got}",
        ]
    if len(report.mismatches) > SHOWN:
        lines.append(f"  differ, too: {counted(len(report.mismatches) - SHOWN, 'more field')}")
    return lines


def _write(line: str, out: TextIO) -> None:
    """Print a line on any terminal: what its encoding lacks is escaped."""
    encoding = out.encoding or "utf-8"
    out.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")


if __name__ == "__main__":
    sys.exit(main())
