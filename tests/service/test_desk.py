"""One memory served to callers elsewhere: idempotent, in time, and trusting only who may be."""

import threading
import time

import pytest

from jitrl.errors import InputError, StoreError
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.memory.view import View
from jitrl.service.calls import Call
from jitrl.service.desk import Desk, Limits
from jitrl.service.errors import Conflict, Full, NotAllowed, Unknown
from jitrl.service.lived import ServedEpisode
from jitrl.service.running import Running

YES_NO = {"yes": 1.0, "no": 0.0}


@pytest.fixture
def desk(tmp_path):
    with Desk(tmp_path / "a.db", limits=Limits(deadline=30.0)) as opened:
        yield opened


def live(desk, key, outcome=True, **said):
    desk.episodes.start("t", key=key)
    desk.episodes.decide(key, "page", YES_NO)
    return desk.episodes.outcome(key, outcome, basis="test", is_trusted=True, **said)


# --- an episode ----------------------------------------------------------------------------------


def test_what_was_learned_is_seen_by_the_next_decision(desk):
    for number in range(8):
        key = f"{number}"
        desk.episodes.start("t", key=key)
        chosen = desk.episodes.decide(key, "page", YES_NO).action
        desk.episodes.outcome(key, chosen == "no", basis="test", is_trusted=True)
    desk.episodes.start("t", key="last")
    assert desk.episodes.decide("last", "page", YES_NO).action == "no"


def test_a_key_that_is_started_again_names_the_same_episode(desk):
    assert desk.episodes.start("t", key="k").is_new
    desk.episodes.decide("k", "page", YES_NO)
    again = desk.episodes.start("t", key="k")
    assert (again.is_new, again.steps, again.status) == (False, 1, "running")
    desk.episodes.close("k")
    over = desk.episodes.start("t", key="k")
    assert (over.is_new, over.steps, over.status) == (False, 1, "terminated")


@pytest.mark.parametrize("is_over", [False, True])
def test_a_key_is_not_given_to_another_task_or_scope(desk, is_over):
    desk.episodes.start("t", key="k")
    if is_over:
        desk.episodes.close("k")
    with pytest.raises(Conflict, match="names one run"):
        desk.episodes.start("other", key="k")
    with pytest.raises(Conflict, match="names one run"):
        desk.episodes.start("t", scope="s", key="k")


def test_a_decision_asked_for_again_is_the_same_decision_and_no_new_step(desk):
    desk.episodes.start("t", key="k")
    first = desk.episodes.decide("k", "page", YES_NO, step=0)
    assert desk.episodes.decide("k", "page", YES_NO, step=0) == first
    assert desk.episodes.find("k").steps == 1


def test_a_step_that_does_not_fit_is_refused_and_changes_nothing(desk):
    desk.episodes.start("t", key="k")
    desk.episodes.decide("k", "page", YES_NO, step=0)
    for step, state, candidates in (
        (0, "other", YES_NO),
        (0, "page", {"yes": 1.0}),
        (7, "p", YES_NO),
    ):
        with pytest.raises(Conflict):
            desk.episodes.decide("k", state, candidates, step=step)
    with pytest.raises(InputError):
        desk.episodes.decide("k", "page", YES_NO, step=-1)
    assert desk.episodes.find("k").steps == 1


def test_what_cannot_be_chosen_from_is_refused_before_it_is_queued(desk):
    desk.episodes.start("t", key="k")
    with pytest.raises(InputError, match="no candidates"):
        desk.episodes.decide("k", "page", {})
    assert desk.episodes.decide("k", "page", YES_NO).step == 0


def test_an_episode_that_is_over_or_was_never_started_decides_nothing(desk):
    desk.episodes.start("t", key="k")
    desk.episodes.close("k")
    with pytest.raises(Conflict, match="is over"):
        desk.episodes.decide("k", "page", YES_NO)
    with pytest.raises(Unknown):
        desk.episodes.decide("nobody's", "page", YES_NO)


def test_only_so_many_episodes_run_at_once(tmp_path):
    with Desk(tmp_path / "a.db", limits=Limits(running=2)) as desk:
        desk.episodes.start("t", key="a")
        desk.episodes.start("t", key="b")
        with pytest.raises(Full):
            desk.episodes.start("t", key="c")
        assert not desk.episodes.start("t", key="a").is_new
        desk.episodes.close("a")
        assert desk.episodes.start("t", key="c").is_new


def test_an_episode_that_nobody_asks_for_is_closed_as_truncated(tmp_path):
    with Desk(tmp_path / "a.db", limits=Limits(idle=0.0)) as desk:
        desk.episodes.start("t", key="k")
        desk.episodes.decide("k", "page", YES_NO)
        time.sleep(0.01)
        assert desk.roster.sweep() == ["k"]
        assert desk.episodes.find("k").status == "truncated"
        assert desk.episodes.outcome("k", True, basis="test", is_trusted=True).rows == 1


class Broken(EnvironmentRewards):
    """A judge with a fault of its own, at runs whose key begins with `bad`."""

    def __init__(self, fault):
        self.fault = fault

    def judge(self, episode):
        if episode.key.startswith("bad"):
            raise self.fault("a fault of the judge")
        return super().judge(episode)


@pytest.mark.parametrize("fault", [ZeroDivisionError, SystemExit])
def test_a_judge_that_breaks_at_one_idle_run_keeps_no_other_open(tmp_path, caplog, fault):
    with Desk(tmp_path / "a.db") as desk:
        for key in ("bad0", "good", "bad1", "last"):
            desk.episodes.start("t", key=key)
            desk.episodes.decide(key, "page", YES_NO)
        works, desk.memory.agent.evaluator = desk.memory.agent.evaluator, Broken(fault)
        assert desk.roster.sweep(0.0) == ["good", "last"]
        assert "a fault of the judge" in caplog.text
        desk.memory.agent.evaluator = works
        assert desk.roster.sweep(0.0) == ["bad0", "bad1"]


def test_what_runs_when_a_desk_is_closed_is_kept_as_truncated(tmp_path):
    with Desk(tmp_path / "a.db", limits=Limits(deadline=30.0)) as desk:
        desk.episodes.start("t", key="k")
        desk.episodes.decide("k", "page", YES_NO)
    with Desk(tmp_path / "a.db", limits=Limits(deadline=30.0)) as desk:
        assert (desk.episodes.find("k").status, desk.episodes.find("k").steps) == ("truncated", 1)


def test_a_decision_is_found_while_its_episode_runs_and_afterwards(desk):
    desk.episodes.start("t", key="k")
    made = desk.episodes.decide("k", "page", YES_NO)
    before = desk.decision("k", 0)
    desk.episodes.close("k")
    assert desk.decision("k", 0) == before
    assert before.decision == made.decision
    for key, step in (("k", 1), ("other", 0)):
        with pytest.raises(Unknown):
            desk.decision(key, step)


def test_calls_of_many_threads_become_the_steps_of_their_episodes(desk):
    def play(key):
        desk.episodes.start("t", key=key)
        for number in range(10):
            assert desk.episodes.decide(key, f"page {number}", YES_NO).step == number
        desk.episodes.outcome(key, 1.0, basis="test", is_trusted=True)

    threads = [threading.Thread(target=play, args=(f"{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [desk.episodes.find(f"{n}").steps for n in range(8)] == [10] * 8
    assert len(desk.rows(limit=1000)) == 80


# --- an answer in time ---------------------------------------------------------------------------


class Slow(View):
    """A view whose memory is not to be had until it is let go."""

    def __init__(self, view):
        super().__init__(view.store, view.scope, view.lens)
        self.gate = threading.Event()

    def refresh(self, until=None):
        self.gate.wait(60)
        super().refresh(until)


def slowed(desk):
    agent = desk.memory.agent
    view = agent._views["", frozenset(), None] = Slow(agent.view(""))
    return view


def test_a_missed_deadline_answers_with_the_models_own_choice(tmp_path):
    with Desk(tmp_path / "a.db", limits=Limits(deadline=0.05)) as desk:
        view = slowed(desk)
        desk.episodes.start("t", key="k")
        late = desk.episodes.decide("k", "page", YES_NO)
        assert (late.action, late.degraded, late.step) == ("yes", "deadline", 0)
        view.gate.set()
        desk.episodes.close("k")
        kept = desk.memory.store.episode("k").steps
        assert [(s.action, s.decision.reason, s.decision.mode) for s in kept] == [
            ("yes", "degraded", "off")
        ]


def test_what_comes_after_a_late_decision_is_decided_in_its_order(tmp_path):
    with Desk(tmp_path / "a.db", limits=Limits(deadline=0.05, workers=1)) as desk:
        view = slowed(desk)
        desk.episodes.start("t", key="k")
        late = [desk.episodes.decide("k", f"page {n}", YES_NO).step for n in range(3)]
        view.gate.set()
        call = desk.episodes.ask("k", "page 3", YES_NO)
        assert (late, call.result(60).step, call.result(60).degraded) == ([0, 1, 2], 3, "")
        desk.episodes.close("k")
        steps = desk.memory.store.episode("k").steps
        assert [s.state.text for s in steps] == ["page 0", "page 1", "page 2", "page 3"]
        assert [s.next_state and s.next_state.text for s in steps][:2] == ["page 1", "page 2"]


def test_a_memory_that_fails_answers_with_the_models_own_choice_and_the_episode_goes_on(tmp_path):
    with Desk(tmp_path / "a.db", limits=Limits(deadline=30.0)) as desk:
        view = slowed(desk)
        view.gate = None  # an AttributeError at each look
        desk.episodes.start("t", key="k")
        assert desk.episodes.decide("k", "page", YES_NO).degraded == "error"
        view.gate = threading.Event()
        view.gate.set()
        assert desk.episodes.decide("k", "page 2", YES_NO).degraded == ""
        desk.episodes.outcome("k", 1.0, basis="test", is_trusted=True)
        assert [row.step for row in desk.rows()] == [1, 0]


def test_a_degraded_step_asked_for_again_is_answered_as_before(tmp_path):
    with Desk(tmp_path / "a.db", limits=Limits(deadline=30.0)) as desk:
        slowed(desk).gate = None
        desk.episodes.start("t", key="k")
        desk.episodes.decide("k", "page", YES_NO, step=0)
        again = desk.episodes.decide("k", "page", YES_NO, step=0)
        assert (again.step, again.action, again.degraded) == (0, "yes", "degraded")
        assert desk.episodes.find("k").steps == 1


def test_an_answer_is_given_once_whoever_comes_first(desk):
    desk.episodes.start("t", key="k")
    running = Running(ServedEpisode(desk.memory, "t", "", "other"), "")
    call = Call("page", YES_NO)
    running.put(call)
    assert call.give_up().degraded == "deadline"
    running.work()
    assert call.result(None).degraded == "deadline"
    assert running.episode.steps[0].decision.reason == "degraded"


def test_degraded_decisions_are_neither_replayed_nor_explained_by_the_memory(tmp_path):
    with Desk(tmp_path / "a.db", limits=Limits(deadline=30.0)) as desk:
        live(desk, "good")
        slowed(desk).gate = None
        desk.episodes.start("t", key="k")
        desk.episodes.decide("k", "page", YES_NO)
        desk.episodes.close("k")
        assert desk.memory.replay(without=[1]) == []
        assert desk.memory.explain("k#0").without == ()


# --- who may say what ----------------------------------------------------------------------------


@pytest.mark.parametrize("basis", ["test", "state_check", "human", "user_feedback", "llm_judge"])
def test_an_agent_can_assert_nothing_but_its_own_report(desk, basis):
    desk.episodes.start("t", key="k")
    desk.episodes.decide("k", "page", YES_NO)
    with pytest.raises(NotAllowed, match=basis):
        desk.episodes.outcome("k", True, basis=basis)
    assert desk.episodes.find("k").status == "running"


def test_an_agents_own_report_is_kept_as_such_with_who_said_it(desk):
    desk.episodes.start("t", key="k", principal="agent 1")
    desk.episodes.decide("k", "page", YES_NO)
    desk.episodes.outcome("k", True, principal="agent 1")
    (row,) = desk.rows()
    assert (row.basis, row.source) == ("agent_self_report", "principal:agent 1")


def test_an_agents_step_rewards_never_become_a_trusted_basis(desk):
    desk.episodes.start("t", key="k", principal="agent 1")
    for _ in range(2):
        desk.episodes.decide("k", "page", YES_NO)
        desk.episodes.reward("k", 0.5)
    desk.episodes.close("k")
    assert {row.basis for row in desk.rows()} == {"agent_self_report"}
    assert desk.memory.store.episode("k").outcome.value == 1.0
    desk.episodes.outcome("k", False, basis="test", is_trusted=True)
    active = desk.rows(status="active")
    assert [(row.basis, row.reward) for row in active] == [("test", 0.0), ("test", 0.0)]


def test_what_an_agent_says_at_the_end_is_added_to_what_it_said_of_its_steps(desk):
    for key, basis in (("own", "agent_self_report"), ("told", "test")):
        desk.episodes.start("t", key=key)
        desk.episodes.decide(key, "page", YES_NO)
        desk.episodes.reward(key, 0.5)
        desk.episodes.outcome(key, True, basis=basis, is_trusted=basis == "test")
    assert desk.memory.store.episode("own").outcome.value == 1.5
    assert desk.memory.store.episode("told").outcome.value == 1.0


def test_what_was_done_in_place_of_the_decision_is_what_is_learned(desk):
    desk.episodes.start("t", key="k")
    decided = desk.episodes.decide("k", "page", YES_NO, step=0)
    assert desk.episodes.took("k", "maybe").steps == 1
    assert desk.episodes.decide("k", "page", YES_NO, step=0) == decided
    desk.episodes.outcome("k", True, basis="test", is_trusted=True)
    assert [row.action for row in desk.rows()] == ["maybe"]
    with pytest.raises(Conflict, match="is over"):
        desk.episodes.took("k", "yes")


def test_trusted_step_rewards_are_rewards_of_their_steps(desk):
    desk.episodes.start("t", key="k")
    for value in (0.25, 1.0):
        desk.episodes.decide("k", "page", YES_NO)
        desk.episodes.reward("k", value, is_trusted=True)
    desk.episodes.reward("k", 100.0)  # an agent's own adds nothing to them
    desk.episodes.close("k")
    assert [(row.basis, row.reward) for row in desk.rows()] == [
        ("state_check", 1.0),
        ("state_check", 0.25),
    ]


def test_an_agent_cannot_report_over_what_somebody_trusted_said(desk):
    live(desk, "told", False)
    desk.episodes.start("t", key="rewarded")
    desk.episodes.decide("rewarded", "page", YES_NO)
    desk.episodes.reward("rewarded", 0.0, is_trusted=True)
    with pytest.raises(NotAllowed):
        desk.episodes.outcome("rewarded", True)
    desk.episodes.close("rewarded")
    for key in ("told", "rewarded"):
        for value in (True, None):
            with pytest.raises(NotAllowed):
                desk.episodes.outcome(key, value, principal="agent 1")


def test_an_agent_corrects_and_withdraws_its_own_reports_but_nobody_elses(desk):
    desk.episodes.start("t", key="k")
    desk.episodes.decide("k", "page", YES_NO)
    desk.episodes.outcome("k", True, principal="agent 1")
    with pytest.raises(NotAllowed):
        desk.episodes.outcome("k", False, principal="agent 2")
    assert desk.episodes.outcome("k", False, principal="agent 1").rows == 1
    assert desk.episodes.outcome("k", None, principal="agent 1").rows == 0


# --- outcomes ------------------------------------------------------------------------------------


def test_an_outcome_comes_late_is_corrected_and_withdrawn(desk):
    desk.episodes.start("t", key="k")
    desk.episodes.decide("k", "page", YES_NO)
    assert desk.episodes.close("k").rows == 0
    said = {"basis": "human", "is_trusted": True}
    assert desk.episodes.outcome("k", True, **said).rows == 1
    assert desk.episodes.outcome("k", True, **said).duplicate
    assert desk.episodes.outcome("k", False, **said).rows == 1
    assert [row.reward for row in desk.rows(status="active")] == [0.0]
    assert desk.episodes.outcome("k", None, **said).rows == 0
    assert desk.rows(status="active") == []


def test_a_running_episode_has_no_outcome_to_withdraw(desk):
    desk.episodes.start("t", key="k")
    with pytest.raises(Conflict):
        desk.episodes.outcome("k", None, basis="test", is_trusted=True)
    assert desk.episodes.find("k").status == "running"


def test_an_episode_that_could_not_be_stored_goes_on_running(tmp_path):
    class Judge(EnvironmentRewards):
        def judge(self, episode):
            if not allowed:
                raise OSError("no judge today")
            return super().judge(episode)

    allowed = []
    with Desk(tmp_path / "a.db", limits=Limits(deadline=30.0)) as desk:
        desk.memory.agent.evaluator = Judge()
        desk.episodes.start("t", key="k")
        desk.episodes.decide("k", "page", YES_NO)
        with pytest.raises(OSError, match="no judge"):
            desk.episodes.close("k")
        assert desk.episodes.find("k").status == "running"
        allowed.append(True)
        desk.episodes.close("k")
        assert desk.episodes.find("k").status == "terminated"


# --- undoing -------------------------------------------------------------------------------------


def test_a_quarantined_row_takes_part_in_nothing_until_it_is_restored(desk):
    live(desk, "k")
    (row,) = desk.rows()
    assert desk.mark("quarantined", row=row.id, reason="planted") == 1
    desk.episodes.start("t", key="next")
    assert desk.episodes.decide("next", "page", YES_NO).decision.neighbors == ()
    assert desk.mark("active", row=row.id) == 1
    assert len(desk.episodes.decide("next", "page", YES_NO).decision.neighbors) > 0
    assert desk.mark("quarantined", episode="k") == 1
    for what in ({"row": 99}, {"episode": "nobody's"}):
        with pytest.raises(Unknown):
            desk.mark("quarantined", **what)


def test_rows_are_listed_newest_first_page_by_page_and_by_what_they_are(desk):
    for number in range(5):
        live(desk, f"{number}")
    ids = [row.id for row in desk.rows()]
    assert ids == sorted(ids, reverse=True)
    assert [row.id for row in desk.rows(limit=2, before=ids[1])] == ids[2:4]
    desk.mark("quarantined", row=ids[0])
    assert [row.id for row in desk.rows(status="quarantined")] == ids[:1]
    assert [row.episode for row in desk.rows(episode="3")] == ["3"]
    assert desk.rows(scope="other") == []


def test_a_desk_needs_a_file(tmp_path):
    with pytest.raises(InputError, match="file"):
        Desk(":memory:")
    with pytest.raises(StoreError):
        Desk(tmp_path / "no folder" / "a.db")


def test_a_poisoned_row_that_is_quarantined_leaves_exactly_the_old_probabilities(desk):
    asked = "page", {"open": 0.9, "delete_all": 0.1}

    def probabilities(key):
        desk.episodes.start("t", key=key)
        made = desk.episodes.decide(key, *asked).decision
        desk.episodes.close(key)
        return {c.action: c.probability for c in made.candidates}

    before = probabilities("before")
    desk.episodes.start("t", key="poison")
    desk.episodes.decide("poison", "page", {"delete_all": 0.1})
    desk.outcome("poison", 3.0, basis="test", is_trusted=True)
    assert probabilities("poisoned") != before
    (row,) = desk.rows()
    desk.mark("quarantined", row=row.id, reason="planted")
    assert probabilities("after") == before
