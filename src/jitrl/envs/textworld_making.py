"""Games made by the textworld package: generated once for each setting and seed, then kept."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import tempfile
import threading
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, get_args

from jitrl.errors import ConfigError, InputError

_log = logging.getLogger(__name__)
_LOCK = threading.Lock()  # the package draws from a generator of the whole process

Challenge = Literal["simple", "cooking", "coin-collector", "treasure-hunter", "custom"]
CHALLENGES: tuple[Challenge, ...] = get_args(Challenge)
_NAMES = {
    "simple": "tw-simple",
    "cooking": "tw-cooking",
    "coin-collector": "tw-coin_collector",
    "treasure-hunter": "tw-treasure_hunter",
}


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a game is made by, beside its seed.

    Attributes:
        challenge: Kind of game.
        settings: What the kind depends on, by the package's names.
    """

    challenge: Challenge
    settings: Mapping[str, Any]

    def digest(self, seed: int) -> str:
        """Sixteen hex digits that change with the recipe, the seed and the package's version."""
        said = {**asdict(self), "seed": seed, "version": version("textworld")}
        raw = json.dumps(said, sort_keys=True, default=dict)
        return hashlib.sha256(raw.encode()).hexdigest()[:16]


def story(recipe: Recipe, seed: int, folder: Path) -> Path:
    """The game's story file in ``folder``, made if it is not there; its JSON lies beside it.

    Safe for threads and processes: a game appears whole or not at all.

    Raises:
        InputError: If the package cannot make such a game.
        ConfigError: If the folder cannot be written.
    """
    name = f"tw-{recipe.challenge}-{seed}-{recipe.digest(seed)}"
    place = folder / name / f"{name}.z8"  # its player knows these games by the beginning tw-
    if place.is_file():
        return place
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".making-") as made:
            _log.info("making game challenge=%s seed=%d", recipe.challenge, seed)
            with _LOCK, warnings.catch_warnings():
                _make(recipe, seed, Path(made) / "game" / f"{name}.z8")
            try:
                os.replace(Path(made) / "game", folder / name)
            except OSError:
                if not place.is_file():  # else another process was here first
                    shutil.rmtree(folder / name, ignore_errors=True)
                    os.replace(Path(made) / "game", folder / name)
    except OSError as error:
        raise ConfigError(
            f"games cannot be kept in {folder}: {error}; name another place with the option folder "
            "or the variable JITRL_CACHE_DIR"
        ) from error
    return place


def _make(recipe: Recipe, seed: int, place: Path) -> None:
    import textworld.challenges
    from textworld.generator import QuestGenerationError, compile_game, make_game
    from textworld.generator.inform7 import CouldNotCompileGameError

    textworld.g_rng.set_seed(seed)
    options = textworld.GameOptions()
    options.seeds = seed
    options.path = str(place)
    settings = {"recipe_seed": 0, **recipe.settings}
    options.grammar.only_last_action = settings["goal"] == "brief"
    place.parent.mkdir()
    warnings.simplefilter("ignore")  # it tries games out under names that its player warns of
    try:
        if recipe.challenge == "custom":
            options.nb_rooms, options.nb_objects = settings["rooms"], settings["objects"]
            options.quest_length = settings["quest"]
            game = make_game(options)
        else:
            make = textworld.challenges.CHALLENGES[_NAMES[recipe.challenge]][1]
            game = make(settings, options)
        if settings["goal"] == "none":
            game.objective = ""
        compile_game(game, options)
    except (QuestGenerationError, CouldNotCompileGameError, ValueError) as error:
        raise InputError(
            f"textworld makes no game {recipe.challenge}:{seed} with {settings}: "
            f"{str(error).strip() or type(error).__name__}; take another seed or other settings"
        ) from error
    place.with_suffix(".ni").unlink(missing_ok=True)
