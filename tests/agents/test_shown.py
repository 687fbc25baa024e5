"""What stood in the prompt is kept with the episode, whichever agent put it there."""

import pytest
from made_agents import opened
from suggestible import Suggestible, lived

import jitrl
from jitrl.agents.shown import Shown
from jitrl.core.sentences import rule_id
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Rule


def spread_out(info, steps):
    """The notes of each step."""
    notes = dict(info.get("notes", ()))
    out = [""]
    for step in range(steps):
        out.append(notes.get(step, out[-1]))
    return out[1:]


@pytest.mark.parametrize(
    "label",
    ["memory", "reflexion", "awm", "evotest", "prompt-update", "oracle-hint", "rulebook"],
)
def test_an_episode_keeps_what_was_said_from_which_step_on(label):
    with SQLiteStore(":memory:") as store:
        model = Suggestible(3.0)
        lived(opened(label, store, EnvironmentRewards()), model, 24)
        kept = [record.episode for record in store.records()]
    told = [note for e in kept for note in spread_out(e.info, len(e.steps))]
    assert told == model.notes
    assert any(told)


def test_what_is_asked_for_twice_at_a_step_is_kept_as_it_was_shown_last():
    shown = Shown()
    assert shown.plain() == {}
    for notes in ("a", "b"):
        shown.show(notes)
    shown.over()
    shown.show("b")
    shown.over()
    shown.show("")
    assert shown.plain() == {"notes": [[0, "b"], [2, ""]]}


def test_what_was_taken_back_leaves_what_stood_there_before():
    shown = Shown()
    shown.show("a")
    shown.over()
    for notes in ("b", "", "a"):
        shown.show(notes)
        shown.take_back()
    shown.show("b")
    shown.show("c")
    shown.over()
    shown.take_back()
    shown.show("a")
    assert shown.plain() == {"notes": [[0, "a"], [1, "b"], [2, "a"]]}


def test_notes_of_ones_own_agent_are_kept_with_its_episode():
    text = "When the mail is open, attach the sheet"
    with jitrl.open(":memory:", rules={"scores": False}) as memory:
        memory.store.add_rules([Rule(rule_id(text), text, "mail", status="active")])
        for n in range(8):
            with memory.episode("Send it", scope="mail", key=str(n)) as episode:
                said = episode.notes("The mail is open.", ["attach"])
                episode.decide("The mail is open.", {"attach": 0.0})
                episode.finish(outcome=True)
            kept = next(r.episode for r in memory.store.records() if r.episode.key == str(n))
            assert kept.info.get("notes", []) == ([[0, said]] if said else [])
            if said:
                return
    pytest.fail("the rule was never told")
