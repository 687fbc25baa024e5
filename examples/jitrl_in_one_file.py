"""The whole decision of jitrl in one file: what a memory adds to the scores of a frozen model.

``decide`` chooses exactly as ``jitrl.core.update.decide`` does with the default rule (a test compares
them); equation numbers are those of arXiv:2601.18510. Below it, a list is the memory and a shop with
eleven pages the world: ``python jitrl_in_one_file.py`` shows the frozen model getting better.
"""

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

RULE = SimpleNamespace(
    temperature_prior=1.0,  # the model's logits are divided by it
    kernel=0.03,  # a neighbor of similarity s weighs exp((s - 1) / kernel)
    backup=0.5,  # share of the graph's value in Q; the rest is the mean return
    shrink=1.0,  # pseudo-visits that pull the Q of a tried action to V
    optimism=0.8,  # share of V that an untried action is credited with
    backoff=0.1,  # width of the circle in which equal actions lend their reward
    floor=0.3,  # advantages are divided by floor * reach at least
    eps=1e-8,
    beta=60.0,  # nats of the largest advantage
    novelty=20.0,  # nats of an action that was never tried
    novelty_kernel=0.1,  # width of the circle in which tries are counted
    onward=0.8,  # discount of what is new behind an action
    repeat=6.0,  # nats off for each time this episode did the same here
    repeat_action=6.0,  # nats off if this episode did the same anywhere
    untrusted=0.2,  # nats that one untrusted principal can add or take
)


class Neighbor(NamedTuple):
    """One action in one similar state, as the memory knows it."""

    action: str
    similarity: float  # in [0, 1]; 1 only for the same state
    ret: float  # mean return, rewards counted from their median
    visits: float = 1.0  # how often it was taken
    sources: float = 1.0  # by how many episodes, or untrusted principals
    value: float | None = None  # Q by value iteration over the memory's graph, if there is one
    reward: float = 0.0  # mean immediate reward
    terminal: float = 0.0  # share of the visits that ended the task
    onward: float = 0.0  # newest thing that lies behind it, in [0, 1]
    taken: int = 0  # how often the present episode took it, in this very state
    trusted: bool = True  # whether its outcomes rest on a test, a check of the state or a human
    rows: tuple[int, ...] = ()  # where it comes from: for explanations, not for the choice
    state: int = -1


def decide(logits, neighbors, rng, *, reach=0.0, repeats=None, allowed=None, rule=RULE):
    """The action to take, and the corrected logit z' of each candidate.

    ``logits`` maps the model's candidates to scores in nats, ``reach`` is the range of rewards,
    ``repeats`` says how often this episode took each action, and ``allowed`` names all actions
    that can be executed here, so that the memory may add those that the model did not think of.
    """
    draw = rng.random()
    z = dict(logits)
    for n in neighbors:  # the memory's own candidates (eq. 23), as unlikely as the least likely
        if allowed is not None and n.action in allowed:
            z.setdefault(n.action, min(logits.values()))
    trusted = [n for n in neighbors if n.trusted]
    actions = list(dict.fromkeys([*z, *(n.action for n in trusted)]))
    place, size = {a: i for i, a in enumerate(actions)}, len(z)

    def column(name):
        return np.array([getattr(n, name) for n in trusted], float)

    def total(values):  # a sum for each action
        at = np.array([place[n.action] for n in trusted], int)
        return np.bincount(at, weights=values, minlength=len(actions))

    def weights(width):  # what is less similar counts less
        return np.exp((column("similarity") - 1.0) / width) * column("visits")

    scaled, bonus = np.zeros(size), np.zeros(size)
    near = weights(rule.kernel)
    if near.sum() > 0:
        value = np.array([n.ret if n.value is None else n.value for n in trusted])
        tries = total(near)
        tried = tries > 0
        gains = total(near * ((1 - rule.backup) * column("ret") + rule.backup * value))
        q = gains / np.where(tried, tries, 1.0)  # (eq. 5)
        v = tries @ q / near.sum()  # (eq. 4)
        wide = weights(rule.backoff)
        lent = total(wide * column("reward")) / (total(wide) + 1.0)
        pulled = (tries * q + rule.shrink * (v + lent)) / (tries + rule.shrink + ~tried)
        q = np.where(tried, pulled, rule.optimism * v + lent)  # in place of (eq. 6)
        advantage = (q - v)[:size]  # (eq. 7)
        largest = max(np.abs(advantage).max(), rule.floor * reach)
        scaled = advantage / (largest + rule.eps)  # (eq. 25)
    if neighbors:
        wide = weights(rule.novelty_kernel)
        tries, ended = total(wide)[:size], total(wide * column("terminal"))[:size]
        new = (1.0 - ended / (tries + 1.0)) / (1.0 + tries)
        ahead, taken = np.zeros(size), np.zeros(size)
        for n in neighbors:
            i = place.get(n.action, size)
            if i < size and n.similarity == 1.0:
                ahead[i], taken[i] = max(ahead[i], n.onward), max(taken[i], n.taken)
        again = np.array([(repeats or {}).get(a, 0) > 0 for a in z], float)
        bonus = rule.novelty * np.maximum(new, rule.onward * ahead)
        bonus = bonus - rule.repeat * taken - rule.repeat_action * again
    nudge = np.zeros(size)
    for n in neighbors:
        i = place.get(n.action, size)
        if not n.trusted and i < size:
            strength = min(1.0, abs(n.ret) / reach) if reach > 0 else 1.0
            strength *= np.exp((n.similarity - 1.0) / rule.kernel) * n.sources
            nudge[i] += np.sign(n.ret) * strength * rule.untrusted
    model = np.array(list(z.values()), float) / rule.temperature_prior
    corrected = model + (rule.beta * scaled + (bonus + nudge))  # (eq. 10)
    best = corrected >= corrected.max() - 1e-9
    chosen = np.searchsorted(np.cumsum(best / best.sum()), draw, "right")  # ties are drawn
    return actions[chosen], dict(zip(z, corrected.tolist(), strict=True))


SITE = {
    "dashboard": ["catalog", "sales", "marketing"],
    "catalog": ["products", "categories"],
    "sales": ["orders", "invoices"],
    "marketing": ["emails", "reviews", "coupons"],
}


def neighbors(memory, page):
    """The memory's list of (page, action, return, reward, last), action by action."""
    cells = {}
    for where, action, *numbers in memory:
        if where == page:
            cells.setdefault(action, []).append(numbers)
    means = {a: [sum(c) / len(rows) for c in zip(*rows, strict=True)] for a, rows in cells.items()}
    return [
        Neighbor(a, 1.0, ret, len(cells[a]), reward=reward, terminal=last)
        for a, (ret, reward, last) in means.items()
    ]


def episode(memory, rng, goal="reviews", gamma=0.6):
    """One walk from the dashboard to a page without links; it becomes memory when it is over."""
    page, steps = "dashboard", []
    while page in SITE:
        logits = {link: -float(i) for i, link in enumerate(SITE[page])}  # a model: first link first
        action, _ = decide(logits, neighbors(memory, page), rng, reach=1.0)
        steps.append((page, action))
        page = action
    reward, last = float(page == goal), len(steps) - 1
    for t, (where, action) in enumerate(steps):  # G_t = sum of gamma^(u-t) r_u (eq. 3)
        end = t == last
        memory.append((where, action, gamma ** (last - t) * reward, reward if end else 0.0, end))
    return [page for page, _ in steps] + [page]


if __name__ == "__main__":
    lived, chance = [], np.random.default_rng(0)
    for attempt in range(1, 13):
        print(f"attempt {attempt:2}:", " > ".join(episode(lived, chance)))
