"""The groups of settings: what each setting is, may be, and is if nobody gives it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from jitrl.run_presets import RunPreset
from jitrl.types import TRUSTED_BASES, Basis, Mode

Options = dict[str, Any]


class Memory(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a memory is used; `jitrl.open` takes these as keyword arguments."""

    mode: Annotated[
        Mode,
        Meta(description="`act` follows the memory, `shadow` only computes, `off` ignores it."),
    ] = "act"
    holdout: Annotated[
        float,
        Meta(ge=0, le=1, description="Share of episodes, drawn at random, that act without it."),
    ] = 0.0
    preset: Annotated[
        str, Meta(min_length=1, description="Named settings of rule, gamma and retrieval.")
    ] = "default"
    rule: Annotated[Options, Meta(description="Settings of the update rule that differ.")] = (
        msgspec.field(default_factory=dict)
    )
    retrieval: Annotated[Options, Meta(description="Settings of retrieval that differ.")] = (
        msgspec.field(default_factory=dict)
    )
    gamma: Annotated[
        Annotated[float, Meta(ge=0, le=1)] | None,
        Meta(description="Discount of returns; unset: the preset's."),
    ] = None
    admission: Annotated[
        Options,
        Meta(description="Limits on what becomes memory, and on what comes of it, that differ."),
    ] = msgspec.field(default_factory=dict)
    snapshot: Annotated[
        str, Meta(description="Snapshot that episodes read; unset: all that is known.")
    ] = ""
    canary: Annotated[
        str, Meta(description="Snapshot that the share `canary_share` of episodes reads instead.")
    ] = ""
    canary_share: Annotated[
        float, Meta(ge=0, le=1, description="Share of episodes, drawn at random, for `canary`.")
    ] = 0.0
    evaluator: Annotated[str, Meta(min_length=1, description="Who scores finished episodes.")] = (
        "environment"
    )
    evaluator_options: Annotated[Options, Meta(description="The evaluator's own options.")] = (
        msgspec.field(default_factory=dict)
    )
    trusted: Annotated[
        frozenset[Basis],
        Meta(description="Bases whose rows count by episode; all others count by principal."),
    ] = TRUSTED_BASES
    principal: Annotated[str, Meta(description="Who is answerable for what is learned.")] = ""
    seed: Annotated[int, Meta(ge=0, description="Seed of every random choice.")] = 0
    telemetry: Annotated[
        Literal["off", "spans", "content"],
        Meta(
            description="What OpenTelemetry is told: nothing, `spans` with numbers alone, or also "
            "tasks, states and actions (`content`)."
        ),
    ] = "off"
    redact: Annotated[
        tuple[str, ...],
        Meta(
            description="What is replaced before anything is written: `keys`, `passwords`, "
            "`cards`, `mails`, `phones`, `ids`, or an entry point of `jitrl.redactors`; `[]`: "
            "nothing."
        ),
    ] = ("keys", "cards")
    kernel: Annotated[
        Literal["numpy", "numba"],
        Meta(
            description="What searches the states: `numba` finds the same ones faster and needs "
            "the extra of that name."
        ),
    ] = "numpy"


Share = Annotated[float, Meta(ge=0, le=1)]


class Rules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rules in sentences beside the scores, wherever a memory is opened for an agent.

    That is in `jitrl.open` and the integrations, `jitrl serve`, `jitrl proxy` and `jitrl mcp`. A
    run's agent `rulebook` has the same as its options (`run.options`).
    """

    enabled: Annotated[
        bool, Meta(description="Whether rules are told in episodes, and distilled from them.")
    ] = False
    scores: Annotated[
        bool, Meta(description="Whether the memory corrects the scores, too, or rules are all.")
    ] = True
    told: Annotated[
        int, Meta(ge=0, description="Rules that a prompt holds at most; 0: they are learned only.")
    ] = 3
    tokens: Annotated[
        int, Meta(ge=20, description="Room for them in a prompt, in tokens, about.")
    ] = 200
    holdout: Annotated[
        float,
        Meta(
            ge=0.01,
            le=0.99,
            description="Share of the first uses of an active rule in which it is held out.",
        ),
    ] = 0.2
    overlap: Annotated[
        Share, Meta(description="Share of a rule's key words that a goal must name.")
    ] = 0.5
    meaning: Annotated[
        str,
        Meta(
            description="Embedder that finds rules which say the goal in other words; unset: key "
            "words alone."
        ),
    ] = ""
    alike: Annotated[Share, Meta(description="With `meaning`, how similar the two must be.")] = 0.4
    explore: Annotated[
        float, Meta(ge=0, le=1e6, description="c of the bound by which rules are chosen.")
    ] = 0.3
    attempts: Annotated[
        int,
        Meta(ge=0, description="Scored attempts at a task that make a round; 0: none is."),
    ] = 8
    distil: Annotated[int, Meta(ge=1, description="New rules of one round at most.")] = 2
    gap: Annotated[
        Share,
        Meta(description="Least difference between a round's best and worst that teaches."),
    ] = 0.25
    threshold: Annotated[Share, Meta(description="Least score of the best of a round.")] = 0.75
    success: Annotated[Share, Meta(description="Least score of an episode that is a win.")] = 1.0
    author: Annotated[
        Literal["rules", "model"],
        Meta(
            description="Who distils: `rules` (where attempts parted), or the `model` of "
            "`[writer]`."
        ),
    ] = "rules"
    credit: Annotated[
        Literal["contrast", "steps", "mixed-steps"],
        Meta(
            description="Which steps rules are made of: where attempts parted, where the scores of "
            "their steps part (`steps`), or the latter only where the gap is large."
        ),
    ] = "contrast"
    credit_budget: Annotated[
        int, Meta(ge=0, description="Attempts of a round whose steps the model scores, at most.")
    ] = 12
    gates: Annotated[
        Options, Meta(description="Settings of the gates that differ, as `trial`.")
    ] = msgspec.field(default_factory=dict)


class Model(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The frozen model that scores candidates."""

    name: Annotated[str, Meta(min_length=1, description="Entry point of `jitrl.models`.")] = (
        "embedded"
    )
    options: Annotated[Options, Meta(description="The model's own options.")] = msgspec.field(
        default_factory=dict
    )


class Writer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The model that writes, for evaluators and agents that ask for one."""

    name: Annotated[
        str, Meta(description="Entry point of `jitrl.models`; unset: the frozen model itself.")
    ] = ""
    options: Annotated[Options, Meta(description="Its own options.")] = msgspec.field(
        default_factory=dict
    )


class Environment(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The world to act in."""

    name: Annotated[
        str,
        Meta(
            min_length=1,
            description="Entry point of `jitrl.environments`, or a class of your own as "
            "`package.module:Class`.",
        ),
    ] = "backoffice"
    options: Annotated[Options, Meta(description="The environment's own options.")] = msgspec.field(
        default_factory=dict
    )


Natural = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Schedule = Literal["sequential", "rounds"]
Order = Literal["attempt", "task"]
Protocol = Literal["repeat", "transfer", "transfer-family"]
Rewards = Literal["during", "after", "outcome"]


class Run(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which episodes an experiment consists of, and what they may know of each other."""

    preset: Annotated[
        RunPreset | None,
        Meta(
            description="A protocol of the paper: `paper-web` (WebArena: 5 attempts of 10 steps) "
            "or `paper-text` (Jericho: 50 of 60), each with the memory preset of its name. What "
            "is given anywhere else counts before it."
        ),
    ] = None
    agent: Annotated[str, Meta(min_length=1, description="Entry point of `jitrl.agents`.")] = (
        "jitrl"
    )
    options: Annotated[Options, Meta(description="The agent's own options.")] = msgspec.field(
        default_factory=dict
    )
    book: Annotated[
        str,
        Meta(
            description="Export of rules (`jitrl rules export`) that the memory of each seed "
            "begins with: those that were told where they are from become candidates; for the "
            "agent `rulebook`."
        ),
    ] = ""
    tasks: Annotated[
        Positive | Annotated[tuple[str, ...], Meta(min_length=1)],
        Meta(description="The first so many tasks, or ids and patterns (`orders:*`)."),
    ] = ("*",)
    attempts: Annotated[int, Meta(ge=1, description="Episodes per task and seed.")] = 5
    seeds: Annotated[
        Positive | Annotated[tuple[Natural, ...], Meta(min_length=1)],
        Meta(description="So many seeds (0, 1, …), or a list of them."),
    ] = 1
    schedule: Annotated[
        Schedule,
        Meta(
            description="`sequential`: each episode sees all earlier ones. `rounds`: all tasks of "
            "an attempt act on the memory as it stood before the attempt."
        ),
    ] = "sequential"
    order: Annotated[
        Order,
        Meta(
            description="Under `sequential`: `attempt` does all tasks once, then again; `task` "
            "does all attempts of a task before the next task."
        ),
    ] = "attempt"
    protocol: Annotated[
        Protocol,
        Meta(
            description="`repeat`: memory of the same task may be used. `transfer`: it is left "
            "out. `transfer-family`: that of the whole family is left out."
        ),
    ] = "repeat"
    rewards: Annotated[
        Rewards,
        Meta(
            description="When the agent learns of rewards: `during` the episode, step rewards "
            "`after` it, or their sum as the `outcome` after it."
        ),
    ] = "after"
    plateau: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(
            description="End the run where its last so many attempts gain less than `margin` on as "
            "many before, by a 95 % interval over tasks (seeds, if tasks are few); unset: play all."
        ),
    ] = None
    margin: Annotated[
        float, Meta(ge=0, description="Gain of the mean score below which `plateau` ends a run.")
    ] = 0.05
    max_steps: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(description="Cut episodes off here; unset: the environment's own limit."),
    ] = None
    max_failures: Annotated[
        int, Meta(ge=0, description="Stop when more episodes than this have failed.")
    ] = 3
    workers: Annotated[int, Meta(ge=1, description="Episodes at once; changes no number.")] = 1
    pages: Annotated[
        bool,
        Meta(
            description="Keep what a model is shown of each page in the journal, for people who "
            "label and judges who come later; an evaluator that reads pages gets them in any case."
        ),
    ] = False


class Budget(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits of a whole run; at a limit it stops with exit code 6 and can be resumed."""

    max_calls: Annotated[
        Annotated[int, Meta(ge=0)] | None, Meta(description="Model calls; unset: no limit.")
    ] = None
    max_tokens: Annotated[
        Annotated[int, Meta(ge=0)] | None, Meta(description="Tokens in and out; unset: no limit.")
    ] = None
    max_dollars: Annotated[
        Annotated[float, Meta(ge=0)] | None, Meta(description="Dollars; unset: no limit.")
    ] = None
    prices: Annotated[
        dict[str, tuple[Annotated[float, Meta(ge=0)], Annotated[float, Meta(ge=0)]]],
        Meta(description="Dollars per million tokens read and written, by model."),
    ] = msgspec.field(default_factory=dict)


class Serve(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How `jitrl serve` listens, and what it takes from its callers."""

    folder: Annotated[
        str,
        Meta(min_length=1, description="Where the memories of all tenants and the keys lie."),
    ] = "jitrl-service"
    host: Annotated[str, Meta(min_length=1, description="Address to listen on.")] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535, description="Port; 0 for a free one.")] = 8321
    deadline: Annotated[
        float,
        Meta(ge=1, description="Milliseconds, then a decision is the model's own choice."),
    ] = 250.0
    idle: Annotated[
        float, Meta(ge=0, description="Minutes, then an episode nobody asks for is closed.")
    ] = 60.0
    rate: Annotated[
        float, Meta(ge=0, description="Requests a second for each key; 0 for no limit.")
    ] = 1000.0
    body: Annotated[int, Meta(ge=1, description="Largest body of a request, KiB.")] = 4096


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All groups of settings."""

    memory: Memory = Memory()
    rules: Rules = Rules()
    model: Model = Model()
    writer: Writer = Writer()
    environment: Environment = Environment()
    run: Run = Run()
    budget: Budget = Budget()
    serve: Serve = Serve()
