"""The rulebook of a memory that the library opens: beside its scores, or in their place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec

from jitrl import registry
from jitrl.agents.rulebook.book import NAME, Rulebook
from jitrl.agents.rulebook.episode import RulebookEpisode
from jitrl.config import Memory, Rules
from jitrl.errors import BudgetExceeded, ConfigError, ModelError
from jitrl.ports import Embedder, Evaluator, Store, Writer

_OF_THE_MEMORY = {"temperature": "temperature_prior", "choose": "choose"}


def chosen(rules: bool | Mapping[str, Any] | None, settings: Rules) -> bool | Mapping[str, Any]:
    """What ``rules`` asks for, in view of the settings.

    Args:
        rules: ``None`` leaves it to the settings, ``False`` is none; what a mapping names counts
            before the settings.
    """
    if rules is False or (rules is None and not settings.enabled):
        return False
    if not (rules is None or rules is True or isinstance(rules, Mapping)):
        return rules  # which is refused
    usual = Rules()
    asked = {
        name: getattr(settings, name)
        for name in settings.__struct_fields__
        if name != "enabled" and getattr(settings, name) != getattr(usual, name)
    }
    return asked | dict(rules) if isinstance(rules, Mapping) else asked or True


def opened(
    rules: bool | Mapping[str, Any],
    store: Store,
    evaluator: Evaluator,
    settings: Memory,
    writer: Callable[[], Writer],
    embedder: Callable[[str], Embedder],
) -> Rulebook | None:
    """The rulebook with these options; ``None`` where there is to be none.

    Args:
        rules: Whether there is one, or the options of the agent ``rulebook`` that differ. Its
            ``scores`` is ``True`` here unless said otherwise.
        writer: Makes the model that writes rules.
        embedder: Makes the embedder of a name.

    Raises:
        ConfigError: If an option is unknown or impossible, or the store keeps no rules.
    """
    if rules is False:
        return None
    if not (rules is True or isinstance(rules, Mapping)):
        raise ConfigError(
            f"rules is {rules!r}; it must be True, False, or options of the agent {NAME!r}, as in "
            'rules={"told": 5}'
        )
    options: dict[str, Any] = {} if rules is True else dict(rules)
    if wrong := [name for name in options if not isinstance(name, str)]:
        raise ConfigError(f"rules has the option {wrong[0]!r}; names of options are texts")
    for name, own in _OF_THE_MEMORY.items():
        if name in options:
            raise ConfigError(
                f"rules: {name} is no option here; the memory's rule says how a choice is drawn: "
                f"rule={{{own!r}: {options[name]!r}}}"
            )
    if not hasattr(store, "add_rules"):
        raise ConfigError(
            f"store {type(store).__name__} keeps no rules (it has no add_rules()); leave rules "
            "out, or keep the memory in the store 'sqlite'"
        )
    scores = options.pop("scores", True)
    if not isinstance(scores, bool):
        raise ConfigError(f"rules: scores is {scores!r}; it must be True or False")
    made = registry.create(
        "agents",
        NAME,
        {**options, "scores": True},
        store=store,
        evaluator=evaluator,
        settings=settings if scores else msgspec.structs.replace(settings, mode="off"),
        writer=writer,
        embedder=embedder,
        replays=None,
    )
    book = cast(Rulebook, made)
    book.tells = settings.mode == "act"
    return book


def asked(agent: object) -> RulebookEpisode:
    """The agent of an episode, if it has rules.

    Raises:
        ConfigError: If the memory was opened without rules.
    """
    if not isinstance(agent, RulebookEpisode):
        raise ConfigError(
            "this memory was opened without rules, so there are no notes; open it with "
            "jitrl.open(path, rules=True)"
        )
    return agent


def at_once(key: str, teach: Callable[[], None]) -> None:
    """Make rules of a stored episode now; say that it is stored, if that fails."""
    try:
        teach()
    except (ModelError, BudgetExceeded) as error:
        error.add_note(
            f"episode {key!r} is stored and judged; the rules of its round are made after the "
            "next episode of its task, or when the memory is opened again"
        )
        raise
