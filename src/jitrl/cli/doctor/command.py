"""`jitrl doctor`: what ails a memory, a run or a comparison, with numbers and one remedy each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from jitrl import config
from jitrl.analysis.doctor import OF_RULES, examine
from jitrl.analysis.doctor.case import Case
from jitrl.analysis.doctor.finding import Finding
from jitrl.analysis.doctor.fit import Overlap, items, overlap
from jitrl.analysis.doctor.load import load
from jitrl.cli.shared.output import emit, folded, people
from jitrl.cli.shared.settings import Flags, merge
from jitrl.errors import InputError
from jitrl.report.ailments import LANGUAGES
from jitrl.report.ailments.words import Ailment, Words, ailment, evidence, filled
from jitrl.report.words import Language

_GAP = 2


def doctor(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", help="Memory files, run folders, folders of runs."),
    ] = None,
    fit: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            metavar="A.txt B.txt",
            help="Two lists, written apart, of what makes a solution good; one item a line.",
        ),
    ] = None,
    memory: Annotated[str, typer.Option(help="Memory in each memory file.")] = "default",
    setting: Annotated[
        list[str],
        typer.Option("--set", help="A setting that memory files were used with, as memory.preset."),
    ] = [],  # noqa: B006 - typer reads it
    lang: Annotated[Language, typer.Option(help="Language of what is said.")] = "en",
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Say what ails a memory or a run: what was measured, and one remedy for each finding.

    A check that lacks data says so and is no finding. Nothing is written. Exits with 1 if there
    are findings.
    """
    if not paths and fit is None:
        raise InputError("name a PATH (a memory file or run folder), or give --fit A.txt B.txt")
    flags: Flags = {}
    merge(flags, setting, "--set")
    cases = load(paths or [], config.load(flags).memory, memory) if paths else []
    lists = None if fit is None else _lists(fit)
    examined = [(case, examine(case)) for case in cases]
    words = LANGUAGES[lang]
    if json:
        emit(_data(examined, lists, words))
    else:
        if lists is not None and fit is not None:
            _show_lists(lists, (fit[0].name, fit[1].name), words)
        for case, findings in examined:
            _show(case, findings, words)
    is_ill = any(f.status == "finding" for _, findings in examined for f in findings.values())
    if is_ill or (lists is not None and lists.is_low):
        raise typer.Exit(1)


def _lists(files: tuple[Path, Path]) -> Overlap:
    texts = []
    for file in files:
        try:
            texts.append(file.read_text(encoding="utf-8-sig"))
        except UnicodeDecodeError as error:
            raise InputError(f"{file} is no text in UTF-8: {error.reason}") from error
    return overlap(items(texts[0]), items(texts[1]))


def _data(
    examined: list[tuple[Case, dict[str, Finding]]], lists: Overlap | None, words: Words
) -> dict[str, Any]:
    count = sum(f.status == "finding" for _, found in examined for f in found.values())
    return {
        "schema": "jitrl.doctor/2",
        "findings": count + (lists is not None and lists.is_low),
        "places": [
            {
                "place": case.label,
                "kind": case.place,
                "base": case.base and case.base.label,
                "checks": [_check(name, finding, words) for name, finding in findings.items()],
            }
            for case, findings in examined
        ],
        "fit": lists and _fit(lists, words),
    }


def _check(name: str, finding: Finding, words: Words) -> dict[str, Any]:
    is_known, kind = finding.status != "unknown", ailment(words, name, finding)
    return {
        "check": name,
        "status": finding.status,
        "n": finding.n,
        "evidence": dict(finding.numbers),
        "says": evidence(words, name, finding) if is_known else words.unknown.format(n=finding.n),
        "claim": kind and kind.claim,
        "remedy": kind and kind.remedy,
    }


def _fit(lists: Overlap, words: Words) -> dict[str, Any]:
    return {
        "status": "finding" if lists.is_low else "fine" if lists.is_known else "unknown",
        "n": lists.n,
        "share": lists.share,
        "chance": lists.chance,
        "beyond": lists.beyond,
        "pairs": [list(pair) for pair in lists.pairs],
        "only": [list(side) for side in lists.only],
        "claim": words.differ.claim if lists.is_low else None,
        "remedy": words.differ.remedy if lists.is_low else None,
    }


def _show(case: Case, findings: Mapping[str, Finding], words: Words) -> None:
    console = people()
    attempts, decisions = sum(1 for _ in case.attempts()), sum(1 for _ in case.choices())
    numbers = {"label": case.label, "episodes": attempts, "decisions": decisions or None}
    head = filled(words.place, numbers)
    if case.base is not None:
        head += words.against.format(base=case.base.label)
    if not case.has_rules:
        findings = {name: found for name, found in findings.items() if name not in OF_RULES}
    by_status: dict[str, dict[str, Finding]] = {"finding": {}, "fine": {}, "unknown": {}}
    for name, finding in findings.items():
        by_status[finding.status][name] = finding
    ill, fine, unknown = by_status["finding"], by_status["fine"], by_status["unknown"]
    counts = words.counts.format(findings=len(ill), fine=len(fine), unknown=len(unknown))
    console.print(Text(head, style="bold"))
    console.print(Text(counts, style="red" if ill else "green"))
    console.print()
    titles = {name: words.checks[name].title for name in findings}
    rows = [
        (titles[name], finding.n, evidence(words, name, finding), ailment(words, name, finding))
        for name, finding in (*ill.items(), *fine.items())
    ]
    if rows:
        console.print(_table(rows, words))
    kinds = [kind for *_, kind in rows if kind is not None]
    for lead, lines in (
        (words.copy, [kind.command for kind in kinds if kind.command]),
        (words.settings, [line for kind in kinds for line in kind.settings]),
    ):
        if lines:
            console.print(Text(lead, style="dim"))
            for line in dict.fromkeys(lines):
                console.print(Text(f"  {line}"), soft_wrap=True)
            console.print()
    some = [f"{titles[name]} (n={of.n})" for name, of in unknown.items() if of.n]
    nothing = [titles[name] for name, of in unknown.items() if not of.n]
    for lead, named in ((words.lacking, some), (words.absent, nothing)):
        if named:
            said = words.joint.join(named)
            console.print(Text(f"{lead}{said}{words.stop}", style="dim"))
    console.print()


def _table(rows: list[tuple[str, int, str, Ailment | None]], words: Words) -> Table:
    """What was found first, with its remedy below the numbers."""
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
    first = max(Text(title).cell_len for title, *_ in rows)
    second = max(len(str(n)) for _, n, *_ in rows)
    width = max(20, people().width - first - second - 2 * _GAP)
    table.add_column(Text(words.heads[0]), header_style="dim", no_wrap=True)
    table.add_column(Text(words.heads[1]), header_style="dim", no_wrap=True, justify="right")
    table.add_column(Text(words.heads[2]), header_style="dim", width=width)
    for title, n, said, kind in rows:
        if kind is None:
            table.add_row(Text(title), Text(str(n)), folded(Text(said, style="dim"), width))
            continue
        cell = Text("\n").join(
            [
                folded(Text(kind.claim, style="bold red"), width),
                folded(Text(said), width),
                folded(Text(f"→ {kind.remedy}", style="yellow"), width),
                Text(""),
            ]
        )
        table.add_row(Text(title, style="bold red"), Text(str(n)), cell)
    return table


def _show_lists(lists: Overlap, names: tuple[str, str], words: Words) -> None:
    console = people()
    console.print(Text(words.lists, style="bold"))
    if not lists.is_known:
        console.print(Text(words.unknown.format(n=lists.n)))
    else:
        said = filled(
            words.agree,
            {
                "pairs": len(lists.pairs),
                "one": len(lists.pairs) + len(lists.only[0]),
                "other": len(lists.pairs) + len(lists.only[1]),
                "share": lists.share,
                "chance": lists.chance,
                "beyond": lists.beyond,
            },
        )
        console.print(Text(said))
    if lists.is_low:
        console.print(Text(words.differ.claim, style="bold red"))
        console.print(Text(f"→ {words.differ.remedy}", style="yellow"))
    for title, found in (
        (words.both, [f"{one}  =  {other}" for one, other in lists.pairs]),
        *zip((words.only[i].format(names[i]) for i in range(2)), lists.only, strict=True),
    ):
        if found:
            console.print(Text(title, style="dim"))
        for item in found:
            console.print(Text(f"  {item}"))
    console.print()
