"""`jitrl rules` on real files: what is listed, why a rule is there, and changes by hand."""

import getpass
import json
import re
import sys
from dataclasses import replace
from datetime import datetime

import pytest

from jitrl.cli import main
from jitrl.cli.shared.output import people
from jitrl.core.rules import tokens
from jitrl.core.sentences import rule_id
from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.store_samples import derive, sample_episode, scored
from jitrl.types import Contrast, Outcome, Rule, RuleUse

TEXT = "When the goal names an order, open the list of orders"
ID = rule_id(TEXT)


@pytest.fixture
def jitrl(capfd, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    people.cache_clear()  # a console keeps the width that it was made with

    def call(*args):
        with pytest.raises(SystemExit) as end:
            main(["rules", *map(str, args)])
        sys.stdout.flush()
        out, err = capfd.readouterr()
        return int(end.value.code or 0), out, err

    yield call
    people.cache_clear()


@pytest.fixture
def file(tmp_path):
    """A memory with one rule, told in one episode and held out in another."""
    path = tmp_path / "memory.db"
    with SQLiteStore(path) as store:
        contrast = Contrast("c", "shop", "t", "orders", 2, "Cancel it", ("g",), ("b",), (1.0, 0.0))
        store.add_rules([Rule(ID, TEXT, "shop", "orders", evidence=("c",))], [contrast], reason="r")
        for key, told in (("one", True), ("two", False)):
            lived = sample_episode(key)
            judgment, use = scored(lived), RuleUse(ID, key, told, 0.5, 2, 1)
            store.commit(lived, judgment, derive(lived, judgment), [use])
    return path


def test_a_rule_is_listed_with_its_effect_and_beside_it_its_wins(jitrl, file):
    code, out, err = jitrl("ls", file)
    (line,) = [line for line in (out + err).splitlines() if line.startswith(TEXT)]
    assert (code, line.split()[-2:]) == (0, ["1/1", "1/2"])
    found = json.loads(jitrl("ls", file, "--json")[1])["rules"][0]
    assert (found["effect"]["told"], found["effect"]["held_out"]) == (1, 1)
    assert (found["obeyed"], found["occasions"]) == (1, 2)


def test_of_an_effect_that_changed_it_is_said_that_earlier_uses_do_not_count(jitrl, file):
    def said():
        return ["".join(jitrl(*asked)[1:]) for asked in (("ls", file), ("show", file, ID))]

    anew = "Where an effect changed, it is of the uses since then"
    assert [anew in one for one in said()] == [False, False]
    with SQLiteStore(file) as store, store.batch():
        for n in range(160):
            told, helps = n % 2 == 0, n < 60
            outcome = Outcome(float(told == helps), "test", "outcome", False, "ci")
            lived = replace(sample_episode(f"more {n}"), outcome=outcome)
            judgment = scored(lived)
            use = RuleUse(ID, lived.key, told, 0.5, 2, 1)
            store.commit(lived, judgment, derive(lived, judgment), [use])
    seen = json.loads(jitrl("ls", file, "--json")[1])["rules"][0]["effect"]
    assert seen["told"] + seen["held_out"] == 162
    assert 20 < seen["uses"] < 110
    assert seen["high"] < 0.0
    assert [anew in one for one in said()] == [True, True]


def test_rules_are_found_by_their_words(jitrl, file):
    assert len(json.loads(jitrl("ls", file, "--find", "orders", "--json")[1])["rules"]) == 1
    assert json.loads(jitrl("ls", file, "--find", "苹果", "--json")[1])["rules"] == []


def test_why_names_the_attempts_a_rule_rests_on_and_its_history(jitrl, file):
    code, out, err = jitrl("why", file, ID)
    said = out + err
    assert code == 0
    assert "round 2 of t, episodes (scores): g (1) against b (0)" in said
    day = datetime.now().strftime("%Y-")
    assert re.search(rf"version 1, {day}\d\d-\d\d \d\d:\d\d: candidate; r$", said, re.M)
    assert "by comparison of attempts, for orders" in said
    with SQLiteStore(file) as store:
        again = Contrast("d", "shop", "t", "orders", 3, "Cancel it", ("h",), (), (1.0,))
        store.add_rules([replace(store.rule(ID), evidence=("d",))], [again], reason="s")
    said = "".join(jitrl("why", file, ID)[1:])
    assert "round 3 of t, episodes (scores): h (1) against none" in said
    assert re.search(r"version 4, [\d: -]+: more evidence; s$", said, re.M)


def test_why_says_who_changed_a_rule_by_hand_and_when_and_never_nothing(jitrl, file):
    assert jitrl("retire", file, ID, "--reason", "the page was changed")[0] == 0
    assert jitrl("restore", file, ID)[0] == 0
    assert jitrl("restore", file, ID, "--principal", "ann")[0] == 0  # changes nothing
    said = jitrl("why", file, ID)[2]
    who = getpass.getuser()
    assert re.search(rf": retired; the page was changed \(by {re.escape(who)}\)$", said, re.M)
    assert re.search(rf": candidate; restored by hand \(by {re.escape(who)}\)$", said, re.M)
    with SQLiteStore(file) as store:
        store.set_rule_status("retired", [ID])
    assert re.search(r": retired; no reason given$", jitrl("why", file, ID)[2], re.M)
    assert "retired since: no reason given" in jitrl("show", file, ID)[2]


def test_a_rule_that_is_added_is_of_whoever_is_logged_in_unless_somebody_is_named(jitrl, file):
    for more, who in (([], getpass.getuser()), (["--principal", "ann"], "ann")):
        text = f"When you see a door of {who}, open it"
        assert jitrl("add", file, text, *more)[0] == 0
        with SQLiteStore(file, readonly=True) as store:
            assert store.rule(rule_id(text)).principal == who


@pytest.mark.parametrize("bullet", ["- ", "-- ", "-  "])
def test_a_sentence_may_stand_behind_a_bullet(jitrl, file, bullet):
    text = "When the page has a hall, open it"
    code, out, _ = jitrl("add", file, bullet + text, "--json")
    assert (code, json.loads(out)["id"]) == (0, rule_id(text))
    assert jitrl("add", file, "--no-such-option", text)[0] == 2


@pytest.mark.parametrize("command", ["show", "why", "add", "retire", "restore"])
def test_what_is_said_of_a_rule_fits_the_terminal(jitrl, file, monkeypatch, command):
    text = "When the page shows a list of orders, " + "and then the next page, " * 8 + "open it"
    with SQLiteStore(file) as store:
        store.add_rules([Rule(rule_id(text), text, "shop")])
    monkeypatch.setenv("COLUMNS", "80")
    people.cache_clear()
    asked = {"add": [text], "retire": [rule_id(text), "--reason", "x"]}
    code, _, err = jitrl(command, file, *asked.get(command, [rule_id(text)]))
    path = str(file)
    lines = [line for line in err.splitlines() if path not in line]
    assert (code, max(map(len, lines)) <= 80) == (0, True)
    assert text in " ".join(lines)  # no word is torn


@pytest.mark.parametrize("command", ["show", "why", "retire", "restore"])
def test_an_id_may_be_cut_where_no_other_goes_on_like_it(jitrl, file, command):
    reason = ["--reason", "x"] if command == "retire" else []
    texts = [f"When the page lists {n} orders, open the first" for n in range(40)]
    with SQLiteStore(file) as store:
        store.add_rules([Rule(rule_id(text), text, "shop") for text in texts])
        ids = [rule.id for rule in store.rules()]
    alone = next(i for i in ids if sum(other.startswith(i[:2]) for other in ids) == 1)
    many = next(i for i in ids if sum(other.startswith(i[:1]) for other in ids) > 1)
    code, out, err = jitrl(command, file, alone[:2], *reason)
    assert (code, alone in out + err) == (0, True)
    code, out, err = jitrl(command, file, many[:1], *reason)
    assert (code, out) == (2, "")
    assert f"'{many[:1]}' begins the ids of " in err
    assert "give more of it" in err
    assert jitrl(command, file, "", *reason)[0] == 2
    changed = {rule for rule in ids if SQLiteStore(file).rule(rule).status == "retired"}
    assert changed == ({alone} if command == "retire" else set())


@pytest.mark.parametrize("command", ["ls", "show", "why"])
def test_rules_are_told_in_chinese_on_request(jitrl, file, command):
    args = [] if command == "ls" else [ID]
    code, out, err = jitrl(command, file, *args, "--lang", "zh")
    assert (code, out) == (0, "")
    assert "候选" in err
    english = set(jitrl(command, file, *args)[2].splitlines())
    left = {line for line in english & set(err.splitlines()) if not line.startswith(TEXT)}
    assert not left
    assert jitrl(command, file, *args, "--json") == jitrl(
        command, file, *args, "--json", "--lang", "zh"
    )


def test_an_estimate_beyond_its_bounds_is_shown_as_the_nearer_one_and_said(jitrl, file):
    with SQLiteStore(file) as store:
        for key in ("four", "five"):  # one success each, though it was told with a small chance
            lived = sample_episode(key)
            judgment, use = scored(lived), RuleUse(ID, key, True, 0.002, 2, 1)
            store.commit(lived, judgment, derive(lived, judgment), [use])
    for asked in (("ls", file), ("show", file, ID)):
        said = " ".join(jitrl(*asked)[2].split())
        assert "+1.00 [" in said
        assert "Where an estimate is beyond its bounds" in said
    (found,) = json.loads(jitrl("ls", file, "--json")[1])["rules"]
    assert found["effect"]["mean"] > 1.0


def test_a_placeholder_is_explained_where_there_is_one(jitrl, file):
    said = "{value 1}: whatever the goal of the task has in its place"
    assert said not in "".join(jitrl("ls", file)[1:])
    text = "When the goal is “Cancel {value 1}” and you see the list, open {value 1}"
    with SQLiteStore(file) as store:
        store.add_rules([Rule(rule_id(text), text, "shop")])
    for asked in (("ls", file), ("show", file, rule_id(text))):
        assert said in "".join(jitrl(*asked)[1:])


@pytest.mark.parametrize("columns", ["80", "120"])
def test_what_stands_below_a_list_of_rules_fits_the_terminal(jitrl, file, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    people.cache_clear()
    said = "".join(jitrl("ls", file)[1:])
    lines = said[said.index("Effect: ") :].splitlines()
    assert max(map(len, lines)) <= int(columns)
    assert " ".join(lines).endswith("unknown where it names none of the actions there.")


def test_a_rule_is_retired_and_restored_to_what_it_was(jitrl, file):
    with SQLiteStore(file) as store:
        store.set_rule_status("active", [ID], reason="proved")
    assert jitrl("retire", file, ID, "--reason", "wrong")[0] == 0
    with SQLiteStore(file) as store:
        assert (store.rule(ID).status, store.rule(ID).reason) == ("retired", "wrong")
    assert jitrl("restore", file, ID)[0] == 0
    with SQLiteStore(file) as store:
        assert store.rule(ID).status == "active"


def test_what_is_added_or_restored_beside_what_it_disagrees_with_makes_candidates_of_both(
    jitrl, file
):
    active, against = "When you see the till, open it", "When you see the till, do not open it"
    with SQLiteStore(file) as store:
        store.add_rules([Rule(rule_id(active), active, "shop", "orders", status="active")])
    said = jitrl("add", file, against, "--scope", "shop", "--principal", "ann")[2]
    assert f"{rule_id(against)} disagrees with {rule_id(active)}: all of them are" in said
    with SQLiteStore(file) as store:
        there = store.rule(rule_id(active))
        assert (there.status, there.reason) == (
            "candidate",
            f"disagrees with {rule_id(against)}: each has to prove itself",
        )
        assert store.rule_history(there.id)[-1].principal == "ann"
        store.set_rule_status("retired", [rule_id(against)])
        store.set_rule_status("active", [rule_id(active)])
    out = json.loads(jitrl("restore", file, rule_id(against), "--json")[1])
    assert out["disagrees_with"] == {rule_id(against): [rule_id(active)]}
    with SQLiteStore(file) as store:
        assert {store.rule(rule_id(text)).status for text in (active, against)} == {"candidate"}


def test_many_rules_are_restored_as_one_and_those_that_disagree_are_candidates(jitrl, file):
    many = [f"When you see page {n}, open {n}" for n in range(40)]
    same = [f"When the till is shown, open drawer n{n}" for n in range(30)]
    ids = [rule_id(text) for text in (*many, *same)]
    with SQLiteStore(file) as store:
        for text in (*many, *same):
            rule = Rule(rule_id(text), text, "shop", "orders", status="active", author="ann")
            store.add_rules([rule])
        store.set_rule_status("quarantined", ids, reason="imported")
    code, out, err = jitrl("restore", file, *ids, "--json")
    against = json.loads(out)["disagrees_with"]
    assert (code, set(against)) == (0, set(ids[40:]))
    assert set(against[ids[40]]) == set(ids[41:])
    with SQLiteStore(file) as store:
        assert {rule.id for rule in store.rules(status="active")} == set(ids[:40])
        assert {store.rule(id).status for id in ids[40:]} == {"candidate"}
    assert " … +9: all of them are candidates now" in " ".join(err.split())


def test_a_rule_that_another_stands_for_is_restored_with_a_word_of_it(jitrl, file):
    text = "When the goal names an order or a bill, open the list of orders"
    wide = Rule(rule_id(text), text, "shop", "orders", evidence=("c",), parents=(ID,))
    with SQLiteStore(file) as store:
        store.add_rules([wide])
        store.set_rule_status("retired", [ID])
    assert f"stands for {ID}" in "".join(jitrl("why", file, wide.id)[1:])
    _, out, err = jitrl("restore", file, ID)
    assert f"{ID} is stood for by {wide.id}: a candidate is told only where" in out + err
    with SQLiteStore(file) as store:
        store.set_rule_status("active", [ID])
    out = jitrl("restore", file, ID, "--json")
    assert json.loads(out[1])["spoken_for"] == {ID: [wide.id]}
    assert "it is active and told all the same" in out[2]
    with SQLiteStore(file) as store:
        store.set_rule_status("retired", [wide.id])
    assert json.loads(jitrl("restore", file, ID, "--json")[1])["spoken_for"] == {}


def test_a_rule_is_added_by_hand_once_and_only_if_it_is_one(jitrl, file):
    text = "当输入包含日期时，先统一成 YYYY-MM-DD 再处理"
    first = json.loads(jitrl("add", file, text, "--scope", "shop", "--json")[1])
    assert first == {
        "schema": "jitrl.rules.add/1",
        "id": rule_id(text),
        "new": True,
        "scope": "shop",
        "kind": "",
        "disagrees_with": [],
    }
    again = jitrl("add", file, f"  {text}。", "--scope", "shop", "--json")
    assert json.loads(again[1])["new"] is False
    code, _, err = jitrl("add", file, "Think more")
    assert (code, "is no rule: it asks for care or thought" in err) == (2, True)


@pytest.mark.parametrize("command", ["retire", "restore", "why"])
def test_a_rule_that_is_not_there_is_an_error_that_names_it(jitrl, file, command):
    reason = ["--reason", "x"] if command == "retire" else []
    code, _, err = jitrl(command, file, "0123456789ab", *reason)
    assert (code, "0123456789ab" in err) == (4, True)
    assert "1 of 1" not in err


@pytest.mark.parametrize("command", ["add", "export", "ls", "redistil", "restore", "retire", "why"])
def test_a_mistyped_file_is_no_new_memory(jitrl, file, command):
    more = {"why": [ID], "restore": [ID], "retire": [ID, "--reason", "x"], "add": [TEXT]}
    before = sorted(file.parent.iterdir())
    code, _, err = jitrl(command, file.parent / "memroy.db", *more.get(command, []))
    assert (code, f"did you mean {file}?" in "".join(err.split("\n"))) == (4, True), err
    code, _, err = jitrl(command, file.parent / "shop.db", *more.get(command, []))
    assert (code, "jitrl.open makes one" in " ".join(err.split())) == (4, True), err
    code, _, err = jitrl(command, file, *more.get(command, []), "--memory", "other")
    assert (code, "has no memory 'other'; it has ['default']" in err) == (4, True), err
    assert sorted(file.parent.iterdir()) == before


@pytest.mark.parametrize("command", ["ls", "export", "redistil"])
def test_a_scope_that_nothing_is_of_is_an_error_that_names_those_there_are(jitrl, file, command):
    with SQLiteStore(file) as store:
        store.add_rules(
            [Rule(rule_id("When you see a bill, pay it"), "When you see a bill, pay it")]
        )
    target = file.parent / "rules.jsonl"
    args = [target] if command == "export" else []
    code, out, err = jitrl(command, file, *args, "--scope", "nope")
    assert (code, out, "there are" in err, "'shop'" in err) == (2, "", True, True)
    assert not target.exists()


def test_a_known_scope_without_rules_is_no_error(jitrl, file):
    with SQLiteStore(file) as store:
        other = replace(sample_episode("three"), scope="elsewhere")
        store.commit(other, scored(other), derive(other, scored(other)))
    code, out, err = jitrl("ls", file, "--scope", "elsewhere")
    assert (code, (out + err).split()) == (0, ["no", "rules"])
    assert json.loads(jitrl("ls", file, "--scope", "elsewhere", "--json")[1])["rules"] == []


def test_a_text_is_added_to_each_scope_that_it_is_said_for(jitrl, file):
    first = json.loads(jitrl("add", file, TEXT, "--scope", "bank", "--json")[1])
    assert (first["new"], first["id"] == ID) == (True, False)
    assert json.loads(jitrl("add", file, TEXT, "--scope", "bank", "--json")[1]) == {
        **first,
        "new": False,
    }
    with SQLiteStore(file) as store:
        assert [rule.id for rule in store.rules(scope="bank")] == [first["id"]]
        assert [rule.id for rule in store.rules(scope="shop")] == [ID]


def test_a_scope_that_nothing_else_is_of_is_pointed_out_once(jitrl, file):
    said = "nothing else in the memory is of that scope; there are 'shop'"
    other = "When the list is empty, click(Refresh)"
    for text, scope, is_odd in (
        (other, "shop", False),
        (TEXT, "shpo", True),
        (TEXT, "shpo", False),
    ):
        code, _, err = jitrl("add", file, text, "--scope", scope)
        assert (code, said in " ".join(err.split())) == (0, is_odd)


def test_a_rule_that_is_there_for_another_kind_of_task_is_not_passed_over_in_silence(jitrl, file):
    code, _, err = jitrl("add", file, TEXT, "--scope", "shop", "--kind", "bills")
    assert code == 2
    assert "in scope 'shop' for tasks of kind 'orders' (candidate)" in " ".join(err.split())
    code, out, err = jitrl("add", file, TEXT, "--scope", "shop", "--kind", "orders")
    assert (code, "is there already, candidate" in out + err) == (0, True)


def test_a_rule_goes_to_the_scope_of_the_memory_unless_there_are_several(jitrl, file):
    text = "When you see room, open it"
    assert jitrl("add", file, text)[0] == 0
    with SQLiteStore(file) as store:
        (scope,) = store.stats().scopes
        assert store.rule(rule_id(text)).scope == scope != ""
        other = replace(sample_episode("three"), scope="elsewhere")
        store.commit(other, scored(other), derive(other, scored(other)))
    code, _, err = jitrl("add", file, "When you see hall, open it")
    assert code == 2
    assert "'elsewhere'" in err
    assert "--scope" in err


def test_a_rule_says_its_scope_and_kind_and_counts_the_scopes_of_rules(jitrl, file):
    with SQLiteStore(file) as store:
        (scope,) = store.stats().scopes
    said = jitrl("add", file, "When you see room, open it", "--kind", "visits")
    assert f"for tasks of kind 'visits' in scope '{scope}'" in " ".join("".join(said[1:]).split())
    assert jitrl("add", file, "When you see stairs, go up", "--scope", "bank")[0] == 0
    code, _, err = jitrl("add", file, "When you see hall, open it")
    assert (code, "'bank', " in err) == (2, True)


def test_a_rule_longer_than_the_room_for_rules_is_added_with_a_word_of_it(jitrl, file):
    text = f"当页面出现“{'订单' * 112}”时，先点击“详情”再{'核对订单' * 12}"
    code, _, err = jitrl("add", file, text)
    assert code == 0
    assert f"it is told only by an agent with tokens = {tokens(text)} or more" in " ".join(
        err.split()
    )
    assert "tokens =" not in "".join(jitrl("add", file, "When you see room, open it")[1:])


@pytest.mark.parametrize(
    ("option", "what"), [((), "the rule"), (("--scope",), "--scope"), (("--kind",), "--kind")]
)
def test_what_is_no_text_is_refused_by_its_name(jitrl, file, option, what):
    torn = "When you see caf\udce9, open it"
    code, _, err = jitrl(
        "add", file, *(("When you see a cafe, open it", *option) if option else ()), torn
    )
    said = f"{what} has half of a surrogate pair ('\\udce9') at character 16"
    assert (code, said in " ".join(err.split())) == (2, True), err


def test_a_text_that_is_no_rule_is_shown_shortened(jitrl, file):
    code, _, err = jitrl("add", file, "When you see room, " + "x" * 400)
    assert (code, "too long (419 characters outside quotes, at most 240)" in err) == (2, True), err
    assert "x" * 81 not in "".join(err.split())


def test_a_text_in_another_language_is_shown_whole_once_and_the_languages_are_named(jitrl, file):
    text = "Wenn die Eingabe ein Datum enthält, schreibe es zuerst als JJJJ-MM-TT"
    code, _, err = jitrl("add", file, text)
    assert (code, err.count(text), "English and Chinese are read" in err) == (2, 1, True)


@pytest.mark.parametrize("reason", ["", "  "])
def test_no_rule_is_retired_without_a_reason(jitrl, file, reason):
    code, _, err = jitrl("retire", file, ID, "--reason", reason)
    assert (code, "say why the rules go" in err) == (2, True)
    with SQLiteStore(file) as store:
        assert store.rule(ID).status == "candidate"


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (("--task", "nope"), "no contrast is of it; there are those of 't'"),
        (("--principal", "nobody"), "no contrast came in under that name; there are none"),
        (("--since", "99999"), "--since is 99999; the memory is at version"),
    ],
)
def test_a_choice_of_contrasts_that_none_meets_is_an_error(jitrl, file, option, said):
    code, _, err = jitrl("redistil", file, *option)
    assert (code, said in " ".join(err.split())) == (2, True), err
