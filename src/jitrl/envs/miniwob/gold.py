"""Scripted experts for a good share of the kinds; for tests and oracle priors, not for agents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from jitrl.envs.codecs.calls import Call, Element, parse_call


@dataclass(frozen=True, slots=True)
class Seat:
    """What an expert sees: the goal, the page as a model is shown it, and the valid actions."""

    goal: str
    text: str
    actions: tuple[str, ...]

    def clicks(self, label: str | None = None, role: str = "") -> list[str]:
        """Clicks on elements of that label, or of any; and of that role, or of any."""
        return [
            action
            for action, call, element in self._calls("click")
            if label in (None, element.label) and role in ("", element.role)
        ]

    def fills(self, value: str, label: str | None = None) -> list[str]:
        """Ways to type ``value`` into fields of that label, or of any."""
        return [
            action
            for action, call, element in self._calls("fill")
            if call.args[1] == value and label in (None, element.label)
        ]

    def chooses(self, option: str) -> list[str]:
        """Ways to select an option."""
        return [a for a, call, _ in self._calls("select_option") if call.args[1] == option]

    def _calls(self, verb: str) -> Iterator[tuple[str, Call, Element]]:
        for action in self.actions:
            call = parse_call(action)
            if call.verb == verb and isinstance(call.args[0], Element):
                yield action, call, call.args[0]


Script = Iterator[str]
"""Actions one after the other; each is taken before the next is asked for."""

Look = Callable[[], Seat]
Expert = Callable[[Look], Script]


def _quoted(goal: str) -> list[str]:
    return re.findall(r'"(.*?)"(?!\w)', goal)


def _number(goal: str) -> int:
    """The 3 of ``3rd``, from 0."""
    return int(re.findall(r"(\d+)(?:st|nd|rd|th)", goal)[0]) - 1


def _submit(look: Look) -> Script:
    yield look().clicks("Submit")[0]


def _named(look: Look) -> Script:
    """The button, link or widget whose label the goal quotes."""
    yield look().clicks(_quoted(look().goal)[0])[0]


def _closed(look: Look) -> Script:
    label = _quoted(look().goal)[0]
    yield look().clicks("Close" if label == "x" else label)[0]


def _first(look: Look) -> Script:
    yield look().clicks()[0]


def _in_turn(*labels: str) -> Expert:
    def expert(look: Look) -> Script:
        for label in labels:
            yield look().clicks(label)[0]

    return expert


def _tab(look: Look) -> Script:
    yield look().clicks(look().goal.removeprefix("Click on ").removesuffix("."))[0]


def _listed(look: Look) -> Script:
    """All that ``Select A, B and click Submit.`` lists."""
    found = re.fullmatch(
        r"Select (.*?)(?: from the (?:scroll )?list)? and click Submit\.", look().goal
    )
    for label in re.split(r", ?", found[1]) if found and found[1] != "nothing" else []:
        seat = look()
        yield (seat.clicks(label) or seat.chooses(label))[0]
    yield from _submit(look)


def _path(look: Look) -> Script:
    *menus, last = look().goal.removeprefix("Select ").split(">")
    for label in menus:
        yield look().clicks(label)[0].replace("click(", "hover(")
    yield look().clicks(last)[0]


def _found(role: str) -> Expert:
    """Opens one part after the other until what is quoted comes in sight."""

    def expert(look: Look) -> Script:
        wanted = _quoted(look().goal)[0]
        for part in look().clicks(role=role):
            if look().clicks(wanted):
                break
            yield part
        yield look().clicks(wanted)[0]

    return expert


def _expanded(look: Look) -> Script:
    yield look().clicks(role="tab")[0]
    yield from _submit(look)


def _typed(look: Look) -> Script:
    """What is quoted, into every field."""
    while left := look().fills(_quoted(look().goal)[0]):
        yield left[0]
    yield from _submit(look)


def _only(look: Look) -> Script:
    """The one value that the field takes."""
    yield next(action for action in look().actions if action.startswith("fill("))
    yield from _submit(look)


def _upper(look: Look) -> Script:
    word = _quoted(look().goal)[0]
    yield look().fills(word.upper() if "upper case" in look().goal else word.lower())[0]
    yield from _submit(look)


def _login(look: Look) -> Script:
    """Fills in the form, and calls off what pops up meanwhile."""
    wanted = dict(zip(("Username", "Password"), _quoted(look().goal), strict=True))
    while True:
        left = [fill for label, value in wanted.items() for fill in look().fills(value, label)]
        login = look().clicks("Login") or look().clicks("OK")
        yield (look().clicks("Cancel") or left or login)[0]


def _focused(look: Look) -> Script:
    yield look().clicks(role="textbox")[_number(look().goal)]


def _search(look: Look) -> Script:
    yield look().fills(_quoted(look().goal)[0])[0]
    yield look().clicks("Search")[0]
    page, place = divmod(_number(look().goal), 3)
    if page:
        yield look().clicks(str(page + 1), "link")[0]
    yield look().clicks(role="link")[place]


def _sequence(look: Look) -> Script:
    """``Check the 1st radio button and enter the number "-5" into the 2nd textbox.``"""
    goal = look().goal
    first, second = (int(n) - 1 for n in re.findall(r"(\d)(?:st|nd|rd|th)", goal))
    yield look().clicks(role="radio" if "radio" in goal else "checkbox")[first]
    yield look().fills(_quoted(goal)[0])[second]
    yield from _submit(look)


def _choice(look: Look) -> Script:
    found = re.search(r"Choose (.*) from the dropdown", look().goal)
    yield look().chooses(found[1] if found else "")[0]
    yield look().clicks(_quoted(look().goal)[0])[0]


def _cell(look: Look) -> Script:
    """Values of a table, by the names that the goal or the fields have."""
    table = dict(re.findall(r"^(.+) \| (.+)$", look().text, re.MULTILINE))
    asked = re.search(r"Enter the value of (.*) into", look().goal)
    if asked:
        yield look().fills(table[asked[1]])[0]
    else:
        for name, value in table.items():
            yield from look().fills(value, f"{name}:")[:1]
    yield from _submit(look)


def _word(look: Look) -> Script:
    words = re.split(r"[\s,.]+", look().text.split("\n")[1])
    yield look().fills(words[_number(look().goal)])[0]
    yield from _submit(look)


def _parity(look: Look) -> Script:
    numbers = re.findall(r"^-?\d+$", look().text, re.MULTILINE)
    for i, number in enumerate(numbers):
        yield look().clicks("Even" if int(number) % 2 == 0 else "Odd")[i]
    yield from _submit(look)


def _bisected(look: Look) -> Script:
    low, high = 0, 9
    while low < high:
        guess = (low + high) // 2
        yield look().fills(str(guess))[0]
        yield from _submit(look)
        if "higher" in look().text:
            low = guess + 1
        else:
            high = guess - 1
    yield look().fills(str(low))[0]
    yield from _submit(look)


def _mail(look: Look) -> Script:
    """Deletes or stars the mail of a sender, from the list."""
    sender = re.findall(r"email by (\w+)", look().goal)[0]
    clicks = look().clicks()
    place = next(i for i, action in enumerate(clicks) if f"[{sender} " in action)
    yield clicks[place + (1 if "trash" in look().goal else 2)]


def _written(look: Look) -> Script:
    """Replies to the mail of a sender, or forwards it."""
    goal = look().goal
    sender, *others = re.findall(r"\b(?:by|to) ([A-Z]\w+)", goal)
    yield next(action for action in look().clicks() if f"[{sender} " in action)
    how = "Forward" if others else "Reply"
    yield look().clicks(how)[0]
    yield look().fills(others[0] if others else _quoted(goal)[0])[0]
    yield look().clicks(f"send {how.lower()}")[0]


def _copied(look: Look) -> Script:
    """What a text area holds, which is among the values as a whole."""
    held = re.findall(r"^textbox (?:to copy|text \d) = (.*)$", look().text, re.MULTILINE)
    wanted = held[_number(look().goal) if len(held) > 1 else 0].strip()
    fills = [(a, str(parse_call(a).args[1]).strip()) for a in look().actions if "answer inp" in a]
    yield next(a for a, value in fills if value == wanted or wanted[:-1] == value[:119])
    yield from _submit(look)


def _completed(look: Look) -> Script:
    """Types the beginning, and picks what is offered for it."""
    start, end = (*_quoted(look().goal), "")[:2]
    yield look().fills(start)[0]
    for action in look().clicks(role="listitem"):
        if action.removesuffix("]>)").endswith(end):
            yield action
            break
    yield from _submit(look)


def _spun(look: Look) -> Script:
    wanted = int(re.findall(r"-?\d+", look().goal)[0])
    key = "ArrowUp" if wanted > 0 else "ArrowDown"
    for _ in range(abs(wanted)):
        yield next(action for action in look().actions if key in action)
    yield from _submit(look)


def _dated(look: Look) -> Script:
    """Opens the calendar, turns back to the month, and picks the day."""
    month, day, _ = map(int, re.findall(r"\d+", look().goal))
    yield look().clicks("Date:")[0]
    for _ in range(12 - month):
        yield look().clicks("Prev")[0]
    yield look().clicks(str(day), "link")[0]
    yield from _submit(look)


def _labeled(look: Look) -> Script:
    """Fills in a form whose goal names genre, director and year."""
    found = re.search(r"for (\w+) movies directed by (\w+) from year (\d+)", look().goal)
    for name, value in zip(
        ("Genre", "Director", "Year"), found.groups() if found else (), strict=True
    ):
        yield look().fills(value, name)[0]
    yield from _submit(look)


EXPERTS: Mapping[str, Expert] = {
    **dict.fromkeys(("click-button", "click-link", "unicode-test"), _named),
    **dict.fromkeys(("click-dialog", "click-dialog-2"), _closed),
    **dict.fromkeys(("click-test", "focus-text"), _first),
    **dict.fromkeys(("click-test-2", "click-test-transfer"), _in_turn("ONE")),
    "click-button-sequence": _in_turn("ONE", "TWO"),
    "click-tab": _tab,
    **dict.fromkeys(
        (
            *("click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer"),
            *("click-option", "choose-list", "click-scroll-list"),
        ),
        _listed,
    ),
    "click-menu": _path,
    **dict.fromkeys(
        ("click-tab-2", "click-tab-2-easy", "click-tab-2-medium", "click-tab-2-hard"),
        _found("tab"),
    ),
    **dict.fromkeys(("click-collapsible-2", "click-collapsible-2-nodelay"), _found("tab")),
    **dict.fromkeys(("click-collapsible", "click-collapsible-nodelay"), _expanded),
    **dict.fromkeys(("enter-text", "enter-text-dynamic", "enter-password"), _typed),
    **dict.fromkeys(("enter-date", "enter-time"), _only),
    "enter-text-2": _upper,
    **dict.fromkeys(("login-user", "login-user-popup"), _login),
    "focus-text-2": _focused,
    "search-engine": _search,
    "form-sequence-2": _sequence,
    "form-sequence-3": _choice,
    **dict.fromkeys(("read-table", "read-table-2"), _cell),
    "find-word": _word,
    "odd-or-even": _parity,
    "guess-number": _bisected,
    **dict.fromkeys(("email-inbox-delete", "email-inbox-important"), _mail),
    **dict.fromkeys(
        (
            *("email-inbox-reply", "email-inbox-star-reply"),
            *("email-inbox-forward", "email-inbox-noscroll"),
        ),
        _written,
    ),
    **dict.fromkeys(("copy-paste", "copy-paste-2"), _copied),
    **dict.fromkeys(("use-autocomplete", "use-autocomplete-nodelay"), _completed),
    "use-spinner": _spun,
    **dict.fromkeys(
        ("choose-date", "choose-date-easy", "choose-date-medium", "choose-date-nodelay"), _dated
    ),
    "multi-orderings": _labeled,
}
"""Kinds for which there is an expert; it may not know how every instance is worded."""
