"""Entry point of the command line: which commands there are, and how errors end them."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Collection, Sequence
from importlib import import_module
from importlib.util import find_spec
from types import TracebackType
from typing import Annotated

import typer

import jitrl
from jitrl.errors import JitRLError

COMMANDS = {
    "demo": "Watch a frozen model get better, beside itself without memory.",
    "run": "Play tasks x attempts x seeds with one agent; resumable.",
    "compare": "Run or read two or more agents, paired, with intervals and a verdict.",
    "report": "Write Markdown, HTML, JSON or PNG of finished runs.",
    "explain": "Show why a decision fell as it did, and what would have turned it.",
    "memory": "List, show, quarantine, restore, export, import, rebuild and check a memory.",
    "model": "Install the embedded model and probe models.",
    "bench": "Measure retrieval and decisions.",
    "config": "Show the settings in force and where each comes from.",
}
"""Commands in the order of `--help`. Each is a module of this package with a Typer ``app``, or a
function of the command's own name."""


def available() -> tuple[str, ...]:
    """The commands whose module is here."""
    return tuple(name for name in COMMANDS if find_spec(f"jitrl.cli.{name}"))


def build(load: Collection[str]) -> typer.Typer:
    """The application; commands that are not in ``load`` are only listed, not imported."""
    app = typer.Typer(
        name="jitrl",
        help="A frozen LLM agent that gets better with every episode.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for name in available():
        if name not in load:
            app.command(name, help=COMMANDS[name])(_listed)
            continue
        module = import_module(f"jitrl.cli.{name}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name, help=COMMANDS[name])
        else:
            command = getattr(module, name)
            paragraphs = (command.__doc__ or "").split("\n\n")
            app.command(name, help="\n\n".join(" ".join(p.split()) for p in paragraphs))(command)
    return app


def main(args: Sequence[str] | None = None) -> None:
    """Run a command line and exit: 0 ok, else the code of the error (docs/cli.md)."""
    given = list(sys.argv[1:] if args is None else args)
    words = [word for word in given if not word.startswith("-")]
    debug = "--debug" in given
    if not debug:
        sys.excepthook = _one_line
    try:
        typer.main.get_command(build(words[:1]))(given, prog_name="jitrl")
    except JitRLError as error:
        if debug:
            traceback.print_exc()
        _say(f"error: {error}")
        sys.exit(error.exit_code)
    except SystemExit as end:
        if end.code == 130:
            _say("interrupted")
        raise


def _print_version(is_asked: bool) -> None:
    if is_asked:
        print(f"jitrl {jitrl.__version__}")
        raise typer.Exit


def _options(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show tracebacks and log to stderr.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    if debug:
        import logging

        logging.basicConfig(level=logging.DEBUG)


def _listed() -> None:
    """Stands for a command that was not imported because it was not called."""


def _one_line(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    _say(f"error: {kind.__name__}: {error} (unexpected; jitrl --debug shows where)")


def _say(text: str) -> None:
    print(text, file=sys.stderr)
