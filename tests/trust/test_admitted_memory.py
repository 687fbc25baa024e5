"""What a memory admits, from whom, and what it may do for marked actions."""

from __future__ import annotations

from typing import Any

import pytest

import jitrl
from jitrl.errors import ConfigError, InputError, NotAllowed
from jitrl.ports import Receipt
from jitrl.types import Basis, Capped, Decision, Episode, Judgment, Scored

PAGE = "the page"


def learn(
    memory: jitrl.JitRL,
    action: str,
    outcome: float,
    *,
    basis: Basis = "test",
    principal: str = "",
    page: str = PAGE,
    task: str = "t",
    key: str | None = None,
) -> Receipt:
    with memory.episode(task, key=key) as episode:
        episode.decide(page, {action: 0.0})
        return episode.finish(outcome, basis=basis, principal=principal)


def asked(memory: jitrl.JitRL, logits: Any, allowed: Any = None, key: str = "asked") -> Decision:
    with memory.episode("t", key=key) as episode:
        return episode.decide(PAGE, logits, allowed=allowed)


def active(memory: jitrl.JitRL) -> int:
    last = {row.id: row for change in memory.store.changes(0) for row in change.rows}
    return sum(row.status == "active" for row in last.values())


def test_a_return_out_of_the_declared_range_waits_in_quarantine_with_its_reason() -> None:
    with jitrl.open(":memory:", admission={"returns": [0.0, 1.0]}) as memory:
        assert learn(memory, "go", 1.0).objection == ""
        receipt = learn(memory, "go", 3.0, key="odd")
        assert receipt.objection == "step 0 returns 3, outside of [0, 1]"
        assert active(memory) == 1
        *_, last = memory.store.changes(0)
        assert (last.episode, last.reason) == ("odd", receipt.objection)
        assert memory.restore(episodes=["odd"]) == 1
        assert active(memory) == 2


def test_a_late_outcome_out_of_range_is_held_back_too() -> None:
    with jitrl.open(":memory:", admission={"returns": [0.0, 1.0]}) as memory:
        with memory.episode("t", key="late") as episode:
            episode.decide(PAGE, {"go": 0.0})
        assert "outside" in memory.outcome("late", 7.0).objection
        assert active(memory) == 0


def test_a_principal_is_learned_from_no_more_often_in_an_hour_than_its_rate() -> None:
    with jitrl.open(":memory:", admission={"rate": 3}) as memory:
        said = [learn(memory, "go", 1.0, principal="bot").objection for _ in range(5)]
        assert [bool(text) for text in said] == [False, False, False, True, True]
        assert learn(memory, "go", 1.0, principal="ann").objection == ""
        assert active(memory) == 4


def test_an_untrusted_reward_without_measure_is_an_anomaly_by_default() -> None:
    with jitrl.open(":memory:") as memory:
        for _ in range(2):
            learn(memory, "go", 1.0)
        assert learn(memory, "go", 2.0, basis="user_feedback", principal="m").objection == ""
        assert "times what two" in learn(memory, "go", 99.0, basis="import").objection


def test_a_trusted_basis_from_somebody_who_may_not_assert_it_is_refused_and_nothing_written() -> (
    None
):
    with jitrl.open(":memory:", admission={"asserting": ["ci"]}) as memory:
        episode = memory.episode("t", key="e")
        episode.decide(PAGE, {"go": 0.0})
        with pytest.raises(NotAllowed, match=r"'mallory' may not say .* 'test'; that may ci"):
            episode.finish(True, basis="test", principal="mallory")
        assert memory.store.head() == 0
        receipt = episode.finish(True, basis="user_feedback", principal="mallory")
        assert receipt.rows == 1
        with pytest.raises(NotAllowed):
            memory.outcome("e", True, basis="human", principal="mallory")
        assert memory.outcome("e", True, basis="human", principal="ci").rows == 1


def test_rewards_that_an_agent_gives_itself_rest_on_its_own_report_where_it_may_not_assert() -> (
    None
):
    for limits, basis in (({}, "state_check"), ({"asserting": ["ci"]}, "agent_self_report")):
        with jitrl.open(":memory:", admission=limits) as memory:
            with memory.episode("t") as episode:
                episode.decide(PAGE, {"go": 0.0})
                episode.reward(1.0)
            (change,) = memory.store.changes(0)
            assert [row.basis for row in change.rows] == [basis]


def test_what_an_evaluator_finds_out_itself_is_nobodys_word() -> None:
    class Checks:
        name, told = "mine", False

        def judge(self, episode: Episode) -> Judgment:
            return Scored((1.0,) * len(episode.steps), self.name, "state_check")

    with jitrl.open(":memory:", evaluator=Checks(), admission={"asserting": ["ci"]}) as memory:
        learn(memory, "go", 0.0, basis="agent_self_report", principal="bot")
        (change,) = memory.store.changes(0)
        assert [row.basis for row in change.rows] == ["state_check"]


@pytest.mark.parametrize("preset", ["default", "paper-web"])
def test_one_source_has_one_vote_in_a_neighborhood_however_many_rows_and_pages(
    preset: str,
) -> None:
    settings = {"preset": preset, "admission": {"votes": True}}
    if preset == "default":
        settings["retrieval"] = {"threshold": 0.3}

    def moved(pages: int, times: int) -> tuple[float, int]:
        with jitrl.open(":memory:", **settings) as memory:
            for n in range(pages):
                for _ in range(times):
                    page = PAGE if n == 0 else f"{PAGE} {'x ' * n}"
                    learn(memory, "b", 1.0, basis="user_feedback", principal="m", page=page)
            made = asked(memory, {"a": 0.5, "b": 0.0})
            return next(c.correction for c in made.candidates if c.action == "b"), made.silenced

    once, silenced = moved(1, 1)
    assert once > 0.0
    assert silenced == 0
    many, silenced = moved(3, 4)
    assert many == pytest.approx(once)
    assert silenced > 0


def test_a_source_that_speaks_of_two_actions_divides_its_vote() -> None:
    with jitrl.open(":memory:") as memory:
        learn(memory, "b", 1.0, basis="user_feedback", principal="m")
        learn(memory, "a", -1.0, basis="user_feedback", principal="m")
        made = {c.action: c.bonus for c in asked(memory, {"a": 0.5, "b": 0.0}).candidates}
        assert made["b"] - made["a"] == pytest.approx(0.05)


def test_rows_of_many_untrusted_sources_take_no_place_from_trusted_ones() -> None:
    with jitrl.open(":memory:", preset="paper-web", admission={"votes": True}) as memory:
        for _ in range(3):
            learn(memory, "good", 1.0)
        for n in range(20):
            learn(memory, "bad", 1.0, basis="import", principal=f"m{n}")
        near = asked(memory, {"good": 0.0, "bad": 0.0}).neighbors
        assert sum(n.trusted for n in near) == 3
        assert sum(not n.trusted for n in near) == 10


def test_a_published_preset_counts_every_row_unless_it_is_told_otherwise() -> None:
    with jitrl.open(":memory:", preset="paper-web") as memory:
        for _ in range(4):
            learn(memory, "b", 1.0, basis="import", principal="m")
        made = asked(memory, {"a": 0.0, "b": 0.0})
        assert (len(made.neighbors), made.silenced) == (4, 0)


def taught(memory: jitrl.JitRL, action: str, times: int, page: str = PAGE) -> None:
    for _ in range(times):
        learn(memory, action, 1.0, page=page)
        learn(memory, "wait", 0.0, page=page)


@pytest.mark.parametrize("preset", ["default", "paper-web"])
def test_a_memory_speaks_for_no_irreversible_action_and_says_what_was_taken_off(
    preset: str,
) -> None:
    logits = {"open": 0.9, "delete_all": 0.1, "wait": 0.0}
    with jitrl.open(":memory:", preset=preset) as memory:
        taught(memory, "delete_all", 4)
        free = asked(memory, logits, key="free")
        chances = {c.action: c for c in free.candidates}
        assert chances["delete_all"].probability > chances["delete_all"].prior
        held = asked(
            memory, logits, {**dict.fromkeys(logits, "read"), "delete_all": "irreversible"}
        )
        (capped,) = held.capped
        assert capped[:2] == ("delete_all", "irreversible")
        assert capped.nats > 0.0
        risky = next(c for c in held.candidates if c.action == "delete_all")
        assert risky.risk == "irreversible"
        assert risky.probability <= risky.prior + 1e-9
        if preset == "default":
            assert (free.action, held.action) == ("delete_all", "open")


def test_a_memory_may_warn_of_an_irreversible_action() -> None:
    with jitrl.open(":memory:") as memory:
        for _ in range(4):
            learn(memory, "drop", 0.0)
            learn(memory, "look", 1.0)
        marks = {"drop": "irreversible", "look": "read"}
        made = asked(memory, {"drop": 1.0, "look": 0.0}, marks)
        assert (made.unaided, made.action, made.capped) == ("drop", "look", ())


def test_the_odds_of_a_writing_action_rise_by_the_limit_at_most() -> None:
    with jitrl.open(":memory:", admission={"write": 2.0}) as memory:
        taught(memory, "save", 4)
        logits = {"open": 3.0, "save": 0.0, "wait": 0.0}
        assert asked(memory, logits, key="free").action == "save"
        made = asked(memory, [jitrl.Candidate(a, z, risk="write") for a, z in logits.items()])
        lift = {c.action: c.correction for c in made.candidates}
        assert lift["save"] - lift["open"] == pytest.approx(2.0)
        assert made.action == "open"
        assert ("save", "write") in {c[:2] for c in made.capped}


def test_a_writing_action_that_only_the_memory_knows_needs_two_trusted_episodes() -> None:
    with jitrl.open(":memory:") as memory:
        marks = {"open": "read", "save": "write"}
        learn(memory, "save", 1.0, task="one")
        with memory.episode("two") as episode:  # twice in one episode is no support
            episode.decide(PAGE, {"save": 0.0})
            episode.decide(PAGE, {"save": 0.0})
            episode.finish(True, basis="user_feedback", principal="m")
        made = asked(memory, {"open": 0.0}, marks, key="first")
        assert made.capped == (Capped("save", "support"),)
        assert [c.action for c in made.candidates] == ["open"]
        learn(memory, "save", 1.0, task="three")
        made = asked(memory, {"open": 0.0}, marks, key="second")
        assert [c.limit for c in made.capped] == ["write"]
        assert {c.action: c.risk for c in made.candidates} == marks


def test_an_irreversible_action_that_only_the_memory_knows_never_joins() -> None:
    with jitrl.open(":memory:") as memory:
        taught(memory, "drop", 5)
        made = asked(memory, {"wait": 0.0}, {"wait": "read", "drop": "irreversible"})
        assert [c.action for c in made.candidates] == ["wait"]
        assert made.capped == (Capped("drop", "irreversible"),)
        assert made.marked == (("drop", "irreversible"),)


def test_what_was_capped_is_explained_and_replayed_with_the_same_numbers(tmp_path: Any) -> None:
    with jitrl.open(tmp_path / "m.db") as memory:
        taught(memory, "save", 1)
        logits = [jitrl.Candidate("open", 1.0), jitrl.Candidate("drop", 0.0, risk="irreversible")]
        taught(memory, "drop", 3)
        allowed = {"open": "read", "drop": "read", "save": "write"}
        made = asked(memory, logits, allowed)
        assert {c[:2] for c in made.capped} == {("drop", "irreversible"), ("save", "support")}
        explanation = memory.explain("asked#0")
        assert explanation.exact
        assert explanation.decision == made
        assert "asked#0" not in memory.replay(without=())


def test_a_mark_of_the_candidate_and_one_of_the_allowed_action_count_by_the_greater() -> None:
    with jitrl.open(":memory:") as memory:
        given = [jitrl.Candidate("go", 0.0, risk="write"), jitrl.Candidate("stay", 0.0)]
        made = asked(memory, given, {"go": "read", "stay": "irreversible"})
        assert [c.risk for c in made.candidates] == ["write", "irreversible"]


def test_a_risk_that_does_not_exist_is_named_with_those_that_do() -> None:
    with jitrl.open(":memory:") as memory, memory.episode("t") as episode:
        with pytest.raises(InputError, match="risk of 'go' is 'deadly'; it must be one of read"):
            episode.decide(PAGE, {"go": 0.0}, allowed={"go": "deadly"})  # type: ignore[dict-item]
        with pytest.raises(InputError, match="risk of 'go'"):
            episode.decide(PAGE, [jitrl.Candidate("go", 0.0, risk="odd")])  # type: ignore[arg-type]


def test_a_limit_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(ConfigError, match="admission has no setting 'vote'; it has votes, nudge"):
        jitrl.open(":memory:", admission={"vote": True})
