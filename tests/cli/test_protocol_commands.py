import json
from importlib.util import find_spec

import pytest

from jitrl.bench.choices import CHOICES
from jitrl.cli.shared.arms import parsed
from jitrl.errors import ModelError
from jitrl.models.embedded import installed
from jitrl.stores.sqlite import SQLiteStore

ENV = ("--env", "toy", "--env-options", "tasks=8,size=2", "--model", "scripted")
SMALL = (*ENV, "--attempts", "2", "--seeds", "1", "--tasks", "6")
EMBEDDER = "jitrl.testing.embedder:embed"
NEAR = ("--set", "memory.retrieval.threshold=0.1")


def test_a_choice_is_measured_with_curve_shares_and_report_and_goes_on_where_it_was(
    jitrl, tmp_path
):
    asked = ("bench", "choices", "--what", "beta", *SMALL, *NEAR, "--out", "c", "--json")
    done = jitrl(*asked)
    assert done.code == 0
    assert done.data["schema"] == "jitrl.bench.choices/1"
    labels = [row["label"] for row in done.data["rows"]]
    assert labels[:3] == ["default", "static", "beta 0"]
    assert done.data["base"] == "default"
    assert 0 < done.data["shares"]["default"]["share"] < 1
    assert done.data["shares"]["static"]["share"] is None
    page = (tmp_path / "here" / "c" / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 6
    assert ">beta 300</text>" in page
    assert jitrl(*asked).data["rows"] == done.data["rows"]


def test_tasks_that_nobody_asked_for_are_no_more_than_there_are(jitrl):
    few = ("--env", "toy", "--env-options", '{"tasks": 6, "size": 2}', "--model", "scripted")
    asked = ("bench", "choices", "--what", "beta", "--agents", "static", *few)
    small = (*asked, "--attempts", "1", "--seeds", "1", "--json")
    done = jitrl(*small)
    assert done.code == 0, done.err
    assert done.data["shape"]["tasks"] == 6
    refused = jitrl(*small, "--tasks", "7")
    assert (refused.code, "run.tasks is 7, the environment has 6" in refused.err) == (3, True)


def test_arms_can_be_fewer(jitrl):
    asked = ("bench", "choices", "--what", "update", "--agents", "static", *SMALL, "--json")
    assert [row["label"] for row in jitrl(*asked).data["rows"]] == ["rows in scores", "static"]


def test_rows_in_scores_and_in_a_prompt_are_the_same_without_lessons():
    arms = parsed({}, CHOICES["update"].arms)
    rows = {arm.label: arm.settings for arm in arms if arm.label.startswith("rows in ")}
    assert {s.run.agent for s in rows.values()} == {"jitrl", "prompt-update"}
    assert [s.memory.rule for s in rows.values()] == [{"transfer": 0}] * 2


def test_words_and_vectors_are_arms_of_one_comparison(jitrl, tmp_path):
    embedding = "memory.retrieval.kind=embedding,memory.retrieval.embedder=" + EMBEDDER
    done = jitrl(
        *("compare", *SMALL, "--arm", "overlap=jitrl", "--arm", f"vectors=jitrl,{embedding}"),
        *("--out", "c", "--json"),
    )
    assert done.code == 0
    assert [row["label"] for row in done.data["rows"]] == ["overlap", "vectors"]
    here = tmp_path / "here" / "c"
    records = {path.parent.name: json.loads(path.read_text()) for path in here.glob("*/run.json")}
    assert records["overlap"]["embedder"] == ""
    assert records["vectors"]["embedder"].startswith(EMBEDDER)
    assert records["vectors"]["settings"]["memory"]["retrieval"] == {
        "kind": "embedding",
        "embedder": EMBEDDER,
    }
    assert [path.parent.name for path in here.glob("*/jitrl-vectors.db")] == ["vectors"]
    with SQLiteStore(here / "vectors" / "seed-0.db", readonly=True) as store:
        *_, decision = [record.id for record in store.decisions()]
    explained = jitrl("explain", "c/vectors", decision, "--json")
    assert explained.code == 0
    assert {without["exact"] for without in explained.data["without"]} == {True}


@pytest.mark.model
def test_words_embeddings_and_the_very_state_are_compared(jitrl):
    try:
        installed()
    except ModelError:
        pytest.skip("the embedded model is not installed (jitrl model install)")
    small = (*ENV, "--attempts", "2", "--seeds", "1", "--tasks", "2")
    done = jitrl("bench", "choices", "--what", "similarity", *small, "--json")
    assert done.code == 0
    labels = [row["label"] for row in done.data["rows"]]
    words = ["wordllama"] * (find_spec("wordllama") is not None)
    assert [label for label in labels if not label.endswith("rows only")] == [
        *("default", "static", "exact", "embedded", *words)
    ]
    rows_only = [f"{label} rows only" for label in ("default", "exact", "embedded", *words)]
    assert [label for label in labels if label.endswith("rows only")] == rows_only
    assert ("left out, since it is not installed: wordllama" in done.err) is not words


def test_a_search_by_words_and_by_vectors_is_timed_over_the_same_states(jitrl):
    asked = ("bench", "search", "--embedder", EMBEDDER, "--states", "20", "--states", "60")
    done = jitrl(*asked, "--texts", "30", "--queries", "5", "--repeats", "2", "--json")
    assert done.code == 0
    assert done.data["schema"] == "jitrl.bench.search/1"
    of = [(s["by"].split(" ")[0], s["states"], s["embedded"]) for s in done.data["searched"]]
    assert of == [("words", 20, 0), (EMBEDDER, 20, 20), ("words", 60, 0), (EMBEDDER, 60, 30)]
    assert [s["width"] for s in done.data["searched"]] == [0, 16, 0, 16]
    assert all(s["search"]["p50"]["median"] > 0 for s in done.data["searched"])
    assert done.data["settings"]["old_queries"] == 5
    assert "were asked for" not in done.err
    assert jitrl("bench", "search", "--embedder", "mine").code == 3


def test_a_search_of_fewer_states_than_queries_says_so(jitrl):
    asked = ("bench", "search", "--embedder", EMBEDDER, "--states", "4", "--repeats", "1")
    done = jitrl(*asked, "--texts", "4", "--queries", "6", "--json")
    assert "6 old states in the smallest index were asked for; there are 4" in done.err
    assert (done.data["settings"]["queries"], done.data["settings"]["old_queries"]) == (6, 4)


def test_the_paper_is_printed_without_a_model(jitrl):
    done = jitrl("bench", "paper")
    assert done.code == 0
    for fact in ("arXiv:2601.18510", "46.98", "told the gold outcome", "25 points"):
        assert fact in " ".join(done.err.split())
    assert jitrl("bench", "paper", "--json").data["measured"] == []


def test_the_table_of_the_paper_is_run_under_its_protocol_and_found_again(jitrl):
    asked = ("bench", "paper", *ENV, "--agents", "static,jitrl", "--out", "p")
    done = jitrl(*asked, "--json")
    assert done.code == 0
    assert "Estimate of what is left" in done.err
    [group] = done.data["measured"]
    assert [row["agent"] for row in group["rows"]] == ["jitrl", "static"]
    assert {row["attempts"] for row in group["rows"]} == {5}
    read = jitrl("bench", "paper", "p", "--json")
    assert read.err.index("Measured here") < read.err.index("Printed in the paper")
    assert read.data["measured"] == done.data["measured"]
    assert "+0.113" in read.err  # the paper's lead, beside the one measured here
    again = jitrl(*asked)
    assert " 0  " in again.err.partition("together")[0]  # nothing is left to play


def test_the_budget_of_the_table_is_one_for_all_agents_and_it_can_be_resumed(jitrl):
    asked = ("bench", "paper", *ENV, "--agents", "static,jitrl", "--out", "p", "--json")
    stopped = jitrl(*asked, "--max-calls", "70")
    assert (stopped.code, stopped.out) == (6, "")
    assert "resumes p" in stopped.err
    done = jitrl(*asked)
    assert done.code == 0
    assert sum(row["bill"]["calls"] for row in done.data["measured"][0]["rows"]) > 70


def test_what_may_cost_money_is_not_run_unasked(jitrl, tmp_path):
    (tmp_path / "here" / "mine.py").write_text("def rate(prompt):\n    return {}\n")
    done = jitrl(
        *("bench", "paper", "--env", "toy", "--model", "openai", "--agents", "static"),
        *("--model-options", "model=m,base_url=http://127.0.0.1:9/v1,deadline=1,tries=1"),
        *("--pilot", "0", "--max-usd", "1", "--out", "p"),
    )
    assert done.code in (2, 5)  # it asks first; a probe may find out earlier that nobody answers


@pytest.mark.parametrize(
    "args", [("bench", "paper", "none"), ("bench", "paper", "x", "--out", "y")]
)
def test_a_folder_that_is_none_and_two_wishes_are_usage_errors(jitrl, args):
    assert jitrl(*args).code == 2


def test_tune_keeps_the_settings_in_force_where_there_is_no_evidence(jitrl, tmp_path):
    asked = ("tune", *ENV, "--attempts", "2", "--episodes", "60", "--held-out", "0.75")
    done = jitrl(*asked, "--out", "t", "--json")
    assert done.code == 0
    assert done.data["schema"] == "jitrl.tune/1"
    assert (done.data["is_better"], done.data["settings"]) == (False, {})
    assert not (tmp_path / "here" / "t" / "jitrl.toml").exists()
    assert done.data["held_out"] is None
    assert "so held-out tasks were not played" in " ".join(done.err.split())
    assert len(done.data["plan"]["held"]) == 6
    assert (tmp_path / "here" / "t" / "answers.db").is_file()  # later candidates use them again
    assert jitrl(*asked, "--out", "t", "--json").data == done.data


def test_tune_writes_settings_that_are_better_on_held_out_tasks(jitrl, tmp_path):
    lost = ("--rule", "choose=sample,temperature=1000000", "--set", "environment.options.tasks=10")
    done = jitrl(  # with this seed the one other candidate takes the best action
        *("tune", *ENV, *lost, "--attempts", "8", "--episodes", "160", "--held-out", "0.6"),
        *("--seed", "5", "--out", "t", "--json"),
    )
    assert done.code == 0
    assert done.data["settings"]["rule.choose"] == "argmax"
    assert done.data["held_out"]["rows"][1]["difference"]["low"] > 0
    assert [row["label"] for row in done.data["held_out"]["rows"]] == ["default", "tuned"]
    written = tmp_path / "here" / "t" / "jitrl.toml"
    new = '[memory]\nrule = { choose = "argmax", temperature = 1000000 }\n'
    assert written.read_text() == new
    again = [*("tune", *ENV, *lost, "--attempts", "8", "--episodes", "160"), "--held-out", "0.6"]
    assert jitrl(*again, "--seed", "5", "--out", "t").code == 0
    written.write_text("[run]\nattempts = 3\n")
    kept = jitrl(*again, "--seed", "5", "--out", "t")
    assert (kept.code, "holds other settings and is left as it is" in kept.err) == (4, True)
    assert new in kept.err
    assert written.read_text() == "[run]\nattempts = 3\n"


def test_tune_is_refused_where_no_memory_is_followed(jitrl):
    done = jitrl("tune", *ENV, "--set", "memory.mode=shadow", "--out", "t")
    assert (done.code, "memory.mode is 'shadow'" in done.err) == (3, True)


def test_a_budget_too_small_for_two_candidates_is_refused_before_anything_is_played(
    jitrl, tmp_path
):
    done = jitrl("tune", *ENV, "--episodes", "5", "--held-out", "0.75", "--out", "t")
    assert (done.code, "too small" in done.err) == (2, True)
    assert not list((tmp_path / "here" / "t").glob("round-*"))


def test_seconds_limit_a_search_at_the_pace_of_its_first_run(jitrl):
    common = ("tune", *ENV, "--attempts", "2", "--held-out", "0.75", "--json")
    short = jitrl(*common, "--out", "a", "--seconds", "1", "--episodes", "100000")
    if short.code:  # too slow a machine for two candidates in a second
        assert (short.code, "too small" in short.err) == (2, True)
    else:
        assert short.data["plan"]["candidates"] < 64
