"""Rows, episodes and decisions a page at a time, by filter, and all of them in the end."""

from contextlib import closing

import pytest

import jitrl
from jitrl.stores.paging import Paging, Wanted
from jitrl.stores.sqlite import SQLiteStore


@pytest.fixture
def file(tmp_path):
    """Two memories in one file; twelve episodes of two steps in the first."""
    path = tmp_path / "m.db"
    for name, episodes in (("default", 12), ("other", 2)):
        with jitrl.open(path, memory=name) as memory:
            for n in range(episodes):
                with memory.episode(f"t:{n % 3}", scope=f"s{n % 2}", key=f"e{n}") as episode:
                    for step in range(2):
                        episode.decide(f"page {n} 100%_{step}", {f"go({n})": 1.0, "stay()": 0.0})
                    basis = "human" if n % 4 else "user_feedback"
                    if n != 5:
                        episode.finish(n % 2 == 0, basis=basis, principal=f"p{n % 2}")
            if name == "default":
                memory.quarantine(episodes=["e3"], reason="forged", principal="ann")
                memory.outcome("e0", False, basis="human")
    return path


@pytest.fixture
def paging(file):
    with closing(SQLiteStore(file, readonly=True)) as store:
        yield Paging(store)


def everything(page_of):
    """All items, by following the pages."""
    found, before, pages = [], 0, 0
    while True:
        page = page_of(before)
        found += page.items
        before, pages = page.onward, pages + 1
        if not before:
            return found, pages


def test_pages_of_rows_are_all_rows_the_newest_first(file, paging):
    found, pages = everything(lambda before: paging.rows(Wanted(), before=before, limit=5))
    with closing(SQLiteStore(file, readonly=True)) as store:
        known = [row for n in range(12) for row in store.rows(f"e{n}")]
    assert found == sorted(known, key=lambda row: -row.id)
    assert pages == -(-len(known) // 5)


@pytest.mark.parametrize(
    ("wanted", "keeps"),
    [
        (Wanted(status="quarantined"), lambda row: row.status == "quarantined"),
        (Wanted(status="retired"), lambda row: row.status == "retired"),
        (Wanted(basis="user_feedback"), lambda row: row.basis == "user_feedback"),
        (Wanted(scope="s1"), lambda row: row.scope == "s1"),
        (Wanted(task="t:1"), lambda row: row.task == "t:1"),
        (Wanted(task=":1"), lambda row: False),
        (Wanted(episode="e4"), lambda row: row.episode == "e4"),
        (Wanted(source="principal:p0"), lambda row: row.source == "principal:p0"),
        (Wanted(evaluator="environment"), lambda row: row.evaluator == "environment"),
        (Wanted(text="GO(1"), lambda row: "go(1" in row.action),
        (Wanted(text="100%_1"), lambda row: "100%_1" in row.state.text),
        (Wanted(text="100__1"), lambda row: False),
        (Wanted(ids=(2, 3, 999)), lambda row: row.id in (2, 3)),
        (Wanted(scope="s0", basis="human"), lambda r: r.scope == "s0" and r.basis == "human"),
    ],
)
def test_a_filter_keeps_what_it_names_and_nothing_else(paging, wanted, keeps):
    rows = paging.rows(Wanted(), limit=1000).items
    expected = [row for row in rows if keeps(row)]
    assert list(paging.rows(wanted, limit=1000).items) == expected
    assert sum(paging.counts(wanted).values()) == len(expected)
    assert paging.ids(wanted) == tuple(sorted(row.id for row in expected))


def test_episodes_have_their_score_rows_and_reasons(file, paging):
    found, _ = everything(lambda before: paging.episodes(before=before, limit=5))
    assert [one.key for one in found] == [f"e{n}" for n in range(11, -1, -1)]
    by_key = {one.key: one for one in found}
    assert by_key["e0"].rows == {"active": 2, "quarantined": 0, "retired": 2}
    assert by_key["e3"].rows["quarantined"] == 2
    assert by_key["e3"].is_quarantined
    assert (by_key["e2"].score, by_key["e0"].score) == (1.0, 0.0)
    assert by_key["e5"].score is None
    assert by_key["e5"].unscored
    assert {e.key for e in paging.episodes(task="t:1", scope="s1").items} == {"e1", "e7"}


def test_pages_of_decisions_are_all_decisions_the_newest_first(file, paging):
    found, pages = everything(lambda before: paging.decisions(before=before, episodes=5))
    with closing(SQLiteStore(file, readonly=True)) as store:
        known = {record.id for record in store.decisions()}
    assert [record.id for record in found[:3]] == ["e11#1", "e11#0", "e10#1"]
    assert {record.id for record in found} == known
    assert pages == 3
    size = paging.size()
    assert (size.episodes, size.decisions, size.held) == (12, len(known), 0)


def test_a_row_keeps_its_history(paging):
    row = paging.rows(Wanted(episode="e3"), limit=1).items[0]
    history = paging.history(row.id)
    assert [change.kind for change in history] == ["append", "quarantine"]
    assert (history[1].reason, history[1].principal) == ("forged", "ann")


def test_columns_tell_which_values_there_are(paging):
    assert paging.values("scope") == ("s0", "s1")
    assert paging.values("task", limit=2) == ("t:0", "t:1")
    assert set(paging.values("basis")) == {"human", "user_feedback"}
