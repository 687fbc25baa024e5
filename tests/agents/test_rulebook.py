"""A rulebook: what is told, what is held out, what is learned of it, and what goes."""

import numpy as np
import pytest
from made_agents import opened
from pasts import episode, put
from suggestible import Suggestible, lived, scores

from jitrl.agents.rulebook.gating import Gating
from jitrl.core.credit import derive_rows
from jitrl.core.gates import Gates
from jitrl.core.sentences import rule_id
from jitrl.errors import ConfigError
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.purging import purged
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Contrast, Prompt, Rule, RuleUse, State, Task, Unscored

RIGHT = "When the goal is “Reach the best return in protocol0.” and you see protocol0 stage0"
GOAL = "Reach the best return in protocol0."
TASK = Task("protocol:0", GOAL, "toy", "protocol")


@pytest.fixture
def store():
    with SQLiteStore(":memory:") as opened:
        yield opened


def agent(store, label="rulebook", **options):
    return opened(label, store, EnvironmentRewards(), **{"attempts": 8, **options})


def plant(store, text, *, status="candidate", task=TASK, evidence="c"):
    """A rule with a contrast behind it, as if it had been distilled."""
    rule = Rule(rule_id(text), text, task.scope, task.family, status=status, evidence=(evidence,))
    store.add_rules(
        [rule], [Contrast(evidence, task.scope, task.id, task.family, good=("g",), scores=(1.0,))]
    )
    return rule.id


def chance(agent):
    """Of the first active rule, else of the first, to be told at the first step."""
    acting = begun(agent, 0)
    notes(acting)
    spoke = [line for line in acting._told.lines if line.chance is not None]
    return next((x for x in spoke if x.rule.status == "active"), spoke[0]).chance


def begun(agent, seed, task=TASK, **given):
    acting = agent.episode(**given)
    acting.begin(task, key="now", rng=np.random.default_rng(seed))
    return acting


def notes(acting, state="protocol0 stage0", task=TASK):
    return acting.advise(State(state), Prompt(task.goal, state, (), ("push0", "push1"))).notes


def test_what_was_distilled_of_a_round_is_told_later_and_helps(store):
    model = Suggestible(3.0)
    lived(agent(store), model, 60)
    counts = [c for c in store.rule_counts(1.0).values() if c.uses and c.held]
    assert counts
    assert all(c.wins / c.uses > c.held_wins / c.held for c in counts)
    assert any("follow those whose condition holds" in said for said in model.notes)
    assert not any(model.notes[:8])


def test_a_round_is_distilled_once(store):
    lived(agent(store), Suggestible(0.0), 24)
    rounds = [contrast.round for contrast in store.contrasts()]
    assert rounds == sorted(set(rounds))
    assert all(len(contrast.good) <= 3 for contrast in store.contrasts())


def test_without_rounds_nothing_is_distilled_and_rules_are_tested_as_ever(store):
    rule = plant(store, f"{RIGHT}, take push1")
    lived(agent(store, attempts=0), Suggestible(0.0), 9)
    assert [one.id for one in store.rules()] == [rule]
    assert len(store.rule_uses([rule])[rule]) == 9


def test_a_candidate_is_told_in_half_of_the_episodes_and_logged_in_all(store):
    rule = plant(store, f"{RIGHT}, take push1")
    acting = [begun(agent(store), seed) for seed in range(200)]
    told = ["push1" in notes(one) for one in acting]
    assert 80 <= sum(told) <= 120
    for one, is_told in zip(acting, told, strict=True):
        one._told.passed()  # a step was taken there
        (use,) = one._told.uses("now")
        assert (use.rule, use.told, use.chance) == (rule, is_told, 0.5)


def test_candidates_of_one_contrast_are_each_told_by_a_draw_of_their_own(store):
    first = plant(store, f"{RIGHT}, take push1")
    second = plant(store, f"{RIGHT.replace('stage0', 'stage1')}, take push0")
    seen = list[bool]()
    for seed in range(200):
        acting = begun(agent(store), seed)
        notes(acting), notes(acting, "protocol0 stage1")
        told = {line.rule.id: line.told for line in acting._told.lines}
        seen.append(told[first] == told[second])
    assert 80 <= sum(seen) <= 120


def used(store, rule, told, score, *, number):
    """An episode in which a rule was told or held out, by a draw of a half."""
    lived = episode(f"e{number}", "a:go", task="x", scope=TASK.scope, rewards=[score])
    judgment = EnvironmentRewards().judge(lived)
    rows = derive_rows(lived, judgment, gamma=0.5)
    store.commit(lived, judgment, rows, [RuleUse(rule, lived.key, told, 0.5)])


@pytest.mark.parametrize(("helps", "least", "most"), [(True, 0.8, 0.85), (False, 0.2, 0.2)])
def test_a_candidate_is_told_the_more_the_more_it_promises(store, helps, least, most):
    rule = plant(store, f"{RIGHT}, take push1")
    assert chance(agent(store)) == 0.5
    for n in range(4):
        told = n % 2 == 0
        used(store, rule, told, float(told == helps), number=n)
    assert least <= chance(agent(store)) <= most


@pytest.mark.parametrize(("wins", "status"), [(5, "candidate"), (3, "retired")])
def test_past_its_trial_a_candidate_stays_as_long_as_it_seems_to_help(store, wins, status):
    rule, gates = plant(store, f"{RIGHT}, take push1"), Gates(trial=12, grace=12)
    for n in range(11):
        used(store, rule, n % 2 == 0, float(n // 2 < wins if n % 2 == 0 else n // 2 < 4), number=n)
    gating = Gating(store, gates)
    gating.judge([rule])
    assert store.rule(rule).status == "candidate"
    used(store, rule, False, 0.0, number=11)
    gating.judge([rule])
    assert store.rule(rule).status == status
    assert status == "candidate" or store.rule(rule).reason.startswith("no help in 12 uses")


def test_a_candidate_waits_where_an_active_rule_that_it_covers_says_the_same(store):
    special = plant(store, f"{RIGHT}, take push1", status="active")
    text = f"{RIGHT.replace('Reach the best return', 'Reach ...')}, take push1"
    wide = Rule(rule_id(text), text, TASK.scope, TASK.family, evidence=("c",), parents=(special,))
    store.add_rules([wide])
    assert [line.rule.id for line in begun(agent(store), 0)._told.lines] == [special]
    store.set_rule_status("retired", [special])
    assert [line.rule.id for line in begun(agent(store), 0)._told.lines] == [wide.id]


def test_a_candidate_that_a_wider_one_covers_speaks_only_where_that_may_not(store):
    special = plant(store, f"{RIGHT}, take push1")
    text = f"{RIGHT.replace('Reach the best return', 'Reach ...')}, take push1"
    other = Contrast("d", TASK.scope, "protocol:1", TASK.family, good=("g",), scores=(1.0,))
    wide = Rule(
        rule_id(text), text, TASK.scope, TASK.family, evidence=("c", "d"), parents=(special,)
    )
    store.add_rules([wide], [other])
    assert [line.rule.id for line in begun(agent(store), 0)._told.lines] == [wide.id]
    acting = begun(agent(store), 0, exclude=frozenset({"protocol:1"}))
    assert [line.rule.id for line in acting._told.lines] == [special]


def rounds(store, goals, *, right):
    """A good and a bad attempt at each goal, in turn, and what a book makes of each round."""
    book = agent(store, attempts=2)
    for name, goal in goals.items():
        steps = f"menu:{right[name]}", "menu:wait"
        for n, (step, reward) in enumerate(zip(steps, (1.0, 0.0), strict=True)):
            put(store, episode(f"{name}{n}", step, task=name, goal=goal, rewards=[reward]))
        task = Task(name, goal, "s", "kind")
        book.learning.after(task, [])


def test_a_step_that_tasks_share_becomes_a_rule_of_them_all_beside_their_own(store):
    goals = {"a": "Cancel order 91", "b": "Put order 7 on hold"}
    rounds(store, goals, right={"a": "sales", "b": "sales"})
    first, second, wide = store.rules()
    assert wide.text == "When the goal is “... order ...” and you see menu, take sales"
    assert wide.parents == (first.id, second.id)
    assert set(wide.evidence) == {*first.evidence, *second.evidence}
    assert wide.entities == ("order",)


def test_new_rules_of_all_kinds_are_counted_and_known_ones_are_not(store):
    """Two steps made the difference, and both are those of another task, too."""
    book = agent(store, attempts=3, distil=2)
    for name, goal in {"a": "Cancel order 91", "b": "Put order 7 on hold"}.items():
        good, lost = ("menu:sales", "list:open"), ("menu:stock", "hall:wait")
        half = ("menu:sales", "list:close")
        for n, (steps, score) in enumerate(((good, 1.0), (lost, 0.0), (half, 0.0))):
            lived = episode(f"{name}{n}", *steps, task=name, goal=goal, rewards=[0.0, score])
            put(store, lived)
        known = {rule.id for rule in store.rules()}
        book.learning.after(Task(name, goal, "s", "kind"), [])
        assert len({rule.id for rule in store.rules()} - known) == 2
    assert sum("..." in rule.text for rule in store.rules()) == 1


def test_a_wide_candidate_is_narrowed_by_a_task_that_speaks_against_it(store):
    goals = {"a": "Cancel order 91", "b": "Cancel order 7 now", "c": "Ship order 5"}
    rounds(store, goals, right={"a": "sales", "b": "sales"} | {"c": "stock"})
    wide = [rule for rule in store.rules() if "..." in rule.text]
    assert [(rule.text, rule.status) for rule in wide] == [
        ("When the goal is “Cancel order ...” and you see menu, take sales", "candidate")
    ]
    rounds(store, {"d": "Cancel order 6"}, right={"d": "archive"})
    (was, *_) = [store.rule(rule.id) for rule in wide]
    assert (was.status, was.reason) == ("retired", "contradicted by round 1 of d")
    own = [rule for rule in store.rules() if rule.status == "candidate"]
    assert len(own) == 4
    assert not any("..." in rule.text for rule in own)


def test_a_rule_of_episodes_in_quarantine_is_silent_until_they_are_restored(store):
    goals = {"a": "Cancel order 91", "b": "Put order 7 on hold"}
    rounds(store, goals, right={"a": "sales", "b": "sales"})
    task = Task("a", goals["a"], "s", "kind")
    (wide,) = begun(agent(store), 0, task)._told.lines
    assert "... order ..." in wide.rule.text
    store.set_status("quarantined", episodes=["b1"])
    (own,) = begun(agent(store), 0, task)._told.lines
    assert "“Cancel order 91”" in own.rule.text
    store.set_status("quarantined", episodes=["a0"])
    assert not begun(agent(store), 0, task)._told.lines
    store.set_status("active", episodes=["a0", "b1"])
    (again,) = begun(agent(store), 0, task)._told.lines
    assert again.rule.id == wide.rule.id


@pytest.mark.parametrize("status", ["retired", "quarantined"])
def test_a_rule_that_goes_while_an_episode_runs_is_told_no_more_in_it(store, status):
    rule = plant(store, f"{RIGHT}, take push1", status="active")
    early, late = (begun(agent(store, holdout=0.01), 0) for _ in range(2))
    assert "push1" in notes(early)
    early._told.passed()  # a step was taken there
    store.set_rule_status(status, [rule], reason="harm")
    assert notes(early) == notes(late) == ""
    assert [use.rule for use in early._told.uses("now")] == [rule]
    late._told.passed()
    assert late._told.uses("now") == ()
    store.set_rule_status("active", [rule], reason="no harm")
    assert "push1" in notes(early)


def test_a_rule_of_a_snapshot_is_told_on_when_it_retires_and_not_when_it_is_put_in_quarantine(
    store,
):
    rule = plant(store, f"{RIGHT}, take push1", status="active")
    acting = begun(agent(store, holdout=0.01), 0, until=store.head())
    store.set_rule_status("retired", [rule], reason="others show more")
    assert "push1" in notes(acting)
    store.set_rule_status("quarantined", [rule], reason="harm")
    assert notes(acting) == ""


@pytest.mark.parametrize("is_of_a_snapshot", [False, True])
def test_a_rule_whose_evidence_is_put_in_quarantine_is_told_no_more_in_a_running_episode(
    store, is_of_a_snapshot
):
    text = f"{RIGHT}, take push1"
    put(store, episode("good", "a:go", task=TASK.id, scope=TASK.scope))
    kept = Contrast(
        "c", TASK.scope, TASK.id, TASK.family, good=("good",), bad=("bad",), scores=(1.0, 0.0)
    )
    rule = Rule(
        rule_id(text), text, TASK.scope, TASK.family, status="active", evidence=("c",), author="a"
    )
    store.add_rules([rule], [kept])
    until = store.head() if is_of_a_snapshot else None
    acting = begun(agent(store, holdout=0.01), 0, until=until)
    assert "push1" in notes(acting)
    acting._told.passed()  # a step was taken there
    store.set_status("quarantined", episodes=["good"], reason="planted")
    assert notes(acting) == ""
    assert [use.rule for use in acting._told.uses("now")] == [rule.id]
    store.set_status("active", episodes=["good"], reason="it was not")
    assert "push1" in notes(acting)


class Purging(SQLiteStore):
    """Purges a rule right before something is asked of it for the first time."""

    def plan(self, text, method):
        inner = getattr(self, method)

        def first(*args, **values):
            delattr(self, method)
            purged(self, [f"text={text}"])
            return inner(*args, **values)

        setattr(self, method, first)


@pytest.mark.parametrize(
    ("method", "exclude"),
    [
        ("tainted", frozenset()),
        ("contrasts", frozenset({"other"})),
        ("rule_counts", frozenset()),
        ("rule_uses", frozenset()),
        ("rule_uses", frozenset({"other"})),
    ],
)
def test_a_purge_at_any_moment_of_a_step_leaves_the_step_be(method, exclude):
    with Purging(":memory:") as store:
        text = f"{RIGHT}, take push1"
        gone, left = plant(store, text), plant(store, f"{RIGHT}, take push0")
        store.plan(text, method)
        acting = begun(agent(store), 0, exclude=exclude)
        notes(acting)
        assert method not in vars(store)
        notes(acting)
        acting._told.passed()
        assert gone not in {rule.id for rule in store.rules()}
        assert left in {use.rule for use in acting._told.uses("now")}


def test_a_purge_right_before_an_episode_is_written_leaves_the_episode_be():
    with Purging(":memory:") as store:
        text = f"{RIGHT}, take push1"
        plant(store, text, status="active")
        left = plant(store, f"{RIGHT}, take push0", status="active")
        acting = begun(agent(store, holdout=0.01), 0)
        notes(acting)
        acting._told.passed()
        store.plan(text, "commit")
        acting.learn(episode("now", "a:go", task="x", scope=TASK.scope, rewards=[1.0]))
        assert list(store.rule_uses()) == [left]


def test_a_purge_right_after_an_episode_was_written_leaves_what_it_teaches(store):
    put(store, episode("g", "a:go", task=TASK.id, scope=TASK.scope))
    gone = plant(store, f"{RIGHT}, take push1", status="active")
    left = Rule(rule_id(f"{RIGHT}, take push0"), f"{RIGHT}, take push0", TASK.scope, author="ann")
    store.add_rules([left])
    acting = begun(agent(store, holdout=0.01, gates={"grace": 1, "trial": 1}), 0)
    notes(acting)
    acting._told.passed()
    told = {use.rule: use.told for use in acting._told.uses("now")}
    assert set(told) == {gone, left.id}
    harm = [0.0 if told[left.id] else 1.0]
    acting.commit(episode("now", "a:go", task=TASK.id, scope=TASK.scope, rewards=harm))
    purged(store, ["episode=g"])
    acting.teach()
    assert store.rule(left.id).status == "retired"


def test_an_active_rule_is_held_out_less_the_better_it_is_known(store):
    rule = plant(store, f"{RIGHT}, take push1", status="active")
    assert chance(agent(store, holdout=0.2)) == pytest.approx(0.8)
    for n in range(100):
        used(store, rule, n % 2 == 0, float(n % 4 < 3), number=n)
    assert chance(agent(store, holdout=0.2)) == pytest.approx(0.9)


def test_an_active_rule_that_seems_to_do_harm_is_told_as_if_it_were_on_trial(store):
    rule = plant(store, f"{RIGHT}, take push1", status="active")
    for n in range(4):
        used(store, rule, n % 2 == 0, float(n % 2), number=n)
    assert chance(agent(store)) == 0.2
    assert store.rule(rule).status == "active"


def test_a_rule_is_told_only_where_its_condition_holds(store):
    plant(store, f"{RIGHT}, take push1", status="active")
    acting = next(one for one in (begun(agent(store), s) for s in range(9)) if notes(one))
    assert "take push1" in notes(acting)
    plant(store, f"{RIGHT.replace('stage0', 'stage1')}, take push0", status="active")
    said = []
    for seed in range(50):
        acting = begun(agent(store), seed)
        said.append([notes(acting), notes(acting, "protocol0 stage1")])
    assert any(first and second for first, second in said)
    assert not any("take push0" in first or "take push1" in second for first, second in said)
    plain = Task("t", "Win.", "toy", "protocol")
    assert not begun(agent(store), 0, plain)._told.lines


def test_what_somebody_wrote_is_told_beside_what_was_compared(store):
    text = "When the goal asks for the best return, press slowly"
    rule = Rule(rule_id(text), text, "toy", status="active", author="human")
    store.add_rules([rule])
    plant(store, f"{RIGHT}, take push1", status="active")
    said = [notes(begun(agent(store), seed)) for seed in range(20)]
    assert any("press slowly" in one and "take push1" in one for one in said)


def test_a_condition_whose_every_word_is_filler_but_the_one_not_seen_does_not_hold(store):
    text = "When you see that the page shows a refund, press slowly"
    store.add_rules([Rule(rule_id(text), text, "toy", status="active", author="human")])
    where = "that the page shows you"
    acting = [begun(agent(store), seed) for seed in range(20)]
    assert not any(notes(one, where) or one._told.uses("now") for one in acting)
    assert any(notes(one, "refund") for one in acting)


def test_a_prompt_holds_so_many_rules_and_an_episode_more(store):
    for stage in range(4):
        where = RIGHT.replace("stage0", f"stage{stage}")
        plant(store, f"{where}, take push1", status="active", evidence=f"c{stage}")
    acting = begun(agent(store, told=1), 0)
    for stage in range(4):
        notes(acting, f"protocol0 stage{stage}")
        acting._told.passed()  # a step was taken there
    assert len(acting._told.uses("now")) == 4


def test_a_rule_of_another_type_of_task_or_scope_is_not_fetched(store):
    plant(store, "When you see stage0, take push1")
    assert begun(agent(store), 0)._told.lines
    for other in (Task("t", GOAL, "toy", "maze"), Task("t", GOAL, "shop", "protocol")):
        assert not begun(agent(store), 0, other)._told.lines


def test_what_rests_on_an_excluded_task_is_left_out_and_counted(store):
    plant(store, f"{RIGHT}, take push1")
    told = begun(agent(store), 0, exclude=frozenset({"protocol:0"}))._told
    assert (told.lines, told.excluded) == ((), 1)


def test_an_episode_that_could_not_be_judged_changes_nothing(store):
    class Silent(EnvironmentRewards):
        def judge(self, episode):
            return Unscored("the judge's answer could not be read", self.name)

    plant(store, f"{RIGHT}, take push1")
    before = store.rules()
    lived(opened("rulebook", store, Silent(), attempts=2), Suggestible(0.0), 6)
    counts = store.rule_counts(1.0)[before[0].id]
    assert (counts.uses, counts.wins, counts.held) == (0, 0, 0)
    assert store.rules() == before


def test_a_planted_rule_that_hurts_is_retired(store):
    wrong = plant(store, f"{RIGHT}, take push0", status="active")
    other = plant(store, f"{RIGHT}, take push1", status="active", evidence="d")
    lived(agent(store, attempts=1000), Suggestible(9.0), 100)
    ends = {rule.id: rule for rule in store.rules()}
    assert ends[wrong].status == ends[other].status == "retired"
    assert ends[wrong].reason.startswith(("does harm", "told"))
    assert max(counts.uses for counts in store.rule_counts(1.0).values()) <= Gates().idle


def test_without_gates_every_rule_is_in_at_once_and_none_goes(store):
    lived(agent(store, gates=False, attempts=4), Suggestible(0.0), 40)
    assert {rule.status for rule in store.rules()} == {"active"}


def test_gates_are_the_default_ones_if_true_and_none_if_false_or_0(store):
    for given in (0, False):
        assert agent(store, gates=given).learning.gating is None
    for given in ({"gates": True}, {}):
        assert agent(store, **given).learning.gating.gates == Gates()


def test_with_none_told_rules_are_learned_only(store):
    book = agent(store, told=0, attempts=4)
    lived(book, Suggestible(0.0), 20)
    assert store.rules()
    assert not any(store.rule_uses().values())


def test_with_scores_the_memory_corrects_the_choice_besides(store):
    put(store, *(episode(f"e{n}", "protocol0 stage0:push1", task="protocol:0") for n in range(3)))
    alone, both = agent(store), agent(store, scores=True)
    assert scores(lived(both, Suggestible(0.0), 30, seed=1))[-10:].count(1.0) >= 8
    assert begun(alone, 0)._corrected is None


def test_a_model_that_writes_is_the_author_of_its_rules(store):
    lived(agent(store, "rulebook-model", attempts=4), Suggestible(0.0), 40)
    assert {(rule.author, rule.text) for rule in store.rules()} == {
        ("scripted", "When you see stage0, push2")
    }


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"holdout": 0.0}, "holdout is 0.0"),
        ({"gap": 2.0}, "gap is 2.0"),
        ({"gates": {"alpha": 2.0}}, "alpha is 2.0"),
        ({"gates": {"trail": 3}}, "gates have no trail; they have alpha, tasks, trial"),
        ({"gates": {"trial": 40.5}}, "trial is 40.5; it must be a whole number"),
        ({"gates": {"trial": "40"}}, "trial is '40'; it must be a whole number"),
        ({"gates": {"tasks": True}}, "tasks is True; it must be a whole number"),
        ({"gates": {"alpha": "x"}}, "alpha is 'x'; it must be a number"),
        ({"told": -1}, "told must be at least 0"),
        ({"told": 2.5}, "told is 2.5"),
        ({"tokens": 1}, "tokens is 1; a rule needs room for 20 or more"),
        ({"distil": 0}, "distil is 0; .* to distil nothing set attempts = 0"),
        ({"attempts": 1}, "attempts is 1; a round compares 2 attempts or more"),
        ({"success": 5}, r"success is 5.0; it must be in \[0, 1\]"),
        ({"success": -1}, "success is -1"),
        ({"explore": -5}, "explore is -5"),
        ({"explore": float("nan")}, "explore is nan"),
        ({"holdout": 1e-320}, r"must be in \[0.01, 0.99\]; a rule that is never held out"),
        ({"credit": "steps", "credit_budget": 1}, "credit_budget is 1; with credit = 'steps'"),
    ],
)
def test_impossible_options_are_refused(store, options, said):
    with pytest.raises(ConfigError, match=said):
        agent(store, **options)
