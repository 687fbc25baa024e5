"""What the pages say is what the library says, number by number."""

import html
import json
import re
from contextlib import closing

import numpy as np
import pytest

import jitrl
from jitrl.analysis.bill import bill, extra
from jitrl.analysis.compare import compare
from jitrl.analysis.doctor import OF_RULES, examine
from jitrl.analysis.doctor.load import load
from jitrl.analysis.influence import influence
from jitrl.analysis.recorded import calibration
from jitrl.analysis.results import gather
from jitrl.analysis.rulebook import shown
from jitrl.config import Memory
from jitrl.core.returns import returns_to_go
from jitrl.core.sentences import rule_id
from jitrl.memory.explain import without_rows
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Rule

pytestmark = pytest.mark.server


def text(answer):
    """What is read on a page, without its marks."""
    assert answer.status_code == 200, answer.text
    plain = re.sub(r"<(script|style|svg).*?</\1>|<[^>]*>", " ", answer.text, flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(plain))


def percent(share):
    from jitrl.service.pages.rendering import percent

    return percent(share)


def test_a_curve_has_the_means_bands_and_numbers_of_the_comparison(visit, runs):
    client = visit(runs)
    page = client.get("/p/jitrl/curve")
    found = compare(gather([str(runs)]))
    line = next(line for line in found.lines if line.result.label == "jitrl")
    said, tasks = text(page), found.shape[0]
    difference = line.difference
    assert f"jitrl: {difference.verdict} than static: {difference.mean:+.3f}" in said
    assert f"n = {tasks} tasks" in said
    drawn = json.loads(html.unescape(re.search(r'data-chart="([^"]*)"', page.text)[1]))
    ours = next(one for one in drawn["lines"] if one["label"] == "jitrl")
    assert ours["mean"] == list(line.curve.mean)
    assert ours["n"] == [found.shape[0] * found.shape[1]] * found.shape[2]
    for k, band in enumerate(line.curve.band):
        low = getattr(band, "low", None)
        assert ours["low"][k] == low
        assert f"n = {ours['n'][k]}" in said
        assert low is None or f"[{low:.3f}, {band.high:.3f}]" in said


def test_a_memorys_curve_sets_its_episodes_beside_those_held_out(visit, memory):
    page = visit(memory).get("/p/support.db/curve")
    drawn = json.loads(html.unescape(re.search(r'data-chart="([^"]*)"', page.text)[1]))
    ours, held = drawn["lines"]
    with closing(SQLiteStore(memory, readonly=True)) as store:
        records = [r for r in store.records() if hasattr(r.judgment, "rewards")]
    sums = [(r.episode.holdout, sum(r.judgment.rewards)) for r in records]
    for line, is_held in ((ours, False), (held, True)):
        scores = [score for one, score in sums if one == is_held]
        known = [(m, n) for m, n in zip(line["mean"], line["n"], strict=True) if n]
        assert sum(n for _, n in known) == len(scores)
        assert sum(m * n for m, n in known) == pytest.approx(sum(scores))
    said = text(page)
    (case,) = load([memory], Memory())
    effect = examine(case)["effect"].numbers
    assert f"{effect['mean']:+.3f} [{effect['low']:+.3f}, {effect['high']:+.3f}]" in said
    assert "which are not in the curve: 3" in said


def lone(path, count, held):
    """A memory whose tasks each come once; only with the memory are they solved."""
    for n in range(count):
        with jitrl.open(path, holdout=float(n < held)) as memory, memory.episode(f"t{n}") as one:
            one.decide("s", {"a": 0.0, "b": 0.0})
            one.finish(not one.holdout)
    return path


@pytest.mark.parametrize(
    ("held", "said", "chinese"),
    [
        (
            8,
            "With the memory: better than held-out episodes, by episodes, not by tasks: +1.000",
            "与留出的回合相比更好（按回合而非按任务）：+1.000",
        ),
        (2, "Too few to judge whether the memory helps. Tasks in both groups: 0", "太少，无法判断"),
    ],
)
def test_tasks_that_come_once_get_a_verdict_by_episodes_or_none(
    visit, tmp_path, held, said, chinese
):
    client = visit(lone(tmp_path / "m.db", 20, held))
    page = text(client.get("/p/m.db/curve"))
    assert said in page
    assert f"held out: {held}" in page
    assert "+0.000" not in page
    assert chinese in text(client.get("/p/m.db/curve", params={"lang": "zh"}))


def test_an_unfinished_run_is_shown_as_far_as_it_was_played(visit, runs, tmp_path):
    import shutil

    part = tmp_path / "part"
    shutil.copytree(runs / "jitrl", part)
    (part / "seed-1.db").unlink()
    (part / "seed-1.db.lock").unlink(missing_ok=True)
    said = text(visit(part).get("/p/part/curve"))
    assert "30 of 60 episodes are played" in said
    assert said.count("n = 6") >= 5


def decisions(path):
    with closing(SQLiteStore(path, readonly=True)) as store:
        return list(store.decisions())


def test_a_decision_shows_every_number_that_made_it(visit, memory):
    client = visit(memory)
    record = next(
        r for r in decisions(memory)[::-1] if r.decision.changed and not r.decision.reason
    )
    page = client.get("/p/support.db/decision", params={"id": record.id})
    said, decision = text(page), record.decision
    assert "The memory changed the choice." in said
    for c in decision.candidates:
        assert c.action in said
        assert f"{percent(c.prior)}" in said
        assert f"{c.q:.3f} {round(c.advantage, 3) + 0.0:+.3f}" in said
        assert f"→ {round(c.corrected, 2) + 0.0:+.2f} {percent(c.probability)}" in said
    assert f"V, what the state is worth, is {decision.value:.3f}" in said
    with closing(SQLiteStore(memory, readonly=True)) as store:
        rows = {row.id: row for change in store.changes(0) for row in change.rows}
    near = [n for n in decision.neighbors if n.rows]
    assert near
    for n in near[:10]:
        assert f"{n.similarity:.3f}" in said
        for row in n.rows:
            assert (
                f"row {row} {rows[row].basis.replace('_', ' ')}, return {rows[row].ret:+.3f}"
                in said
            )
    assert record.state.text.splitlines()[1] in said


def test_without_a_row_a_decision_is_what_the_library_makes_of_it(visit, memory):
    client, found = visit(memory), set()
    turned = [r for r in decisions(memory)[::-1] if r.decision.changed and not r.decision.reason]
    with jitrl.open(memory) as opened:
        for record in turned[:12]:
            taken = record.decision.action
            rows = [row for n in record.decision.neighbors if n.action == taken for row in n.rows]
            if not rows:
                continue
            given = {"id": record.id, "rows": ",".join(map(str, rows))}
            made = without_rows(opened.agent, opened.store, record.id, rows)
            said = text(client.get("/p/support.db/without", params=given))
            for c in made.candidates:
                assert percent(c.probability) in said
            is_turned = made.action != taken
            assert ("the choice would be" in said) == is_turned
            found.add(is_turned)
            if len(found) == 2:
                break
    assert True in found


def test_without_each_episode_says_what_explain_says(visit, memory):
    client = visit(memory)
    record = next(r for r in decisions(memory)[::-1] if r.decision.changed)
    with jitrl.open(memory) as opened:
        explained = opened.explain(record.id, most=3)
    for _ in range(100):
        said = text(client.get("/p/support.db/others", params={"id": record.id, "most": 3}))
        if "Leaving out" not in said:
            break
    for other in explained.without:
        assert f"{other.episode}" in said
        assert percent(other.probability) in said
    assert f"Look at {explained.others} more" in said


def test_an_episode_shows_how_its_returns_came_about_and_its_outcomes(visit, memory):
    client = visit(memory)
    with closing(SQLiteStore(memory, readonly=True)) as store:
        record = next(
            r
            for r in store.records()
            if len(r.episode.steps) == 2 and sum(getattr(r.judgment, "rewards", (0,))) == 1
        )
        gamma = store.settings()["gamma"]
    gains = returns_to_go(np.array(record.judgment.rewards), gamma)
    said = text(client.get("/p/support.db/episode", params={"key": record.episode.key}))
    assert f"0 {gains[0]:.3f} 0 + {gamma:g} × {gains[1]:.3f}" in said
    assert f"1 {gains[1]:.3f} 1 + {gamma:g} × 0.000" in said
    said = text(client.get("/p/support.db/episode", params={"key": "ticket-0003"}))
    history = said[said.index("What was said of the end") :]
    assert re.search(r"1 a person .* withdrawn .* 0 a person .* counts", history)
    said = text(client.get("/p/support.db/episode", params={"key": "ticket-0008"}))
    assert "Nothing is learned from it: neither rewards nor an outcome were given." in said


def test_a_row_names_its_lineage_and_the_decisions_it_changed(visit, memory):
    client = visit(memory)
    with jitrl.open(memory) as opened:
        turned, row = next(
            (found, row)
            for row in range(1, 60)
            if (found := influence(opened.agent, opened.store, [row]))
        )
        assert [one.id for one in turned] == opened.replay(without=[row])
    for _ in range(200):
        said = text(client.get("/p/support.db/influence", params={"id": row}))
        if "Making the stored" not in said:
            break
    assert f"without these rows: {len(turned)}" in said
    for one in turned:
        assert one.id in said
        assert f"{percent(one.before)} → {percent(one.after)}" in said
    said = text(client.get("/p/support.db/row", params={"id": row}))
    assert "Learned in version" in said
    assert "Judged by environment," in said


def test_rules_have_their_effects_obedience_and_conflicts(visit, book):
    client = visit(book)
    said = text(client.get("/p/book/rules"))
    with closing(SQLiteStore(book / "seed-0.db", readonly=True)) as store:
        rules, uses, counts = store.rules(), store.rule_uses(), store.rule_counts(1.0)
    assert rules
    for rule in rules:
        seen = shown(uses.get(rule.id, ()), counts.get(rule.id))
        assert rule.text in said
        assert not seen.bounds or seen.bounds in said
        assert f"{seen.obeyed}/{seen.occasions}" in said
        own = text(client.get("/p/book/rule", params={"id": rule.id}))
        assert f"told {seen.counts.uses} {seen.counts.wins}" in own
    assert "disagrees with:" in said


def test_stored_verdicts_stand_beside_the_truth(visit, runs):
    client = visit(runs)
    for _ in range(200):
        said = text(client.get("/p/jitrl/evaluator"))
        if "Reading the judgments" not in said:
            break
    records = []
    for seed in (0, 1):
        with closing(SQLiteStore(runs / "jitrl" / f"seed-{seed}.db", readonly=True)) as store:
            records += store.records()
    ((name, found),) = calibration(records).items()
    gold = found.gold
    assert name in said
    assert f"accuracy {gold.accuracy:.3f} · κ {gold.kappa:.3f}" in said
    confusion = gold.confusion
    for truth in ("success", "failure"):
        cells = " ".join(str(confusion[truth].get(v, 0)) for v in ("success", "failure"))
        assert f"{truth} {cells} 0 0" in said


def test_costs_are_those_of_the_ledger_and_of_each_extra_success(visit, runs):
    said = text(visit(runs).get("/p/jitrl/cost"))
    found = compare(gather([str(runs)]))
    line = next(line for line in found.lines if line.result.label == "jitrl")
    took, more = bill(line.result), extra(found, line)
    assert f"acting {took.acting:,} answers" in said
    if more is not None:
        assert f"{more.calls:+.2f} answers; {more.gained:g} successes beyond static" in said
    else:
        assert "no evidence of any extra success" in said


def test_the_doctor_says_the_same_as_on_the_command_line(visit, runs):
    from jitrl.report.ailments import LANGUAGES
    from jitrl.report.ailments.words import ailment, evidence

    client = visit(runs)
    for _ in range(200):
        said = text(client.get("/p/jitrl/doctor"))
        if "Examining" not in said:
            break
    (case,) = load([runs / "jitrl", runs / "static"], Memory())
    words, number = LANGUAGES["en"], 0
    for name, finding in examine(case).items():
        if finding.status == "unknown" and (case.has_rules or name not in OF_RULES):
            title = words.checks[name].title
            lead = words.lacking.rstrip(": ") if finding.n else words.absent.rstrip(": ")
            rest = said[said.index(lead) :]
            assert f"{title} (n = {finding.n})" in rest if finding.n else title in rest
        if finding.status == "finding":
            kind = ailment(words, name, finding)
            assert re.sub(r"\s+", " ", kind.claim) in said
            assert re.sub(r"\s+", " ", kind.remedy) in said
            assert " ".join(kind.settings) in said
            assert said.count(kind.command) == 2 or not kind.command
            number += 1
        if finding.status == "fine":
            assert re.sub(r"\s+", " ", evidence(words, name, finding)) in said
    assert f"{number} to mend" in said


def test_a_decision_shows_the_rules_that_spoke_to_it(visit, tmp_path):
    said = "When the mail is open, attach sheet"
    with jitrl.open(tmp_path / "m.db", rules={"attempts": 0, "holdout": 0.5}) as memory:
        memory.store.add_rules([Rule(rule_id(said), said, author="ann", status="active")])
        for n in range(12):
            with memory.episode("send the report", key=f"e{n}") as episode:
                episode.notes("The mail is open.")
                episode.decide("The mail is open.", {"attach sheet": 0.0})
                episode.finish(True)
        told = [memory.store.decision(f"e{n}#0").decision.notes[0].told for n in range(12)]
        seen = shown(memory.store.rule_uses()[rule_id(said)], None)
    client, seen_as = visit(tmp_path / "m.db"), {True: "told 5", False: "held out 5"}
    assert set(told) == set(seen_as)
    page = text(client.get("/p/m.db/decision?id=e0%230"))
    assert f"{said} {seen_as[told[0]]}0% yes" in page
    assert seen.bounds in page
