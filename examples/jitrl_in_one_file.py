"""The whole decision of jitrl in one file: what a memory adds to the scores of a frozen model.

``decide`` chooses exactly as ``jitrl.core.update.decide`` does with the default rule (a test
compares them); equations are numbered as in arXiv:2601.18510. Below it, a list is the memory and a
shop of eleven pages the world: run the file to see the frozen model get better.
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
    backoff=0.1,  # width of a wider circle
    floor=0.3,  # advantages are divided by floor * reach at least
    eps=1e-8,
    beta=90.0,  # nats of the largest advantage
    warmup=10.0,  # visits, this one counted, from which beta, novelty and repeats count in full
    novelty=30.0,  # nats of an action that was never tried
    novelty_kernel=0.05,  # width of the circle in which tries are counted
    onward=0.8,  # discount of what is new behind an action
    repeat=9.0,  # nats off for each time this episode did the same here
    repeat_action=9.0,  # nats off if this episode did the same anywhere
    untrusted=0.05,  # nats that one untrusted principal can add or take
)


class Neighbor(NamedTuple):
    """One action in one similar state, as the memory knows it."""

    action: str
    similarity: float  # in [0, 1]; 1 only for the same state
    ret: float  # mean return, rewards counted from their median
    visits: float = 1.0  # how often it was taken
    sources: float = 1.0  # by how many episodes or principals
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

    ``logits``: the model's candidates, scored in nats; ``reach``: the range of rewards;
    ``repeats``: times this episode took an action; ``allowed``: what the memory may add.
    """
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

    scaled, bonus, nudge, ahead, taken = np.zeros((5, size))
    near = weights(rule.kernel)
    share = min(1.0, (1.0 + near.sum()) / rule.warmup)  # the model may be right
    if near.sum() > 0:
        value = np.array([n.ret if n.value is None else n.value for n in trusted])
        tries = total(near)
        gains = total(near * ((1 - rule.backup) * column("ret") + rule.backup * value))
        q = gains / np.where(tries > 0, tries, 1.0)  # (eq. 5)
        v = tries @ q / near.sum()  # (eq. 4)
        wide = weights(rule.backoff)  # equal actions in a wider circle lend their reward
        lent = total(wide * column("reward")) / (total(wide) + 1.0)
        credit = rule.optimism + (1.0 - rule.optimism) * np.minimum(tries, 1.0)  # for (eq. 6)
        q = (tries * q + rule.shrink * (credit * v + lent)) / (tries + rule.shrink)
        advantage = (q - v)[:size]  # (eq. 7)
        largest = max(np.abs(advantage).max(), rule.floor * reach)
        scaled = advantage / (largest + rule.eps)  # (eq. 25)
    if neighbors:
        wide = weights(rule.novelty_kernel)
        tries, ended = total(wide)[:size], total(wide * column("terminal"))[:size]
        new = (1.0 - ended / (tries + 1.0)) / (1.0 + tries)
        for n in neighbors:
            if n.similarity == 1.0 and (i := place.get(n.action, size)) < size:
                ahead[i], taken[i] = max(ahead[i], n.onward), max(taken[i], n.taken)
        again = np.array([(repeats or {}).get(a, 0) > 0 for a in z], float)
        new = np.maximum(new, rule.onward * ahead)
        if reach == 0.0 and new.max() > 0:  # nothing known has paid: look on, evenly
            new = new / new.max()
        bonus = rule.novelty * new - rule.repeat * taken - rule.repeat_action * again
    for n in neighbors:
        if not n.trusted and (i := place.get(n.action, size)) < size:
            strength = min(1.0, abs(n.ret) / reach) if reach > 0 else 1.0
            close = np.exp((n.similarity - 1.0) / rule.kernel)
            nudge[i] += np.sign(n.ret) * strength * rule.untrusted * close * n.sources
    model = np.array(list(z.values()), float) / rule.temperature_prior
    corrected = model + (share * rule.beta * scaled + (share * bonus + nudge))  # (eq. 10)
    best = np.flatnonzero(corrected >= corrected.max() - 1e-9)  # equals: the draw decides
    shares = np.cumsum(np.full(len(best), 1 / len(best)))
    chosen = np.searchsorted(shares[:-1], rng.random(), "right")
    return actions[best[chosen]], dict(zip(z, corrected.tolist(), strict=True))


SITE = {"dashboard": ["catalog", "sales", "marketing"], "catalog": ["products", "categories"],
        "sales": ["orders", "invoices"], "marketing": ["emails", "reviews", "coupons"]}  # fmt: skip


def neighbors(memory, page):
    """The memory's list of (page, action, return, reward, last), action by action."""
    cells, found = {}, []
    for where, action, *numbers in memory:
        if where == page:
            cells.setdefault(action, []).append(numbers)
    for action, rows in cells.items():
        ret, reward, last = np.mean(rows, axis=0)
        found.append(Neighbor(action, 1.0, ret, len(rows), reward=reward, terminal=last))
    return found


def episode(memory, rng, goal="reviews", gamma=0.6):
    """One walk from the dashboard to a page without links; it becomes memory when it is over."""
    page, steps, best = "dashboard", [], max((row[3] for row in memory), default=0.0)
    while page in SITE:
        logits = {link: -float(i) for i, link in enumerate(SITE[page])}  # a model: first link first
        action, _ = decide(logits, neighbors(memory, page), rng, reach=best)
        steps.append((page, action))
        page = action
    reward, last = float(page == goal), len(steps) - 1
    for t, (where, action) in enumerate(steps):  # G_t = sum of gamma^(u-t) r_u (eq. 3)
        ret, end = gamma ** (last - t) * reward, t == last
        memory.append((where, action, ret, reward * end, end))
    return [page for page, _ in steps] + [page]


if __name__ == "__main__":
    lived, chance = [], np.random.default_rng(0)
    for attempt in range(1, 13):
        print(f"attempt {attempt:2}:", " > ".join(episode(lived, chance)))
