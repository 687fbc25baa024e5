"""The shop as an environment: a real site in a real browser, and a reward of 0 or 1 at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from jitrl.envs.browser import Browser
from jitrl.envs.instances import Language, Selection, Split
from jitrl.envs.shop.answers import offered
from jitrl.envs.shop.checks import Check, check
from jitrl.envs.shop.codec import READ, ShopCodec
from jitrl.envs.shop.data import make_shop
from jitrl.envs.shop.errands import ERRANDS
from jitrl.envs.shop.places import PLACES
from jitrl.envs.shop.process import SiteProcess, require_oscar
from jitrl.envs.shop.purchases import PURCHASES
from jitrl.envs.shop.questions import QUESTIONS
from jitrl.envs.shop.templates import Draft, Template
from jitrl.envs.shop.words import words
from jitrl.errors import ConfigError, InputError
from jitrl.types import Observation, Task, TimeStep

TEMPLATES: dict[str, Template] = {t.name: t for t in (*PLACES, *QUESTIONS, *ERRANDS, *PURCHASES)}

_HIDDEN = (
    "footer, .breadcrumb, .navbar-accounts, #logout_link, .basket-mini .dropdown-toggle-split",
    "th a, caption .form-inline, #orders_form .card, select[name=action], select[name=action] + *",
    "[class*=select-all], td input[name^=selected_], th input, .product_pod .image_container",
    "[data-toggle=modal], .form-inline a.btn, a:has(> img), td > a.btn, [name^=date_]",
    "#orders_form td a[href*='/users/'], #update_reviews_form td a:is([href*='/users/'], "
    "[href^='/catalogue/']:not(.dropdown-item))",
)
"""Parts of pages that are neither read nor offered: chrome, sorting and bulk actions of lists,
links that repeat others of their row, dates."""


DEMO: Mapping[str, int] = {
    "find:list": 4,
    "find:mine": 3,
    "find:product": 1,
    "shop:price": 1,
    "account:total": 1,
    "catalog:low": 1,
    "basket:remove": 1,
}
"""Templates of the short tasks of the demo, and how many instances of each."""


@dataclass(slots=True)
class _Visit:
    """An episode under way."""

    task: Task
    draft: Draft
    shown: Observation
    done: list[str] = field(default_factory=list)


class Shop:
    """A web shop and its back office (django-oscar), in Chromium; all is drawn from ``seed``.

    A task ends with reward 1 when the page that was asked for is shown, when its answer is right,
    or when the database has changed in exactly the way that was asked for; with 0 after a wrong
    answer or any other change.
    ``observation.info["checks"]`` says how near that is, as the evaluator ``checks`` reads it.

    Each instance has a site process and a browser of its own, from the first ``reset`` until
    ``close``. Use it from one thread.

    Args:
        split: ``train`` and ``heldout``: the first and the next ``instances`` instances of each
            template; ``demo``: twelve short tasks, whatever the next two settings are.
        templates: Names to use, ``family:what``, or families; () takes all.
        instances: Instances of a template, as far as there are that many.
        seed: Another seed is another shop.
        language: ``en`` or ``zh``, of goals and of the site's own words.
        steps: Step limit of an episode.
        executable: Path of Chromium; "" finds it.
        headless: Whether the browser has no window.

    Raises:
        MissingExtra: If django-oscar or Playwright is not installed.
        ConfigError: If a setting is unknown or impossible, or there is no Chromium.
    """

    name = "shop"
    is_replayable = True

    def __init__(
        self,
        *,
        split: Split = "train",
        templates: Sequence[str] = (),
        instances: int = 3,
        seed: int = 0,
        language: Language = "en",
        steps: int = 15,
        executable: str = "",
        headless: bool = True,
    ) -> None:
        selection = Selection(split, templates, instances, seed, language)
        if steps < 1:
            raise ConfigError(f"steps must be at least 1, got {steps}")
        require_oscar()
        self.codec = ShopCodec()
        self._word = words(language)
        self._language, self._seed, self._limit = language, seed, steps
        self._executable, self._headless = executable or None, headless
        self._shop = make_shop(seed)
        drawn = selection.drawn(self.name, TEMPLATES, DEMO, self._shop, self._shown)
        self._tasks = tuple(task for task, _ in drawn)
        self._drafts = {task.id: draft for task, draft in drawn}
        self._site: SiteProcess | None = None
        self._browser: Browser | None = None
        self._visit: _Visit | None = None
        self._typed: tuple[str, ...] = ()
        self._make_browser("http://127.0.0.1")  # stops where something is missing

    def tasks(self) -> Sequence[Task]:
        """The tasks of the split, an instance of each template in turn: ``family:what:instance``.

        ``family`` is the template's family, ``params["template"]`` its name.
        """
        return self._tasks

    def reset(self, task: Task, *, seed: int = 0) -> TimeStep:
        """Start ``task`` with a fresh database; nothing is left to chance, so ``seed`` is not used.

        Raises:
            WorldError: If the site or the browser does not answer.
        """
        if task.id not in self._drafts:
            raise InputError(f"no task {task.id!r} in this shop; see tasks()")
        if self._site is None or self._browser is None:
            self._site = SiteProcess(self._seed, self._language)
            self._browser = self._make_browser(self._site.url)
        self._site.reset()
        draft = self._drafts[task.id]
        self._typed = tuple(draft.values.values()) if draft.typed is None else draft.typed
        side = TEMPLATES[task.params["template"]].side
        self._browser.begin(f"{self._site.url}/enter/{side}/", name=task.id, fresh=False)
        self._visit = _Visit(task, draft, Observation("", task.goal))
        return TimeStep(self._observe(self._visit, self._browser, self._checked(draft)))

    def step(self, action: str) -> TimeStep:
        """Take a listed action.

        Raises:
            InputError: If no episode is under way or the page does not list the action.
            WorldError: If the site or the browser does not answer.
        """
        visit, browser = self._visit, self._browser
        if visit is None or browser is None:
            raise InputError(f"no episode is under way, so {action!r} cannot be taken; call reset")
        if action not in visit.shown.actions:
            place = self.codec.place(visit.shown)
            raise InputError(f"page {place!r} has no {action!r}; it has {visit.shown.actions}")
        visit.done.append(self.codec.canonical(action, visit.shown))
        call = browser.act(action)
        now = self._checked(visit.draft)
        won: bool | None = None
        if call.verb == "answer":
            won = call.args[0] == visit.draft.answer and now.is_done
        elif now.wrong:
            won = False
        elif now.is_done and (now.wanted or self._has_arrived(visit, browser)):
            won = True
        truncated = won is None and len(visit.done) >= self._limit
        observation = self._observe(visit, browser, now, answered=won is True)
        if won is not None or truncated:
            self._visit = None
        return TimeStep(observation, float(won or 0), won is not None, truncated)

    def close(self) -> None:
        """End the browser and the site."""
        self._visit = None
        site, browser, self._site, self._browser = self._site, self._browser, None, None
        if browser is not None:
            browser.close()
        if site is not None:
            site.close()

    def gold(self, task: Task) -> tuple[str, ...]:
        """Canonical actions that win ``task``; for tests and oracle priors, not for agents."""
        return tuple(step.canonical(self._word) for step in self._drafts[task.id].way)

    def oracle_action(self) -> str | None:
        """The next action of ``gold``; ``None`` once the episode has left that path.

        Raises:
            InputError: If no episode is under way.
        """
        if self._visit is None:
            raise InputError("no episode is under way; call reset")
        gold, done = list(self.gold(self._visit.task)), self._visit.done
        return gold[len(done)] if done == gold[: len(done)] and len(done) < len(gold) else None

    def _shown(self, draft: Draft) -> Mapping[str, str]:
        """The values of a task, in the language of its goal."""
        return {**draft.values, **(draft.zh if self._language == "zh" else {})}

    def _make_browser(self, url: str) -> Browser:
        return Browser(
            sites=(url,),
            executable=self._executable,
            headless=self._headless,
            language={"en": "en-US", "zh": "zh-CN"}[self._language],
            typed=lambda goal: self._typed,
            size=(1280, 2000),  # most pages fit in it
            timeout=60.0,
            settle=30.0,  # a busy machine takes a while; a page at rest is not waited for
            back=False,  # it would lead elsewhere from one and the same page
            hide=", ".join(_HIDDEN),
        )

    def _has_arrived(self, visit: _Visit, browser: Browser) -> bool:
        """Whether the page is shown that was asked for, if one was."""
        return bool(visit.draft.page) and urlsplit(browser.url).path == visit.draft.page

    def _checked(self, draft: Draft) -> Check:
        return check(self._site.changes() if self._site else [], draft.wanted)

    def _observe(
        self, visit: _Visit, browser: Browser, now: Check, answered: bool = False
    ) -> Observation:
        asks = TEMPLATES[visit.task.params["template"]].asks
        shown, read = browser.observe(visit.task.goal), browser.script(READ)
        if asks:
            answers = offered(asks, shown.text, read["rows"], self._shop)
            listed = (f"answer({text!r})" for text in answers)
            shown = replace(shown, actions=(*shown.actions, *listed))
        checks: dict[str, bool | float] = {"no other changes": now.wrong == 0}
        if now.wanted:
            checks["wanted changes"] = 1.0 - now.missing / now.wanted
        elif asks:
            checks["right answer"] = answered
        else:
            checks["right page"] = self._has_arrived(visit, browser)
        visit.shown = replace(shown, info={**shown.info, **read, "checks": checks})
        return visit.shown
