"""Rules made again of the stored contrasts: what is left out, and what others wrote meanwhile."""

import json

import pytest
from pasts import episode, put
from test_written import Scribe

from jitrl.agents.rulebook.credit import by_contrast
from jitrl.agents.rulebook.distilling import Distiller
from jitrl.agents.rulebook.learning import Learning
from jitrl.agents.rulebook.redistil import redistil
from jitrl.agents.rulebook.settling import enter
from jitrl.core.credit import derive_rows
from jitrl.core.sentences import rule_id
from jitrl.purging import purged
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Contrast, Outcome, Rule, Scored, Task, Unscored

RULE = "When you see the attic, take lamp"
OTHER = "When you see the attic, take ladder"


def contrast(id="c1", **more):
    said = {"good": ("g",), "bad": ("b",), "scores": (1.0, 0.0), "goal": "Win.", **more}
    return Contrast(id, "s", said.pop("task", "t"), round=1, **said)


@pytest.fixture
def path(tmp_path):
    """A memory with a good and a bad attempt, and the contrast of the two."""
    path = tmp_path / "memory.db"
    with SQLiteStore(path) as store:
        put(
            store,
            episode("g", "hall:open door", "attic:take lamp"),
            episode("b", "hall:open door", "attic:sing", rewards=[0.0, 0.0]),
        )
        store.add_rules([], [contrast()], reason="no rule was found")
    return path


@pytest.fixture
def store(path):
    with SQLiteStore(path) as opened:
        yield opened


def again(store, writer=None, named=(), **how):
    distiller = Distiller(store, writer, 2, named=named)
    return list(redistil(distiller, store.contrasts(), **how))


def writer(*texts, meanwhile=lambda: None):
    """A model that writes these rules, while something else happens."""

    class Slow(Scribe):
        def write(self, writing, read):
            meanwhile()
            return super().write(writing, read)

    return Slow(json.dumps({"rules": list(texts)}))


def fates(done):
    return {found.fate for one in done for found in one.found}


def test_a_contrast_that_gave_no_rule_gives_some_now_and_a_second_time_nothing(store):
    assert fates(again(store)) == {"new"}
    assert all("take lamp" in rule.text for rule in store.rules())
    assert {(rule.status, rule.evidence, rule.author) for rule in store.rules()} == {
        ("candidate", ("c1",), "rules")
    }
    head = store.head()
    assert (fates(again(store)), store.head()) == ({"known"}, head)


def test_a_dry_run_writes_nothing(store):
    head = store.head()
    assert fates(again(store, writes=False)) == {"new"}
    assert (store.head(), store.rules()) == (head, ())


def test_a_rule_that_is_there_gains_the_evidence_and_nothing_else(store):
    store.add_rules([Rule(rule_id(RULE), RULE, "s", entry=0.25, author="human")])
    store.set_rule_status("retired", [rule_id(RULE)], reason="no effect", principal="ann")
    ((found,),) = (one.found for one in again(store, writer(RULE)))
    (rule,) = store.rules()
    assert found.fate == "evidence"
    assert (rule.status, rule.reason, rule.author) == ("retired", "no effect", "human")
    assert (rule.entry, rule.evidence) == (0.25, ("c1",))


def test_a_contrast_with_an_episode_in_quarantine_is_left_out_and_named(store):
    store.set_status("quarantined", episodes=["b"])
    (one,) = again(store)
    assert one.left_out == "in quarantine, or without a score: b"
    assert store.rules() == ()
    store.set_status("active", episodes=["b"])
    assert again(store)[0].found


def test_a_contrast_whose_scores_were_corrected_to_the_contrary_is_left_out(store):
    for key, rewards in (("g", (0.0, 0.0)), ("b", (0.0, 1.0))):
        lived = store.episode(key)
        judgment = Scored(rewards, "environment")
        rows = derive_rows(lived, judgment, gamma=0.5)
        store.rederive(key, Outcome(sum(rewards)), judgment, rows)
    (one,) = again(store)
    assert one.left_out.startswith("its scores were corrected")
    store.rederive("g", None, Unscored("withdrawn"), ())
    assert again(store)[0].left_out == "in quarantine, or without a score: g"
    assert store.rules() == ()


def test_what_came_in_under_a_name_is_taken_only_if_it_is_named(store):
    store.add_rules([], [contrast("c2")], reason="import", principal="carl")
    own, other = again(store)
    assert (own.left_out, other.left_out) == ("", "it came in under the name 'carl'")
    assert store.rules()[0].evidence == ("c1",)
    assert [one.left_out for one in again(store, named=["carl"])] == ["", ""]
    assert set(store.rules()[0].evidence) == {"c1", "c2"}


TAKE, LEAVE = "When you see the attic, take lamp", "When you see the attic, do not take lamp"
BOTH = "When you see the attic: if “attic” is named, take lamp; otherwise do not take lamp"


def disputed(path):
    """An active rule of tasks that name the attic; of two others a model says the opposite."""
    with SQLiteStore(path) as store:
        put(
            store,
            episode("g2", "hall:open door", "attic:take lamp", task="t2"),
            episode("b2", "hall:open door", "attic:sing", task="t2", rewards=[0.0, 0.0]),
        )
        other = {"task": "t2", "good": ("g2",), "bad": ("b2",)}
        taught = [contrast("c1", goal="Win."), contrast("c2", goal="Lose.", **other)]
        named = [
            contrast("c3", goal="Clear the attic."),
            contrast("c4", goal="Paint the attic.", **other),
        ]
        store.add_rules([], [*taught, *named])
        store.add_rules(
            [Rule(rule_id(TAKE), TAKE, "s", "", evidence=("c3", "c4"), status="active")]
        )
        list(redistil(Distiller(store, writer(LEAVE), 2), taught[:1]))
        assert store.rule(rule_id(TAKE)).status == "candidate"  # of one task nothing is learned
        list(redistil(Distiller(store, writer(LEAVE), 2), taught[1:]))
        return {rule.text: rule for rule in store.rules()}


def test_two_rules_that_disagree_become_one_that_tells_their_tasks_apart(path):
    found = disputed(path)
    assert {text: rule.status for text, rule in found.items()} == {
        TAKE: "retired",
        LEAVE: "retired",
        BOTH: "candidate",
    }
    assert found[BOTH].parents == (rule_id(TAKE), rule_id(LEAVE))
    assert found[TAKE].reason == f"settled in {rule_id(BOTH)}"


@pytest.mark.parametrize("status", ["retired", "quarantined"])
def test_rules_that_disagree_stay_where_what_settles_them_is_told_nobody(path, status):
    with SQLiteStore(path) as store:
        store.add_rules([Rule(rule_id(BOTH), BOTH, "s", status=status)])
    found = disputed(path)
    assert {text: rule.status for text, rule in found.items()} == {
        BOTH: status,
        TAKE: "candidate",
        LEAVE: "candidate",
    }
    assert found[TAKE].reason.startswith(f"disagrees with {rule_id(LEAVE)}")


def test_a_rule_that_gains_a_task_is_settled_and_one_that_gains_nothing_is_let_be(path):
    found = disputed(path)
    with SQLiteStore(path) as store:
        store.set_rule_status("candidate", [found[TAKE].id, found[LEAVE].id])
        store.set_rule_status("active", [found[TAKE].id])
        store.set_rule_status("retired", [found[BOTH].id])
        head = store.head()
        list(redistil(Distiller(store, writer(LEAVE), 2), store.contrasts(ids=["c1"])))
        assert store.head() == head


def test_rules_of_two_types_of_task_are_not_made_one(path):
    with SQLiteStore(path) as store:
        both = ("c3", "c4")
        store.add_rules([], [contrast(id, goal="Clear the attic.", task=id) for id in both])
        store.add_rules([Rule(rule_id(TAKE), TAKE, "s", "x", evidence=both)])
        other = [contrast(id, task=id) for id in ("c5", "c6")]
        enter(store, Rule(rule_id(LEAVE), LEAVE, "s", evidence=("c5", "c6")), other, reason="new")
        assert {rule.text: rule.status for rule in store.rules()} == {
            TAKE: "candidate",
            LEAVE: "candidate",
        }


def test_rules_by_comparison_that_disagree_are_candidates_and_never_made_one(store):
    texts = [f"When you see the attic, take {what}" for what in ("lamp", "rope")]
    for n, text in enumerate(texts):
        taught = [contrast(f"{n}{m}", task=f"t{n}{m}", goal=f"Case {n}") for m in "ab"]
        store.add_rules([], taught)
        rule = Rule(rule_id(text), text, "s", status="active", evidence=(f"{n}a", f"{n}b"))
        enter(store, rule, reason="new")
    assert {rule.text: rule.status for rule in store.rules()} == dict.fromkeys(texts, "candidate")


@pytest.mark.parametrize(
    ("credit", "tells"), [(by_contrast, False), (lambda compared: by_contrast(compared), True)]
)
def test_a_model_is_told_steps_unless_a_comparison_found_them(store, credit, tells):
    scribe = writer(RULE)
    distiller = Distiller(store, scribe, 2, credit=credit)
    list(redistil(distiller, store.contrasts()))
    assert ("made the difference was what" in scribe.asked[0].text) is tells


def test_a_rule_of_a_named_contrast_has_its_principal(store):
    with SQLiteStore(":memory:") as fresh:
        put(
            fresh,
            episode("g", "attic:take lamp"),
            episode("b", "attic:sing", rewards=[0.0]),
        )
        fresh.add_rules([], [contrast()], principal="carl")
        again(fresh, named=["carl"])
        assert fresh.rules()[0].principal == "carl"


# --- a second writer, while a model takes its time (C3) ---------------------------------------


def test_what_another_writer_did_with_the_same_rule_meanwhile_stays(path, store):
    def meanwhile():
        with SQLiteStore(path) as second:
            rule = Rule(rule_id(RULE), RULE, "s", entry=0.5, author="human")
            second.add_rules([rule], reason="by hand", principal="ann")
            second.set_rule_status("active", [rule.id], reason="helps")

    ((found,),) = (one.found for one in again(store, writer(RULE, meanwhile=meanwhile)))
    (rule,) = store.rules()
    assert found.fate == "evidence"
    assert (rule.status, rule.reason, rule.author, rule.principal) == (
        *("active", "helps"),
        *("human", "ann"),
    )
    assert rule.evidence == ("c1",)
    assert [change.status for change in store.rule_history(rule.id)] == [
        *("candidate", "active", "active")
    ]


def test_a_rule_that_was_retired_meanwhile_is_not_brought_back_by_a_conflict(path, store):
    store.add_rules([Rule(rule_id(OTHER), OTHER, "s", author="human")])
    store.set_rule_status("active", [rule_id(OTHER)])

    def meanwhile():
        with SQLiteStore(path) as second:
            second.set_rule_status("retired", [rule_id(OTHER)], reason="wrong", principal="ann")

    again(store, writer(RULE, meanwhile=meanwhile))
    assert (store.rule(rule_id(OTHER)).status, store.rule(rule_id(OTHER)).reason) == (
        *("retired", "wrong"),
    )
    assert store.rule(rule_id(RULE)).status == "candidate"


def test_a_conflict_with_a_rule_that_came_meanwhile_is_seen(path, store):
    def meanwhile():
        with SQLiteStore(path) as second:
            second.add_rules([Rule(rule_id(OTHER), OTHER, "s", status="active", author="human")])

    again(store, writer(RULE, meanwhile=meanwhile))
    assert store.rule(rule_id(OTHER)).status == "candidate"
    assert f"disagrees with {rule_id(RULE)}" in store.rule(rule_id(OTHER)).reason


def test_an_episode_that_was_quarantined_meanwhile_teaches_nothing(path, store):
    def meanwhile():
        with SQLiteStore(path) as second:
            second.set_status("quarantined", episodes=["g"], reason="planted")

    (one,) = again(store, writer(RULE, meanwhile=meanwhile))
    assert one.left_out == "in quarantine, or without a score: g"
    assert store.rules() == ()


@pytest.mark.parametrize("way", ["purged", "quarantined"])
def test_a_round_of_which_an_attempt_went_while_it_was_distilled_teaches_nothing(path, store, way):
    def gone():
        with SQLiteStore(path) as other:
            if way == "purged":
                purged(other, ["episode=bad"])
            else:
                other.set_status("quarantined", episodes=["bad"])

    put(
        store,
        episode("good", "hall:open door", "attic:take lamp", task="new"),
        episode("bad", "hall:open door", "attic:sing", task="new", rewards=[0.0, 0.0]),
    )
    distiller = Distiller(store, writer(RULE, meanwhile=gone), 2)
    learning = Learning(store, distiller, None, 2, gap=0.25, threshold=0.75)
    learning.after(Task("new", "Win.", "s"), [])
    assert not store.contrasts(task="new")
    assert not store.rules()
