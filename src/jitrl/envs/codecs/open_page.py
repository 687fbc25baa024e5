"""The codec of pages whose actions are not listed: the model writes them itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jitrl.envs.codecs.elements import read_page
from jitrl.envs.codecs.page import PageCodec
from jitrl.errors import GroundingError
from jitrl.types import Observation, State


class OpenPageCodec:
    """As a ``PageCodec``, but a model is shown how to write actions, and elements as it names them.

    What it writes that cannot be done reaches the environment as it is, which says so in the page
    that follows: a model that errs loses a step, not the episode.

    Args:
        page: Makes the states, and finds elements.
        how: From the goal to a text in its language that says how actions are written; it is shown
            below each page.
        limit: Longest page that a model is shown, in characters.
    """

    name = "page-open"

    def __init__(self, page: PageCodec, how: Callable[[str], str], *, limit: int = 8000) -> None:
        self._page, self._how, self._limit = page, how, limit

    def state(self, observation: Observation, history: Sequence[str]) -> State:
        """Place, goal, and what tells this page from others of its place."""
        return self._page.state(observation, history)

    def actions(self, observation: Observation) -> tuple[str, ...]:
        """None: the model proposes."""
        return ()

    def ground(self, action: str, observation: Observation) -> str:
        """The raw action, or ``action`` as it is where this page has no counterpart."""
        try:
            return self._page.ground(action, observation)
        except GroundingError:
            return action

    def text(self, observation: Observation) -> str:
        """The page with its elements as actions name them, then how to write actions."""
        page = read_page(observation.text)
        nodes = {node.line: node for node in page.nodes}
        rows = []
        for i, line in enumerate(page.lines):
            if (node := nodes.get(i)) is None:
                rows.append(line.strip())
                continue
            shown = (f"{name}={value!r}" for name, value in node.attributes)
            rows.append(" ".join((str(node.element), *shown)))
        text = "\n".join(filter(None, rows)).encode("utf-8", "replace").decode()
        if len(text) > self._limit:
            text = text[: self._limit - 1] + "…"
        return f"{text}\n{self._how(observation.goal)}"
