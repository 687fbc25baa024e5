"""A rulebook that finds rules by what they mean, where no word of a goal is theirs."""

import numpy as np
import pytest

from jitrl.agents.rulebook.book import rulebook
from jitrl.agents.rulebook.meaning import by_meaning
from jitrl.config import Memory
from jitrl.core.sentences import rule_id
from jitrl.errors import ConfigError
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Prompt, Rule, State, Task

CANCEL = "When the goal is to cancel an order, open the list of orders"
MAIL = "When an address is wanted, open the customer"
TASK = Task("t", "Void purchase 91", "shop", "orders")
GOODS = ("cancel", "void", "取消", "作废")


class Concepts:
    """Two directions: goods that are sent back, and all else."""

    name = "concepts"

    def embed(self, texts):
        """[1, 0] for a text that speaks of cancelling in any words, else [0, 1]."""
        about = [any(word in text.casefold() for word in GOODS) for text in texts]
        return np.array([[1.0, 0.0] if one else [0.0, 1.0] for one in about], dtype=np.float32)


@pytest.fixture
def store():
    with SQLiteStore(":memory:") as opened:
        rules = [
            Rule(rule_id(text), text, "shop", "orders", ("order",), status="active")
            for text in (CANCEL, MAIL)
        ]
        opened.add_rules(rules)
        yield opened


def notes(store, task=TASK, **options):
    agent = rulebook(
        store, EnvironmentRewards(), Memory(), lambda: None, lambda _: Concepts(), **options
    )
    said = set()
    for seed in range(9):
        acting = agent.episode()
        acting.begin(task, key="now", rng=np.random.default_rng(seed))
        prompt = Prompt(task.goal, "Dashboard", (), ("click(a)",))
        said.add(acting.advise(State("Dashboard"), prompt).notes)
    return "\n".join(said)


def test_a_rule_in_other_words_is_told_where_an_embedder_is_named(store):
    assert CANCEL not in notes(store)
    said = notes(store, meaning="concepts")
    assert CANCEL in said
    assert MAIL not in said


def test_a_rule_of_another_type_of_task_is_not_told_whatever_it_means(store):
    other = Task("t", TASK.goal, "shop", "reviews")
    assert CANCEL not in notes(store, other, meaning="concepts")


def test_rules_are_ranked_by_meaning(store):
    found = by_meaning("把订单 91 作废", store.rules(), Concepts())
    assert [(one.rule.text, one.score) for one in found] == [(CANCEL, 1.0), (MAIL, 0.0)]
    assert by_meaning("", store.rules(), Concepts()) == []


def test_an_embedder_that_cannot_be_opened_stops_the_agent(store):
    with pytest.raises(ConfigError, match="meaning is 'concepts', and nothing here opens"):
        rulebook(store, EnvironmentRewards(), Memory(), lambda: None, meaning="concepts")
