"""What an agent did in place of a decision, and what it saw, over HTTP, MCP and after restarts."""

import pytest
from test_client import opened, through
from test_http import START, STEP, is_problem

from jitrl.service.adviser import Adviser
from jitrl.service.desk import Desk
from jitrl.service.seats import Limits

SAID = {"value": True, "basis": "test"}


def lived(ask, key="k"):
    return ask.client.app.state.service.tenants.desk("shop").memory.store.episode(key)


@pytest.mark.server
def test_what_was_done_in_place_of_the_decision_is_learned_from(ask):
    ask("POST", "/v1/episodes", START)
    ask("POST", "/v1/episodes/k/decide", STEP)
    assert ask("POST", "/v1/episodes/k/took", {"action": "no", "step": 0}).json()["steps"] == 1
    ask("POST", "/v1/episodes/k/outcomes", SAID)
    (row,) = ask("GET", "/v1/memory").json()["rows"]
    assert row["action"] == "no"
    assert ask("GET", "/v1/decisions/k:0").json()["action"] == "no"


@pytest.mark.server
def test_what_was_done_is_refused_where_it_does_not_fit(ask):
    assert is_problem(ask("POST", "/v1/episodes/k/took", {"action": "no"}), 404)
    ask("POST", "/v1/episodes", START)
    assert is_problem(ask("POST", "/v1/episodes/k/took", {"action": "no"}), 409)
    ask("POST", "/v1/episodes/k/decide", STEP)
    assert is_problem(ask("POST", "/v1/episodes/k/took", {"action": "no", "step": 1}), 409)
    assert is_problem(ask("POST", "/v1/episodes/k/took", {"action": ""}), 422)
    for may in (("report:self",), ("read",)):
        assert is_problem(ask("POST", "/v1/episodes/k/took", {"action": "no"}, may=may), 403)
    ask("POST", "/v1/episodes/k/close")
    assert is_problem(ask("POST", "/v1/episodes/k/took", {"action": "no"}), 409)


@pytest.mark.server
def test_what_the_agent_saw_is_kept_redacted_and_cut_beside_its_step(ask):
    ask("POST", "/v1/episodes", START)
    ask("POST", "/v1/episodes/k/decide", {**STEP, "seen": "mail of ann@example.com: 3 new"})
    ask("POST", "/v1/episodes/k/decide", STEP)
    ask("POST", "/v1/episodes/k/decide", {**STEP, "seen": "x" * 9000, "step": 2})
    ask("POST", "/v1/episodes/k/outcomes", SAID)
    first, second, third, _ = lived(ask).info["pages"]
    assert ("ann@example.com" in first, first.startswith("mail of ")) == (False, True)
    assert second == "page"
    assert len(third) < 2100
    too_long = {**STEP, "seen": "x" * 500_001}
    assert is_problem(ask("POST", "/v1/episodes/k/decide", too_long), 422)


@pytest.mark.server
def test_a_step_that_is_asked_again_keeps_what_was_seen_first(ask):
    ask("POST", "/v1/episodes", START)
    for seen in ("first", "second"):
        ask("POST", "/v1/episodes/k/decide", {**STEP, "step": 0, "seen": seen})
    ask("POST", "/v1/episodes/k/outcomes", SAID)
    assert lived(ask).info["pages"][0] == "first"


@pytest.mark.server
def test_what_was_seen_is_not_taken_for_another_step_where_the_call_was_refused(ask):
    ask("POST", "/v1/episodes", START)
    wrong = {**STEP, "candidates": {"yes": "x"}}
    assert is_problem(ask("POST", "/v1/episodes/k/decide", {**wrong, "seen": "first"}), 422)
    early = {**STEP, "step": 1, "seen": "second"}
    assert is_problem(ask("POST", "/v1/episodes/k/decide", early), 409)
    ask("POST", "/v1/episodes/k/decide", STEP)
    ask("POST", "/v1/episodes/k/decide", STEP)
    ask("POST", "/v1/episodes/k/outcomes", SAID)
    assert "pages" not in lived(ask).info


@pytest.mark.server
def test_the_client_says_both(ask, place):
    with (
        opened(place, through(ask)) as client,
        client.episode("t", key="k") as episode,
    ):
        episode.decide("page", {"yes": 1.0, "no": 0.0}, seen="what it saw")
        episode.took("no")
        episode.outcome(True, basis="test")
    assert lived(ask).info["pages"][0] == "what it saw"
    assert lived(ask).steps[0].action == "no"


def test_both_are_known_after_a_restart(tmp_path):
    def desk():
        return Desk(tmp_path / "a.db", limits=Limits(deadline=30.0), is_kept=True)

    with desk() as first:
        first.episodes.start("t", key="k")
        call = first.episodes.ask("k", "page", {"yes": 1.0, "no": 0.0}, seen="what it saw")
        assert call.result(30.0).step == 0
        first.episodes.took("k", "no")
    with desk() as second:
        second.episodes.close("k")
        episode = second.memory.store.episode("k")
        assert (episode.info["pages"][0], episode.steps[0].action) == ("what it saw", "no")


def test_an_agent_of_mcp_may_say_what_it_sees(tmp_path):
    with Desk(tmp_path / "a.db", limits=Limits(deadline=30.0)) as desk:
        adviser = Adviser(desk)
        key = adviser.start("find it").episode
        adviser.advise(key, "home", ["a", "b"], "home, 3 new mails")
        adviser.report(key, True)
        assert desk.memory.store.episode(key).info["pages"][0] == "home, 3 new mails"
