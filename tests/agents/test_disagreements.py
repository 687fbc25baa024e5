"""Which rules of a book disagree is found without comparing each with each, and none is missed."""

from itertools import combinations
from random import Random

import pytest

from jitrl.agents.rulebook.conflicts import disagree, disagreements
from jitrl.core.sentences import rule_id
from jitrl.types import Rule

WORDS = ["order", "list", "page", "price", "stock", "date", "total", "refund", "tax"]
ORDERS = ("click", "open", "do not click", "never open")


def made(chance, number):
    """Rules in sentences and by comparison that often speak of the same."""
    texts = dict[str, None]()
    while len(texts) < number:
        some = chance.sample(WORDS, chance.randint(1, 3))
        do = f"{chance.choice(ORDERS)} the {' '.join(chance.sample(WORDS, 2))}"
        where = f"{chance.choice(WORDS)} page"
        case = f"When the goal is “Go {chance.randint(1, 3)}” and you see {where}"
        condition = chance.choice([f"If the {' '.join(some)} is shown", case])
        take = f"take click(<{chance.choice(WORDS)}>)"
        texts[f"{condition}, {take if condition == case and chance.random() < 0.8 else do}"] = None
    return [
        Rule(rule_id(text), text, chance.choice("ab"), chance.choice(["", "k", "m"]))
        for text in texts
    ]


@pytest.mark.parametrize("seed", range(5))
def test_the_same_disagree_as_where_each_is_compared_with_each(seed):
    rules = made(Random(seed), 120)
    expected = dict[str, list[str]]()
    for one, other in combinations(rules, 2):
        meet = one.scope == other.scope and (one.kind == other.kind or "" in (one.kind, other.kind))
        if meet and disagree(one.text, other.text):
            expected.setdefault(one.id, []).append(other.id)
            expected.setdefault(other.id, []).append(one.id)
    assert len(expected) > 20
    assert disagreements(rules) == {id: tuple(others) for id, others in expected.items()}
