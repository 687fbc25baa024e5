"""How far two raters agree: kappa with its interval, correlations."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from jitrl.core.stats import FEWEST_CLUSTERS, Interval, NoInterval

_DRAWS = 2_000

SAME = NoInterval(
    "the agreement is the same however tasks are drawn, so there is nothing to resample",
    is_constant=True,
)


def kappa(pairs: Sequence[tuple[Hashable, Hashable]]) -> float | None:
    """Cohen's kappa: ``(p_o - p_e) / (1 - p_e)``, agreement beyond what the margins give by chance.

    Args:
        pairs: What each of two raters said of an item.

    Returns:
        At most 1; 0 for agreement by chance. ``None`` where there is nothing to agree on: no item,
        or both say the same of all of them.
    """
    if not pairs:
        return None
    codes, many = _codes(pairs)
    return _kappa(np.bincount(codes, minlength=many * many).reshape(many, many))


def _codes(pairs: Sequence[tuple[Hashable, Hashable]]) -> tuple[np.ndarray, int]:
    """The cell of the table that each pair belongs to, and how many values there are."""
    known = {v: i for i, v in enumerate(sorted({v for pair in pairs for v in pair}, key=str))}
    many = len(known)
    return np.array([known[a] * many + known[b] for a, b in pairs], np.int64), many


def _kappa(counts: np.ndarray) -> float | None:
    """Of a table of counts, one rater's values by the other's."""
    if not counts.sum():
        return None
    table = counts / counts.sum()
    chance = float(table.sum(axis=1) @ table.sum(axis=0))
    if chance >= 1.0:
        return None
    return (float(np.trace(table)) - chance) / (1.0 - chance)


def kappa_interval(
    clusters: Mapping[str, Sequence[tuple[Hashable, Hashable]]],
) -> Interval | NoInterval:
    """Percentile bootstrap interval (95 %) of kappa; clusters (tasks) are drawn as a whole.

    Draws in which there is nothing to agree on are left out.
    """
    n = len(clusters)
    if n < FEWEST_CLUSTERS:
        tasks = f"{n} task{'s' if n != 1 else ''}"
        return NoInterval(f"{tasks}; {FEWEST_CLUSTERS} are needed")
    codes, many = _codes([pair for pairs in clusters.values() for pair in pairs])
    ends = np.cumsum([len(pairs) for pairs in clusters.values()])[:-1]
    tables = [np.bincount(held, minlength=many * many) for held in np.split(codes, ends)]
    counted, rng, found = np.array(tables), np.random.default_rng(0), []
    for _ in range(_DRAWS):
        drawn = _kappa(counted[rng.integers(0, n, n)].sum(axis=0).reshape(many, many))
        if drawn is not None:
            found.append(drawn)
    if not found:
        return NoInterval("both raters say the same of everything")
    low, high = np.quantile(found, (0.025, 0.975))
    if high - low <= 1e-12:
        return SAME
    return Interval(float(low), float(high))


def pearson(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Linear correlation of ``x`` and ``y`` [N]; ``None`` if one of them is constant."""
    a, b = np.asarray(x, float), np.asarray(y, float)
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return None
    return float(np.corrcoef(a, b)[0, 1])


def spearman(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Correlation of the ranks of ``x`` and ``y`` [N], ties at their mean rank."""
    return pearson(_ranks(x), _ranks(y))


def _ranks(values: Sequence[float]) -> list[float]:
    given = np.asarray(values, float)
    below = (given[None, :] < given[:, None]).sum(axis=1)
    equal = (given[None, :] == given[:, None]).sum(axis=1)
    ranks: list[float] = (below + (equal - 1) / 2).tolist()
    return ranks
