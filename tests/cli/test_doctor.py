import itertools
import re
import shlex
from pathlib import Path
from string import Formatter

import pytest
from rich.cells import cell_len

import jitrl as package
from jitrl import config, presets
from jitrl.analysis.doctor import CHECKS, OF_RULES
from jitrl.analysis.doctor.finding import Finding, found
from jitrl.cli.doctor.command import LANGUAGES
from jitrl.cli.shared.settings import merge
from jitrl.report.ailments.words import ailment, filled

GOOD = "names the order\namount is right\nno other change\ncustomer was told\n"
OTHER = "fast\nfew clicks\npolite words\nshort answer\n"


@pytest.fixture
def ill(tmp_path):
    """A memory in which all fail alike, and half of the episodes have no outcome."""
    path = tmp_path / "here" / "shop.db"
    with package.open(path) as memory:
        for i in range(60):
            with memory.episode(f"order {i % 3}", scope="shop", key=f"e{i}") as episode:
                episode.decide(f"page of order {i % 3}", {"cancel": 0.0, "back": 0.1})
                if i % 2:
                    episode.finish(outcome=0, basis="llm_judge")
    return path


def test_findings_are_told_with_evidence_and_a_remedy_and_end_with_1(jitrl, ill):
    done = jitrl("doctor", ill)
    assert (done.code, done.out) == (1, "")
    said = " ".join(done.err.split())
    assert "Nearly all episodes get the same verdict." in said
    assert "100% of the scores are 0.00" in said
    assert "without an outcome so far: 30 episodes (50%)" in said
    assert "→ Report the missing outcomes by key" in said
    assert "Not enough to tell: gets better (n=3)" in said
    assert "Nothing to go by: harm by kind; choices changed" in said


def test_one_of_a_thing_is_told_in_the_singular(jitrl):
    with package.open("m.db") as memory, memory.episode("t") as episode:
        episode.decide("page", {"a": 0.0, "b": 0.0})
    assert "m.db: 1 episode, 1 decision with a memory\n" in jitrl("doctor", "m.db").err


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_remedy_is_a_command_that_runs_as_it_is_printed_or_a_sentence(jitrl, lang):
    numbers = {"file": "my runs/a.db", "ids": ["0a", "1b"], "rows": [3, 4], "memory": "shop"}
    for name, said in LANGUAGES[lang].checks.items():
        for form in said.ailments:
            some = dict.fromkeys((f for f in fields(said) if f.isidentifier()), 1.0) | numbers
            remedy = ailment(LANGUAGES[lang], name, Finding("finding", 1, some, form))
            assert not re.search(r"\b[A-Z]{4,}\b|[{}\[]\[", remedy.remedy), remedy
            assert remedy.remedy.count("jitrl ") <= 1, remedy
            assert not re.search(r"; or |, or (?!the )|；或|，或", remedy.remedy), remedy
            if "jitrl " in remedy.remedy:
                assert "'my runs/a.db' --memory shop" in remedy.command
                done = jitrl(*shlex.split(remedy.command)[1:])
                assert "my runs/a.db" in done.err, done.err  # all that is wrong is the file
                assert "Usage" not in done.err


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_remedy_that_names_a_setting_has_lines_that_set_it(lang, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    named = []
    for name, said in LANGUAGES[lang].checks.items():
        for form in said.ailments:
            some = dict.fromkeys((f for f in fields(said) if f.isidentifier()), 0.5)
            some |= {"file": "a.db", "memory": "", "ids": [], "rows": []}
            remedy = ailment(LANGUAGES[lang], name, Finding("finding", 1, some, form))
            if "memory." not in remedy.remedy:
                assert not remedy.settings
                continue
            *in_file, option = remedy.settings
            flags = {}
            merge(flags, option.split()[1:], "--set")
            given = config.load(flags)
            assert given != config.load({})
            presets.load("default").changed(given.memory.rule, given.memory.retrieval)
            for line in in_file:
                Path("jitrl.toml").write_text(f"[memory]\n{line}\n")
                assert config.load({}) == given
                Path("jitrl.toml").unlink()
            named.append(f"{name} {form}".strip())
            assert in_file or named[-1] == "width never full"
    assert len(named) == 10, named


def test_settings_stand_below_the_table_to_be_copied(jitrl):
    with package.open("m.db") as memory:
        for i in range(60):
            with memory.episode(f"t{i % 10}") as episode:
                episode.decide(f"page {i % 10}", {"a": 0.0, "b": 0.0})
                episode.finish(outcome=1)
    err = jitrl("doctor", "m.db").err
    lead = LANGUAGES["en"].settings
    assert f"{lead}\n  holdout = 0.1\n  --set memory.holdout=0.1\n" in err


def test_a_memory_without_findings_ends_with_0(jitrl, tmp_path):
    with package.open("m.db") as memory, memory.episode("t") as episode:
        episode.decide("page", {"a": 0.0, "b": 0.0})
        episode.finish(outcome=1)
    done = jitrl("doctor", "m.db")
    assert (done.code, "0 to mend" in done.err) == (0, True)


def test_json_holds_every_check_of_every_place(jitrl, ill):
    done = jitrl("doctor", ill, "--json")
    assert (done.code, done.data["schema"]) == (1, "jitrl.doctor/2")
    [place] = done.data["places"]
    assert [check["check"] for check in place["checks"]] == list(CHECKS)
    by_name = {check["check"]: check for check in place["checks"]}
    spread, curve = by_name["spread"], by_name["curve"]
    assert (spread["status"], spread["n"], spread["evidence"]["share"]) == ("finding", 30, 1.0)
    assert spread["remedy"]
    assert (curve["status"], curve["remedy"]) == ("unknown", None)
    assert curve["says"] == "not enough to tell (n=3)"
    findings = [c for c in place["checks"] if c["status"] == "finding"]
    assert done.data["findings"] == len(findings)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_is_told_fits_80_columns(jitrl, ill, tmp_path, lang):
    (tmp_path / "a.txt").write_text(GOOD)
    (tmp_path / "b.txt").write_text(OTHER)
    lists = ("--fit", tmp_path / "a.txt", tmp_path / "b.txt")
    err = jitrl("doctor", ill, *lists, "--lang", lang).err
    shown = [line for line in err.splitlines() if not line.startswith("  jitrl ")]
    assert max(map(cell_len, shown)) <= 80
    assert LANGUAGES[lang].differ.claim in err


def test_a_run_folder_and_a_folder_of_runs_are_read(jitrl):
    toy = ("--env", "toy", "--env-options", "tasks=8,size=2", "--model", "scripted")
    jitrl("compare", *toy, "--attempts", "6", "--agents", "static,jitrl", "--out", "both")
    done = jitrl("doctor", "both")
    assert "jitrl: 48 episodes" in done.err
    assert "against static" in done.err
    assert jitrl("doctor", "both/jitrl", "both/static").err == done.err


def test_runs_with_rules_are_held_against_those_that_were_told_fewer(jitrl):
    toy = ("--env", "toy", "--env-options", "tasks=8,size=2", "--model", "scripted")
    arms = [f"told{n}=rulebook,run.options.told={n},run.options.attempts=2" for n in (0, 2)]
    given = [part for arm in arms for part in ("--arm", arm)]
    jitrl("compare", *toy, "--attempts", "6", *given, "--out", "both")
    places = {place["place"]: place for place in jitrl("doctor", "both", "--json").data["places"]}
    checks = {check["check"]: check for check in places["told2"]["checks"]}
    assert list(checks["rules-more"]["evidence"]["arms"]) == ["told=0"]
    (first,) = (check for check in places["told0"]["checks"] if check["check"] == "rules-more")
    assert first["status"] == "unknown"
    assert checks["rules-form"]["n"] > 0
    assert "rules are rules" in jitrl("doctor", "both").err


def test_of_rules_nothing_is_said_where_there_are_none(jitrl, ill):
    titles = [LANGUAGES["en"].checks[name].title for name in OF_RULES]
    said = jitrl("doctor", ill).err
    assert not [title for title in titles if title in said]


def test_lists_alone_are_enough_and_decide_how_it_ends(jitrl, tmp_path):
    (tmp_path / "a.txt").write_text(GOOD)
    (tmp_path / "b.txt").write_text(GOOD.upper())
    (tmp_path / "c.txt").write_text(OTHER)
    (tmp_path / "d.txt").write_text("only one\n")

    def fit(one, other):
        return jitrl("doctor", "--fit", tmp_path / one, tmp_path / other, "--json")

    same, low, short = fit("a.txt", "b.txt"), fit("a.txt", "c.txt"), fit("a.txt", "d.txt")
    assert (same.code, same.data["fit"]["status"], same.data["fit"]["share"]) == (0, "fine", 1.0)
    assert (low.code, low.data["fit"]["status"], low.data["findings"]) == (1, "finding", 1)
    assert (short.code, short.data["fit"]["status"]) == (0, "unknown")
    said = jitrl("doctor", "--fit", tmp_path / "a.txt", tmp_path / "d.txt").err
    assert "not enough to tell (n=1)" in said


def test_what_cannot_be_examined_is_refused(jitrl, tmp_path):
    assert (jitrl("doctor").code, "name a PATH" in jitrl("doctor").err) == (2, True)
    assert jitrl("doctor", "nowhere.db").code == 2
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    done = jitrl("doctor", "--fit", tmp_path / "bytes", tmp_path / "bytes")
    assert (done.code, "no text in UTF-8" in done.err) == (2, True)
    done = jitrl("doctor", "--fit", tmp_path / "none", tmp_path / "none")
    assert (done.code, "cannot be used: No such file" in done.err) == (4, True)


def test_settings_that_a_memory_file_was_used_with_can_be_given(jitrl, ill):
    data = jitrl("doctor", ill, "--json", "--set", "memory.retrieval=k=3").data
    assert "memory.retrieval" not in str(data["places"][0]["checks"][0])
    wrong = jitrl("doctor", ill, "--set", "memory.retrieval=kk=3")
    assert (wrong.code, "kk" in wrong.err) == (3, True)


def fields(said):
    """Fields of all templates of a check."""
    kinds = (text for one in said.ailments.values() for text in (one.claim, one.remedy))
    return sorted(
        {name for text in (said.evidence, *kinds) for _, name, _, _ in Formatter().parse(text)}
        - {None}
    )


def test_every_check_has_words_in_every_language_over_the_same_numbers():
    for words in LANGUAGES.values():
        assert list(words.checks) == list(CHECKS)
    for one, other in itertools.combinations(LANGUAGES.values(), 2):
        for name in CHECKS:
            assert list(one.checks[name].ailments) == list(other.checks[name].ailments), name
            assert fields(one.checks[name]) == fields(other.checks[name]), name


def test_a_part_without_its_numbers_is_left_out():
    assert filled("a[[ {x:.1f}]][[, {y}]]", {"x": None, "y": {"b": 2}}) == "a, b 2"
    effect = {"mean": -0.25, "low": -0.5, "high": -0.125}
    assert filled("{w}", {"w": {"bad": effect}}) == "bad -0.25 [-0.50, -0.12]"


def test_the_rows_of_a_harm_are_named_as_a_command_takes_them():
    words = LANGUAGES["en"]
    numbers = {"file": "my runs/seed-0.db", "rows": [3, 4]}
    remedy = ailment(words, "families", found(True, 2, "rows", **numbers)).remedy
    assert "quarantine 'my runs/seed-0.db' --row 3 --row 4 --reason harm" in remedy
    assert ailment(words, "families", found(False, 2)) is None
