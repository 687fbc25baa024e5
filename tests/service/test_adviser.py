"""An agent asks a memory in its own words, and is believed no more than it may be."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jitrl.api import JitRL
from jitrl.config import Memory
from jitrl.core.sentences import rule_id
from jitrl.errors import InputError, JitRLError, StoreError
from jitrl.service.adviser import Adviser
from jitrl.service.desk import Desk
from jitrl.service.errors import NotAllowed
from jitrl.service.seats import Limits
from jitrl.types import Rule

PATIENT = Limits(deadline=60.0)
TWO = {"open A": 80, "open B": 50}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Desk(tmp_path / "memory.db", limits=PATIENT) as opened:
        yield opened


@pytest.fixture
def memory(desk: Desk) -> JitRL:
    return desk.memory


@pytest.fixture
def adviser(desk: Desk) -> Adviser:
    return Adviser(desk, scope="shop", principal="bot")


def play(adviser: Adviser, outcome: Any, **said: Any) -> str:
    key = adviser.start("find the reviews").episode
    adviser.advise(key, "home", TWO)
    adviser.record(key, **said) if said else None
    adviser.report(key, outcome)
    return key


def test_what_an_agent_reports_is_its_own_word_whatever_it_says(
    adviser: Adviser, memory: JitRL
) -> None:
    key = play(adviser, True, reward=0.5)
    lived = memory.store.episode(key)
    assert lived.outcome is not None
    assert (lived.outcome.value, lived.outcome.basis) == (1.5, "agent_self_report")
    assert (lived.scope, lived.principal) == ("shop", "bot")
    assert [step.reward for step in lived.steps] == [None]
    rows = memory.store.rows(key)  # type: ignore[attr-defined]
    assert {(row.basis, row.source) for row in rows} == {("agent_self_report", "principal:bot")}


def test_a_trusted_outcome_from_elsewhere_turns_the_advice_and_the_agent_cannot_take_it_back(
    adviser: Adviser, memory: JitRL
) -> None:
    bad, good = play(adviser, True), play(adviser, False, action="open B")
    memory.outcome(bad, False, basis="test")
    memory.outcome(good, True, basis="test")
    key = adviser.start("find the reviews").episode
    advice = adviser.advise(key, "home", TWO)
    assert (advice.action, advice.own, advice.changed) == ("open B", "open A", True)
    assert "once in states like this one" in advice.why
    assert adviser.recall(key, "home").actions[0].action == "open B"
    with pytest.raises(NotAllowed, match="told by somebody else"):
        adviser.report(good, False)


def test_an_agent_corrects_its_own_report(adviser: Adviser, memory: JitRL) -> None:
    key = play(adviser, True)
    assert adviser.report(key, False).learned == 1
    assert adviser.report(key, False).duplicate
    assert memory.store.episode(key).outcome.value == 0.0  # type: ignore[union-attr]
    assert adviser.report(key, None).learned == 0


def test_an_agent_has_its_own_runs_and_nobody_elses(adviser: Adviser, desk: Desk) -> None:
    other = Adviser(desk, scope="shop", principal="other")
    told, silent = play(other, True), play(other, None)
    running = other.start("t", key="k").episode
    calls: list[Callable[[], Any]] = [
        lambda: adviser.report(told, False),
        lambda: adviser.report(silent, False),
        lambda: adviser.report(running, False),
        lambda: adviser.advise(running, "home", TWO),
        lambda: adviser.recall(running, "home"),
        lambda: adviser.record(running, "open A", state="home"),
        lambda: adviser.start("t", key="k"),
    ]
    for call in calls:
        with pytest.raises(NotAllowed, match="is somebody else's"):
            call()


def test_what_was_done_in_place_of_the_advice_is_what_is_learned(
    adviser: Adviser, memory: JitRL
) -> None:
    key = play(adviser, True, action="open C")
    (step,) = memory.store.episode(key).steps
    assert step.decision is not None
    assert (step.action, step.decision.action) == ("open C", "open A")


def test_a_step_without_advice_is_a_step_too(adviser: Adviser, memory: JitRL) -> None:
    key = adviser.start("find the reviews").episode
    assert adviser.record(key, "log in", state="gate").step == 0
    assert adviser.record(key, reward=1).action == "log in"
    assert adviser.advise(key, "home", ["open A", "open B"]).step == 1
    adviser.report(key)
    steps = memory.store.episode(key).steps
    assert [step.action for step in steps] == ["log in", steps[1].action]
    assert memory.store.episode(key).outcome.value == 1.0  # type: ignore[union-attr]


def test_a_run_that_is_held_out_recalls_nothing(tmp_path: Path) -> None:
    for settings in (Memory(holdout=1.0), Memory(mode="shadow"), Memory(mode="off")):
        with Desk(tmp_path / "memory.db", settings, limits=PATIENT) as desk:
            adviser = Adviser(desk)
            key = adviser.start("t").episode
            assert adviser.recall(key, "home").actions == []
            assert "without memory" in adviser.recall(key, "home").note
            assert adviser.advise(key, "home", TWO).action == "open A"
            adviser.report(key, True)


def test_rules_in_force_are_recalled(adviser: Adviser, memory: JitRL) -> None:
    store: Any = memory.store
    text = "Open B for reviews"
    store.add_rules([Rule(rule_id(text), text, "shop", author="human")])
    store.set_rule_status("active", [rule_id(text)])
    key = adviser.start("t").episode
    assert adviser.recall(key, "home").rules == ["Open B for reviews"]


def test_names_of_one_thing_among_many_tell_no_states_apart(
    adviser: Adviser, memory: JitRL
) -> None:
    first = adviser.start("refund order A-1023").episode
    adviser.advise(first, "order A-1023 of ann@example.org is open", TWO)
    adviser.report(first, True)
    memory.outcome(first, True, basis="test")
    second = adviser.start("refund order A-2047").episode
    (known,) = adviser.recall(second, "order A-2047 of bob@example.org is open").actions
    assert (known.action, known.similarity) == ("open A", 1.0)


def test_a_key_goes_on_with_its_run_and_names_one_run_only(adviser: Adviser) -> None:
    adviser.start("t", key="k")
    adviser.advise("k", "home", TWO)
    assert adviser.start("t", key="k").episode == "k"
    assert adviser.advise("k", "next", TWO).step == 1
    with pytest.raises(InputError, match="was given to task 't'"):
        adviser.start("other", key="k")
    adviser.report("k", True)
    with pytest.raises(InputError, match="names a run that is over"):
        adviser.start("t", key="k")


def test_what_runs_is_kept_without_an_outcome_when_the_desk_is_closed(tmp_path: Path) -> None:
    with Desk(tmp_path / "memory.db", limits=PATIENT) as desk:
        key = Adviser(desk).start("t").episode
        Adviser(desk).advise(key, "home", TWO)
    with Desk(tmp_path / "memory.db", limits=PATIENT) as desk:
        lived = desk.memory.store.episode(key)
        assert (lived.status, lived.outcome) == ("truncated", None)
        assert Adviser(desk).report(key, True).learned == 1


def test_a_run_goes_on_after_a_restart_where_the_desk_keeps_it(tmp_path: Path) -> None:
    with Desk(tmp_path / "memory.db", limits=PATIENT, is_kept=True) as desk:
        Adviser(desk).start("t", key="k")
        Adviser(desk).advise("k", "home", TWO)
        Adviser(desk).record("k", "open C", reward=0.5)
    with Desk(tmp_path / "memory.db", limits=PATIENT, is_kept=True) as desk:
        assert Adviser(desk).record("k", reward=0.25).action == "open C"
        assert Adviser(desk).advise("k", "next", TWO).step == 1
        Adviser(desk).report("k", True)
        lived = desk.memory.store.episode("k")
        assert lived.outcome is not None
        assert (lived.steps[0].action, lived.outcome.value) == ("open C", 1.75)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda a, k: a.advise("nix", "home", TWO), "there is no episode 'nix'"),
        (lambda a, k: a.recall("nix", "home"), "there is no episode 'nix'"),
        (lambda a, k: a.report("nix", True), "there is no episode 'nix'"),
        (lambda a, k: a.record(k), "nothing was advised yet"),
        (lambda a, k: a.record(k, reward=1.0), "before the first decision"),
        (lambda a, k: a.record(k, "open A"), "before the first decision"),
        (lambda a, k: a.record(k, state="home"), "state came without action"),
        (lambda a, k: a.advise(k, " ", []), "no candidates"),
        (lambda a, k: a.advise(k, "home", {"a": 101}), "confidence in 'a' is 101"),
        (lambda a, k: a.advise(k, "home", ["a", "a"]), "occurs twice"),
        (lambda a, k: a.start(""), "task is ''"),
    ],
)
def test_what_cannot_be_used_is_refused_and_said(
    adviser: Adviser, call: Callable[[Adviser, str], Any], said: str
) -> None:
    key = adviser.start("t").episode
    with pytest.raises(JitRLError, match=said):
        call(adviser, key)


def test_a_memory_that_fails_leaves_the_agent_its_own_choice(
    adviser: Adviser, memory: JitRL
) -> None:
    key = adviser.start("t").episode
    memory.close()
    advice = adviser.advise(key, "home", TWO)
    assert (advice.action, advice.changed, advice.degraded) == ("open A", False, "error")
    with pytest.raises(StoreError):
        adviser.report(key, True)


def test_advice_that_is_late_is_the_agents_own_choice_and_the_run_goes_on(tmp_path: Path) -> None:
    with Desk(tmp_path / "memory.db", limits=Limits(deadline=0.0)) as desk:
        adviser = Adviser(desk)
        key = adviser.start("t").episode
        with desk.roster._running[key].lock:  # whoever decides waits
            advice = adviser.advise(key, "home", TWO)
        assert (advice.action, advice.changed, advice.degraded) == ("open A", False, "deadline")
        assert adviser.record(key, "open B").step == 0
        adviser.report(key, True)
        assert [step.action for step in desk.memory.store.episode(key).steps] == ["open B"]
