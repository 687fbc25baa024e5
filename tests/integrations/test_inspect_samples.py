"""Samples of an Inspect evaluation are episodes: lived through, or read from its log."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

import jitrl
from jitrl.integrations import inspect_turns
from jitrl.integrations.conversation import Message
from jitrl.stores.sqlite import SQLiteStore

HERE = Path(__file__).parent
EXAMPLE = HERE.parents[1] / "examples" / "inspect_desk.py"
needs_inspect = [
    pytest.mark.frameworks,
    pytest.mark.skipif(not find_spec("inspect_ai"), reason="inspect-ai is not installed"),
]


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """The folder of the evaluations, and what they printed."""
    folder = tmp_path_factory.mktemp("evaluations")
    done = subprocess.run(
        [
            sys.executable,
            "-X",
            "utf8",
            str(HERE / "inspect_evaluations.py"),
            str(folder),
            str(EXAMPLE),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout.splitlines()[-1]), done.stderr


def episodes(path):
    with SQLiteStore(path, readonly=True) as store:
        return {episode.key: episode for episode in store.episodes()}


class TestEvaluations:
    pytestmark = needs_inspect

    def test_an_agent_gets_better_from_sample_to_sample(self, played):
        _, found, _ = played
        first, *_, last = found["solved"]
        assert first < last == 3

    def test_a_sample_is_an_episode_whose_score_is_its_outcome(self, played):
        folder, _, _ = played
        lived = list(episodes(folder / "desk.db").values())
        assert len(lived) == 15
        assert {e.task for e in lived} == {"desk/broken", "desk/twice", "desk/lost"}
        assert {(e.scope, e.outcome.basis, e.outcome.evaluator, e.status) for e in lived} == {
            ("desk", "test", "includes", "terminated")
        }
        actions = {step.action for e in lived for step in e.steps}
        assert 'settle(how="resend", order: integer)' in actions
        assert "submit(answer: string)" in actions

    def test_a_rule_stands_at_the_end_of_the_instructions(self, played):
        heard = played[1]["systems"]
        assert heard[0].endswith("- When the task is to do it, call settle with how resend.")
        assert not heard[0].startswith("Rules")  # Inspect's own come first
        assert played[1]["told"] == [True]

    def test_an_answer_names_its_decision(self, played):
        folder, found, _ = played
        turned = [note for note in found["notes"] if note["own"] != note["action"]]
        assert turned
        with jitrl.open(folder / "desk.db") as agent:
            why = agent.explain(turned[0]["decision"])
        assert why.decision.action == turned[0]["action"]

    def test_a_log_gives_the_states_and_actions_that_were_lived_through(self, played):
        folder, found, _ = played
        lived = episodes(folder / "desk.db")
        assert found["eval"] == found["json"]
        assert {run["key"] for run in found["eval"]} == set(lived)
        for run in found["eval"]:
            steps = [(s["state"], s["action"]) for s in run["steps"]]
            assert steps == [
                ({"text": s.state.text, "context": s.state.context, "place": s.state.place}, a)
                for s, a in ((step, step.action) for step in lived[run["key"]].steps)
            ]
            assert (run["outcome"], run["basis"]) == (lived[run["key"]].outcome.value, "test")
            assert run["scope"] == "other"
            assert 'settle(how="trace", order: integer)' in run["steps"][0]["candidates"]

    def test_a_log_is_imported_into_quarantine_and_not_where_it_was_lived(self, played):
        folder, found, said = played
        assert found["import"] == [0, 0]
        assert "15 episodes added" in said
        assert "0 episodes added with 0 rows (0 in quarantine), 15 there already" in said
        with SQLiteStore(folder / "new.db", readonly=True) as store:
            rows = [row for key in episodes(folder / "new.db") for row in store.rows(key)]
            assert {(row.status, row.source) for row in rows} == {
                ("quarantined", "principal:import")
            }

    def test_a_sample_that_is_tried_again_is_one_episode_and_options_are_followed(self, played):
        folder, found, _ = played
        again, wordy = episodes(folder / "other.db").values()
        assert [step.action for step in again.steps] == [
            'settle(how="refund", order: integer)',
            "submit(answer: string)",
        ]
        assert (again.outcome.value, again.outcome.basis, again.scope) == (1.0, "human", "mine")
        assert (wordy.status, {step.action for step in wordy.steps}) == ("truncated", {"answer"})
        assert found["left_out"] == ["sample s: no tool was called"]


@pytest.mark.parametrize(
    ("scores", "name", "outcome"),
    [
        ({"includes": "C"}, "", ("includes", 1.0)),
        ({"includes": "I"}, "", ("includes", 0.0)),
        ({"a": "P"}, "", ("a", 0.5)),
        ({"a": "N"}, "", ("a", 0.0)),
        ({"a": "no"}, "", ("a", 0.0)),
        ({"a": True}, "", ("a", 1.0)),
        ({"a": 3}, "", ("a", 3.0)),
        ({"a": "0.25"}, "", ("a", 0.25)),
        ({"a": "good"}, "", None),
        ({"a": float("nan")}, "", None),
        ({"a": {"x": 1}, "b": 0}, "", ("b", 0.0)),
        ({"a": 1, "b": 0}, "b", ("b", 0.0)),
        ({"a": 1}, "b", None),
        ({}, "", None),
        (None, "", None),
    ],
)
def test_a_score_that_is_no_number_is_no_outcome(scores, name, outcome):
    given = scores and {k: SimpleNamespace(value=v) for k, v in scores.items()}
    assert inspect_turns.outcome_of(given, name) == outcome


def test_a_models_grade_is_no_test():
    assert inspect_turns.basis_of("model_graded_qa") == "llm_judge"
    assert inspect_turns.basis_of("includes") == "test"


def test_a_call_that_could_not_be_read_stays_unreadable():
    call = SimpleNamespace(function="settle", arguments={}, parse_error="no JSON")
    said = SimpleNamespace(role="assistant", text="", tool_calls=[call])
    assert inspect_turns.message_of(said) == Message("assistant", "", inspect_turns.calls_of(said))
    assert inspect_turns.calls_of(said)[0].arguments == "unreadable"
