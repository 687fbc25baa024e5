"""Rules in sentences for an agent of one's own: told by a draw, logged, and learned of it."""

import random
from dataclasses import replace

import pytest

import jitrl
from jitrl.core.sentences import rule_id
from jitrl.errors import ConfigError, InputError, ModelError
from jitrl.purging import purged
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Rule

TOOLS = ["attach page", "attach sheet", "attach text"]
GOAL = "Send the report to Ann"
HERE = "The mail is open."
RIGHT = f"When the goal is “{GOAL}” and you see The mail is open, take attach sheet"
WRITTEN = "When the mail is open, attach sheet"
ALONE = {"scores": False, "attempts": 4}


def opened(path=":memory:", rules=True, **settings):
    return jitrl.open(path, rules=rules, **settings)


def model(notes, chance):
    told = [tool for tool in TOOLS if tool in notes]
    wanted = chance.choice(told or TOOLS)
    return {tool: float(tool == wanted) for tool in TOOLS}


def live(memory, number, *, seed=0, key=None, hears=True, outcome=True):
    """Episodes at one task; how many were right, and what each was told."""
    chance, solved, said = random.Random(seed), 0, []
    for n in range(number):
        with memory.episode(GOAL, scope="mail", key=key and f"{key}{n}") as episode:
            notes = episode.notes(HERE, TOOLS)
            tool = episode.decide(HERE, model(notes if hears else "", chance)).action
            episode.finish(outcome=tool == "attach sheet" if outcome else None)
        solved, said = solved + (tool == "attach sheet"), [*said, notes]
    return solved, said


def plant(memory, text=WRITTEN, *, scope="mail", author="ann", status="active", **more):
    rule = Rule(rule_id(text), text, scope, status=status, author=author, **more)
    memory.store.add_rules([rule])
    return rule.id


def uses(memory, rule):
    return [one.use for one in memory.store.rule_uses([rule])[rule]]


def test_a_step_taken_as_decided_keeps_its_rules_where_notes_were_asked_for_again():
    with opened(rules={"attempts": 0, "holdout": 0.01}) as memory:
        rule = plant(memory)
        with memory.episode(GOAL, scope="mail", key="k") as episode:
            episode.notes(HERE, TOOLS)
            action = episode.decide(HERE, dict.fromkeys(TOOLS, 0.0)).action
            episode.notes(HERE, TOOLS)
            episode.took(action)
            episode.finish(outcome=True)
        (step,) = memory.store.episode("k").steps
        assert [spoke.rule for spoke in step.decision.notes] == [rule]
        assert [use.occasions for use in uses(memory, rule)] == [1]


def test_rules_alone_make_a_model_that_heeds_them_better():
    with opened(rules=ALONE) as memory:
        live(memory, 16)
        assert [rule.text for rule in memory.store.rules()] == [RIGHT]
        heard, said = live(memory, 30, seed=1)
        deaf, _ = live(memory, 30, seed=1, hears=False)
    assert heard >= 20 > 15 >= deaf
    assert any(text.endswith(f"- {RIGHT}.") for text in said)


def test_scores_alone_have_no_notes_and_say_how_to_get_them():
    with jitrl.open(":memory:") as memory, memory.episode(GOAL) as episode:
        with pytest.raises(ConfigError, match="rules=True"):
            episode.notes(HERE)
        episode.finish()


def choices(memory):
    """Decisions of a model that hears nothing."""
    out = []
    for n in range(24):
        with memory.episode(GOAL, key=f"e{n}") as episode:
            if memory.book:
                episode.notes(HERE, TOOLS)
            decision = episode.decide(HERE, dict.fromkeys(TOOLS, 0.0))
            out.append([(c.action, c.corrected) for c in decision.candidates] + [decision.action])
            episode.finish(outcome=decision.action == "attach sheet")
    return out


def test_scores_beside_rules_are_those_without_rules():
    settings = {"rule": {"choose": "sample"}}
    with opened(**settings) as both, jitrl.open(":memory:", **settings) as alone:
        with_rules = choices(both)
        assert with_rules == choices(alone)
        assert both.store.rules()
    with opened(rules={"scores": False}, **settings) as without:
        assert choices(without) != with_rules


def test_what_is_told_is_drawn_and_logged_with_its_chance():
    with opened(rules={"holdout": 0.5}) as memory:
        rule = plant(memory)
        _, said = live(memory, 60, key="e")
        logged = uses(memory, rule)
    assert [use.told for use in logged] == [WRITTEN in text for text in said]
    assert 15 <= sum(use.told for use in logged) <= 50
    assert logged[0].chance == 0.5
    assert all(use.occasions == 1 for use in logged)


def test_an_episode_that_asked_for_no_notes_logs_none():
    with opened() as memory:
        rule = plant(memory)
        with memory.episode(GOAL, scope="mail") as episode:
            episode.decide(HERE, dict.fromkeys(TOOLS, 0.0))
            episode.finish(outcome=True)
        assert uses(memory, rule) == []


def test_a_rule_after_which_nothing_was_done_was_not_told():
    with opened(rules={"holdout": 0.5}) as memory:
        rule = plant(memory)
        for key in range(20):  # some are told it, and it is held out of others
            with memory.episode(GOAL, scope="mail", key=f"k{key}") as episode:
                episode.decide("The list is shown.", {"open mail": 0.0})
                episode.notes(HERE, TOOLS)  # and the model failed
                episode.finish(outcome=True)
        assert uses(memory, rule) == []
        assert memory.store.rule(rule).status == "active"


def test_a_rule_that_was_asked_for_again_after_a_failure_is_told_by_the_same_draw():
    with opened(rules={"holdout": 0.5}) as memory:
        rule = plant(memory)
        for key in range(20):
            with memory.episode(GOAL, scope="mail", key=f"k{key}") as episode:
                first = episode.notes(HERE, TOOLS)  # and the model failed
                assert episode.notes(HERE, TOOLS) == first
                episode.decide(HERE, dict.fromkeys(TOOLS, 0.0))
                episode.finish(outcome=True)
        assert [use.occasions for use in uses(memory, rule)] == [1] * 20


def test_only_steps_at_which_notes_were_asked_for_are_occasions():
    with opened() as memory:
        rule = plant(memory)
        with memory.episode(GOAL, scope="mail") as episode:
            episode.notes(HERE, TOOLS)
            episode.decide(HERE, {"attach sheet": 0.0})
            episode.decide(HERE, {"attach page": 0.0})
            episode.finish(outcome=True)
        (use,) = uses(memory, rule)
    assert (use.occasions, use.obeyed) == (1, 1)


@pytest.mark.parametrize("is_ahead", [False, True], ids=["at once", "after the next notes"])
@pytest.mark.parametrize("is_last", [False, True], ids=["on the way", "at the end"])
@pytest.mark.parametrize("scores", [True, False], ids=["scores", "rules alone"])
def test_a_rule_is_obeyed_by_what_was_done_in_place_of_a_decision(is_ahead, is_last, scores):
    with opened(rules={"scores": scores}) as memory:
        rule = plant(memory)
        for done in ("attach sheet", "attach page"):
            with memory.episode(GOAL, scope="mail", key=done) as episode:
                episode.notes(HERE)
                episode.decide(HERE, dict.fromkeys(TOOLS, 0.0))
                if is_ahead:
                    episode.notes("The list is shown.")
                episode.took(done)
                if not is_last:
                    episode.decide("The list is shown.", {"close": 0.0})
                episode.finish(outcome=True)
        assert [(use.occasions, use.obeyed) for use in uses(memory, rule)] == [(1, 1), (1, 0)]
        for done in ("attach sheet", "attach page"):
            first = memory.store.episode(done).steps[0]
            (spoke,) = first.decision.notes
            assert (spoke.rule, spoke.obeyed) == (rule, done == "attach sheet")


def test_what_was_done_last_counts_where_several_things_are_reported():
    with opened() as memory:
        rule = plant(memory)
        with memory.episode(GOAL, scope="mail") as episode:
            episode.notes(HERE, TOOLS)
            episode.decide(HERE, {"attach sheet": 0.0})
            for done in ("attach sheet", "attach text", "attach sheet", "attach page"):
                episode.notes(HERE, TOOLS)
                episode.took(done)
            episode.decide(HERE, {"attach sheet": 0.0})
            episode.finish(outcome=True)
        assert [(use.occasions, use.obeyed) for use in uses(memory, rule)] == [(2, 1)]


@pytest.mark.parametrize(
    "settings", [{"mode": "off"}, {"mode": "shadow"}, {"holdout": 1.0}], ids=str
)
def test_without_memory_nothing_is_told_but_rules_are_learned(settings):
    with opened(rules={"attempts": 4}, **settings) as memory:
        rule = plant(memory)
        assert live(memory, 16)[1] == [""] * 16
        assert uses(memory, rule) == []
        assert RIGHT in [one.text for one in memory.store.rules()]


def test_a_late_outcome_teaches_rules_and_a_corrected_one_counts_anew(tmp_path):
    with opened(tmp_path / "m.db", ALONE) as memory:
        live(memory, 8, key="a", outcome=False)
        assert memory.store.rules() == ()
    with opened(tmp_path / "m.db", ALONE) as memory:
        for n in range(8):
            done = memory.store.episode(f"a{n}").steps[0].action
            memory.outcome(f"a{n}", done == "attach sheet")
        (rule,) = memory.store.rules()
        assert rule.text == RIGHT
        live(memory, 12, key="b")
        key = next(use.episode for use in uses(memory, rule.id) if use.told)
        before = memory.store.rule_counts(1.0)[rule.id].wins
        memory.outcome(key, False)
        assert memory.store.rule_counts(1.0)[rule.id].wins == before - 1


def test_a_corrected_outcome_is_looked_at_by_the_gates():
    gates = {"trial": 6, "grace": 6}
    with opened(rules={"attempts": 0, "gates": gates, "holdout": 0.5}) as memory:
        rule = plant(memory, status="candidate")
        for n in range(8):
            with memory.episode(GOAL, scope="mail", key=f"e{n}") as episode:
                is_told = bool(episode.notes(HERE, TOOLS))
                episode.decide(HERE, {"attach sheet": 0.0})
                episode.finish(outcome=is_told)
        assert memory.store.rule(rule).status == "candidate"
        for use in uses(memory, rule):
            memory.outcome(use.episode, not use.told)
        assert memory.store.rule(rule).status == "retired"


def test_a_rule_of_episodes_in_quarantine_is_silent_until_they_are_restored():
    with opened(rules=ALONE) as memory:
        live(memory, 4, key="a")
        told = [memory.episode(GOAL, scope="mail") for _ in range(9)]
        assert any(one.notes(HERE) for one in told)
        memory.quarantine(episodes=[f"a{n}" for n in range(4)])
        told = [memory.episode(GOAL, scope="mail") for _ in range(9)]
        assert not any(one.notes(HERE) for one in told)
        memory.restore(episodes=[f"a{n}" for n in range(4)])
        told = [memory.episode(GOAL, scope="mail") for _ in range(9)]
        assert any(one.notes(HERE) for one in told)


def test_decisions_beside_rules_are_explained_and_replayed():
    with opened() as memory:
        live(memory, 12, key="e")
        why = memory.explain("e11#0")
        assert why.exact
        assert why.decision.neighbors
        assert memory.replay(without=[]) == []


def test_a_task_with_an_id_has_its_goal_in_words(tmp_path):
    path = tmp_path / "m.db"
    with opened(path, ALONE) as memory:
        chance = random.Random(0)
        for n in range(8):
            with memory.episode("ticket-7", goal=GOAL, scope="mail", key=f"t{n}") as episode:
                episode.notes(HERE, TOOLS)
                tool = episode.decide(HERE, model("", chance)).action
                episode.finish(outcome=tool == "attach sheet")
        assert [rule.text for rule in memory.store.rules()] == [RIGHT]
        assert memory.store.episode("t0").info["goal"] == GOAL
        with pytest.raises(InputError, match="goal"):
            memory.episode("ticket-8", goal="")


def test_a_rule_of_one_type_of_task_is_told_to_no_other():
    with opened() as memory:
        plant(memory, kind="mail")
        for family, is_told in (("mail", True), ("phone", False)):
            episode = [memory.episode(GOAL, scope="mail", family=family) for _ in range(6)]
            assert any(one.notes(HERE) for one in episode) is is_told


def test_notes_are_in_the_language_of_the_goal():
    with opened() as memory:
        plant(memory, "打开邮件时，添加表格", entities=())
        said = [memory.episode("把报告发给王芳", scope="mail").notes("打开邮件") for _ in range(6)]
    assert any(text.startswith("此前尝试得出的规则") for text in said)


def test_a_rule_by_comparison_is_told_where_its_action_can_be_taken_or_nothing_is_listed():
    with opened(rules={"attempts": 0}) as memory:
        plant(memory, RIGHT, author="rules", entities=("report", "send"))
        episodes = [memory.episode(GOAL, scope="mail") for _ in range(9)]
        one = next(e for e in episodes if e.notes(HERE, TOOLS))
        assert one.notes(HERE, ["attach page"]) == ""
        assert "take attach sheet" in one.notes(HERE)
        assert one.notes("Elsewhere.") == ""


def test_a_rule_by_comparison_that_was_told_unlisted_counts_as_obeyed():
    with opened(rules={"attempts": 0}) as memory:
        rule = plant(memory, RIGHT, author="rules", entities=("report", "send"))
        with memory.episode(GOAL, scope="mail") as episode:
            episode.notes(HERE)
            episode.decide(HERE, {"attach sheet": 0.0})
            episode.finish(outcome=True)
        (use,) = uses(memory, rule)
    assert (use.occasions, use.obeyed) == (1, 1)


def test_a_pinned_memory_tells_the_rules_of_its_snapshot(tmp_path):
    path = tmp_path / "m.db"
    with opened(path) as memory:
        plant(memory)
        memory.snapshot("monday")
        plant(memory, "When the mail is open, attach text")
    with opened(path, snapshot="monday") as memory:
        said = "".join(live(memory, 20)[1])
    assert WRITTEN in said
    assert "attach text" not in said


def test_notes_give_back_what_a_redaction_hides():
    goal = "Write to ann@example.com"
    with opened(rules={"attempts": 4, "scores": False}, redact=["mails"]) as memory:
        for n in range(16):
            with memory.episode(goal, scope="mail") as episode:
                tools = ["to ann@example.com", "to nobody"]
                notes = episode.notes("new mail", tools)
                assert "{mails" not in notes
                if "to ann@example.com" in notes:
                    break
                episode.decide("new mail", {tools[n % 2]: 1.0, tools[1 - n % 2]: 0.0})
                episode.finish(outcome=n % 2 == 0)
        else:
            raise AssertionError("no rule was told")
        (rule,) = memory.store.rules()
    assert "ann@example.com" not in rule.text


class Down:
    """A model that cannot be asked."""

    name = "down"

    def write(self, writing, read):
        raise ModelError("no answer")


def test_a_model_that_cannot_write_rules_leaves_the_episode_stored_and_its_round_owed():
    with opened(rules=ALONE) as memory:
        learning = memory.book.learning
        works, learning.distiller = learning.distiller, replace(learning.distiller, writer=Down())
        with pytest.raises(ModelError) as raised:
            live(memory, 4, key="e")
        assert "'e3' is stored and judged" in "".join(raised.value.__notes__)
        assert memory.store.episode("e3").outcome is not None
        assert not memory.store.rules()
        learning.distiller = works
        live(memory, 1)
        assert [rule.text for rule in memory.store.rules()] == [RIGHT]


def test_an_episode_begins_though_the_model_that_writes_rules_is_down(tmp_path):
    path = tmp_path / "m.db"
    with opened(path, rules=ALONE) as memory:
        learning = memory.book.learning
        learning.distiller = replace(learning.distiller, writer=Down())
        with pytest.raises(ModelError):
            live(memory, 4)
    with opened(path, rules=ALONE) as memory:
        learning = memory.book.learning
        learning.distiller = replace(learning.distiller, writer=Down())
        with memory.episode("Another task", scope="mail") as episode:
            episode.decide(HERE, dict.fromkeys(TOOLS, 0.0))
            episode.finish(outcome=True)
        assert memory.store.head() > 4


def test_what_used_a_rule_that_was_purged_meanwhile_is_stored_without_it():
    with opened(rules={"attempts": 0, "holdout": 0.01}) as memory:
        gone, kept = plant(memory, author="model"), plant(memory, "When the mail is open, greet")
        with memory.episode(GOAL, scope="mail", key="e") as episode:
            assert episode.notes(HERE, TOOLS)
            episode.decide(HERE, dict.fromkeys(TOOLS, 0.0))
            assert purged(memory.store, [f"text={WRITTEN}"])
            episode.finish(outcome=True)
        assert gone not in {rule.id for rule in memory.store.rules()}
        assert [use.episode for use in uses(memory, kept)] == ["e"]


@pytest.mark.parametrize("status", ["candidate", "active"])
def test_a_rule_that_was_purged_before_its_first_word_is_not_told(status):
    with opened(rules={"attempts": 0, "holdout": 0.01}) as memory:
        plant(memory, author="model", status=status)
        kept = plant(memory, "When the mail is open, greet")
        with memory.episode(GOAL, scope="mail", key="e") as episode:
            assert purged(memory.store, [f"text={WRITTEN}"])
            notes = episode.notes(HERE, TOOLS)
            assert episode.told == (kept,)
            assert "attach sheet" not in notes
            episode.decide(HERE, dict.fromkeys(TOOLS, 0.0))
            episode.finish(outcome=True)
        assert [use.episode for use in uses(memory, kept)] == ["e"]


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({1: 2}, "rules has the option 1; names of options are texts"),
        ("yes", "rules is 'yes'; it must be True, False, or options"),
        ({"tolled": 3}, "no option 'tolled'.*did you mean 'told'"),
        ({"holdout": 0.0}, "holdout is 0.0"),
        ({"scores": 1}, "scores is 1; it must be True or False"),
        ({"choose": "sample"}, "rule={'choose': 'sample'}"),
        ({"temperature": 2.0}, "rule={'temperature_prior': 2.0}"),
        ({"told": "\ud800"}, r"option told is '\\ud800': .* surrogates not allowed"),
        ({"credit": "substitution"}, "there is no environment here to play them in"),
    ],
    ids=ascii,
)
def test_impossible_options_are_refused_when_it_is_opened(rules, said):
    with pytest.raises(ConfigError, match=said):
        opened(rules=rules)


FORM = "When the form is shown, press send"


def test_each_rule_counts_the_steps_at_which_it_spoke_and_what_was_done_there():
    with opened(rules={"attempts": 0, "holdout": 0.01}) as memory:
        first, second = plant(memory), plant(memory, FORM)
        with memory.episode(GOAL, scope="mail", key="e") as episode:
            episode.notes(HERE, ["attach sheet", "attach text"])
            episode.decide(HERE, {"attach sheet": 1.0, "attach text": 0.0})
            episode.notes("The form is shown.", ["press send", "press cancel"])
            episode.decide("The form is shown.", {"press send": 0.0, "press cancel": 1.0})
            episode.decide("The form is shown.", {"press send": 1.0, "press cancel": 0.0})
            episode.finish(outcome=True)
        logged = (uses(memory, first)[0], uses(memory, second)[0])
        found = [(use.occasions, use.obeyed) for use in logged]
        assert found == [(1, 1), (1, 0)]
        notes = [memory.store.decision(f"e#{n}").decision.notes for n in range(3)]
    assert [[(one.rule, one.obeyed) for one in step] for step in notes] == [
        [(first, True)],
        [(second, False)],
        [],
    ]


def test_a_decision_says_which_rules_were_held_out_of_its_notes():
    with opened(rules={"attempts": 0, "holdout": 0.5}) as memory:
        rule = plant(memory)
        _, said = live(memory, 12, key="e")
        spoke = [memory.store.decision(f"e{n}#0").decision.notes for n in range(12)]
    assert [[(one.rule, one.told) for one in step] for step in spoke] == [
        [(rule, WRITTEN in text)] for text in said
    ]
    assert spoke[0][0].chance == 0.5
    assert len({step[0].told for step in spoke}) == 2


def test_a_rule_retired_by_hand_is_told_no_more_and_one_restored_from_the_next_episode_on(tmp_path):
    path = tmp_path / "m.db"

    def told(episode):
        return WRITTEN in episode.notes(HERE, TOOLS)

    with opened(path, rules={**ALONE, "holdout": 0.01}) as memory, SQLiteStore(path) as other:
        id = plant(memory)
        with memory.episode(GOAL, scope="mail", key="a") as before:
            assert told(before)
            other.set_rule_status("retired", [id], reason="by hand")
            assert not told(before)
            with memory.episode(GOAL, scope="mail", key="b") as after:
                assert not told(after)
                other.set_rule_status("active", [id], reason="by hand")
                assert not told(after)
        with memory.episode(GOAL, scope="mail", key="c") as again:
            assert told(again)
