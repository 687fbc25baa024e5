"""`jitrl run --book` says what it begins with once it begins, and not where it is refused."""

from jitrl.core.sentences import rule_id
from jitrl.stores import jsonl_rules
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Rule

RUN = (
    *("run", "--agent", "rulebook", "--env", "toy", "--env-options", "size=2,tasks=2"),
    *("--model", "scripted", "--attempts", "2", "--book", "rules.jsonl"),
)
SAID = "rulebook begins with 1 rule of rules.jsonl as a candidate"


def exported(scope):
    text = "When you see protocol0 stage0, take push1"
    with SQLiteStore(":memory:") as store:
        store.add_rules([Rule(rule_id(text), text, scope)])
        lines = list(jsonl_rules.export(store))
    with open("rules.jsonl", "wb") as out:
        out.writelines(lines)


def test_what_a_run_begins_with_is_said_when_it_begins_and_not_when_it_goes_on(jitrl):
    exported("toy")
    first = jitrl(*RUN, "--out", "r")
    assert (first.code, SAID in first.err) == (0, True)
    assert SAID not in jitrl(*RUN, "--out", "r").err


def test_a_run_that_is_refused_does_not_say_that_it_begins(jitrl):
    exported("elsewhere")
    done = jitrl(*RUN, "--out", "r")
    assert (done.code, "so none would be told" in done.err) == (3, True)
    assert "begins with" not in done.err
