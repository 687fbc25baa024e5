from contextlib import suppress

import pytest
from pasts import episode, past, put

from jitrl.agents.past import Journal
from jitrl.core.credit import derive_rows
from jitrl.core.sentences import rule_id
from jitrl.errors import InputError
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Outcome, Rule, Scored, Unscored


@pytest.fixture
def store():
    with SQLiteStore(":memory:") as opened:
        yield opened


def keys(found):
    return [one.key for one in found.episodes]


def test_episodes_come_back_in_their_order_with_goal_and_score(store):
    put(store, episode("a", "hall:go", "yard:dig", goal="Find it."), episode("b", "hall:stay"))
    found = Journal(store).past("s")
    assert keys(found) == ["a", "b"]
    assert (found.episodes[0].goal, found.episodes[0].score) == ("Find it.", 1.0)
    assert found.version == store.head()


def test_other_scopes_are_not_seen(store):
    put(store, episode("a", "hall:go", scope="s"), episode("b", "hall:go", scope="other"))
    assert keys(Journal(store).past("s")) == ["a"]


def test_excluded_tasks_are_left_out_and_their_rows_counted(store):
    put(store, episode("a", "hall:go", "yard:dig", task="x"), episode("b", "hall:go", task="y"))
    found = Journal(store).past("s", exclude=frozenset({"x"}))
    assert (keys(found), found.excluded) == (["b"], 2)


def test_what_was_committed_later_is_not_seen_even_by_a_journal_that_has_seen_it(store):
    put(store, episode("a", "hall:go"))
    then, journal = store.head(), Journal(store)
    put(store, episode("b", "hall:go"))
    assert keys(journal.past("s")) == ["a", "b"]
    assert keys(journal.past("s", until=then)) == ["a"]
    assert keys(journal.past("s")) == ["a", "b"]


def test_an_unscored_episode_is_not_among_them_until_its_outcome_comes(store):
    journal, late = Journal(store), episode("a", "hall:go", rewards=[None])
    store.commit(late, Unscored("no outcome yet"), ())
    put(store, episode("b", "hall:go"))
    assert keys(journal.past("s")) == ["b"]
    judged = Scored((1.0,), "outcome")
    store.rederive("a", Outcome(1.0), judged, derive_rows(late, judged, gamma=0.5))
    assert keys(journal.past("s")) == ["a", "b"]


def test_a_corrected_outcome_replaces_the_score(store):
    journal, one = Journal(store), episode("a", "hall:go")
    put(store, one)
    assert journal.past("s").episodes[0].score == 1.0
    judged = Scored((-2.0,), "outcome")
    store.rederive("a", Outcome(-2.0), judged, derive_rows(one, judged, gamma=0.5))
    assert [e.score for e in journal.past("s").episodes] == [-2.0]


def test_an_episode_with_a_quarantined_row_is_left_out_until_it_is_restored(store):
    put(store, episode("a", "hall:go", "yard:dig"), episode("b", "hall:go"))
    journal = Journal(store)
    row = journal.past("s").episodes[0].rows[0].id
    store.set_status("quarantined", rows=[row])
    assert keys(journal.past("s")) == ["b"]
    store.set_status("active", rows=[row])
    assert keys(journal.past("s")) == ["a", "b"]


def test_what_was_read_in_a_batch_that_failed_is_read_anew(store):
    put(store, episode("a", "hall:go"))
    journal, text = Journal(store), "When you see a hall, go on"
    with suppress(InputError), store.batch():
        store.add_rules([Rule(rule_id(text), text, "s", author="a")])
        assert keys(journal.past("s")) == ["a"]
        raise InputError("taken back")
    put(store, episode("b", "hall:go"))  # under the number of the version that is no more
    assert keys(journal.past("s")) == ["a", "b"]


def test_the_direct_way_has_no_loops():
    one = past("a", "hall:in", "room:out", "hall:wait", "hall:up", "attic:take")
    assert [row.action for row in one.direct] == ["up", "take"]


def test_an_episode_that_was_cut_off_did_not_end():
    assert past("a", "hall:go").ended
    assert not past("a", "hall:go", ended=False).ended
