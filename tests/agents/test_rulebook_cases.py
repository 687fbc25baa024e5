"""Faults that rulebooks elsewhere had: failed judges, flat rounds, full prompts, full books."""

import json
import logging
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from made_agents import opened
from pasts import episode, past, put
from suggestible import Suggestible, lived
from test_written import Scribe

from jitrl.agents.rulebook.contrasts import Compared
from jitrl.agents.rulebook.distilling import Distiller
from jitrl.agents.rulebook.gating import Gating
from jitrl.agents.rulebook.learning import Learning
from jitrl.agents.rulebook.written import written
from jitrl.core.credit import derive_rows
from jitrl.core.gates import Gates
from jitrl.core.rules import tokens
from jitrl.core.sentences import rule_id
from jitrl.errors import ModelError
from jitrl.evaluators.composite import Composite, Part
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.evaluators.judge import Judge
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Outcome, Prompt, Rule, RuleUse, Scored, State, Task, Unscored

TASK = Task("protocol:0", "Reach the best return in protocol0.", "toy", "protocol")


@pytest.fixture
def store():
    with SQLiteStore(":memory:") as opened:
        yield opened


def planted(store, *texts, status="active", scope="toy"):
    rules = [Rule(rule_id(text), text, scope, status=status, author="human") for text in texts]
    store.add_rules(rules)
    return [rule.id for rule in rules]


# --- C1: a failed judge is not a score --------------------------------------------------------


def judged(answers):
    """Checks of the environment and one question to a judge, .7 and .3."""
    model = Scribe(*answers)

    def member(name, options):
        return (
            Judge(writer=lambda: model, grade="whole") if name == "judge" else EnvironmentRewards()
        )

    return model, Composite({"environment": Part(0.7), "judge": Part(0.3)}, member=member)


@pytest.mark.parametrize(
    "nonsense", ['{"score":', "", "I cannot evaluate this", "<think>8</think>"]
)
def test_a_judge_that_fails_teaches_the_book_nothing(store, nonsense):
    model, evaluator = judged([nonsense])
    (rule,) = planted(store, "When you see protocol0 stage0, take push1")
    before = store.rules()
    lived(opened("rulebook", store, evaluator, attempts=2), Suggestible(0.0), 6)
    assert model.endpoint.calls == 12
    assert all(isinstance(record.judgment, Unscored) for record in store.records())
    counts = store.rule_counts(1.0)[rule]
    assert (counts.uses, counts.wins, counts.held, counts.held_wins) == (0, 0, 0, 0)
    assert (store.rules(), store.contrasts()) == (before, ())


def test_a_judge_that_answers_counts(store):
    _, evaluator = judged(['{"score": 9}'])
    (rule,) = planted(store, "When you see protocol0 stage0, take push1")
    lived(opened("rulebook", store, evaluator, attempts=2), Suggestible(0.0), 6)
    uses = store.rule_uses([rule])[rule]
    assert len(uses) == 6
    assert {round(one.score, 2) for one in uses} <= {0.27, 0.97}


# --- C4: text as people read it ---------------------------------------------------------------


def test_no_prompt_holds_an_escaped_letter(store):
    rule = "部署前必须运行测试"
    planted(store, rule, scope="s")
    acting = opened("rulebook", store, EnvironmentRewards(), holdout=0.01).episode()
    task = Task("t", "部署新版本", "s")
    acting.begin(task, key="now", rng=np.random.default_rng(0))
    said = acting.advise(State("部署前"), Prompt(task.goal, "部署前", (), ("运行",))).notes
    assert rule in said
    good, bad = (past(key, f"大厅:{do}", goal="部署") for key, do in (("g", "运行"), ("b", "等")))
    scribe = Scribe(json.dumps({"rules": [rule]}))
    written(scribe, Compared("部署", (good,), (bad,), 1.0), 2, [rule])
    assert rule in scribe.asked[0].text
    assert "\\u" not in said + scribe.asked[0].text + scribe.asked[0].system


# --- C6: flat groups --------------------------------------------------------------------------


def test_eight_attempts_that_are_the_same_teach_nothing_and_are_said_to_be(store, caplog):
    put(store, *(episode(f"e{n}", "hall:wait", rewards=[0.5]) for n in range(8)))
    learning = Learning(store, Distiller(store, None, 2), Gates(), 8, gap=0.25, threshold=0.75)
    head = store.head()
    with caplog.at_level(logging.INFO):
        learning.after(Task("t", "Win.", "s"), [])
    assert "no rule of round=1 at task=t: gap<0.25" in caplog.text
    assert "nearly the same (diversity 0.00)" in caplog.text
    assert store.head() == head


# --- C12: budgets -----------------------------------------------------------------------------


def sentence(n):
    """A rule of 40 tokens, different for each n."""
    text = f"When you see item {n:03d} in the list of all open orders, take "
    return text + "x" * (4 * 39 - len(text))


def test_of_three_hundred_rules_five_whole_ones_are_told_always_the_same(store):
    texts = [sentence(n) for n in range(300)]
    assert {tokens(text) for text in texts} == {40}
    planted(store, *texts)
    agent = opened("rulebook", store, EnvironmentRewards(), told=300, tokens=200)
    chosen = []
    for seed in range(5):
        acting = agent.episode()
        acting.begin(TASK, key="now", rng=np.random.default_rng(seed))
        acting.advise(State("item list open orders"), Prompt(TASK.goal, "", (), ("take x",)))
        acting._told.passed()  # a step was taken there
        spoke = {use.rule for use in acting._told.uses("now")}
        chosen.append([line.rule.text for line in acting._told.lines if line.rule.id in spoke])
    assert all(len(one) == 5 and one == chosen[0] for one in chosen)
    assert set(chosen[0]) <= set(texts)


def test_a_book_above_its_cap_loses_the_lowest_bounds_with_their_reason(store):
    old = planted(store, *(sentence(n) for n in range(6)), scope="s")
    young = planted(store, *(sentence(n) for n in range(6, 9)), status="candidate", scope="s")
    rng = np.random.default_rng(0)
    for n in range(60):
        told = rng.random(len(old)) < 0.5
        # The first rule helps, the others the less the later they come.
        score = float(np.clip(0.4 + 0.5 * told[0] - 0.1 * told[3:].sum(), 0, 1))
        lived = episode(f"e{n}", "hall:wait", task=f"t{n % 4}", rewards=[score])
        judgment = EnvironmentRewards().judge(lived)
        uses = [
            RuleUse(id, lived.key, bool(is_told), 0.5)
            for id, is_told in zip(old, told, strict=True)
        ]
        uses += [RuleUse(id, lived.key, n % 2 == 0, 0.5) for id in young if n < 10]
        store.commit(lived, judgment, (), uses)
    gates = Gates(most=5, bottom=0.0)
    gating = Gating(store, gates)
    lows = {id: of.low for id, of in gating.effects(old).items()}
    gating.thin("s")
    gone = [rule for rule in store.rules() if rule.status == "retired"]
    assert {rule.id for rule in gone} == set(sorted(old, key=lambda id: lows[id])[:4])
    assert all(rule.reason.startswith("above the cap of 5 rules: low bound ") for rule in gone)
    assert old[0] not in {rule.id for rule in gone}
    head = store.head()
    gating.thin("s")
    assert store.head() == head


def test_a_round_takes_the_lowest_rules_out_once_though_an_outcome_of_it_is_corrected(store):
    ids = planted(store, *(sentence(n) for n in range(20)), scope="s")
    for n in range(4):  # told and held out alike
        uses = [RuleUse(id, f"e{n}", n % 2 == 0, 0.5) for id in ids]
        lived = episode(f"e{n}", "hall:wait", task="other", rewards=[0.5])
        judgment = EnvironmentRewards().judge(lived)
        store.commit(lived, judgment, derive_rows(lived, judgment, gamma=0.5), uses)
    book = opened(
        "rulebook", store, EnvironmentRewards(), attempts=2, gates={"grace": 2, "bottom": 0.1}
    )
    for n, reward in enumerate((0.5, 0.5)):
        put(store, episode(f"t{n}", "hall:wait", task="t", rewards=[reward]))
        book.learning.after(Task("t", "Win.", "s"), [])
    lived = store.episode("t1")
    judgment = Scored((0.4,), "outcome")
    store.rederive("t1", Outcome(0.4), judgment, derive_rows(lived, judgment, gamma=0.5))
    book.again("t1")
    assert [rule.reason[:10] for rule in store.rules(status="retired")] == ["among the "] * 2


def test_the_cap_holds_though_rules_speak_at_no_step(store):
    old = planted(store, *(sentence(n) for n in range(8)), scope="s")
    for n in range(40):
        lived = episode(f"e{n}", "hall:wait", task="t", rewards=[1.0])
        store.commit(lived, EnvironmentRewards().judge(lived), ())
    young = planted(store, sentence(9), scope="s")
    gates = Gates(most=5)
    gating = Gating(store, gates)
    gating.thin("s")
    gone = {rule.id: rule.reason for rule in store.rules() if rule.status == "retired"}
    assert len(gone) == 4
    assert set(gone) < set(old)
    assert set(gone.values()) == {"above the cap of 5 rules: its condition never held"}
    assert not set(young) & set(gone)


# --- C7: a crash costs no lesson, and none is learned twice ------------------------------------


class Killed(Exception):
    """Stands for the end of the process."""


class Mortal(SQLiteStore):
    """A store whose process ends right after it acknowledged so many episodes, or rules."""

    left = 10**9
    of = "commit"

    def commit(self, *args, **more):
        receipt = super().commit(*args, **more)
        return self._done("commit", receipt)

    def add_rules(self, *args, **more):
        return self._done("add_rules", super().add_rules(*args, **more))

    def set_rule_status(self, *args, **more):
        return self._done("set_rule_status", super().set_rule_status(*args, **more))

    def _done(self, what, receipt):
        if what == self.of:
            self.left -= 1
            if not self.left:
                raise Killed
        return receipt


def book_of(path):
    with SQLiteStore(path, readonly=True) as store:
        rules = [(r.text, r.status, r.reason, r.evidence, r.version) for r in store.rules()]
        return rules, [c.id for c in store.contrasts()], store.rule_uses(), store.head()


def live(path, attempts, of="commit", left=10**9):
    """Play on where the journal ends, perhaps until the process is killed; whether it was."""
    with Mortal(path) as store:
        store.of, store.left = of, left
        done = len(list(store.episodes()))
        agent = opened("rulebook", store, EnvironmentRewards(), attempts=4, gates=GATES)
        try:
            agent.resume()  # as a run does
            lived(agent, Suggestible(2.0), attempts - done, first=done)
        except Killed:
            return True
    return False


GATES = {"trial": 16, "grace": 4, "bottom": 0.5, "tasks": 1, "alpha": 0.9}


def test_whenever_a_run_is_killed_the_book_ends_as_if_it_had_not_been(tmp_path):
    assert not live(tmp_path / "whole.db", 32)
    whole = book_of(tmp_path / "whole.db")
    assert any(status == "retired" for _, status, *_ in whole[0])
    points = [("commit", n) for n in range(1, 33)]
    points += [("add_rules", n) for n in (1, 2, 3)] + [("set_rule_status", n) for n in (1, 2, 3)]
    for number, (of, left) in enumerate(points):
        path = tmp_path / f"{number}.db"
        if live(path, 32, of, left):
            assert not live(path, 32)
        assert book_of(path) == whole, (of, left)


def test_what_a_killed_process_left_is_learned_before_the_first_episode_and_once(tmp_path):
    path = tmp_path / "killed.db"
    assert live(path, 32, left=8)
    with SQLiteStore(path) as store:
        before = store.head()
        agent = opened("rulebook", store, EnvironmentRewards(), attempts=4, gates=GATES)
        assert store.head() == before
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda _: agent.episode(), range(4)))
        learned = store.head()
        assert len(store.contrasts()) == 1
        assert learned > before
        agent.episode()
        assert store.head() == learned


class Down:
    """A model that writes rules, once the provider is back after so many failures."""

    name = "down"

    def __init__(self, failures):
        self.failures, self.asked = failures, 0

    def write(self, writing, read):
        self.asked += 1
        if self.asked <= self.failures:
            raise ModelError("provider down")
        return read('{"rules": ["When you see stage0, push2"]}')


def rounds_of(store):
    return [contrast.round for contrast in store.contrasts()]


def play_on(agent, first, attempts):
    """Attempts, also where one cannot be learned; how many could not."""
    failed = 0
    for attempt in range(first, first + attempts):
        try:
            lived(agent, Suggestible(0.0), 1, first=attempt)
        except ModelError:
            failed += 1
    return failed


def written_by(store, writer):
    return opened(
        "rulebook", store, EnvironmentRewards(), attempts=4, author="model", writer=writer
    )


def test_a_round_whose_distilling_failed_is_learned_after_the_next_attempt():
    with SQLiteStore(":memory:") as whole, SQLiteStore(":memory:") as store:
        play_on(written_by(whole, Down(0)), 0, 13)
        agent = written_by(store, Down(1))
        first = rounds_of(whole)[0]
        assert play_on(agent, 0, 4 * first) == 1
        assert rounds_of(store) == []
        assert play_on(agent, 4 * first, 13 - 4 * first) == 0
        assert rounds_of(store) == rounds_of(whole)
        assert [rule.text for rule in store.rules()] == [rule.text for rule in whole.rules()]


def test_a_round_that_could_not_be_written_is_learned_after_the_next_attempt(tmp_path):
    assert not live(tmp_path / "whole.db", 16)
    with Mortal(tmp_path / "full.db") as store, SQLiteStore(tmp_path / "whole.db") as whole:
        store.of, store.left = "add_rules", 1  # as on a disk that is full
        agent = opened("rulebook", store, EnvironmentRewards(), attempts=4, gates=GATES)
        with pytest.raises(Killed):
            lived(agent, Suggestible(2.0), 16)
        assert rounds_of(store) == []
        done = len(list(store.episodes()))
        assert done == 4 * rounds_of(whole)[0]
        lived(agent, Suggestible(2.0), 1, first=done)
        assert rounds_of(store) == rounds_of(whole)[:1]


def test_a_round_that_fails_again_is_owed_still_and_costs_no_later_one(caplog):
    with SQLiteStore(":memory:") as whole, SQLiteStore(":memory:") as store:
        play_on(written_by(whole, Down(0)), 0, 24)
        first = rounds_of(whole)[0]
        agent = written_by(store, Down(2))
        assert play_on(agent, 0, 4 * first + 1) == 1
        assert f"round={first} at task=protocol:0 is still owed: provider down" in caplog.text
        play_on(agent, 4 * first + 1, 23 - 4 * first)
        assert rounds_of(store) == rounds_of(whole)


def test_a_round_that_a_killed_process_left_is_learned_whoever_wrote_meanwhile(tmp_path):
    assert not live(tmp_path / "whole.db", 8)
    assert live(tmp_path / "killed.db", 8, left=8)
    with SQLiteStore(tmp_path / "whole.db") as whole, SQLiteStore(tmp_path / "killed.db") as store:
        assert rounds_of(whole) != rounds_of(store)
        planted(store, "When you see another page, go back")
        put(store, episode("other", "menu:wait", task="other"))
        agent = opened("rulebook", store, EnvironmentRewards(), attempts=4, gates=GATES)
        agent.resume()
        assert rounds_of(store) == rounds_of(whole)
        head = store.head()
        again = opened("rulebook", store, EnvironmentRewards(), attempts=4, gates=GATES)
        again.resume()
        assert store.head() == head


def test_attempts_that_another_agent_made_are_no_rounds_that_are_owed(store):
    for n in range(8):
        key, step, paid = f"e{n}", f"menu:{'ab'[n % 2]}", float(n % 2)
        put(store, episode(key, step, task="t", rewards=[paid], info={"family": "kind"}))
    put(store, episode("last", "menu:a", task="t", rewards=[0.0]))
    opened("rulebook", store, EnvironmentRewards(), attempts=4).resume()
    assert not store.contrasts()


def test_what_is_learned_in_one_scope_is_told_there_though_another_has_the_text(store):
    def taught(scope):
        for n, paid in enumerate((1.0, 0.0)):
            step = f"menu:{'ab'[n]}"
            put(store, episode(f"{scope}{n}", step, task="t", scope=scope, rewards=[paid]))
        book = opened("rulebook", store, EnvironmentRewards(), attempts=2)
        book.learning.after(Task("t", "Win.", scope, "kind"), [])
        return [(rule.text, rule.scope) for rule in store.rules(scope=scope)]

    (first,), (second,) = taught("here"), taught("there")
    assert (first[0], first[1], second[1]) == (second[0], "here", "there")
    assert len({rule.id for rule in store.rules()}) == 2
    for scope in ("here", "there"):
        acting = opened("rulebook", store, EnvironmentRewards()).episode()
        acting.begin(Task("t", "Win.", scope, "kind"), key="k", rng=np.random.default_rng(0))
        assert len(acting._told.lines) == 1
