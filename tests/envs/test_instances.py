from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitrl.envs.instances import Selection
from jitrl.errors import ConfigError


@dataclass(frozen=True)
class Kind:
    """A template with so many instances, in an order that is drawn."""

    name: str
    size: int
    en: tuple[str, ...] = ("Find {it}.", "Look for {it}.")
    zh: tuple[str, ...] = ("找{it}。",)

    @property
    def family(self):
        return self.name.partition(":")[0]

    def drafts(self, site, rng):
        yield from rng.sample([f"{site}{i}" for i in range(self.size)], self.size)


KINDS = {kind.name: kind for kind in (Kind("find:a", 5), Kind("find:b", 2), Kind("buy:c", 9))}
DEMO = {"buy:c": 2, "find:a": 1}


def drawn(split="train", templates=(), instances=3, seed=0, language="en"):
    chosen = Selection(split, templates, instances, seed, language)
    return chosen.drawn("shop", KINDS, DEMO, "site", lambda draft: {"it": draft.upper()})


def ids(**settings):
    return [task.id for task, _ in drawn(**settings)]


def test_there_is_an_instance_of_each_template_in_turn():
    assert ids(instances=3) == [
        "find:a:0",
        "find:b:0",
        "buy:c:0",
        "find:a:1",
        "find:b:1",
        "buy:c:1",
        "find:a:2",
        "buy:c:2",
    ]


def test_a_goal_says_the_values_in_wordings_that_take_turns():
    (first, draft), (second, other) = drawn(templates=["find:b"])
    assert first.goal == f"Find {draft.upper()}."
    assert second.goal == f"Look for {other.upper()}."
    assert (first.scope, first.family) == ("shop", "find")
    assert first.params == {"template": "find:b", "it": draft.upper()}
    assert [task.goal[0] for task, _ in drawn(templates=["find:b"], language="zh")] == ["找", "找"]


@given(st.integers(1, 12), st.integers(0, 5))
def test_held_out_instances_are_the_next_ones_and_no_others(instances, seed):
    train, held, both = (
        {task.id: draft for task, draft in drawn(split, instances=n, seed=seed)}
        for split, n in (("train", instances), ("heldout", instances), ("train", 2 * instances))
    )
    assert not train.keys() & held.keys()
    assert train | held == both


def test_the_demo_has_its_own_list_whatever_else_is_asked_for():
    assert ids(split="demo", templates=["nothing"]) == ["buy:c:0", "find:a:0", "buy:c:1"]


def test_templates_are_chosen_by_name_or_family():
    assert ids(templates=["buy", "find:b"], instances=1) == ["buy:c:0", "find:b:0"]
    with pytest.raises(ConfigError, match=r"no templates \['sell'\]; there are \['buy', "):
        ids(templates=["buy", "sell"])


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"split": "test"}, "split must be one of .* got 'test' and 'en'"),
        ({"language": "de"}, "language one of .* got 'train' and 'de'"),
        ({"instances": 0}, "instances must be at least 1 .* got instances=0"),
        ({"seed": -1}, "seed at least 0, got instances=3, seed=-1"),
    ],
)
def test_impossible_settings_are_refused(settings, said):
    with pytest.raises(ConfigError, match=said):
        drawn(**settings)
