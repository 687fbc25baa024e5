"""Pages explain the terms that they use, and say in sentences what spoke for a choice."""

import html
import re
from contextlib import closing

import pytest
from made_places import PLACES

import jitrl
from jitrl.analysis.explain import carrying, causes, unaided
from jitrl.service.pages.words import SAID
from jitrl.service.pages.words.terms import OF
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Scored

pytestmark = pytest.mark.server

USED = {
    "nat": r"\bnats?\b|奈特",
    "told": r"\btold the outcome|已知结果",
    "blind": r"\bblind\b|不知结果",
    "held": r"\bheld(?: |-)out|留出",
    "changed": r"changed by the memory|被记忆改变",
    "basis": r"\bbasis\b|依据",
    "scope": r"\bscopes?\b|作用域",
    "source": r"\bsource\b|来源",
    "gamma": r"γ",
    "kappa": r"κ",
    "visits": r"\bvisits\b",
    "advantage": r"\badvantage\b|优势",
    "logit": r"\blogit\b",
    "value": r"\bV\b",
    "quarantined": r"\bquarantine|隔离",
    "retired": r"\bretired\b|撤下|停用",
    "band": r"\bbands?\b|色带",
    "threshold": r"\bthreshold\b|阈值",
    "scorer": r"\bscorers\b|打分器",
    "neighbor": r"\bneighbors?\b|邻居",
}
"""Term to how it looks where it is used."""
EITHER = {"told": "rule_told", "held": "rule_held", "retired": "rule_retired"}

EXPLAINED = [place for place in PLACES if place not in ("home", "problem")]


def read(page):
    """What is read of the content without the explanations, and the explanations."""
    main = page.split("<main", 1)[1].split("</main>", 1)[0]
    main = re.sub(r"<(svg|select|details class=\"seen\").*?</\1>", " ", main, flags=re.DOTALL)
    body, _, explained = main.partition('<details class="glossary">')
    body = re.sub(r"<details>.*?</details>", " ", body, flags=re.DOTALL)  # the record, commands
    return (html.unescape(re.sub(r"<[^>]*>", " ", part)) for part in (body, explained))


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("place", EXPLAINED)
def test_terms_on_a_page_are_explained_on_that_page(visit, memory, runs, book, place, lang):
    client = visit(memory, runs, book)
    path = f"{PLACES[place]}{'&' if '?' in PLACES[place] else '?'}lang={lang}"
    for _ in range(200):
        page = client.get(path)
        assert page.status_code == 200
        if 'class="wait"' not in page.text:
            break
    body, explained = read(page.text)
    column = ("en", "zh").index(lang)
    for term, looks in USED.items():
        if found := re.search(looks, body):
            names = {term, EITHER.get(term, term)}
            said = [SAID[f"term.{name}.is"][column] for name in names]
            assert any(one in explained for one in said), (term, body[found.start() - 40 :][:90])


def test_views_that_explain_terms_are_there_and_so_are_the_terms():
    from jitrl.service.pages.router import POSTED, VIEWS

    assert set(OF) <= set(VIEWS) | set(POSTED)
    names = {name for used in OF.values() for name in used}
    assert {f"term.{name}" for name in names} <= set(SAID)
    assert names == {key.split(".")[1] for key in SAID if key.startswith("term.")}


def plain(answer):
    assert answer.status_code == 200
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", answer.text)).split())


def test_a_decision_says_how_the_episodes_ended_that_spoke_for_the_choice(visit, memory):
    client, sentences = visit(memory), 0
    with jitrl.open(memory) as opened, closing(SQLiteStore(memory, readonly=True)) as store:
        rule = opened.agent.preset.rule
        for record in [r for r in store.decisions() if r.decision.neighbors][-12:]:
            decision = record.decision
            found = causes(opened.explain(record.id, most=0), rule)
            said = plain(client.get("/p/support.db/decision", params={"id": record.id}))
            for action in {decision.action, unaided(decision).action}:
                own = [c for c in found[: carrying(found)] if c.action == action and c.rows]
                keys = {key for c in own for key in c.episodes}
                judged = [store.record(key).judgment for key in keys]
                won = [sum(j.rewards) > 0 for j in judged if isinstance(j, Scored)]
                if won:
                    sentences += 1
                    assert re.search(
                        rf"\b{sum(won)} of (the )?{len(won)} (newest )?earlier episodes? that took "
                        rf"{re.escape(action)} in states like this one succeeded",
                        said,
                    )
                else:
                    assert f"No earlier episode took {action} in a state like this one" in said
    assert sentences >= 6


def test_neighbors_of_no_account_are_folded_with_their_count(visit, memory):
    client, folded = visit(memory), 0
    with jitrl.open(memory) as opened, closing(SQLiteStore(memory, readonly=True)) as store:
        for record in [r for r in store.decisions() if len(r.decision.neighbors) > 3][-8:]:
            found = causes(opened.explain(record.id, most=0), opened.agent.preset.rule)
            shown = carrying(found)
            page = client.get("/p/support.db/decision", params={"id": record.id}).text
            before, _, after = page.partition('<details class="folded">')
            assert before.count('<div class="meters">') == shown
            assert after.count('<div class="meters">') == len(found) - shown
            if len(found) > shown:
                folded += 1
                assert f"{len(found) - shown} more neighbor" in after
                assert sum(c.weight for c in found[shown:]) < 0.01
    assert folded >= 2


def test_rows_of_untrusted_bases_have_no_share_in_the_value_of_a_state(memory):
    with jitrl.open(memory) as opened, closing(SQLiteStore(memory, readonly=True)) as store:
        rule, both = opened.agent.preset.rule, 0
        for record in store.decisions():
            near = record.decision.neighbors
            if not near or all(n.trusted for n in near) or not any(n.trusted for n in near):
                continue
            found = causes(opened.explain(record.id, most=0), rule)
            assert sum(c.weight for c in found) == pytest.approx(1.0)
            assert {c.weight for c in found if not c.trusted} == {0.0}
            both += 1
    assert both
