import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitrl.errors import ConfigError, InputError, LogprobsUnavailable, ModelError
from jitrl.models import calls
from jitrl.models.callable import CallableModel
from jitrl.models.calls import Answer, Message, Write
from jitrl.models.channel import Channel, Retry
from jitrl.models.prompts import Style
from jitrl.models.proposer import ScoringProposer
from jitrl.models.scorers import Letters, Sequence
from jitrl.models.scripted import Scripted, ScriptedEndpoint
from jitrl.models.stated import Verbalized
from jitrl.ports import Proposer
from jitrl.types import Candidate, Prompt

STYLE = Style()
STEP = Prompt("goal", "page", (), ("a", "b"))


def logits(proposal):
    return {candidate.action: candidate.logit for candidate in proposal.candidates}


# --- prompts ---------------------------------------------------------------------------------


def test_a_prompt_shows_page_history_goal_and_notes():
    step = Prompt("Find it", "A page", ("one()", "two()", "three()"), (), "A rule.")
    system, user = Style(history=2).messages(step)
    assert system.role == "system"
    parts = ("A rule.", "Observation:\nA page", "Actions so far: two(); three()", "Goal: Find it")
    assert user.text == "\n\n".join(parts)


def test_history_can_be_left_out_and_may_be_short():
    step = Prompt("Find it", "A page", ("one()",))
    assert "one()" not in Style(history=0).messages(step)[1].text
    assert "Actions so far: one()" in Style(history=8).messages(step)[1].text
    assert "Actions so far: none" in Style(history=8).messages(Prompt("g", "o"))[1].text


@pytest.mark.parametrize(
    ("goal", "language", "is_chinese"),
    [
        ("部署前必须运行测试", "auto", True),
        ("データベースの設定を確認する", "auto", False),
        ("Find 部署 in the page", "auto", True),
        ("Find it", "auto", False),
        ("Find it", "zh", True),
        ("部署前必须运行测试", "en", False),
    ],
)
def test_the_language_is_set_or_follows_the_goal(goal, language, is_chinese):
    text = Style(language).messages(Prompt(goal, "o"))[1].text
    assert ("目标：" in text) == is_chinese


def test_the_content_free_step_keeps_the_language():
    style = Style()
    assert "目标： 无" in style.messages(style.content_free(Prompt("部署前", "o")))[1].text


def test_the_content_free_step_has_no_notes_so_that_calibration_does_not_undo_them():
    style = Style()
    noted = style.content_free(Prompt("Open it.", "o", (), ("a",), "The right action is a."))
    assert noted == style.content_free(Prompt("Open it.", "o", (), ("a",)))


# --- scripted and callable models ------------------------------------------------------------


def test_every_model_is_a_proposer():
    for model in (Scripted(), CallableModel(lambda prompt: {"a": 1.0})):
        proposer: Proposer = model
        assert isinstance(proposer.name, str)


def test_a_script_gives_its_logits_in_the_order_of_the_step(rng):
    model = Scripted({"b": 2.0, "c": 9.0}, default=-1.0)
    proposal = model.propose(STEP, rng)
    assert [(c.action, c.logit) for c in proposal.candidates] == [("a", -1.0), ("b", 2.0)]
    assert (proposal.scorer, proposal.model, proposal.calls) == ("scripted", "scripted", 1)
    assert model.calls == 1


def test_scripted_noise_depends_on_page_goal_action_and_seed_alone(rng):
    base = logits(Scripted(noise=1.5).propose(STEP, rng))
    assert (
        logits(Scripted(noise=1.5).propose(Prompt("goal", "page", ("x",), ("b", "a")), rng)) == base
    )
    assert base["a"] != base["b"]
    for other in (Prompt("other", "page", (), ("a",)), Prompt("goal", "other", (), ("a",))):
        assert logits(Scripted(noise=1.5).propose(other, rng))["a"] != base["a"]
    assert logits(Scripted(noise=1.5, seed=1).propose(STEP, rng)) != base


def test_scripted_heeds_what_the_notes_name_and_nothing_else(rng):
    step = Prompt("goal", "page", (), ("a(x)", "b(x)"), notes="- When X, take b(x).")
    assert logits(Scripted(heeds=3.0).propose(step, rng)) == {"a(x)": 0.0, "b(x)": 3.0}


def test_scripted_noise_has_the_deviation_that_was_asked_for(rng):
    step = Prompt("goal", "page", (), tuple(map(str, range(2000))))
    values = [c.logit for c in Scripted(noise=1.5).propose(step, rng).candidates]
    assert (sum(v * v for v in values) / len(values)) ** 0.5 == pytest.approx(1.5, rel=0.05)


def test_a_function_may_return_a_mapping_or_candidates(rng):
    def mapped(prompt):
        return {"b": 1, "a": len(prompt.goal)}

    proposal = CallableModel(mapped, temperature=2).propose(STEP, rng)
    assert [(c.action, c.logit) for c in proposal.candidates] == [("a", 2.0), ("b", 0.5)]
    assert (proposal.scorer, proposal.model) == ("callable", "mapped")
    listed = CallableModel(lambda prompt: [Candidate("x", 1.0)], name="mine")
    proposal = listed.propose(Prompt("goal", "page"), rng)
    assert (logits(proposal), proposal.model) == ({"x": 1.0}, "mine")


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ({"a": 1.0}, r"logits for \['a'\], the step has \['a', 'b'\]"),
        ({"a": 1.0, "b": 2.0, "c": 3.0}, r"the step has \['a', 'b'\]"),
        ({"a": float("nan"), "b": 1.0}, "'a' the logit nan; it must be finite"),
        ({"a": float("inf"), "b": 1.0}, "must be finite"),
        ({"a": "high", "b": 1.0}, "'high'"),
        ({1: 1.0, "b": 1.0}, "returned 1 as an action"),
        ({}, r"logits for \[\]"),
        (None, "returned None"),
        ("ab", "returned 'ab'"),
        ([("a", 1.0)], "something else than candidates"),
        ([Candidate("a", 1.0), Candidate("a", 2.0)], "same action twice"),
    ],
)
def test_what_a_function_must_not_return_is_a_typed_error(rng, returned, message):
    with pytest.raises(ModelError, match=message):
        CallableModel(lambda prompt: returned, name="f").propose(STEP, rng)


@given(st.dictionaries(st.text(max_size=3), st.floats(), max_size=4))
def test_any_mapping_is_taken_or_a_typed_error(returned):
    try:
        proposal = CallableModel(lambda prompt: returned).propose(Prompt("g", "o"), None)
    except ModelError:
        return
    assert logits(proposal) == returned


def test_a_function_is_imported_by_name(rng):
    model = CallableModel("made_up_prior:prior")
    assert logits(model.propose(STEP, rng)) == {"a": 0.0, "b": 1.0}
    for name in ("made_up_prior:nothing", "no_such_module:f", "made_up_prior", ":"):
        with pytest.raises(ConfigError, match=r"write it as package\.module:name"):
            CallableModel(name)
    with pytest.raises(ConfigError, match="cannot be called"):
        CallableModel("made_up_prior:NUMBER")


# --- falling, threads, failures --------------------------------------------------------------


def test_falling_is_logged_once_for_many_threads(caplog):
    def answer(request):
        if isinstance(request, Write):
            return Answer("A", alternatives=(("A", -0.1), ("B", -2.0)))
        return Answer(scores=None)

    endpoint = ScriptedEndpoint(answer, model="threaded")
    proposer = ScoringProposer("threaded", endpoint, [Sequence(STYLE), Letters(STYLE)])
    names = []
    threads = [
        threading.Thread(target=lambda: names.append(proposer.propose(STEP, None).scorer))
        for _ in range(8)
    ]
    with caplog.at_level(logging.WARNING):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert names == ["letters"] * 8
    assert len([record for record in caplog.records if "given up" in record.getMessage()]) == 1


def test_threads_that_fail_together_fall_by_one_scorer():
    together = threading.Barrier(4)

    def answer(request):
        if not request.top_logprobs:
            return '{"1": 60, "2": 40}'
        if "customer reviews" in request.messages[1].text:  # the probe
            return Answer("A", alternatives=(("A", -0.1), ("B", -2.0)))
        together.wait(10)
        return Answer("A")

    scorers = [Letters(STYLE, 1), Verbalized(STYLE), Sequence(STYLE)]
    proposer = ScoringProposer("x", ScriptedEndpoint(answer, model="at-once"), scorers)
    with ThreadPoolExecutor(4) as pool:
        proposals = list(pool.map(lambda _: proposer.propose(STEP, None), range(4)))
    assert {proposal.scorer for proposal in proposals} == {"verbalized"}


def test_a_named_scorer_fails_in_the_same_way_every_time():
    endpoint = ScriptedEndpoint([Answer("A")])
    proposer = ScoringProposer("x", endpoint, [Letters(STYLE)])
    for _ in range(3):
        with pytest.raises(LogprobsUnavailable, match="null"):
            proposer.propose(STEP, None)


def test_an_input_error_does_not_make_a_list_fall():
    answer = Answer("A", alternatives=(("A", -0.1), ("B", -2.0)))
    proposer = ScoringProposer("x", ScriptedEndpoint([answer]), [Letters(STYLE), Sequence(STYLE)])
    with pytest.raises(InputError, match="the step has none"):
        proposer.propose(Prompt("g", "o"), None)
    assert proposer.probe() == "letters"


def test_what_ends_a_wait_ends_the_call_and_is_counted():
    done = []

    class Meter:
        def start(self, call):
            return 1

        def finish(self, ticket, call, *, failed=False):
            done.append((call.tokens_in, failed))

        def cached(self, model, tokens_in=0, tokens_out=0):
            raise AssertionError

    script = [calls.Transient("busy"), KeyboardInterrupt(), "late"]
    channel = Channel(ScriptedEndpoint(script), meter=Meter(), retry=Retry(first=0.001))
    with pytest.raises(KeyboardInterrupt):
        channel.ask(Write((Message("user", "hello"),)), lambda answer: answer.text, "test")
    assert done == [(0, True), (0, True)]


def test_a_script_goes_round():
    channel = Channel(ScriptedEndpoint(["one", "two"]))
    request = Write((Message("user", "hello"),))
    said = [channel.ask(request, lambda answer: answer.text, "test").value for _ in range(3)]
    assert said == ["one", "two", "one"]
    with pytest.raises(ConfigError, match="no answer"):
        ScriptedEndpoint([])
