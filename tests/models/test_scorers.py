import json
import logging
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jitrl.errors import InputError, LogprobsUnavailable, ModelError
from jitrl.models.cache import AnswerFile
from jitrl.models.calls import Answer, Continue, Rejected, Write
from jitrl.models.channel import Channel
from jitrl.models.prompts import Style
from jitrl.models.scorers import Letters, Sequence
from jitrl.models.scripted import ScriptedEndpoint
from jitrl.models.stated import Sampling, Single, Verbalized
from jitrl.types import Prompt

STYLE = Style()
STEP = Prompt("Find reviews", "A menu.", (), ("sales()", "marketing()", "reports()"))
FREE = Prompt("Find reviews", "A menu.")


def channel(script, cache=None):
    return Channel(ScriptedEndpoint(script), cache=cache)


def listed(request):
    """Labels of the options in a request, by action."""
    lines = request.messages[-1].text.splitlines()
    pairs = (line.partition(". ") for line in lines if line.endswith("()"))
    return {action: label for label, _, action in pairs}


def alternatives(*pairs):
    return Answer("A", alternatives=pairs)


# --- log-probabilities -----------------------------------------------------------------------


def test_a_sequence_is_the_sum_or_the_mean_of_its_tokens():
    answer = Answer(scores=((-1.0, -2.0), (-4.0,), (-1.0, -1.0, -1.0)))
    total = Sequence(STYLE).score(channel([answer]), STEP)
    assert total.logits == {"sales()": -3.0, "marketing()": -4.0, "reports()": -3.0}
    mean = Sequence(STYLE, "mean").score(channel([answer]), STEP)
    assert mean.logits == {"sales()": -1.5, "marketing()": -4.0, "reports()": -1.0}


def test_candidates_begin_with_the_space_that_the_prompt_leaves_out():
    asked = []

    def answer(request):
        asked.append(request)
        return Answer(scores=((-1.0,), (-2.0,), (-3.0,)))

    Sequence(STYLE).score(channel(answer), STEP)
    assert isinstance(asked[0], Continue)
    assert asked[0].lead == "Next action:"
    assert asked[0].continuations == (" sales()", " marketing()", " reports()")


def test_a_model_that_only_likes_a_place_gives_equal_letters():
    answer = alternatives(("A", -0.1), ("B", -3.0), ("C", -6.0))
    scores = Letters(STYLE, permutations=3).score(channel([answer]), STEP)
    assert scores.calls == 3
    assert max(scores.logits.values()) - min(scores.logits.values()) == pytest.approx(0, abs=1e-9)


def test_a_model_that_knows_the_action_gives_it_in_every_order():
    def answer(request):
        right = listed(request)["marketing()"]
        return alternatives(*((c, -0.2 if c == right else -3.0) for c in "ABC"))

    logits = Letters(STYLE, permutations=2).score(channel(answer), STEP).logits
    assert logits["marketing()"] - logits["sales()"] == pytest.approx(2.8)
    assert logits["sales()"] == pytest.approx(logits["reports()"])


def test_letters_with_a_space_or_a_bracket_count_for_the_same_action():
    answer = alternatives(("A", math.log(0.2)), (" A", math.log(0.2)), ("(A)", math.log(0.2)))
    answer = alternatives(*answer.alternatives, ("B", math.log(0.2)), ("C", math.log(0.1)))
    logits = Letters(STYLE, permutations=1).score(channel([answer]), STEP).logits
    assert logits["sales()"] - logits["marketing()"] == pytest.approx(math.log(3))


def test_a_letter_that_is_not_reported_counts_as_the_lowest():
    answer = alternatives(("A", -0.1), ("The", -3.0), ("so", -4.0), ("C", -9999.0))
    logits = Letters(STYLE, permutations=1).score(channel([answer]), STEP).logits
    assert logits["marketing()"] == logits["reports()"]
    assert logits["sales()"] - logits["reports()"] == pytest.approx(3.9)


def test_more_actions_than_letters_reported_is_a_typed_error():
    many = Prompt("g", "o", (), tuple(f"a{i}" for i in range(21)))
    with pytest.raises(InputError, match="at most 20 actions apart, this step has 21"):
        Letters(STYLE).score(channel(["A"]), many)


UNUSABLE = {
    "null": Answer("A"),
    "zero for each token": alternatives(("A", 0.0), ("B", 0.0), ("C", 0.0)),
    "-9999 for each token": alternatives(("A", -9999.0), ("B", -9999.0)),
    "zero for one and -9999 for the rest": alternatives(("A", 0.0), ("B", -9999.0)),
    "positive": alternatives(("A", 0.5), ("B", -1.0)),
    "HTTP 400": Rejected("HTTP 400: logprobs is not supported"),
}


@pytest.mark.parametrize("answer", UNUSABLE.values(), ids=UNUSABLE)
def test_letters_without_usable_log_probabilities_are_a_typed_error(answer):
    with pytest.raises(LogprobsUnavailable, match="scripted"):
        Letters(STYLE).probe(channel([answer]))


@pytest.mark.parametrize(
    "scores",
    [
        None,
        ((0.0, 0.0), (0.0,)),
        ((-9999.0,), (-9999.0,)),
        ((-1.0, -9999.0), (-2.0,)),
        ((-2.0, -2.0), (-2.0,)),
    ],
)
def test_sequences_without_usable_log_probabilities_are_a_typed_error(scores):
    with pytest.raises(LogprobsUnavailable, match="scripted"):
        Sequence(STYLE).probe(channel([Answer(scores=scores)]))


def test_a_model_that_does_not_name_a_letter_is_asked_once_more_and_then_an_error():
    model = channel([alternatives(("The", -0.1), ("I", -2.0))])
    with pytest.raises(ModelError, match=r"twice.*none of ABC is among"):
        Letters(STYLE).score(model, STEP)
    assert model.endpoint.calls == 2


# --- stated confidences ----------------------------------------------------------------------


def test_confidences_that_sum_to_160_are_legal():
    model = channel(['{"1": 90, "2": 70, "3": 0}'])
    logits = Verbalized(STYLE).score(model, STEP).logits
    assert logits["sales()"] == pytest.approx(math.log(0.9 / 0.1))
    assert logits["marketing()"] == pytest.approx(math.log(0.7 / 0.3))
    assert logits["reports()"] == pytest.approx(math.log(0.02 / 0.98))


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"1": 90, "2": 70, "3": 0}\n```',
        '<think>Is it {"1": 3}? No.</think>\n{"1": 90, "2": 70, "3": 0}',
        ' {"3": 0.0, "2": 70.0, "1": 90.0}\n',
    ],
)
def test_json_in_a_fence_or_after_thinking_is_read(text):
    logits = Verbalized(STYLE).score(channel([text]), STEP).logits
    assert logits["sales()"] == pytest.approx(math.log(9))


NONSENSE = [
    "",
    '{"1":',
    "I cannot evaluate this",
    "<think>8</think>",
    "[90, 70, 0]",
    '{"1": 90, "2": 70}',
    '{"1": 90, "2": 70, "3": 0, "4": 1}',
    '{"1": 90, "2": 70, "3": 101}',
    '{"1": 90, "2": 70, "3": -1}',
    '{"1": 90, "2": 70, "3": "high"}',
    '{"1": 90, "2": 70, "3": true}',
    '{"1": 90, "2": 70, "3": NaN}',
    '{"1": 90, "2": 70, "3": null}',
    "[" * 5000,
]


@pytest.mark.parametrize("text", NONSENSE)
def test_nonsense_is_asked_once_more_and_then_a_typed_error(text):
    model = channel([text])
    with pytest.raises(ModelError, match="twice with something it cannot use"):
        Verbalized(STYLE).score(model, STEP)
    assert model.endpoint.calls == 2


NEARLY = st.dictionaries(
    st.sampled_from(("1", "2", "3", "number", "action")),
    st.integers(-1, 101) | st.floats() | st.text(max_size=3),
)


@given(st.text(max_size=80) | NEARLY.map(json.dumps))
@example('{"1": 0, "2": 100, "3": 50}')
@example('{"number": 3}')
@example('{"action": "look"}')
def test_any_answer_is_read_or_a_typed_error(text):
    for scorer in (Verbalized(STYLE), Sampling(STYLE, 1), Single(STYLE)):
        for step in (STEP, FREE):
            try:
                scores = scorer.score(channel([text]), step)
            except ModelError:
                continue
            assert all(math.isfinite(logit) for logit in scores.logits.values())


def test_one_nonsense_answer_costs_a_call_and_nothing_else():
    answers, attempts = iter(["what?", '{"1": 50, "2": 50, "3": 50}']), []

    def answer(request):
        attempts.append(request.attempt)
        return next(answers)

    scores = Verbalized(STYLE).score(channel(answer), STEP)
    assert scores.calls == 2
    assert attempts == [0, 1]
    assert set(scores.logits.values()) == {0.0}


def test_the_schema_asks_for_every_action():
    asked = []

    def answer(request):
        asked.append(request)
        return '{"1": 1, "2": 2, "3": 3}'

    Verbalized(STYLE).score(channel(answer), STEP)
    Verbalized(STYLE, json_schema=False).score(channel(answer), STEP)
    assert json.loads(asked[0].schema)["required"] == ["1", "2", "3"]
    assert asked[1].schema == ""


def test_the_model_proposes_where_no_actions_are_given():
    text = json.dumps(
        {
            "actions": [
                {"action": "go north", "confidence": 80},
                {"action": "go south", "confidence": 20},
                {"action": "go north", "confidence": 50},
            ]
        }
    )
    logits = Verbalized(STYLE).score(channel([text]), FREE).logits
    assert list(logits) == ["go north", "go south"]
    assert logits["go north"] == pytest.approx(math.log(4))


# --- samples and single choices --------------------------------------------------------------


def choosing(*actions):
    """A model that chooses these actions in turn, wherever they are listed."""
    turn = iter(actions)

    def answer(request):
        return json.dumps({"number": int(listed(request)[next(turn)])})

    return answer


def test_samples_become_smoothed_frequencies():
    drawn = choosing("marketing()", "sales()", "marketing()", "marketing()")
    scores = Sampling(STYLE, samples=4, smoothing=0.5).score(channel(drawn), STEP)
    assert scores.calls == 4
    expected = {"sales()": 1.5, "marketing()": 3.5, "reports()": 0.5}
    for action, count in expected.items():
        assert scores.logits[action] == pytest.approx(math.log(count / 5.5))


def test_a_model_that_always_takes_the_first_number_favors_no_action():
    scores = Sampling(STYLE, samples=6).score(channel(['{"number": 1}']), STEP)
    assert len({round(logit, 9) for logit in scores.logits.values()}) == 1


def test_samples_are_cached_one_by_one(tmp_path):
    def model():
        return channel(choosing(*["marketing()"] * 3, *["sales()"] * 7), cache)

    cache = AnswerFile(tmp_path / "a.db")
    first = Sampling(STYLE, samples=8).score(model(), STEP)
    again = Sampling(STYLE, samples=8).score(model(), STEP)
    assert (first.calls, again.calls) == (8, 0)
    assert first.logits == again.logits
    assert Sampling(STYLE, samples=10).score(model(), STEP).calls == 2


def test_identical_samples_are_announced(caplog):
    with caplog.at_level(logging.WARNING):
        Sampling(STYLE, temperature=0).probe(channel(['{"number": 1}']))
    assert "all samples will be identical" in caplog.text


def test_free_samples_are_the_actions():
    said = ['{"action": "go north"}', '{"action": "go south"}', '{"action": "go north"}']
    logits = Sampling(STYLE, samples=3).score(channel(said), FREE).logits
    assert logits == {
        "go north": pytest.approx(math.log(2.5 / 4)),
        "go south": pytest.approx(math.log(1.5 / 4)),
    }


def test_the_single_choice_gets_p0_and_the_others_share_the_rest():
    logits = Single(STYLE, p0=0.7).score(channel(['{"number": 2}']), STEP).logits
    assert [math.exp(logits[action]) for action in STEP.actions] == pytest.approx([0.15, 0.7, 0.15])


@pytest.mark.parametrize("text", ["2", '{"number": 4}', '{"number": 0}', '{"number": "2"}', "{}"])
def test_a_choice_that_is_none_of_the_numbers_is_an_error(text):
    with pytest.raises(ModelError, match="twice"):
        Single(STYLE).score(channel([text]), STEP)


@pytest.mark.parametrize("scorer", [Letters(STYLE), Sequence(STYLE)])
def test_scorers_that_need_actions_say_so(scorer):
    with pytest.raises(InputError, match="the step has none"):
        scorer.score(channel(["A"]), FREE)


@pytest.mark.parametrize(
    "scorer", [Letters(STYLE), Sequence(STYLE), Verbalized(STYLE), Sampling(STYLE), Single(STYLE)]
)
def test_no_scorer_takes_an_action_twice(scorer):
    with pytest.raises(InputError, match="'a' is there twice"):
        scorer.score(channel(["A"]), Prompt("g", "o", (), ("a", "b", "a")))


def test_a_question_is_a_write_with_its_draw():
    asked = []

    def answer(request):
        asked.append(request)
        return '{"number": 1}'

    Sampling(STYLE, samples=3, temperature=0.9).score(channel(answer), STEP)
    assert [type(request) for request in asked] == [Write] * 3
    assert [request.draw for request in asked] == [0, 1, 2]
    assert {request.temperature for request in asked} == {0.9}
