"""Rules in sentences for agents elsewhere: told, logged, learned of later, and never in the way."""

import threading
import time
from dataclasses import replace

import pytest
from served import Caller

from jitrl.config import Memory, Rules, Settings
from jitrl.core.sentences import rule_id
from jitrl.errors import ModelError
from jitrl.service.adviser import Adviser
from jitrl.service.desk import Desk
from jitrl.service.errors import Conflict
from jitrl.service.lived import ServedEpisode
from jitrl.service.running import Running
from jitrl.service.seats import Limits
from jitrl.types import Rule

GOAL, HERE = "Send the report to Ann", "The mail is open."
TOOLS = ["attach page", "attach sheet", "attach text"]
WRITTEN = "When the mail is open, attach sheet"
COMPARED = f"When the goal is “{GOAL}” and you see The mail is open, take attach sheet"
ALWAYS = Rules(enabled=True, attempts=0, holdout=0.01)
PATIENT = Limits(deadline=60.0)


def opened(tmp_path, rules=ALWAYS, limits=PATIENT, **memory):
    settings = Settings(memory=Memory(**memory), rules=rules)
    return Desk(tmp_path / "a.db", settings.memory, model=settings, limits=limits, is_kept=True)


@pytest.fixture
def desk(tmp_path):
    with opened(tmp_path) as opened_desk:
        plant(opened_desk)
        yield opened_desk


def plant(desk, text=WRITTEN, status="active", scope="mail"):
    rule = Rule(rule_id(text), text, scope, author="ann", status=status)
    desk.memory.store.add_rules([rule])
    return rule.id


def start(desk, key, scope="mail"):
    return desk.episodes.start(GOAL, scope=scope, key=key)


def decide(desk, key, state=HERE, wanted="attach sheet", **how):
    return desk.episodes.decide(key, state, {tool: float(tool == wanted) for tool in TOOLS}, **how)


def over(desk, key, outcome=True):
    return desk.episodes.outcome(key, outcome, basis="test", is_trusted=True)


def uses(desk, rule):
    return [one.use for one in desk.memory.store.rule_uses([rule])[rule]]


def until(claim, seconds=30.0):
    """Wait for what another thread does."""
    ends = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < ends, "it never came"
        time.sleep(0.01)


# --- told and logged -----------------------------------------------------------------------------


def test_notes_of_a_step_are_told_and_logged_as_in_the_library(desk):
    start(desk, "k")
    noted = desk.episodes.notes("k", HERE, TOOLS, step=0)
    assert WRITTEN in noted.notes
    assert noted.rules == (rule_id(WRITTEN),)
    made = decide(desk, "k", wanted="attach page")
    assert [(one.rule, one.told, one.obeyed) for one in made.decision.notes] == [
        (rule_id(WRITTEN), True, made.action == "attach sheet")
    ]
    over(desk, "k")
    (use,) = uses(desk, rule_id(WRITTEN))
    assert (use.told, use.chance, use.occasions) == (True, 0.99, 1)


def test_notes_after_which_nothing_was_decided_count_for_no_rule(desk):
    start(desk, "k")
    assert WRITTEN in desk.episodes.notes("k", HERE, TOOLS).notes
    over(desk, "k")
    assert uses(desk, rule_id(WRITTEN)) == []


def test_what_was_recalled_and_never_done_counts_for_no_rule(desk):
    adviser = Adviser(desk, scope="mail")
    key = adviser.start(GOAL).episode
    assert WRITTEN in adviser.recall(key, HERE).notes
    adviser.report(key, True)
    assert uses(desk, rule_id(WRITTEN)) == []


def test_a_decision_says_them_where_it_is_asked_to_and_again_when_it_is_sent_again(desk):
    start(desk, "k")
    call = desk.episodes.ask("k", HERE, dict.fromkeys(TOOLS, 0.0), notes=True, step=0)
    first = call.result(60.0)
    again = desk.episodes.ask("k", HERE, dict.fromkeys(TOOLS, 0.0), notes=True, step=0)
    assert WRITTEN in first.notes
    assert again.result(60.0).notes == first.notes
    plain = decide(desk, "k")
    assert (plain.notes, plain.decision.notes) == ("", ())


def test_nothing_that_is_quarantined_is_told(desk):
    desk.memory.store.set_rule_status("quarantined", [rule_id(WRITTEN)])
    start(desk, "k")
    assert desk.episodes.notes("k", HERE, TOOLS).notes == ""


@pytest.mark.parametrize(
    ("rules", "memory"), [(Rules(), {}), (ALWAYS, {"mode": "off"}), (ALWAYS, {"holdout": 1.0})]
)
def test_a_memory_that_tells_no_rules_has_none_to_say(tmp_path, rules, memory):
    with opened(tmp_path, rules, **memory) as desk:
        plant(desk)
        start(desk, "k")
        assert desk.episodes.notes("k", HERE, TOOLS).notes == ""
        assert decide(desk, "k").decision.notes == ()
        over(desk, "k")
        assert uses(desk, rule_id(WRITTEN)) == []


def test_notes_of_another_step_or_of_a_run_that_is_over_are_refused(desk):
    start(desk, "k")
    with pytest.raises(Conflict, match="not the next one, 0"):
        desk.episodes.notes("k", HERE, step=1)
    over(desk, "k")
    with pytest.raises(Conflict, match="is over"):
        desk.episodes.notes("k", HERE)


# --- in time, and after a restart ----------------------------------------------------------------


def test_notes_that_came_too_late_were_never_told(tmp_path):
    with opened(tmp_path) as desk:
        plant(desk)
        start(desk, "k")
        call = desk.episodes.ask  # held up: another thread has the episode
        running = desk.roster._running["k"]
        with running.lock:
            late = call("k", HERE, dict.fromkeys(TOOLS, 0.0), notes=True)
            assert late.result(0.01).degraded == "deadline"
        until(lambda: len(running.episode.steps) == 1)
        over(desk, "k")
        assert uses(desk, rule_id(WRITTEN)) == []


def late(desk, key, state):
    """A step whose answer would say rules, and comes when the caller has gone on."""
    running = desk.roster._running[key]
    taken = len(running.episode.steps)
    with running.lock:
        call = desk.episodes.ask(key, state, dict.fromkeys(TOOLS, 0.0), notes=True)
        assert call.result(0.01).degraded == "deadline"
    until(lambda: len(running.episode.steps) == taken + 1)
    with running.lock:  # that step is done with
        return


def test_rules_of_an_answer_that_came_too_late_count_for_no_later_and_no_earlier_step(desk):
    other = plant(desk, "When the list is shown, attach text")
    start(desk, "k")
    said = desk.episodes.notes("k", HERE, TOOLS).notes
    decide(desk, "k")
    late(desk, "k", "The list is shown.")
    decide(desk, "k", "The end.")
    over(desk, "k")
    assert [use.occasions for use in uses(desk, rule_id(WRITTEN))] == [1]
    assert uses(desk, other) == []
    assert desk.memory.store.episode("k").info["notes"] == [[0, said]]


def test_a_rule_whose_first_answer_came_too_late_is_told_and_counted_at_the_next_step(desk):
    start(desk, "k")
    late(desk, "k", HERE)
    said = desk.episodes.notes("k", HERE, TOOLS).notes
    decide(desk, "k")
    over(desk, "k")
    assert WRITTEN in said
    assert [(use.told, use.occasions) for use in uses(desk, rule_id(WRITTEN))] == [(True, 1)]
    assert desk.memory.store.episode("k").info["notes"] == [[1, said]]


def test_rules_that_were_told_before_their_answer_came_too_late_were_told(desk):
    start(desk, "k")
    said = desk.episodes.notes("k", HERE, TOOLS).notes
    late(desk, "k", HERE)
    over(desk, "k")
    assert [(use.told, use.occasions) for use in uses(desk, rule_id(WRITTEN))] == [(True, 0)]
    assert desk.memory.store.episode("k").info["notes"] == [[0, said]]


def test_an_answer_that_came_too_late_shifts_no_notes_of_later_steps(desk):
    away, actions = "The list is open.", dict.fromkeys(TOOLS, 0.0)
    episode = ServedEpisode(desk.memory, GOAL, "mail", "k")
    episode.decide(away, actions)
    episode.unaided(away, actions, TOOLS[0], instead=True)
    said = episode.notes(HERE, TOOLS)
    episode.decide(HERE, actions)
    episode.finish(True)
    assert WRITTEN in said
    assert desk.memory.store.episode("k").info["notes"] == [[1, said]]


def test_notes_that_fail_leave_the_agent_alone(desk, caplog):
    start(desk, "k")
    running: Running = desk.roster._running["k"]
    running.episode._agent._told = None  # as a damaged book leaves it
    noted = desk.episodes.notes("k", HERE, TOOLS)
    assert (noted.notes, noted.degraded) == ("", "error")
    assert "notes failed key=k" in caplog.text


def test_after_a_restart_a_run_that_was_told_rules_is_told_none_and_counts_for_none(tmp_path):
    with opened(tmp_path) as desk:
        plant(desk)
        for key in ("told", "not told"):
            desk.episodes.start("mail:7", scope="mail", key=key, goal=GOAL)
        assert desk.episodes.notes("told", HERE).notes
        decide(desk, "told")
    with opened(tmp_path) as desk:
        assert desk.episodes.notes("told", HERE).notes == ""
        assert desk.episodes.notes("not told", HERE).notes  # the goal is known still
        for key in ("told", "not told"):
            decide(desk, key)
            over(desk, key)
        assert [use.episode for use in uses(desk, rule_id(WRITTEN))] == ["not told"]


def test_after_a_restart_nobody_can_tell_whether_what_was_done_instead_is_as_rules_say(tmp_path):
    with opened(tmp_path) as desk:
        plant(desk)
        for key in ("as decided", "otherwise"):
            start(desk, key)
            desk.episodes.notes(key, HERE, TOOLS)
            decide(desk, key)
    with opened(tmp_path) as desk:
        for key, done, obeyed in (("as decided", TOOLS[1], True), ("otherwise", TOOLS[0], None)):
            desk.episodes.took(key, done)
            over(desk, key)
            (spoke,) = desk.memory.store.episode(key).steps[0].decision.notes
            assert (spoke.told, spoke.obeyed) == (True, obeyed)


def test_after_a_restart_a_rule_that_was_held_out_is_held_out_still_and_counts_for_none(tmp_path):
    rules = replace_rules(holdout=0.5)
    keys = [f"{n}" for n in range(12)]
    with opened(tmp_path, rules) as desk:
        plant(desk)
        held_out = []
        for key in keys:
            start(desk, key)
            if not desk.episodes.notes(key, HERE, TOOLS).notes:
                held_out.append(key)
            decide(desk, key)
    assert 0 < len(held_out) < len(keys)
    with opened(tmp_path, rules) as desk:
        assert {desk.episodes.notes(key, HERE, TOOLS).notes for key in keys} == {""}
        for key in keys:
            decide(desk, key)
            over(desk, key)
        assert uses(desk, rule_id(WRITTEN)) == []


def test_a_degraded_answer_that_is_sent_again_says_no_rules(desk):
    start(desk, "k")
    running = desk.roster._running["k"]
    logits = dict.fromkeys(TOOLS, 0.0)
    with running.lock:
        late = desk.episodes.ask("k", HERE, logits, step=0, notes=True)
        assert late.result(0.01).degraded == "deadline"
    until(lambda: len(running.episode.steps) == 1)
    again = desk.episodes.ask("k", HERE, logits, step=0, notes=True).result(60.0)
    assert (again.degraded, again.notes) == ("degraded", "")


def test_an_answer_that_is_sent_again_says_rules_to_those_who_ask_for_them(desk):
    start(desk, "k")
    logits = dict.fromkeys(TOOLS, 0.0)
    desk.episodes.ask("k", HERE, logits, step=0, notes=True).result(60.0)
    assert desk.episodes.ask("k", HERE, logits, step=0).result(60.0).notes == ""


def test_an_answer_of_a_memory_that_is_off_is_no_degraded_one_when_it_is_sent_again(tmp_path):
    with opened(tmp_path, Rules(), mode="off") as desk:
        start(desk, "k")
        for _ in range(2):
            assert decide(desk, "k", step=0).degraded == ""


# --- learned of ----------------------------------------------------------------------------------


def lived(desk, number, prefix="e"):
    for n in range(number):
        key = f"{prefix}{n}"
        start(desk, key)
        desk.episodes.notes(key, HERE, TOOLS)
        done = decide(desk, key, wanted=TOOLS[n % 3]).action
        over(desk, key, done == "attach sheet")


def texts(desk):
    return [rule.text for rule, _ in desk.rules()]


def test_rounds_are_made_beside_the_calls_and_their_rules_are_told(tmp_path):
    with opened(tmp_path, replace_rules(attempts=4, scores=False)) as desk:
        lived(desk, 4)
        until(lambda: texts(desk) == [COMPARED])
        keys = [f"n{n}" for n in range(9)]
        for key in keys:
            start(desk, key)
        assert any(desk.episodes.notes(key, HERE, TOOLS).notes for key in keys)


def replace_rules(**changes):
    import msgspec

    return msgspec.structs.replace(ALWAYS, **changes)


class Slow:
    """A model that is asked for rules and says nothing until it is let."""

    name = "slow"

    def __init__(self):
        self.is_asked, self.gate = threading.Event(), threading.Event()

    def write(self, writing, read):
        self.is_asked.set()
        self.gate.wait(60.0)
        raise ModelError("no answer")


def test_a_model_that_writes_rules_slowly_keeps_no_outcome_and_no_decision_waiting(tmp_path):
    with opened(tmp_path, replace_rules(attempts=4, scores=False)) as desk:
        learning, slow = desk.memory.book.learning, Slow()
        works = learning.distiller
        learning.distiller = replace(works, writer=slow)
        lived(desk, 4)  # its round is over with the last of these
        assert slow.is_asked.wait(60.0)
        start(desk, "meanwhile")
        assert decide(desk, "meanwhile").degraded == ""
        over(desk, "meanwhile")
        learning.distiller = works
        slow.gate.set()
    with opened(tmp_path, replace_rules(attempts=4, scores=False)) as desk:
        until(lambda: texts(desk) == [COMPARED])  # it was owed


def test_a_model_that_hangs_while_it_writes_rules_keeps_no_end_waiting_and_they_stay_owed(tmp_path):
    with opened(tmp_path, replace_rules(attempts=4, scores=False)) as desk:
        learning, slow = desk.memory.book.learning, Slow()
        learning.distiller = replace(learning.distiller, writer=slow)
        lived(desk, 4)
        assert slow.is_asked.wait(60.0)
        began = time.monotonic()
    took = time.monotonic() - began
    with opened(tmp_path, replace_rules(attempts=4, scores=False)) as desk:
        until(lambda: texts(desk) == [COMPARED])
    slow.gate.set()
    assert took < 30.0  # of the 60 s that it hangs


# --- shown ---------------------------------------------------------------------------------------


def test_rules_are_listed_with_what_they_have_shown(tmp_path):
    with opened(tmp_path, replace_rules(holdout=0.5)) as desk:
        plant(desk)
        lived(desk, 12)
        ((rule, seen),) = desk.rules()
    assert rule.text == WRITTEN
    assert seen.effect.given + seen.effect.held == 12
    assert 0 < seen.effect.given < 12
    assert seen.effect.low <= seen.effect.mean <= seen.effect.high


def test_an_agents_own_model_is_told_by_advice_and_recalls_nothing_that_is_held_out(tmp_path):
    with opened(tmp_path, replace_rules(holdout=0.5)) as desk:
        plant(desk)
        adviser, told, recalled = Adviser(desk, scope="mail"), [], []
        for n in range(12):
            key = adviser.start(GOAL, key=f"{n}").episode
            found = adviser.recall(key, HERE)
            assert found.rules == []
            recalled.append(WRITTEN in found.notes)
            told.append(WRITTEN in adviser.advise(key, HERE, TOOLS).notes)
            adviser.record(key, "attach sheet")
            adviser.report(key, True)
        found = uses(desk, rule_id(WRITTEN))
    assert told == recalled == [use.told for use in found]
    assert len(set(told)) == 2
    assert {(use.occasions, use.obeyed) for use in found} == {(1, 1)}


# --- over HTTP -----------------------------------------------------------------------------------


@pytest.fixture
def told(place):
    """Asks a service in this process whose memories have rules."""
    from fastapi.testclient import TestClient

    place.key("admin")
    with TestClient(place.app(settings=Settings(rules=ALWAYS))) as client:
        ask = Caller(place, client)
        ask.live("warm")
        yield ask


def planted(place):
    from jitrl.stores.sqlite import SQLiteStore

    with SQLiteStore(place.folder / "shop.db") as store:
        store.add_rules([Rule(rule_id(WRITTEN), WRITTEN, "mail", author="ann", status="active")])


@pytest.mark.server
def test_an_agent_elsewhere_asks_for_notes_at_its_start_at_a_step_and_with_a_decision(told, place):
    planted(place)
    start = {"task": "mail:7", "goal": GOAL, "scope": "mail", "key": "k", "state": HERE}
    begun = told("POST", "/v1/episodes", start).json()
    assert WRITTEN in begun["notes"]
    assert begun["rules"] == [rule_id(WRITTEN)]
    noted = told("POST", "/v1/episodes/k/notes", {"state": HERE, "actions": TOOLS}).json()
    assert (noted["notes"], noted["step"], noted["degraded"]) == (begun["notes"], 0, False)
    step = {"state": HERE, "candidates": {"attach sheet": 1.0, "attach text": 0.0}}
    made = told("POST", "/v1/episodes/k/decide", step).json()
    assert (made["rules"], made["notes"]) == ([rule_id(WRITTEN)], "")
    made = told("POST", "/v1/episodes/k/decide", {**step, "notes": True}).json()
    assert made["notes"] == begun["notes"]
    told("POST", "/v1/episodes/k/outcomes", {"value": True, "basis": "test"})
    (rule,) = told("GET", "/v1/rules").json()["rules"]
    assert (rule["effect"]["told"], rule["occasions"], rule["obeyed"] > 0) == (1, 2, True)
    shown = told("GET", "/v1/decisions/k:0").json()
    (heard,) = shown["rules"]
    assert (heard["id"], heard["told"], heard["chance"]) == (rule_id(WRITTEN), True, 0.99)
    assert heard["effect"] == rule["effect"]
    assert shown["decision"]["notes"][0]["rule"] == rule_id(WRITTEN)


@pytest.mark.server
def test_the_client_gives_notes_and_effects(told, place):
    from test_client import opened as client_of
    from test_client import through

    planted(place)
    with client_of(place, through(told)) as client:
        with client.episode("mail:7", goal=GOAL, scope="mail", key="k") as episode:
            assert WRITTEN in episode.notes(HERE, TOOLS)
            choice = episode.decide(HERE, {"attach sheet": 1.0, "attach text": 0.0})
            assert choice.rules == [rule_id(WRITTEN)]
            episode.outcome(True, basis="test")
        (rule,) = client.rules()
    assert rule.effect.told == 1


@pytest.mark.server
@pytest.mark.parametrize("done", ["attach sheet", "attach text"])
def test_what_was_done_counts_though_it_is_said_after_the_next_notes(told, place, done):
    planted(place)
    told("POST", "/v1/episodes", {"task": "m", "goal": GOAL, "scope": "mail", "key": "k"})
    here = {"state": HERE, "actions": TOOLS}
    told("POST", "/v1/episodes/k/notes", here)
    step = {"state": HERE, "candidates": {"attach sheet": 1.0, "attach text": 0.0}}
    told("POST", "/v1/episodes/k/decide", step)
    told("POST", "/v1/episodes/k/notes", {"state": "The list is shown.", "step": 1})
    told("POST", "/v1/episodes/k/took", {"action": done, "step": 0})
    told("POST", "/v1/episodes/k/outcomes", {"value": True, "basis": "test"})
    (rule,) = told("GET", "/v1/rules").json()["rules"]
    assert (rule["occasions"], rule["obeyed"]) == (1, int(done == "attach sheet"))
    (heard,) = told("GET", "/v1/decisions/k:0").json()["rules"]
    assert heard["obeyed"] is (done == "attach sheet")
