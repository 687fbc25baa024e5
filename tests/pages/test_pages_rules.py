"""What the pages say of runs with rules: told or held out, with scores or without them."""

import html
import re
from dataclasses import replace

import pytest
from made_places import RULE

import jitrl
from jitrl.analysis.rulebook import shown
from jitrl.core.sentences import rule_id
from jitrl.service.pages.words import SAID, Words
from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.store_samples import derive, sample_episode, scored
from jitrl.types import Outcome, Rule, RuleUse

pytestmark = pytest.mark.server

LANGUAGES = ("en", "zh")


def main(answer):
    """What is read of a page's content, without its explanations."""
    assert answer.status_code == 200, answer.text
    content = answer.text.split("<main", 1)[1].partition('<details class="glossary">')[0]
    content = re.sub(r"<svg.*?</svg>|<[^>]*>", " ", content, flags=re.DOTALL)
    return " ".join(html.unescape(content).split())


def explained(answer):
    """The words that a page explains, each with what it means."""
    found = answer.text.partition('<details class="glossary">')[2]
    pairs = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", found, flags=re.DOTALL)
    return {html.unescape(word): html.unescape(said) for word, said in pairs}


@pytest.fixture
def decided(book):
    """Decisions of a run without scores: where a rule was told, held out alone, and neither."""
    with SQLiteStore(book / "seed-0.db", readonly=True) as store:
        records = list(store.decisions())
    told = [r for r in records if any(one.told for one in r.decision.notes)]
    held = [r for r in records if r.decision.notes and r not in told]
    return told, held, [r for r in records if not r.decision.notes]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_model_that_was_told_rules_is_not_called_alone(visit, book, decided, lang):
    client, words = visit(book), Words(lang)
    for records, is_told in zip(decided, (True, False, False), strict=True):
        for record in records[-2:]:
            asked = {"id": record.id, "lang": lang}
            said = main(client.get("/p/book/decision", params=asked))
            n = sum(one.told for one in record.decision.notes)
            assert (words("decision.advised", n=n) in said) == is_told
            assert (words("decision.alone") in said) != is_told
            key = "off_told" if n else "off_none" if record.decision.notes else "off"
            assert words(f"decision.{key}", n=n) in said
            is_drawn = record.decision.action != record.decision.unaided
            assert (words("decision.drawn") in said) == is_drawn
    assert all(decided)


def test_a_rule_that_was_told_beside_the_scores_is_named_with_the_model(visit, tmp_path):
    said = "When the mail is open, attach sheet"
    with jitrl.open(tmp_path / "m.db", rules={"attempts": 0, "holdout": 0.01}) as memory:
        memory.store.add_rules([Rule(rule_id(said), said, author="ann", status="active")])
        with memory.episode("send the report", key="e") as episode:
            episode.notes("The mail is open.")
            episode.decide("The mail is open.", {"attach sheet": 1.0, "wait": 0.0})
            episode.finish(True)
    page = main(visit(tmp_path / "m.db").get("/p/m.db/decision?id=e%230"))
    assert "the model, told 1 rule attach sheet" in page
    assert "with its memory attach sheet" in page
    assert "Scores are off" not in page


@pytest.mark.parametrize("lang", LANGUAGES)
def test_without_scores_no_row_was_looked_at_and_no_settings_are_asked_for(
    visit, book, decided, lang
):
    client, words = visit(book), Words(lang)
    for records in decided:
        asked = {"id": records[-1].id, "lang": lang}
        said = main(client.get("/p/book/decision", params=asked))
        assert words("decision.unlooked_off") in said
        assert words("decision.no_neighbors") not in said
        assert "memory.preset=NAME" not in said


def test_of_an_episode_that_acts_without_memory_no_row_was_looked_at(visit, memory):
    with SQLiteStore(memory, readonly=True) as store:
        held = next(r for r in store.decisions() if r.decision.holdout)
    said = main(visit(memory).get("/p/support.db/decision", params={"id": held.id}))
    assert "this episode is held out" in said
    assert "The memory was not asked here, so no row was looked at." in said


def test_another_update_rule_is_named_as_one(visit, tmp_path):
    with jitrl.open(tmp_path / "m.db", preset="paper-web") as memory:
        for key in "ab":
            with memory.episode("t", key=key) as episode:
                episode.decide("a page", {"left": 0.0, "right": 0.1})
                episode.finish(True)
    client = visit(tmp_path / "m.db")
    assert "made under update rule" in main(client.get("/p/m.db/decision?id=b%230"))
    assert "更新规则" in main(client.get("/p/m.db/decision?id=b%230&lang=zh"))


def test_a_list_without_changed_decisions_leads_to_those_with_rules(visit, book, decided):
    client, (told, held, neither) = visit(book), decided
    empty = client.get("/p/book/decisions")
    number = len(told) + len(held) + len(neither)
    assert f"Show all {number}" in main(empty)
    links = re.findall(r'<a href="([^"]*show=[^"]*)"', empty.text)
    assert [link.partition("show=")[2] for link in links] == ["told", "all"]
    listed = client.get(html.unescape(links[0]))
    found = set(re.findall(r'class="key"[^>]*>([^<]*)<', listed.text))
    assert found == {record.id for record in told}
    assert main(listed).count("1 rule told") == len(told)
    assert client.get("/p/book/decisions?show=some").status_code == 400


def test_a_memory_without_rules_is_not_said_to_have_some(visit, tmp_path):
    with jitrl.open(tmp_path / "m.db") as memory, memory.episode("t") as episode:
        episode.decide("a page", {"left": 0.0, "right": 0.1})
        episode.finish(True)
    page = visit(tmp_path / "m.db").get("/p/m.db/decisions")
    assert "Show all 1" in main(page)
    assert "show=told" not in page.text


@pytest.mark.parametrize("lang", LANGUAGES)
def test_later_rounds_of_a_rule_are_evidence_and_its_author_is_told_in_words(visit, book, lang):
    client, words = visit(book), Words(lang)
    with SQLiteStore(book / "seed-0.db", readonly=True) as store:
        rules = {rule: store.rule_history(rule.id) for rule in store.rules()}
    later = 0
    for rule, history in rules.items():
        page = main(client.get("/p/book/rule", params={"id": rule.id, "lang": lang}))
        before = ["", *(change.status for change in history)]
        more = sum(now.status == was for now, was in zip(history, before, strict=False))
        assert page.count(words("rule.more_evidence")) == more
        key = "rule.by_hand" if rule.author == "human" else "rule.by_comparison"
        assert f"{words('rule.author')} {words(key)}" in page
        later += more
    assert later
    assert {rule.author for rule in rules} == {"human", "rules"}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_of_an_effect_that_changed_the_number_of_later_uses_is_said(visit, tmp_path, lang):
    rule = Rule(rule_id(RULE), RULE, "shop")
    with SQLiteStore(tmp_path / "m.db") as store, store.batch():
        store.add_rules([rule], reason="r")
        for n in range(160):
            told, helps = n % 2 == 0, n < 60
            outcome = Outcome(float(told == helps), "test", "outcome", False, "ci")
            lived = replace(sample_episode(f"e{n}"), outcome=outcome)
            use = RuleUse(rule.id, lived.key, told, 0.5, 2, 1)
            store.commit(lived, scored(lived), derive(lived, scored(lived)), [use])
    with SQLiteStore(tmp_path / "m.db", readonly=True) as store:
        seen = shown(store.rule_uses([rule.id])[rule.id], None).effect
    assert 20 < seen.uses < 110
    client, anew = visit(tmp_path / "m.db"), Words(lang)("rules.anew", n=seen.uses)
    for page in ("rules", f"rule?id={rule.id}&"):
        asked = f"/p/m.db/{page}{'' if '?' in page else '?'}lang={lang}"
        assert f"{seen} {anew}" in re.sub(r" ?−1 0 \+1", "", main(client.get(asked)))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_pages_of_rules_explain_the_words_as_they_are_meant_of_rules(visit, book, decided, lang):
    client, column = visit(book), LANGUAGES.index(lang)
    rule = rule_id(RULE)
    episode, decision = decided[0][-1].episode, decided[0][-1].id
    of_rules = "effect bounds disagrees candidate rule_active rule_retired rule_wins rule_obeyed"
    for view, given, names in (
        ("rules", {}, f"{of_rules} rule_told rule_held rule_unknown"),
        ("rule", {"id": rule}, f"{of_rules} rule_told rule_held rule_unknown scope"),
        ("episode", {"key": episode}, "rule_told rule_held rule_obeyed rule_unknown"),
        ("decision", {"id": decision}, "rule_told rule_held rule_obeyed bounds held"),
    ):
        found = explained(client.get(f"/p/book/{view}", params={**given, "lang": lang}))
        for name in names.split():
            word, said = (SAID[f"term.{name}{end}"][column] for end in ("", ".is"))
            assert found[word] == said
        if view.startswith("rule"):
            assert SAID["term.retired.is"][column] not in found.values()
