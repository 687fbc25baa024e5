"""Tasks that are instances of templates: which ones there are, in what order, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from random import Random
from typing import Literal, Protocol, TypeVar, get_args

from jitrl.errors import ConfigError
from jitrl.types import Task

Split = Literal["demo", "train", "heldout"]
Language = Literal["en", "zh"]
Site = TypeVar("Site")
Draft = TypeVar("Draft")
Site_contra = TypeVar("Site_contra", contravariant=True)
Draft_co = TypeVar("Draft_co", covariant=True)


class Template(Protocol[Site_contra, Draft_co]):
    """A kind of task: ``family:what``, its wordings in two languages, and all its instances."""

    @property
    def name(self) -> str: ...

    @property
    def family(self) -> str: ...

    @property
    def en(self) -> Sequence[str]: ...

    @property
    def zh(self) -> Sequence[str]: ...

    @property
    def drafts(self) -> Callable[[Site_contra, Random], Iterator[Draft_co]]: ...


@dataclass(frozen=True, slots=True)
class Selection:
    """Which instances of which templates an environment has.

    Attributes:
        split: ``train`` and ``heldout``: the first and the next ``instances`` instances of each
            template; ``demo``: a list of the environment's own.
        templates: Names or families; () takes all.
        instances: Instances of a template, as far as there are that many.
        seed: Of the order of a template's instances.
        language: Of the goals.

    Raises:
        ConfigError: If a setting is impossible.
    """

    split: Split
    templates: Sequence[str]
    instances: int
    seed: int
    language: Language

    def __post_init__(self) -> None:
        if self.split not in get_args(Split) or self.language not in get_args(Language):
            raise ConfigError(
                f"split must be one of {list(get_args(Split))} and language one of "
                f"{list(get_args(Language))}, got {self.split!r} and {self.language!r}"
            )
        if self.instances < 1 or self.seed < 0:
            raise ConfigError(
                "instances must be at least 1 and seed at least 0, got "
                f"instances={self.instances}, seed={self.seed}"
            )

    def drawn(
        self,
        scope: str,
        known: Mapping[str, Template[Site, Draft]],
        demo: Mapping[str, int],
        site: Site,
        shown: Callable[[Draft], Mapping[str, str]],
    ) -> list[tuple[Task, Draft]]:
        """The instances as tasks ``family:what:place``, one of each template in turn.

        Args:
            scope: Of the tasks.
            known: All templates by name.
            demo: How many instances of which templates ``demo`` has.
            site: What they are drawn from.
            shown: The values of an instance as its goal says them.

        Raises:
            ConfigError: If there is no such template or family.
        """
        first = self.instances if self.split == "heldout" else 0
        counts = demo
        if self.split != "demo":
            counts = dict.fromkeys(_chosen(self.templates, known), self.instances)
        made = [
            list(islice(self._instances(scope, known[name], site, shown), first, first + count))
            for name, count in counts.items()
        ]
        return [one for turn in zip_longest(*made) for one in turn if one is not None]

    def _instances(
        self,
        scope: str,
        template: Template[Site, Draft],
        site: Site,
        shown: Callable[[Draft], Mapping[str, str]],
    ) -> Iterator[tuple[Task, Draft]]:
        rng = Random(f"{self.seed}/{template.name}")
        wordings = template.zh if self.language == "zh" else template.en
        for i, draft in enumerate(template.drafts(site, rng)):
            values = shown(draft)
            goal = wordings[i % len(wordings)].format(**values)
            params = {"template": template.name, **values}
            yield Task(f"{template.name}:{i}", goal, scope, template.family, params), draft


def _chosen(names: Sequence[str], known: Mapping[str, Template[Site, Draft]]) -> list[str]:
    """Names of the templates of these names and families; all for none."""
    there = {name for t in known.values() for name in (t.name, t.family)}
    if unknown := [name for name in names if name not in there]:
        raise ConfigError(f"no templates {unknown}; there are {sorted(there)}")
    if not names:
        return list(known)
    return [t.name for name in names for t in known.values() if name in (t.name, t.family)]
