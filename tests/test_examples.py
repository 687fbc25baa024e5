"""The examples run, learn, and the one-file decision is the core's."""

import re
import runpy
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import jitrl
from jitrl.core.rule import UpdateRule
from jitrl.core.update import decide
from jitrl.types import Candidate, Neighbor, Neighborhood

EXAMPLES = Path(__file__).parents[1] / "examples"
ONE_FILE = SimpleNamespace(**runpy.run_path(str(EXAMPLES / "jitrl_in_one_file.py")))
OWN_AGENT = SimpleNamespace(**runpy.run_path(str(EXAMPLES / "own_agent.py")))
OWN_RULES = SimpleNamespace(**runpy.run_path(str(EXAMPLES / "own_rules.py")))

ACTIONS = st.sampled_from("abcdef")
SHARES = st.sampled_from([0.0, 0.25, 0.5, 1.0])
RETURNS = st.sampled_from([-1.0, -0.4, 0.0, 0.1, 0.6, 1.0]) | st.floats(-3, 3)
NEIGHBORS = st.lists(
    st.builds(
        Neighbor,
        action=ACTIONS,
        similarity=st.sampled_from([1.0, 0.999, 0.9]) | st.floats(0, 1),
        ret=RETURNS,
        visits=st.integers(1, 9).map(float),
        sources=st.integers(1, 4).map(float),
        value=st.none() | RETURNS,
        reward=RETURNS,
        terminal=SHARES,
        onward=SHARES,
        taken=st.integers(0, 2),
        rows=st.lists(st.integers(1, 99), max_size=3).map(tuple),
        state=st.integers(-9, 9),
        trusted=st.booleans(),
    ),
    max_size=12,
)
LOGITS = st.dictionaries(
    ACTIONS, st.sampled_from([0.0, -1.0]) | st.floats(-9, 9), min_size=1, max_size=5
)


@settings(max_examples=300)
@given(
    logits=LOGITS,
    neighbors=NEIGHBORS,
    reach=st.sampled_from([0.0, 0.5, 1.0, 2.0]),
    repeats=st.dictionaries(ACTIONS, st.integers(0, 2), max_size=3),
    allowed=st.none() | st.sets(ACTIONS),
    seed=st.integers(0, 9),
)
@example({"a": 0.0, "b": 0.0, "c": 0.0}, [], 0.0, {}, None, 3)
@example({"a": 0.0, "b": 1e-6}, [], 0.0, {}, None, 2)
@example({"a": 5.0}, [Neighbor("b", 1.0, 1.0)], 1.0, {}, {"a", "b"}, 0)
@example({"a": 0.0, "b": 0.0}, [Neighbor("b", 1.0, 1.0, trusted=False)], 1.0, {}, None, 0)
@example({"a": 0.0, "b": 0.0}, [Neighbor("a", 1.0, 1.0, onward=1.0)], 1.0, {"a": 1}, None, 0)
def test_the_one_file_decides_exactly_as_the_core(logits, neighbors, reach, repeats, allowed, seed):
    ours = decide(
        [Candidate(a, z) for a, z in logits.items()],
        Neighborhood(tuple(neighbors), reach=reach, repeats=repeats),
        UpdateRule(),
        np.random.default_rng(seed),
        allowed=allowed,
    )
    action, corrected = ONE_FILE.decide(
        logits,
        [ONE_FILE.Neighbor(**n._asdict()) for n in neighbors],
        np.random.default_rng(seed),
        reach=reach,
        repeats=repeats,
        allowed=allowed,
    )
    assert action == ours.action
    assert list(corrected) == [c.action for c in ours.candidates]
    assert list(corrected.values()) == [c.corrected for c in ours.candidates]


def test_the_one_file_has_the_default_rules_numbers():
    assert UpdateRule(**vars(ONE_FILE.RULE)) == UpdateRule()
    numbers = {name for name, value in asdict(UpdateRule()).items() if type(value) is float}
    of_no_account = {"explore", "explore_rate", "bonus", "temperature", "transfer"}
    assert numbers - vars(ONE_FILE.RULE).keys() == of_no_account


def test_the_one_file_knows_all_of_a_neighbor():
    assert ONE_FILE.Neighbor._field_defaults == Neighbor._field_defaults
    assert ONE_FILE.Neighbor._fields == Neighbor._fields


def test_the_one_file_is_short_enough_to_be_read():
    text = (EXAMPLES / "jitrl_in_one_file.py").read_text(encoding="utf-8")
    assert text.count("\n") <= 150


@pytest.mark.parametrize("seed", range(5))
def test_the_one_file_learns_its_way_and_forgets_it_with_its_memory(seed):
    memory, chance = [], np.random.default_rng(seed)
    walks = [ONE_FILE.episode(memory, chance) for _ in range(12)]
    assert all(walk[-1] == "reviews" for walk in walks[-4:])
    alone = [ONE_FILE.episode([], chance)[-1] for _ in range(4)]
    assert alone == ["products"] * 4


def test_the_agent_of_the_example_gets_better_and_stays_so_with_its_file(tmp_path):
    first, *_, last = OWN_AGENT.rounds(tmp_path / "desk.db", 10)
    assert first < last == len(OWN_AGENT.TICKETS)
    assert OWN_AGENT.rounds(tmp_path / "desk.db", 1) == [last]
    assert OWN_AGENT.rounds(tmp_path / "desk.db", 1, mode="off") == [first]


def test_the_model_of_the_example_gets_better_by_its_rules_and_only_while_it_is_told():
    with jitrl.open(":memory:", rules={"scores": False}) as memory:
        OWN_RULES.share(memory, 30)
        told, alone = OWN_RULES.share(memory, 25), OWN_RULES.share(memory, 25, is_told=False)
        texts = [rule.text for rule in memory.store.rules()]
    assert told > 0.6 > 0.5 > alone
    assert any("Send the ... report to ..." in text for text in texts)


WITH_FRAMEWORKS = re.compile(
    r"^(?:from|import) (?:agents|inspect_ai|langchain|openai|pydantic_ai|uvicorn)\b", re.M
)
"""What runs where its framework is installed: see integrations/test_tool_examples.py."""

PLAIN = [
    p for p in sorted(EXAMPLES.glob("*.py")) if not WITH_FRAMEWORKS.search(p.read_text("utf-8"))
]


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: path.name)
def test_an_example_runs_as_it_is(path, tmp_path):
    command = [sys.executable, "-W", "error", "-X", "utf8", str(path)]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
