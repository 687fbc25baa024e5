"""An explained decision says which rules spoke to it, what was made of them, and their effects."""

import base64

import pytest

import jitrl as package
from jitrl.cli.explain.words import LANGUAGES
from jitrl.core.sentences import rule_id
from jitrl.errors import InputError
from jitrl.language import singular
from jitrl.types import Rule

TEXT = "When the mail is open, attach sheet"


@pytest.fixture
def told(tmp_path, monkeypatch):
    """A memory file in the present folder: 12 runs, told a rule or held out of it."""
    monkeypatch.chdir(tmp_path)
    with package.open("m.db", rules={"attempts": 0, "holdout": 0.5}) as memory:
        memory.store.add_rules([Rule(rule_id(TEXT), TEXT, author="ann", status="active")])
        for n in range(12):
            with memory.episode("send the report", key=f"e{n}") as episode:
                episode.notes("The mail is open.", ["attach sheet", "attach text"])
                choice = episode.decide(
                    "The mail is open.", {"attach sheet": 1.0, "attach text": 0.0}
                )
                episode.took("attach text") if n == 11 else None
                episode.finish(outcome=choice.action == "attach sheet")
        return [memory.store.decision(f"e{n}#0").decision.notes[0] for n in range(12)]


def test_what_was_told_and_what_was_held_out_is_said_with_its_chance(jitrl, told):
    assert {one.told for one in told} == {True, False}
    for n, spoken in enumerate(told):
        (rule,) = jitrl("explain", "m.db", f"e{n}#0", "--json").data["rules"]
        assert (rule["id"], rule["text"], rule["status"]) == (rule_id(TEXT), TEXT, "active")
        assert (rule["told"], rule["chance"]) == (spoken.told, spoken.chance)
        assert rule["effect"]["told"] + rule["effect"]["held_out"] == 12
        assert rule["effect"]["low"] <= rule["effect"]["mean"] <= rule["effect"]["high"]


def test_the_id_that_the_service_gives_a_decision_explains_it_too(jitrl, told):
    asked = jitrl("explain", "m.db", "e3#0", "--json")
    assert jitrl("explain", "m.db", "e3:0", "--json").data == asked.data
    coded = "~" + base64.urlsafe_b64encode(b"e3").decode().rstrip("=")  # of keys that are not plain
    assert jitrl("explain", "m.db", f"{coded}:0").code == 2
    with package.open("m.db") as memory, memory.episode("t", key="a b#1:2") as odd:
        odd.decide("s", {"a": 1.0, "b": 0.0})
        odd.finish(True)
    id = base64.urlsafe_b64encode(b"a b#1:2").decode().rstrip("=")
    assert jitrl("explain", "m.db", f"~{id}:0", "--json").data["id"] == "a b#1:2#0"
    with package.open("m.db") as memory, pytest.raises(InputError, match="so say 'e3#0'"):
        memory.explain("e3:0")


def test_what_was_done_in_place_of_the_choice_says_whether_it_was_obeyed(jitrl, told):
    (rule,) = jitrl("explain", "m.db", "e11#0", "--json").data["rules"]
    assert rule["obeyed"] is False


@pytest.mark.parametrize("lang", LANGUAGES)
def test_people_read_of_them_in_their_language(jitrl, told, lang):
    words = LANGUAGES[lang]
    shown = jitrl("explain", "m.db", "e11#0", "--lang", lang).err
    for said in (words.rules, TEXT, words.told[told[11].told], words.done[False]):
        assert said in " ".join(shown.split()) or said in shown


def test_a_decision_of_the_agent_rulebook_is_explained_with_its_rules(jitrl):
    asked = ["run", "--agent", "rulebook", "--attempts", "12", "--env", "toy", "--out", "r"]
    asked += ["--env-options", '{"tasks": 2, "size": 2}', "--model", "scripted"]
    assert jitrl(*asked, "--model-options", '{"heeds": 3}').code == 0
    from jitrl.stores.sqlite import SQLiteStore

    with SQLiteStore("r/seed-0.db", readonly=True) as store:
        spoke = {one.id: one.decision.notes for one in store.decisions() if one.decision.notes}
    id, notes = next(iter(spoke.items()))
    data = jitrl("explain", "r", id, "--json").data
    assert [one["id"] for one in data["rules"]] == [one.rule for one in notes]
    assert data["is_changed"] is False


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_model_that_was_told_rules_is_not_called_alone(jitrl, lang):
    asked = ["run", "--agent", "rulebook", "--attempts", "24", "--env", "toy", "--out", "r"]
    asked += ["--env-options", '{"tasks": 3, "size": 2}', "--model", "scripted"]
    assert jitrl(*asked, "--model-options", '{"heeds": 3}').code == 0
    from jitrl.stores.sqlite import SQLiteStore

    with SQLiteStore("r/seed-0.db", readonly=True) as store:
        made = {one.id: one.decision for one in store.decisions()}
    words, seen = LANGUAGES[lang], set()
    for id, decision in made.items():
        n = sum(one.told for one in decision.notes)
        is_drawn = decision.action != decision.unaided
        if (kind := (n, bool(decision.notes), is_drawn)) in seen:
            continue
        seen.add(kind)
        shown = " ".join(jitrl("explain", "r", id, "--lang", lang).err.split())
        said = words.off_told if n else words.off_none if decision.notes else words.off
        assert singular(said.format(n)) in shown
        label = singular(words.advised.format(n)) if n else words.alone
        assert f"{label} {decision.unaided}" in shown
        assert f"{words.done_here} {decision.action}" in shown
        assert (words.drawn in shown) == is_drawn
        assert words.turned not in shown
        assert not (lang == "zh" and "off" in shown)
    assert {n > 0 for n, _, _ in seen} == {is_drawn for _, _, is_drawn in seen} == {True, False}


def test_why_a_memory_had_no_say_is_told_in_chinese_words(jitrl):
    with package.open("m.db", holdout=0.5) as memory:
        for n in range(12):
            with memory.episode("t", key=f"e{n}") as episode:
                episode.decide("a page", {"left": 0.0, "right": 0.1})
                episode.finish(True)
        reasons = {memory.store.decision(f"e{n}#0").decision.reason: n for n in range(12)}
    assert {"empty", "holdout"} <= set(reasons)
    for reason in ("empty", "holdout"):
        shown = jitrl("explain", "m.db", f"e{reasons[reason]}#0", "--lang", "zh").err
        assert LANGUAGES["zh"].silent.format(LANGUAGES["zh"].reasons[reason]) in shown
        assert reason not in shown
