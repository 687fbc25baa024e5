"""Seeded records like those of web agents: which states recur, how long and how alike they are.

A *site* is a scope of the memory and has its own pages, actions and tasks. A record is one step of
a task: the page it should be on, the last three actions (sometimes others than the usual ones,
sometimes with typed words) and the goal. Popularity of sites, tasks, pages, actions and words
follows Zipf's law. At 1,000,000 records there are about 444,000 distinct states, and about 84,000
of them in the largest site; ``facts`` counts them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jitrl.types import State

SITES, PAGES, ACTIONS, GOALS, STEPS, VALUES = 100, 40, 16, 30, 10, 5000
_RECORDS_PER_TASK = 500
_DETOUR, _TYPED, _SOLVED = 0.2, 0.1, 0.6
_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "ar", "en", "il")]
_ROLES = ("link", "button", "textbox", "menuitem", "checkbox", "combobox", "tab", "row")
_VERBS = {"textbox": "fill", "combobox": "select", "checkbox": "check"}


@dataclass(frozen=True, slots=True)
class Records:
    """Records as numbers, one array entry each; ``World.state`` turns an entry into a state.

    Attributes:
        site, task, step: Where the record belongs, shape [N].
        history: Action numbers of the last three steps, -1 where there was none, shape [N, 3].
        typed: Number of the value typed in each of them, -1 for none, shape [N, 3].
        action: Number of the action taken, shape [N].
        is_solved: Whether the task was solved in the end, shape [N].
    """

    site: np.ndarray
    task: np.ndarray
    step: np.ndarray
    history: np.ndarray
    typed: np.ndarray
    action: np.ndarray
    is_solved: np.ndarray

    def __len__(self) -> int:
        return len(self.site)

    def keys(self) -> np.ndarray:
        """A number per record, equal for equal states (64 random bits per field), shape [N]."""
        parts = (self.site, self.task, self.step, *self.history.T, *self.typed.T)
        mixed = np.zeros(len(self), np.uint64)
        for part in parts:
            mixed = (mixed ^ part.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
        return mixed


class World:
    """The sites behind the records; the same for every seed of records of one size."""

    def __init__(self, records: int) -> None:
        rng = np.random.default_rng(7)
        self.tasks = np.maximum(5, records * _zipf(SITES, 1.0) // _RECORDS_PER_TASK).astype(int)
        self.first_task = np.cumsum(self.tasks) - self.tasks
        total = int(self.tasks.sum())
        self.pages = _draw(rng, PAGES, 0.9, (total, STEPS))  # where each step of a task is
        self.usual = _draw(rng, ACTIONS, 1.1, (total, STEPS))  # what is usually done there
        self.goals = _draw(rng, GOALS, 0.8, total)
        self.values = _draw(rng, VALUES, 0.8, (total, 2))
        self._titles = _phrases(rng, SITES * PAGES, 2, 5)
        self._labels = _phrases(rng, SITES * PAGES * ACTIONS, 1, 4)
        self._roles = rng.choice(len(_ROLES), SITES * PAGES * ACTIONS, p=_zipf(len(_ROLES), 1.2))
        self._templates = _phrases(rng, SITES * GOALS, 5, 9)

    def draw(self, count: int, seed: int, *, run: int = 1) -> Records:
        """``count`` records of this world; each ``run`` of them are of one task."""
        rng = np.random.default_rng([11, seed])
        site = np.repeat(_draw(rng, SITES, 1.0, count // run), run)
        rank = np.repeat(rng.random(count // run), run) ** 2.5  # early tasks are more popular
        task = self.first_task[site] + (rank * self.tasks[site]).astype(int)
        start = np.repeat(rng.integers(0, STEPS, count // run), run)
        step = (start + np.arange(count)) % STEPS
        history = np.full((count, 3), -1)
        typed = np.full((count, 3), -1)
        for back in range(3):
            at = np.maximum(step - 1 - back, 0)
            done = np.where(
                rng.random(count) < _DETOUR, _draw(rng, ACTIONS, 0.6, count), self.usual[task, at]
            )
            began = step > back
            history[:, back] = np.where(began, self.pages[task, at] * ACTIONS + done, -1)
            value = _draw(rng, VALUES, 0.8, count)
            typed[:, back] = np.where(began & (rng.random(count) < _TYPED), value, -1)
        action = self.pages[task, step] * ACTIONS + _draw(rng, ACTIONS, 1.1, count)
        is_solved = np.repeat(rng.random(count // run) < _SOLVED, run)
        return Records(site, task, step, history, typed, action, is_solved)

    def state(self, records: Records, index: int) -> State:
        """The state of one record, in words."""
        site, task = int(records.site[index]), int(records.task[index])
        page = site * PAGES + int(self.pages[task, records.step[index]])
        path = " -> ".join(
            self.action(site, int(done)) + (f" {_word(int(value))}" if value >= 0 else "")
            for done, value in zip(
                records.history[index, ::-1], records.typed[index, ::-1], strict=True
            )
            if done >= 0
        )
        goal = self._templates[site * GOALS + int(self.goals[task])]
        values = " ".join(_word(int(value)) for value in self.values[task])
        title = self._titles[page]
        return State(f"{title} | {path}", f"{goal} {values}", "/".join(title.split()[:2]) + "/ID")

    def choices(self, records: Records, index: int) -> list[str]:
        """Canonical actions of the page that a record is on."""
        page = int(self.pages[records.task[index], records.step[index]])
        first = page * ACTIONS
        names = (self.action(int(records.site[index]), first + i) for i in range(ACTIONS))
        return list(dict.fromkeys(names))

    def action(self, site: int, number: int) -> str:
        """Canonical text of an action."""
        where = site * PAGES * ACTIONS + number
        role = _ROLES[self._roles[where]]
        return f"{_VERBS.get(role, 'click')}(<{role}[{self._labels[where]}]>)"


def facts(records: Records) -> dict[str, int]:
    """Numbers of records, of distinct states, and of distinct states in the largest site."""
    _, first = np.unique(records.keys(), return_index=True)
    return {
        "records": len(records),
        "distinct_states": len(first),
        "largest_scope_states": int(np.bincount(records.site[first]).max()),
        "scopes": len(np.unique(records.site)),
    }


def _zipf(count: int, exponent: float) -> np.ndarray:
    """Probabilities of ``count`` ranks."""
    weights = 1.0 / np.arange(1, count + 1) ** exponent
    shares: np.ndarray = weights / weights.sum()
    return shares


def _draw(
    rng: np.random.Generator, count: int, exponent: float, shape: int | tuple[int, ...]
) -> np.ndarray:
    """Ranks below ``count`` with Zipf's frequencies."""
    bounds = np.cumsum(_zipf(count, exponent))
    return np.minimum(np.searchsorted(bounds, rng.random(shape)), count - 1)


def _phrases(rng: np.random.Generator, count: int, shortest: int, longest: int) -> list[str]:
    """Phrases of common words."""
    lengths = rng.integers(shortest, longest + 1, count)
    numbers = _draw(rng, 3000, 0.9, (count, longest))
    return [
        " ".join(_word(VALUES + int(n)) for n in row[:length])
        for row, length in zip(numbers, lengths, strict=True)
    ]


def _word(number: int) -> str:
    """The same word for the same number, another for another."""
    word = ""
    while True:
        number, rest = divmod(number, len(_SYLLABLES))
        word += _SYLLABLES[rest]
        if not number:
            return word if len(word) > 3 else word + "x"
