"""`jitrl report`: finished runs as Markdown, HTML, JSON or PNG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from jitrl.analysis.compare import Comparison, compare
from jitrl.analysis.results import gather
from jitrl.cli.main import COMMAND
from jitrl.cli.shared.output import as_json, emit, in_folder, people, printable, writing
from jitrl.core.stats import Cluster
from jitrl.errors import InputError
from jitrl.report import chart, page
from jitrl.report.data import data
from jitrl.report.markdown import markdown
from jitrl.report.words import ENGLISH, LANGUAGES, Language, Words

_KINDS = (".md", ".html", ".json", ".png")


def report(
    folders: Annotated[list[str], typer.Argument(help="Run folders, or LABEL=FOLDER.")],
    out: Annotated[
        list[Path],
        typer.Option(help="File to write: .md, .html, .json or .png; may be given again."),
    ] = [],  # noqa: B006 - typer reads it
    lang: Annotated[Language, typer.Option(help="Language of headings and labels.")] = "en",
    base: Annotated[str, typer.Option(help="Label to compare with.")] = "",
    differ: Annotated[
        list[str], typer.Option(help="Term in which runs may differ; the row says so.")
    ] = [],  # noqa: B006
    by: Annotated[Cluster, typer.Option(help="What intervals resample.")] = "task",
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of Markdown.")] = False,
) -> None:
    """Write what came out of runs; without --out, Markdown to stdout."""
    check(out, LANGUAGES[lang])
    comparison = compare(gather(folders), base=base, allow=differ, by=by)
    if json:
        emit(data(comparison, "jitrl.report/1"))
    elif not out:
        print(printable(markdown(comparison, LANGUAGES[lang], COMMAND.get())))
    write(out, comparison, LANGUAGES[lang])


def check(paths: Sequence[Path], words: Words = ENGLISH, inside: Path | None = None) -> None:
    """Refuse files that cannot be written as a report, before anything is run.

    Args:
        inside: A folder that the command will have made by the time the files are written.

    Raises:
        InputError: If the suffix is not known, or the file is the record of a run.
        MissingExtra: If charts are asked for and the package that draws them is missing.
        ConfigError: If they cannot be drawn with these words.
        StoreError: If there is no such folder.
    """
    for path in paths:
        if path.suffix not in _KINDS:
            raise InputError(f"cannot write {path}; use .md, .html, .json or .png")
        if path.resolve().name == "run.json":
            raise InputError(f"{path} is the record of a run; name another file")
        in_folder(path, inside)
    if any(path.suffix == ".png" for path in paths):
        from jitrl.report import png

        with TemporaryDirectory() as folder:  # a trial finds the package and the letters missing
            png.write(Path(folder) / "trial.png", [chart.Trace("", 0, (0.0, 1.0))], words)


def write(paths: Sequence[Path], comparison: Comparison, words: Words) -> None:
    """Write a report into each file, by its suffix."""
    for path in paths:
        _write(path, comparison, words)
        people().print(f"wrote {path}")


def _write(path: Path, comparison: Comparison, words: Words) -> None:
    with writing(path):
        match path.suffix:
            case ".md":
                text = markdown(comparison, words, COMMAND.get())
                path.write_text(text, encoding="utf-8")
            case ".html":
                path.write_text(page.html(comparison, words, COMMAND.get()), encoding="utf-8")
            case ".json":
                values = data(comparison, "jitrl.report/1")
                path.write_text(as_json(values, 1), encoding="utf-8")
            case ".png":
                from jitrl.report import png

                png.write(path, chart.traces(comparison, words), words)
