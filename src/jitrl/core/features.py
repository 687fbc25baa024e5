"""Features of a step: what of it may hold in other tasks, too.

A feature is a name in parts, such as ``("goal", "cancel", "click button | Cancel")``. Values that a
goal names are masked, so that ``Order 9166`` in one task and ``Order 5086`` in another are one
thing. A codec declares which kind of features its pages or rooms have (``Codec.features``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

from jitrl.core.readings import asked
from jitrl.core.similarity import is_unspaced, words
from jitrl.types import State

Kind = Literal["page", "words"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Feature = tuple[str, ...]

_CALL = re.compile(r"^([\w.]+)\((.*)\)$", re.DOTALL)
_ELEMENT = r"<(?P<role>[\w-]+)(?:\[(?P<label>(?:[^\]\\]|\\.)*)\])?[^>]*>"
_TEXT = (
    r"(?:\w+=)?(?:\"(?P<double>(?:[^\"\\]|\\.)*)\"|'(?P<single>(?:[^'\\]|\\.)*)'(?=\s*(?:[,\]]|$)))"
)
_BARE = r"(?P<bare>[^\s,\[\]\"<](?:[^,\[\]]*[^\s,\[\]])?)"
_ARGUMENT = re.compile(f"{_ELEMENT}|{_TEXT}|{_BARE}", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_BLANKS = {"n": " ", "r": " ", "t": " "}
# A text in quotes; an apostrophe within a word opens none.
_CITED = re.compile(r"\"[^\"]*\"|“[^”]*”|「[^」]*」|(?<!\w)'.+?'(?!\w)", re.DOTALL)
_BETWEEN = re.compile(r" (?:in|into|on|onto|to|with|from|at|using) ")
_DIGIT = re.compile(r"\d")
_STEM = 4  # characters by which words of a goal and of a label are compared
_GOAL = 0.7  # most weight of one word of the goal
_FAINT = 0.05  # words of a goal that tell less are left out
_GOALS = 1024  # goals whose view of it a map remembers


class Situation(NamedTuple):
    """A step as transfer looks at it.

    Attributes:
        goal: The task in words.
        last: Canonical action before this one; "" at the start.
        actions: Canonical actions to choose from, shape [A].
        taken: Actions that this episode has taken.
        joined: How many of the actions, the last ones, are not of the page but of the memory.
        read: What this episode has read so far.
    """

    goal: str
    state: State
    last: str
    actions: Sequence[str]
    taken: Collection[str]
    joined: int = 0
    read: str = ""


class Action(NamedTuple):
    """An action in parts.

    Attributes:
        verb: What is done.
        roles: Roles of the elements it is done to.
        labels: Their labels, and the texts that are given with it; or the objects of a sentence.
    """

    verb: str
    roles: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


class Masked(NamedTuple):
    """An action as one goal sees it.

    Attributes:
        text: The action with its values masked.
        form: The action without any label.
        named: Share of the words of its labels that stand in the goal, in [0, 1].
    """

    text: str
    form: str
    named: float


class Goal:
    """A goal, and what it says of actions."""

    def __init__(self, text: str) -> None:
        self.tokens = frozenset(w for w in words(_CITED.sub(" ", text)) if not _DIGIT.search(w))
        self._text = text.casefold()
        self.stems = _stems((text,))
        self._masked: dict[str, Masked] = {}

    def names(self, value: str) -> bool:
        """Whether the value stands in the goal, as whole words."""
        sought = value.casefold().strip()
        at = self._text.find(sought) if sought else -1
        while at >= 0:
            end = at + len(sought)
            before, after = self._text[max(at - 1, 0) : at], self._text[end : end + 1]
            if not (_is_one_word(before, sought[0]) or _is_one_word(sought[-1], after)):
                return True
            at = self._text.find(sought, at + 1)
        return False

    def masked(self, action: str) -> Masked:
        """The action as this goal sees it."""
        known = self._masked.get(action)
        if known is None:
            known = self._masked[action] = self._mask(parts(action))
        return known

    def share(self, labels: tuple[str, ...]) -> float:
        """Share of the words of labels that stand in the goal, in [0, 1]."""
        stems = _label_stems(labels)
        return len(stems & self.stems) / len(stems) if stems else 0.0

    def _mask(self, action: Action) -> Masked:
        seen = [self._value(label) for label in action.labels]
        form = [value if value.startswith("{") else "*" for value in seen]
        head = " ".join((action.verb, *action.roles))
        return Masked(
            " | ".join((head, *seen)), " | ".join((head, *form)), self.share(action.labels)
        )

    def _value(self, label: str) -> str:
        has_digits = bool(_DIGIT.search(label))
        if not self.names(label):
            return "{other}" if has_digits else label
        if not has_digits:
            return "{text}"
        return "{code}" if re.search(r"[^\W\d_]", label) else "{number}"


def _is_one_word(a: str, b: str) -> bool:
    """Whether two neighboring characters belong to one word; scripts without blanks never do."""
    return a.isalnum() and b.isalnum() and not (is_unspaced(a) or is_unspaced(b))


def _stems(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(word[:_STEM] for text in texts for word in words(text))


class SiteMap:
    """Where actions lead, as far as episodes saw it.

    Args:
        after: (page, action) → the page that followed.
        offered: Page → actions seen there.
    """

    def __init__(
        self, after: Mapping[tuple[str, str], str], offered: Mapping[str, Collection[str]]
    ) -> None:
        self.after, self.offered = after, offered
        self._pages: dict[str, list[str]] = {}
        self._said: dict[str, list[str]] = {}
        self._into: dict[str, list[tuple[str, str]]] = {}
        for page, actions in offered.items():
            for action in actions:
                self._pages.setdefault(action, []).append(page)
                following = after.get((page, action), page)
                if following != page:
                    self._into.setdefault(following, []).append((page, action))
        for action in self._pages:
            for stem in _label_stems(parts(action).labels):
                self._said.setdefault(stem, []).append(action)
        self._named: dict[Goal, _Named] = {}

    def ahead(self, page: str, action: str, goal: Goal) -> tuple[float, float]:
        """Largest share of a label that the goal names, one and two pages behind an action.

        What the page at hand, or the one between, offers as well does not count.
        """
        first = self.after.get((page, action))
        if first is None or first == page:
            return 0.0, 0.0
        known = self._named.get(goal)
        if known is None:
            if len(self._named) >= _GOALS:
                self._named.clear()
            known = self._named[goal] = self._read(goal)
        here = self.offered.get(page, ())
        one = next((share for share, a in known.on.get(first, ()) if a not in here), 0.0)
        two = next(
            (
                share
                for share, a, second in known.behind.get(first, ())
                if second != page and a not in here
            ),
            0.0,
        )
        return one, two

    def _read(self, goal: Goal) -> _Named:
        """What a goal names; few labels share a word with it, so only those are looked at."""
        on: dict[str, list[tuple[float, str]]] = {}
        behind: dict[str, list[tuple[float, str, str]]] = {}
        for action in dict.fromkeys(a for stem in goal.stems for a in self._said.get(stem, ())):
            share = goal.share(parts(action).labels)
            for page in self._pages[action]:
                on.setdefault(page, []).append((share, action))
        for second, named in on.items():
            named.sort(reverse=True)
            for first, action in self._into.get(second, ()):
                between = self.offered[first]
                share = next((share for share, a in named if a not in between), 0.0)
                if share:
                    behind.setdefault(first, []).append((share, action, second))
        for reached in behind.values():
            reached.sort(reverse=True)
        return _Named(on, behind)


class _Named(NamedTuple):
    """What one goal names of a site, the largest share of a label first.

    Attributes:
        on: Page → share and action.
        behind: Page → share, action that leads on, and the page it leads to.
    """

    on: Mapping[str, Sequence[tuple[float, str]]]
    behind: Mapping[str, Sequence[tuple[float, str, str]]]


@lru_cache(maxsize=65536)
def _label_stems(labels: tuple[str, ...]) -> frozenset[str]:
    return _stems(labels)


@lru_cache(maxsize=4096)
def goal_of(text: str) -> Goal:
    """The goal of that text, read once."""
    return Goal(text)


@lru_cache(maxsize=65536)
def parts(action: str) -> Action:
    """``click(<link[Orders]>)`` or ``put apple in fridge`` in parts."""
    call = _CALL.match(action)
    if call is None:
        verb, _, rest = action.partition(" ")
        return Action(verb, (), tuple(filter(None, _BETWEEN.split(rest))))
    roles, labels = list[str](), list[str]()
    for found in _ARGUMENT.finditer(call[2]):
        if found["role"] is not None:
            roles.append(found["role"])
        said = next((x for x in found.group("label", "double", "single", "bare") if x), "")
        if said:
            labels.append(_ESCAPE.sub(_unescaped, said))
    return Action(call[1], tuple(roles), tuple(labels))


def _unescaped(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else _BLANKS.get(found[2], found[2])


def features(
    kind: Kind, step: Situation, site: SiteMap, telling: Callable[[str], float]
) -> list[dict[Feature, float]]:
    """Features of each action and their values, shape [A].

    ``page``: page and action, kind of page and form of action, action and the one before, and what
    lies one and two pages behind it. ``words``: verb and objects, verb and the one before.
    Both: words of the goal and action, how much of the action the goal names, repetition, and what
    was read of the action's object.

    Args:
        telling: How much a word of a goal tells, in [0, 1].
    """
    return assembled(kind, step, heard(step.goal, telling), beyond(kind, step, site))


def heard(goal: str, telling: Callable[[str], float]) -> list[tuple[str, float]]:
    """The words of a goal that tell enough, and their weights."""
    tokens = sorted(goal_of(goal).tokens)
    return [(t, weight) for t in tokens if (weight := _GOAL * telling(t)) > _FAINT]


def beyond(kind: Kind, step: Situation, site: SiteMap) -> list[tuple[float, float]]:
    """What lies one and two pages behind each action, shape [A]; nothing where there are none."""
    if kind != "page":
        return []
    goal, page = goal_of(step.goal), step.state.place
    return [site.ahead(page, action, goal) for action in step.actions]


def assembled(
    kind: Kind,
    step: Situation,
    tokens: Sequence[tuple[str, float]],
    known: Sequence[tuple[float, float]],
) -> list[dict[Feature, float]]:
    """``features``, of what ``heard`` and ``beyond`` give."""
    goal = goal_of(step.goal)
    of_page = step.actions[: len(step.actions) - step.joined]
    offered = ",".join(sorted({_head(action) for action in of_page}))
    page, found = step.state.place, []
    last = goal.masked(step.last).text if step.last else ""
    joined = (known.labels for known in map(parts, step.actions) if len(known.labels) > 1)
    held = tuple(dict.fromkeys(labels[0] for labels in joined))
    for place, action in enumerate(step.actions):
        masked, verb = goal.masked(action), parts(action).verb
        f: dict[Feature, float] = {("verb", offered, verb): 1.0}
        if masked.named:
            f["named",] = 2.0 * masked.named
            f["named", verb] = masked.named
        for token, weight in tokens:
            f["goal", token, masked.text] = weight
        if action in step.taken:
            again = ("again",) if kind == "page" else ("again", verb)
            f[again] = 1.0
        if kind == "page":
            f["page", page, masked.text] = 1.0
            f["form", offered, masked.form] = 1.0
            f["last", last, masked.text] = 0.5
            one, two = known[place]
            if one:
                f["ahead",] = 2.0 * one
            if two:
                f["two ahead",] = 2.0 * two
        else:
            f |= _of_words(parts(action), parts(step.last), masked, held)
        if step.read:
            f |= _of_reading(parts(action), step.read)
        found.append(f)
    return found


def _head(action: str) -> str:
    known = parts(action)
    return " ".join((known.verb, *known.roles))


def _of_words(
    action: Action, last: Action, masked: Masked, held: Sequence[str]
) -> dict[Feature, float]:
    """Verb, objects, and what goes with what: each word of an object with where it goes.

    Args:
        held: Objects that something could be done with, as ``put apple in fridge`` tells of the
            apple; ``open fridge`` is looked at with those.
    """
    heads = [label.split()[-1] for label in action.labels if label.split()]
    f: dict[Feature, float] = {
        ("action", masked.text): 0.5,
        ("last verb", last.verb, action.verb): 1.0,
    }
    if action.labels and last.labels:
        is_same = action.labels[0] == last.labels[0]
        f["same object" if is_same else "other object", last.verb, action.verb] = 1.0
    for place, head in enumerate(heads):
        f["object", action.verb, str(place), head] = 0.5
    if len(heads) > 1:
        f["pair", action.verb, heads[0], action.labels[1]] = 1.0
        for word in action.labels[0].split()[:-1]:
            f["pair", action.verb, word, action.labels[1]] = 1.0
    if action.labels:
        for label in (action.labels[0],) if len(heads) > 1 else held:
            for word in label.split():
                name = "fits", word, action.labels[-1]
                f[name] = f.get(name, 0.0) + 1.0
    return f


def _of_reading(action: Action, read: str) -> dict[Feature, float]:
    """Whether readings name the object of an action, and what they ask to do with it."""
    before = asked(read, action.labels[0]) if action.labels else ()
    if not before:
        return {}
    done = " ".join((action.verb, *action.labels[1:]))
    f: dict[Feature, float] = {("read", action.verb): 1.0}
    for word in before:
        f[("asked", word, done) if word else ("listed", done)] = 1.0
    if action.verb in before:
        f["as read",] = 2.0
    return f


def forget() -> None:
    """Drop the texts that were read lately."""
    for read in (_label_stems, goal_of, parts):
        read.cache_clear()
