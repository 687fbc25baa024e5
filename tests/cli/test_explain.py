import math
import re

import numpy as np
import pytest

import jitrl as package
from jitrl.agents.corrected import Corrected
from jitrl.analysis import explain as views
from jitrl.cli.explain.words import LANGUAGES
from jitrl.config import Memory
from jitrl.core.rule import UpdateRule
from jitrl.core.update import decide
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.memory.replay import replay
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Candidate, Neighbor, Neighborhood

RUN = (
    *("run", "--env", "toy", "--env-options", "tasks=3,size=3", "--attempts", "6"),
    *("--model", "scripted", "--model-options", "noise=2", "--json"),
)


@pytest.fixture
def played(jitrl):
    """The command line, in a folder with a run `r` of the agent `jitrl`."""
    assert jitrl(*RUN, "--agent", "jitrl", "--out", "r").code == 0
    return jitrl


def changed(played):
    return played("explain", "r", "--changed", "--limit", "500", "--json").data["decisions"]


def test_every_number_of_the_decision_is_told_and_adds_up(played):
    [first, *_] = changed(played)
    data = played("explain", "r", first["id"], "--json").data
    assert data["schema"] == "jitrl.explain/2"
    assert data["id"] == first["id"]
    assert data["is_changed"]
    assert (data["action"], data["unaided"]) == (first["action"], first["unaided"])
    assert 0.0 < data["share"] < 1.0
    for c in data["candidates"]:
        assert c["corrected"] == pytest.approx(c["logit"] + c["correction"])
        returns = data["share"] * UpdateRule().beta * c["scaled"]
        assert c["correction"] == pytest.approx(returns + c["bonus"] + c["transfer"])
        assert c["advantage"] == pytest.approx(c["q"] - data["value"])
    z = [c["corrected"] for c in data["candidates"]]
    assert z == sorted(z, reverse=True)
    whole = sum(math.exp(v - z[0]) for v in z)
    for c in data["candidates"]:
        assert c["probability"] == pytest.approx(math.exp(c["corrected"] - z[0]) / whole)
    assert sum(n["weight"] for n in data["neighbors"]) == pytest.approx(1)


def test_neighbors_name_the_episodes_that_their_rows_come_from(played):
    found = [one for one in changed(played) if one["why"] == "returns"]
    data = played("explain", "r", found[-1]["id"], "--json").data
    with SQLiteStore("r/seed-0.db", readonly=True) as store:
        owner = {row.id: c.episode for c in store.changes(0) for row in c.rows}
    named = [n for n in data["neighbors"] if n["rows"]]
    assert named
    for neighbor in named:
        assert set(neighbor["episodes"]) == {owner[row] for row in neighbor["rows"]}


def test_the_episode_that_turns_an_explained_decision_turns_it_in_a_replay_too(played):
    turning = None
    for one in changed(played):
        data = played("explain", "r", one["id"], "--json").data
        turning = next((w for w in data["without"] if w["is_turned"]), turning)
        if turning:
            break
    assert turning
    with SQLiteStore("r/seed-0.db", readonly=True) as store:
        gone = {r.id for c in store.changes(0) if c.episode == turning["episode"] for r in c.rows}
        agent = Corrected(store, EnvironmentRewards(), Memory())
        assert data["id"] in {one.id for one in replay(agent, store, gone).turned}


@pytest.mark.parametrize(
    ("lang", "labels"),
    [
        ("en", ("the model alone", "changed by the memory", "What it would have been without")),
        ("zh", ("仅模型", "被记忆改变", "如果没有下面这个回合的记忆")),
    ],
)
def test_people_read_it_in_their_language(played, lang, labels):
    one = changed(played)[-1]
    done = played("explain", "r", one["id"], "--lang", lang)
    assert (done.code, done.out) == (0, "")
    for label in (*labels, one["id"], one["action"], one["unaided"]):
        assert label in done.err


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("preset", ["default", "released-web"])
def test_the_columns_that_people_read_add_up(jitrl, monkeypatch, lang, preset):
    monkeypatch.setenv("COLUMNS", "100")
    with package.open("m.db", preset=preset) as memory:
        for key in "abcd":
            with memory.episode("t", key=key) as episode:
                choice = episode.decide("a page", {"left": 0.0, "right": -0.4})
                episode.finish(outcome=choice.action == "right")
    asked = ("explain", "m.db", "d#0", "--set", f"memory.preset={preset}")
    shown = jitrl(*asked, "--lang", lang).err
    for action in ("left", "right"):
        line = next(line for line in shown.splitlines() if re.match(rf"{action}\b.*→", line))
        returns, bonus, z, corrected = map(float, re.findall(r"[+-]\d+\.\d\b", line))
        assert z + returns + bonus == pytest.approx(corrected, abs=0.2), line
    assert ("warmup 10" in shown) == (preset == "default")


@pytest.mark.parametrize(("lang", "said"), [("en", "would pass 0.01 nats"), ("zh", "不超过 0.01")])
def test_what_is_scaled_down_and_what_untrusted_rows_nudge_is_said(jitrl, lang, said):
    rule = {"kl_cap": 0.01}
    with package.open("m.db", rule=rule) as memory:
        for key in "ab":
            with memory.episode("t", key=key) as episode:
                episode.decide("a page", {"left": 0.0, "right": -0.4})
                episode.finish(outcome=True, basis="user_feedback", principal=key)
    asked = ("explain", "m.db", "b#0", "--set", "memory.rule=kl_cap=0.01", "--lang", lang)
    shown = "".join(jitrl(*asked).err.split())  # lines break where they may
    for text in (said, LANGUAGES[lang].nudged):
        assert "".join(text.split()) in shown


@pytest.mark.parametrize("cap", [None, 0.3])
def test_returns_that_outweigh_novelty_do_so_under_a_cap_too(cap):
    rule = UpdateRule(kl_cap=cap, warmup=1.0)
    found = [Neighbor("b", 1.0, 1.0, 3.0), Neighbor("a", 1.0, 0.0, 9.0)]
    proposed = [Candidate("a", 0.5), Candidate("b", 0.0)]
    decision = decide(proposed, Neighborhood(found, reach=1.0), rule, np.random.default_rng(0))
    assert views.why(decision, rule, decision.candidates[1]) == "returns"


def test_near_episodes_that_were_not_looked_at_are_counted(jitrl):
    with package.open("m.db") as memory:
        for key in range(6):
            with memory.episode("t", key=f"e{key}") as episode:
                episode.decide("a page", {"left": 0.0, "right": 0.1})
                episode.finish(outcome=True)
    asked = ("explain", "m.db", "e5#0", "--most")
    whole = jitrl(*asked, "5", "--json").data
    assert (len(whole["without"]), whole["others"]) == (5, 0)
    data = jitrl(*asked, "2", "--json").data
    assert (len(data["without"]), data["others"]) == (2, 3)
    assert data["neighbors"] == whole["neighbors"]
    assert {e for n in data["neighbors"] for e in n["episodes"]} == {f"e{key}" for key in range(5)}
    assert "Not looked at: 3 more near episodes" in jitrl(*asked, "2").err
    assert "not looked at" not in jitrl(*asked, "5").err
    assert "另有 5 个" in jitrl(*asked, "0", "--lang", "zh").err
    assert jitrl(*asked, "-1").code == 2


def test_only_decisions_that_fell_otherwise_than_the_models_own_are_listed(played):
    listed = {one["id"] for one in changed(played)}
    with SQLiteStore("r/seed-0.db", readonly=True) as store:
        for record in store.decisions():
            decision = record.decision
            assert (record.id in listed) == (decision.changed and not decision.reason)
    assert len(played("explain", "r", "--changed", "--limit", "2", "--json").data["decisions"]) == 2


@pytest.mark.parametrize(("lang", "word"), [("en", "context"), ("zh", "上下文")])
def test_the_context_of_a_state_is_called_so_whatever_it_holds(jitrl, lang, word):
    with package.open("m.db") as memory, memory.episode("t", key="k") as episode:
        episode.decide(package.State("a form", context="field date"), {"a": 0.0, "b": 0.0})
        episode.finish(1.0)
    said = jitrl("explain", "m.db", "k#0", "--lang", lang).err
    assert any(line.split() == [word, "field", "date"] for line in said.splitlines()), said
    assert "goal" not in said
    assert "目标" not in said


def test_an_agent_without_memory_has_no_changed_decision(jitrl):
    jitrl(*RUN, "--agent", "static", "--out", "s")
    done = jitrl("explain", "s", "--changed")
    assert (done.code, "no decision was changed by the memory" in done.err) == (0, True)


def test_a_memory_of_the_library_is_explained_under_the_settings_it_was_used_with(jitrl):
    with package.open("m.db", preset="paper-web") as memory:
        for key in ("one", "two"):
            with memory.episode("t", key=key) as episode:
                episode.decide("a page", {"left": 0.0, "right": 0.1})
                episode.finish(outcome=True)
    done = jitrl("explain", "m.db", "two#0", "--set", "memory.preset=paper-web", "--json")
    assert done.data["without"][0]["episode"] == "one"
    other = jitrl("explain", "m.db", "two#0")
    assert (other.code, "made under update rule" in other.err) == (3, True)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_in_shadow_what_was_taken_and_what_the_memory_would_take_are_told_apart(jitrl, lang):
    with package.open("m.db") as memory:
        for key, action in enumerate("aabba"):
            with memory.episode("t", key=f"k{key}") as episode:
                episode.decide("a page", {action: 0.0})
                episode.finish(outcome=action == "a")
    with package.open("m.db", mode="shadow") as memory, memory.episode("t", key="x") as episode:
        assert episode.decide("a page", {"a": 0.0, "b": 0.3}).action == "b"
    shown = ("explain", "m.db", "x#0")
    data = jitrl(*shown, "--json").data
    assert (data["action"], data["memory"], data["unaided"]) == ("b", "a", "b")
    assert (data["mode"], data["is_changed"], data["why"]) == ("shadow", True, "returns")
    assert {w["action"]: w["is_turned"] for w in data["without"]} == {"a": False}
    said = jitrl(*shown, "--lang", lang).err
    shadow = LANGUAGES[lang].shadow.format("b", "a")
    assert shadow in said
    assert f"a  100%  ← {LANGUAGES[lang].turned}" in said


def test_in_shadow_with_a_sampling_rule_the_memorys_choice_has_the_same_draw(jitrl):
    rule = {"choose": "sample", "beta": 0.5, "novelty": 0.0, "repeat": 0.0, "repeat_action": 0.0}
    chosen = {}
    for mode in ("act", "shadow"):
        with package.open(f"{mode}.db", mode=mode, rule=rule) as memory:
            for key in range(20):
                with memory.episode("t", key=f"k{key}") as episode:
                    episode.decide("a page", {"a": 0.0})
                    episode.decide("a page", {"b": 0.0})
                    episode.finish(outcome=True)
                with memory.episode("t", key=f"x{key}") as episode:
                    decision = episode.decide("a page", {"a": 0.0, "b": 0.0, "c": 0.0})
                chosen.setdefault(mode, []).append(
                    views.memorys(decision, memory.agent.preset.rule).action
                )
    assert chosen["act"] == chosen["shadow"]
    assert len(set(chosen["act"])) > 1


def test_what_cannot_be_explained_is_said(played):
    for args, code, said in (
        (("r",), 2, "--changed"),
        (("r", "x#0", "--changed"), 2, "--changed"),
        (("r", "x#0"), 4, "x"),
        (("r", "login fails/8"), 2, "as 'login fails/8#0' for the first step"),
        (("r", "x#" + "9" * 5000), 2, "not a decision id"),
        (("r", "x#0", "--seed", "7"), 2, "no seed 7"),
        (("nowhere.db", "x#0"), 4, "nowhere.db"),
    ):
        done = played("explain", *args)
        assert (done.code, done.out) == (code, ""), args
        assert said in done.err
        assert "Traceback" not in done.err


def test_an_episode_that_is_not_there_is_answered_with_how_to_list_them(played):
    done = played("explain", "r", "x#1")
    assert done.code == 4
    assert "has no episode 'x' in r/seed-0.db; `jitrl memory ls r/seed-0.db` lists" in done.err
    assert played("memory", "ls", "r/seed-0.db").code == 0
    [first, *_] = changed(played)
    key = first["id"].rpartition("#")[0]
    with SQLiteStore("r/seed-0.db", readonly=True) as store:
        steps = len(store.episode(key).steps)
    done = played("explain", "r", f"{key}#99")
    assert f"no decision at step 99; its last one is {key}#{steps - 1}" in done.err


def test_of_a_folder_of_runs_one_is_to_be_named(played):
    for label in ("static", "jitrl"):
        assert played(*RUN, "--agent", label, "--out", f"c/{label}").code == 0
    for asked in (("explain", "c", "--changed"), ("evaluator", "check", "c")):
        done = played(*asked)
        assert done.code == 2
        assert "c is a folder of 2 runs; name one: c/jitrl, c/static" in done.err
    listed = played("memory", "ls", "c")
    assert "name one of their memories: c/jitrl/seed-0.db, c/static/seed-0.db" in listed.err
    missing = played("explain", "nothere", "--changed")
    assert "there is no run folder or memory file nothere" in missing.err


def test_where_the_memory_had_no_say_a_draw_is_no_change(jitrl):
    with package.open("m.db") as memory, memory.episode("t", key="k") as episode:
        episode.decide("a page", {"a": 0.0})
        episode.finish(outcome=False)
    with package.open("m.db", mode="off") as memory:
        for number in range(12):
            with memory.episode("t", key=f"x{number}") as episode:
                episode.decide("a page", {"a": 0.0, "b": 0.1, "c": 0.1})
    shown = [jitrl("explain", "m.db", f"x{n}#0", "--json").data for n in range(12)]
    assert any(data["action"] != data["unaided"] for data in shown)
    assert {(d["reason"], d["is_changed"], d["why"]) for d in shown} == {("off", False, None)}


def test_with_scores_off_a_rulebook_changes_no_choice(jitrl):
    rules = {"scores": False}
    with package.open("m.db", rules=rules) as memory:
        for number in range(12):
            with memory.episode("t", key=f"x{number}") as episode:
                episode.decide("a page", {"a": 0.0, "b": 0.1, "c": 0.1})
                episode.finish(outcome=number % 2 == 0)
    shown = [jitrl("explain", "m.db", f"x{n}#0", "--json").data for n in range(12)]
    assert not any(data["is_changed"] for data in shown)
