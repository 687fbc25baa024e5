"""WebArena's 812 tasks out of the package webarena-verified, at the addresses of the sites."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from jitrl.envs.webarena.lite import LITE
from jitrl.errors import ConfigError, MissingExtra
from jitrl.types import Task

SITES = ("shopping", "shopping_admin", "reddit", "gitlab", "map", "wikipedia")
"""The sites that tasks are about; the address of each is the user's."""

Subset = Literal["all", "lite"]

_PLACEHOLDER = re.compile(r"__([A-Z]+(?:_[A-Z]+)*)__")


@dataclass(frozen=True, slots=True)
class SiteTask:
    """One task and where it starts.

    Attributes:
        number: Its number in WebArena, 0 to 811.
        template: Number of its template.
        sites: What it is about, sorted.
        start: Addresses with placeholders such as ``__SHOPPING__``; the first is where it begins.
        reads_bodies: Whether its checks read what the site answered, not only what was asked.
        lists: Fields of an answer that hold several values.
    """

    number: int
    template: int
    sites: tuple[str, ...]
    goal: str
    wording: str
    values: Mapping[str, Any]
    start: tuple[str, ...]
    reads_bodies: bool
    lists: frozenset[str]

    @property
    def scope(self) -> str:
        """``shopping``, or ``gitlab-reddit`` for a task about both."""
        return "-".join(self.sites)

    @property
    def task(self) -> Task:
        """As agents and runs know it: ``shopping:118`` of family ``151``."""
        return Task(
            f"{self.scope}:{self.number}",
            self.goal,
            self.scope,
            str(self.template),
            {"template": self.wording, **self.values},
        )


@cache
def everything() -> Mapping[int, SiteTask]:
    """All tasks by their number. What they are checked by is not read.

    Raises:
        MissingExtra: If webarena-verified is not installed.
        ConfigError: If its file of tasks cannot be read.
    """
    path = package_folder() / "assets" / "dataset" / "webarena-verified.json"
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
        return {one["task_id"]: _read(one) for one in listed}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{path} cannot be read as the tasks of webarena-verified: {error!r}; "
            "install the version that `jitrl[webarena]` asks for"
        ) from error


def package_folder() -> Path:
    """Where webarena-verified is installed; it is not imported.

    Raises:
        MissingExtra: If it is not.
    """
    found = find_spec("webarena_verified")
    if found is None or not found.submodule_search_locations:
        raise MissingExtra(
            "environment webarena needs webarena-verified: pip install 'jitrl[webarena]'"
        )
    return Path(found.submodule_search_locations[0])


def addresses(urls: Mapping[str, str]) -> dict[str, str]:
    """Addresses by site, without a slash at their end.

    Raises:
        ConfigError: If a site is not known, or an address is none of http or https.
    """
    for site, url in urls.items():
        if site not in SITES:
            raise ConfigError(f"urls names a site {site!r}; there are {', '.join(SITES)}")
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(
                f"urls: the address of {site} is {url!r}; write it as http://host:port"
            )
    return {site: url.rstrip("/") for site, url in urls.items()}


def filled_in(address: str, urls: Mapping[str, str]) -> str:
    """``address`` with each placeholder replaced by the address of its site.

    Raises:
        ConfigError: If the site of a placeholder has no address.
    """

    def of(placeholder: re.Match[str]) -> str:
        site = placeholder[1].lower()
        if site not in urls:
            raise ConfigError(f"{address} needs the address of {site}; {how_to_give(site)}")
        return urls[site]

    return _PLACEHOLDER.sub(of, address)


def selected(
    urls: Mapping[str, str], subset: Subset = "all", ids: Collection[int] = ()
) -> list[SiteTask]:
    """The tasks of a subset, or those with the numbers ``ids``, whose sites all have an address.

    Raises:
        ConfigError: If a number does not exist, or was asked for and lacks an address.
        MissingExtra: If webarena-verified is not installed.
    """
    tasks = everything()
    for number in ids:
        if number not in tasks:
            raise ConfigError(f"ids: there is no WebArena task {number}; they are 0 to 811")
        require_addresses(tasks[number], urls)
    wanted = ids or (LITE if subset == "lite" else tasks)
    return [task for n, task in tasks.items() if n in wanted and not missing(task, urls)]


def missing(task: SiteTask, urls: Mapping[str, str]) -> list[str]:
    """Sites of a task that have no address."""
    return [site for site in task.sites if site not in urls]


def require_addresses(task: SiteTask, urls: Mapping[str, str]) -> None:
    """Refuse a task that cannot be begun.

    Raises:
        ConfigError: If a site has no address.
    """
    for site in missing(task, urls):
        raise ConfigError(
            f"task {task.number} needs site {site}, which has no address; {how_to_give(site)}"
        )


def how_to_give(site: str) -> str:
    """What to do about a missing address."""
    return f'give environment.options.urls = {{ {site} = "http://host:port" }}'


def _read(one: Mapping[str, Any]) -> SiteTask:
    return SiteTask(
        number=one["task_id"],
        template=one["intent_template_id"],
        sites=tuple(sorted(one["sites"])),
        goal=one["intent"],
        wording=one["intent_template"],
        values=dict(one["instantiation_dict"]),
        start=tuple(one["start_urls"]),
        reads_bodies=any(check["expected"].get("response_content") for check in one["eval"]),
        lists=frozenset(
            name
            for check in one["eval"]
            for name, field in _fields(check.get("results_schema", {})).items()
            if field.get("type") == "array"
        ),
    )


def _fields(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Schema of each field of an answer of several fields."""
    fields: Mapping[str, Any] = schema.get("items", {}).get("properties", {})
    return fields
