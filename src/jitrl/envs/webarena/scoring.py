"""Scores of finished tasks by webarena-verified, from an answer and the recorded requests alone."""

from __future__ import annotations

import json
import logging
import re
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jitrl.envs.webarena.form import fault
from jitrl.envs.webarena.tasks import addresses, everything, missing, package_folder
from jitrl.errors import InputError, MissingExtra
from jitrl.types import Judgment, Scored, Unscored

_log = logging.getLogger(__name__)

NAME = "webarena-verified"
ANSWER, TRACE, SITES_OF = "agent_response.json", "network.har", "sites.json"
"""Files in the folder of a finished task; webarena-verified names the first two so."""

_QUIET = threading.Lock()  # filters of warnings are one for all threads
_FENCED = re.compile(r"```(?:json)?\s*\n?(.*?)\n?```", re.DOTALL)


class _UnreadableError(Exception):
    """Why a file says nothing about how a task ended."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished task on disk, and its score.

    Attributes:
        number: Of the task.
        judgment: One reward of 1 or 0, or why there is none.
    """

    folder: Path
    number: int
    judgment: Judgment


class Scoring:
    """The checks of webarena-verified, which need none of the sites. Not safe for threads.

    Args:
        urls: Address by site, as they were when the requests were recorded.

    Raises:
        MissingExtra: If webarena-verified, or a package that it needs, is not installed.
        ConfigError: If an address is none.
    """

    def __init__(self, urls: Mapping[str, str]) -> None:
        self._urls = addresses(urls)
        self._checks, self._is_pattern = _checks(self._urls)

    def judge(self, number: int, answer: Any, requests: Sequence[Mapping[str, Any]]) -> Judgment:
        """The score of a task: one reward of 1 or 0.

        Args:
            answer: What the agent ended with, as JSON values: ``task_type``, ``status``,
                ``retrieved_data``; ``None`` if it never answered.
            requests: Entries of a HAR.

        Returns:
            0 for an answer that is not of the published form (see ``form``); ``Unscored`` if the
            checks could not be made.

        Raises:
            InputError: If there is no task of that number.
        """
        if number not in everything():
            raise InputError(f"there is no WebArena task {number}; they are 0 to 811")
        if lacking := missing(everything()[number], self._urls):
            return Unscored(f"the address of {', '.join(lacking)} is not known", NAME)
        if not requests:
            return Unscored("no requests were recorded", NAME)
        if wrong := fault(answer, self._is_pattern, everything()[number].lists):
            _log.info("answer counts as wrong task=%d: %s", number, wrong)
            return Scored((0.0,), NAME, "state_check")
        result = self._checked(number, answer, requests)
        if result.status == "error" and answer.get("retrieved_data") is not None:
            # A task that has nothing to find cannot compare what was found; it may do without.
            without = self._checked(number, {**answer, "retrieved_data": None}, requests)
            if without.status != "error":
                return Scored((0.0,), NAME, "state_check")
        if result.status == "error":
            said = [result.error_msg, *(part.error_msg for part in result.evaluators_results)]
            return Unscored("; ".join(filter(None, said)), NAME)
        return Scored((float(result.score),), NAME, "state_check")

    def _checked(self, number: int, answer: Any, requests: Sequence[Mapping[str, Any]]) -> Any:
        with _QUIET, warnings.catch_warnings():
            # Under `-W error` a warning of what it uses would be a failure of its checks.
            warnings.simplefilter("ignore")
            return self._checks.evaluate_task(
                task_id=number, agent_response=answer, network_trace=list(requests)
            )


def score(folder: Path, number: int, scoring: Scoring) -> Judgment:
    """The score of the finished task in ``folder``; ``Unscored`` if a file of it is unreadable.

    Raises:
        InputError: If there is no task of that number.
    """
    try:
        answer, requests = _answer(folder / ANSWER), _requests(folder / TRACE)
    except _UnreadableError as error:
        return Unscored(str(error), NAME)
    return scoring.judge(number, answer, requests)


def scored(folder: Path, urls: Mapping[str, str] | None = None) -> list[Finished]:
    """The scores of all finished tasks under ``folder``, by number and path.

    A finished task is a folder with an answer or a trace in it, whose name, or that of the
    nearest folder above it, is the number of the task. Where ``urls`` says nothing of a site, the
    folder's own ``sites.json`` does, which is written in play.

    Raises:
        InputError: If there is none, or the number of one is not known.
        MissingExtra: If webarena-verified is not installed.
        ConfigError: If an address is none.
    """
    places = sorted({path.parent for name in (ANSWER, TRACE) for path in folder.rglob(name)})
    if not places:
        raise InputError(f"{folder} holds no finished task: no {ANSWER} and no {TRACE} in it")
    given = addresses(urls or {})
    made: dict[tuple[tuple[str, str], ...], Scoring] = {}
    out = []
    for place in places:
        number = _number(place, folder)
        try:
            known = {**_sites(place / SITES_OF), **given}
        except _UnreadableError as error:
            out.append(Finished(place, number, Unscored(str(error), NAME)))
            continue
        key = tuple(sorted(known.items()))
        if key not in made:
            made[key] = Scoring(known)
        out.append(Finished(place, number, score(place, number, made[key])))
    return sorted(out, key=lambda one: (one.number, one.folder))


def _checks(urls: Mapping[str, str]) -> tuple[Any, Callable[[str], bool]]:
    """The package's own entry point, slow to load, and whether it reads a text as a pattern."""
    package_folder()
    for name in ("WebArena-Verified", "webarena_verified"):  # its results say the same
        logging.getLogger(name).addHandler(logging.NullHandler())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what it imports
            from webarena_verified.api import WebArenaVerified
            from webarena_verified.core.evaluation.data_types import NormalizedString
            from webarena_verified.types.config import EnvironmentConfig, WebArenaVerifiedConfig
    except ImportError as error:
        raise MissingExtra(
            f"scoring WebArena tasks failed to load webarena-verified ({error}): "
            "pip install 'jitrl[webarena]'"
        ) from error
    sites = {f"__{site.upper()}__": EnvironmentConfig(urls=[url]) for site, url in urls.items()}
    checks = WebArenaVerified(config=WebArenaVerifiedConfig(environments=sites))
    return checks, lambda text: bool(NormalizedString(text).is_regexp)


def _number(place: Path, root: Path) -> int:
    for path in (place, *place.parents):
        if path.name.isdecimal():
            if int(path.name) not in everything():
                raise InputError(
                    f"there is no WebArena task {path.name}, which {place} is named by"
                )
            return int(path.name)
        if path == root:
            break
    raise InputError(
        f"{place} does not say which task it is of; name it, or a folder above it in {root}, by "
        "the number of the task"
    )


def _answer(path: Path) -> Any:
    text = _text(path).strip()
    fenced = _FENCED.search(text)
    for candidate in filter(None, (text, fenced and fenced[1].strip())):
        try:
            return json.loads(candidate)
        except (ValueError, RecursionError):
            continue
    raise _UnreadableError(f"{path.name} is {'empty' if not text else 'not JSON'}")


def _requests(path: Path) -> list[Mapping[str, Any]]:
    try:
        entries = json.loads(_text(path))["log"]["entries"]
        for entry in entries:
            entry["request"]["url"], entry["request"]["method"], entry["request"]["headers"]
            entry["response"]["status"], entry["response"]["redirectURL"]
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise _UnreadableError(f"{path.name} is no HAR: {error!r}") from error
    return list(entries)


def _sites(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    try:
        found = json.loads(_text(path))
        return addresses({str(site): str(url) for site, url in found.items()})
    except (ValueError, AttributeError) as error:
        raise _UnreadableError(f"{path.name} holds no addresses: {error}") from error


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise _UnreadableError(f"there is no {path.name}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise _UnreadableError(f"{path.name} cannot be read: {error}") from error
