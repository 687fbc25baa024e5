"""Entry point of the command line: which commands there are, and how errors end them."""

from __future__ import annotations

import codecs
import os
import shlex
import sys
import traceback
from collections.abc import Collection, Sequence
from contextlib import suppress
from contextvars import ContextVar
from importlib import import_module
from io import TextIOWrapper
from types import TracebackType
from typing import Annotated

import typer

import jitrl
from jitrl.cli.shared.interrupts import heard
from jitrl.cli.usage import plain
from jitrl.errors import JitRLError, StoreError

COMMANDS = {
    "demo": "Watch a frozen model get better, beside itself without memory.",
    "run": "Play tasks x attempts x seeds with one agent; resumable.",
    "compare": "Run or read two or more agents, paired, with intervals and a verdict.",
    "report": "Write Markdown, HTML, JSON or PNG of finished runs.",
    "explain": "Show why a decision fell as it did, and what would have changed it.",
    "memory": "List, show, quarantine, replay, roll back, export, rebuild and check a memory.",
    "rules": "List, show, add, retire, restore, rebuild, export and import rules of a memory.",
    "model": "Install the embedded model and probe models.",
    "tune": "Search settings for your own tasks, judged on held-out ones.",
    "evaluator": "Compare evaluators with outcomes and people, and label steps by hand.",
    "doctor": "Say what ails a memory, a run or a comparison, and one remedy for each finding.",
    "cost": "Set what learning at inference costs beside fine-tuning.",
    "ui": "Show memories and runs in a browser, on this machine alone.",
    "bench": "Measure retrieval, decisions, learning and its choices; score finished web tasks.",
    "proxy": "Let agents in any language learn: a proxy for chats and responses with tools.",
    "mcp": "Offer a memory to an agent's model as an MCP server.",
    "serve": "Serve memories over HTTP, and look after the keys of callers.",
    "config": "Show the settings in force and where each comes from.",
}
"""Commands in the order of `--help`. Each is a module of this package, or the module ``command`` in
a folder of it, with a Typer ``app`` or a function of the command's own name."""

COMMAND = ContextVar("COMMAND", default="")
"""The command line that is being run, as a shell takes it; "" where there is none."""


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
    for name, said in COMMANDS.items():
        if name not in load:
            app.command(name, help=said)(_listed)
            continue
        module = import_module(f"jitrl.cli.{name}")
        if hasattr(module, "__path__"):  # a folder
            module = import_module(f"jitrl.cli.{name}.command")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name, help=said)
        else:
            command = getattr(module, name)
            paragraphs = (command.__doc__ or "").split("\n\n")
            app.command(name, help="\n\n".join(" ".join(p.split()) for p in paragraphs))(command)
    plain(app)
    return app


def main(args: Sequence[str] | None = None) -> None:
    """Run a command line and exit: 0 ok, else the code of the error (docs/cli.md)."""
    given = list(sys.argv[1:] if args is None else args)
    words = [word for word in given if not word.startswith("-")]
    debug = "--debug" in given
    line = shlex.join(["jitrl", *given])  # the name of a file may be no UTF-8; records are
    COMMAND.set(line.encode("utf-8", "backslashreplace").decode("utf-8"))
    _write_any_letter()
    if not debug:
        sys.excepthook = _one_line
    code: int | str | None
    try:
        with heard():
            code = _run(words[:1], given)
    except JitRLError as error:
        code = _failed(f"{error}", error.exit_code, debug)
    except KeyboardInterrupt:  # before there was a command
        code = 130
    except BrokenPipeError:  # whoever read the output has enough
        code = 1
        _drop_output()
    except OSError as error:
        what = error.filename or "the output"
        said = f"{what} cannot be used: {error.strerror or error}"
        code = _failed(said, StoreError.exit_code, debug)
        _drop_output()
    if code == 130:
        _say("interrupted")
    sys.exit(code)


def _run(load: Collection[str], given: Sequence[str]) -> int | str | None:
    """Run a command line to its end, output included; returns its exit code."""
    try:
        typer.main.get_command(build(load))(given, prog_name="jitrl")
        code = None
    except SystemExit as end:
        code = end.code
    if sys.stdout is not None:
        sys.stdout.flush()
    return code


def _failed(message: str, code: int, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    _say(f"error: {message}")
    return code


def _drop_output() -> None:
    """What could not be written must not be tried again when Python ends."""
    with suppress(OSError, ValueError):  # a stream without a descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


_PLAIN = {
    "→": "->",
    "←": "<-",
    "×": "x",
    "−": "-",
    "–": "-",
    "…": "...",
    "·": ".",
    "●": "*",
    "○": "o",
    "╌": "-",
    "│": "|",
    "┤": "|",
    "≥": ">=",
    "≤": "<=",
    "�": "?",
}
"""Signs of ours in letters that every terminal has."""


def _write_any_letter() -> None:
    """Let a stream whose encoding lacks a letter write something like it, not fail."""
    codecs.register_error("jitrl.plain", _plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="jitrl.plain")


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    escaped = (_PLAIN.get(c) or c.encode("ascii", "backslashreplace").decode() for c in letters)
    return "".join(escaped), error.end


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
    from rich.text import Text  # slow to load, as is the other

    from jitrl.cli.shared.output import people, printable

    with suppress(OSError):  # then nobody can be told
        if sys.stderr is not None and sys.stderr.isatty():
            people().print(Text(text))  # breaks lines between words
        else:
            print(printable(text), file=sys.stderr, flush=True)
