"""A browser as agents use one: it reads pages as text and takes a short list of actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from jitrl.envs.browser.chromium import Chromium, playwright, require
from jitrl.envs.browser.fields import fitting, quoted_values
from jitrl.envs.browser.tabs import Tabs, TabSettings, pattern
from jitrl.envs.browser.verbs import FOR_THE_ENVIRONMENT, checked, takes_an_element
from jitrl.envs.codecs.calls import Call
from jitrl.envs.codecs.elements import element_line
from jitrl.errors import ConfigError, InputError, WorldError
from jitrl.types import Observation


class Browser:
    """Chromium behind a whitelist: nothing that an agent says is run as code.

    Starts with the first ``begin``, and belongs to the thread that uses it; those of one thread
    share a Chromium, not what is in it. Every wait has an end.

    Args:
        sites: URL prefixes (``http://127.0.0.1:8000``) that may be visited or loaded from; any
            other request is refused, and the page stays where it is.
        executable: Path of Chromium; ``None``: Playwright's own, else one of this machine.
        size: Width and height of the view, pixels.
        timeout: Seconds that one load, action or reading may take.
        settle: Most seconds to wait for the page to come to rest after an action; with the virtual
            clock, the seconds that pass for the page.
        clock: ``virtual``: time stands still for the page between actions, and its random numbers
            are the same at each load.
        typed: What may be typed into fields, from the goal.
        back: Whether ``back()`` is offered.
        hide: CSS selector of what is neither read nor offered.
        screenshots: Folder for a picture of each observation, ``NAME/NNN.png``.

    Raises:
        MissingExtra: If Playwright is not installed.
        ConfigError: If there is no Chromium, or a setting is impossible.
    """

    def __init__(
        self,
        *,
        sites: Sequence[str],
        executable: str | None = None,
        headless: bool = True,
        size: tuple[int, int] = (1280, 900),
        timeout: float = 15.0,
        settle: float = 1.0,
        clock: Literal["real", "virtual"] = "real",
        language: str = "en-US",
        typed: Callable[[str], Sequence[str]] = quoted_values,
        back: bool = True,
        hide: str = "",
        screenshots: Path | None = None,
    ) -> None:
        if timeout <= 0 or settle < 0 or min(size) < 1 or clock not in ("real", "virtual"):
            raise ConfigError(
                "timeout and size must be above 0, settle at least 0 and clock real or virtual; "
                f"got timeout={timeout}, size={size}, settle={settle}, clock={clock!r}"
            )
        require(executable or None)
        self._program = executable or None
        self._headless, self._timeout = headless, timeout
        self._sites = tuple(_prefix(site) for site in sites)
        self._settings = TabSettings(
            pattern(self._sites), size, timeout, settle, clock, language, hide
        )
        self._typed, self._back, self._screenshots = typed, back, screenshots
        self._chromium: Chromium | None = None
        self._tabs: Tabs | None = None
        self._places: dict[str, int] = {}
        self._name, self._at = "", ("", 0)
        self._loads = self._taken = self._arrived = self._depth = 0

    @property
    def url(self) -> str:
        """Address of the present page."""
        return str(self._open_tabs().page.url)

    def begin(
        self,
        url: str,
        *,
        name: str = "",
        state: Mapping[str, Any] | None = None,
        fresh: bool = True,
        har: Path | None = None,
    ) -> None:
        """Load ``url`` for a new episode.

        Args:
            name: Folder of its pictures.
            state: Cookies and local storage to start with, as ``storage()`` gave them.
            fresh: Start without cookies, storage and other tabs; else what the site keeps in the
                browser stays, which is faster.
            har: File that records what is asked and answered; ``end`` writes it. Needs a fresh
                start.

        Raises:
            InputError: If ``url`` is not on ``sites``.
            ConfigError: If the browser does not start.
            WorldError: If the page cannot be loaded in time.
        """
        self._require(url)
        self._places, self._name = {}, name
        if fresh or har or state is not None or self._tabs is None or self._tabs.count != 1:
            self._renew(None if state is None else dict(state), har)
        self.goto(url)
        tabs = self._open_tabs()
        if self._back:
            self._do(tabs.forget_history())
        tabs.said = []
        self._at = self._stand()
        self._taken = self._arrived = 0

    def goto(self, url: str) -> None:
        """Go to an address of ``sites`` as the environment's own doing; it is no step.

        Raises:
            InputError: If it is on none of them.
            WorldError: If it cannot be loaded in time.
        """
        self._require(url)
        tabs = self._open_tabs()
        self._do(tabs.go(url))
        self.rest()

    def rest(self) -> None:
        """Wait until the page is at rest, after a script of the environment's own."""
        self._do(self._open_tabs().rest(), self._timeout + self._settings.settle)

    def observe(self, goal: str, *, answers: Sequence[str] = ()) -> Observation:
        """The present page: its title, then lines and elements, and what can be done.

        Args:
            answers: Texts offered as ``answer(…)``.

        Raises:
            WorldError: If the page cannot be read in time.
            ConfigError: If its picture cannot be written.
        """
        tabs = self._open_tabs()
        read = self._do(tabs.read())
        self._depth = self._do(tabs.depth()) if self._back else 0
        self._loads += 1
        # Two readings in a row share no id.
        letter, first = "abcdefgh"[self._loads % 8], self._loads * 37 % 900 + 100
        lines = [read["title"] or urlsplit(self.url).path or "(no title)"]
        lines += [element_line(f"{letter}x{i}", "alert", said) for i, said in enumerate(tabs.said)]
        self._places, actions, typed = {}, list[str](), tuple(self._typed(goal))
        for line in read["lines"]:
            if isinstance(line, str):
                lines.append(f"text {line}" if line.startswith("[") else line)
                continue
            id = f"{letter}{first + line['node']}"
            self._places[id] = line["node"]
            lines.append(element_line(id, line["role"], line["label"], **line["more"]))
            actions += _actions(id, line, typed)
        actions += ["back()"] * (self._depth > 0)
        actions += [Call("answer", (text,)).raw() for text in dict.fromkeys(answers)]
        info: dict[str, Any] = {"arrived": self._arrived}
        if self._screenshots is not None:
            path = self._screenshots / self._name / f"{self._taken:03}.png"
            try:
                self._do(tabs.picture(path))
            except OSError as error:
                raise ConfigError(f"screenshots: {path} cannot be written: {error}") from error
            info["screenshot"] = str(path)
        return Observation("\n".join(lines), goal, tuple(actions), self.url, info)

    def act(self, action: str) -> Call:
        """Take a raw action on the page that was observed last, and wait until it is at rest.

        What the page itself forbids (the element is covered, or has gone) is not done, and the
        next observation says so in an alert. ``answer`` and its like touch no page.

        Returns:
            The action as it was read.

        Raises:
            InputError: If it is no action of a browser, names no element of that page, or leads to
                an address that is not on ``sites``; nothing has changed then.
            WorldError: If the page does not respond in time.
        """
        tabs, call, place = self._open_tabs(), checked(action), None
        if takes_an_element(call.verb):
            place = self._places.get(str(call.args[0]))
            if place is None:
                raise InputError(f"{action!r}: the page observed last has no such element")
        if call.verb == "goto":
            self._require(str(call.args[0]))
        if call.verb == "back" and not self._depth:
            raise InputError("'back()': there is no page to go back to in this episode")
        if call.verb not in FOR_THE_ENVIRONMENT:
            tabs.said = []
            self._do(tabs.perform(call, place))
            self.rest()
        self._taken += 1
        if (stand := self._stand()) != self._at:
            self._at, self._arrived = stand, self._taken
        return call

    def script(self, javascript: str, argument: Any = None) -> Any:
        """What a script of the environment's own finds in the page; nothing of an agent's is run.

        Raises:
            WorldError: If it fails or takes too long.
        """
        return self._do(self._open_tabs().page.evaluate(javascript, argument))

    def storage(self) -> dict[str, Any]:
        """Cookies and local storage of the present episode, for ``begin``."""
        state: dict[str, Any] = self._do(self._open_tabs().storage())
        return state

    def end(self) -> None:
        """End the episode: its tabs are closed and its recording is written; may be called twice.

        Raises:
            WorldError: If the browser does not respond in time.
        """
        tabs, self._tabs, self._places = self._tabs, None, {}
        if tabs is not None:
            self._do(tabs.close())

    def close(self) -> None:
        """Close all tabs, and end Chromium if the thread has no other ``Browser``."""
        chromium, tabs = self._chromium, self._tabs
        self._chromium, self._tabs, self._places = None, None, {}
        if chromium is None:
            return
        if tabs is not None and not chromium.has_ended:
            try:
                chromium.do(tabs.close(), self._timeout)
            except WorldError:  # what hangs takes the process along
                chromium.end()
        chromium.leave()

    def _renew(self, state: dict[str, Any] | None, har: Path | None) -> None:
        """A context without a past."""
        if self._tabs is not None:
            tabs, self._tabs = self._tabs, None
            with suppress(WorldError):  # gone already
                self._do(tabs.close())
        if self._chromium is None or self._chromium.has_ended:
            self._chromium = Chromium.of_this_thread(self._program, self._headless)
        self._tabs = Tabs(playwright(), self._chromium.browser, self._settings)
        self._do(self._tabs.open(state, har))

    def _open_tabs(self) -> Tabs:
        if self._tabs is None:
            raise InputError("no page is open; call begin")
        return self._tabs

    def _do(self, question: Any, timeout: float | None = None) -> Any:
        """Wait for an answer; after a failure the next ``begin`` makes everything anew."""
        if self._chromium is None:
            raise InputError("no page is open; call begin")
        try:
            return self._chromium.do(question, timeout or self._timeout)
        except WorldError:
            self.close()
            raise

    def _stand(self) -> tuple[str, int]:
        """What changes when another page is reached; a bare fragment is the same page."""
        url, _, fragment = self.url.partition("#")
        return url + fragment * fragment.startswith(("/", "!/")), self._open_tabs().documents

    def _require(self, url: str) -> None:
        if not url.startswith(self._sites):
            raise InputError(f"{url[:200]!r} is not on the allowed sites {list(self._sites)}")


def _actions(id: str, line: Mapping[str, Any], typed: Sequence[str]) -> list[str]:
    """What can be done with an element, as raw actions."""
    actions = []
    for verb, *given in line["uses"]:
        if verb == "fill":
            kind, held = given
            values = [value for value in fitting(kind, typed) if value != held]
            actions += [Call("fill", (id, value)).raw() for value in values]
        else:
            actions.append(Call(verb, (id, *given)).raw())
    return actions


def _prefix(site: str) -> str:
    """A URL prefix that ends where a host or folder ends."""
    parts = urlsplit(site)
    if parts.scheme not in ("http", "https", "file") or parts.query or parts.fragment:
        raise ConfigError(f"site {site!r} is no http, https or file address")
    if parts.username is not None or (parts.scheme != "file" and not parts.hostname):
        raise ConfigError(f"site {site!r} must name a host, and no user")
    port = {"http": 80, "https": 443}.get(parts.scheme)
    host = (parts.hostname or "") + (f":{parts.port}" if parts.port not in (None, port) else "")
    return f"{parts.scheme}://{host}{parts.path.rstrip('/')}/"
