"""Writing: free text or JSON through a model's channel, read by whoever asked."""

import json
from dataclasses import replace

import pytest

from jitrl.errors import ModelError, UnreadableAnswer
from jitrl.models.cache import AnswerFile
from jitrl.models.calls import Write
from jitrl.models.channel import Channel, Retry
from jitrl.models.scripted import ScriptedEndpoint
from jitrl.models.writer import ChannelWriter
from jitrl.run.ledger import Ledger
from jitrl.types import Writing

ASKED = Writing("You judge.", "How good was it?", '{"type": "object"}', 0.5, 3, 40)


def score(text):
    return float(json.loads(text)["score"])


def test_an_answer_comes_back_as_it_was_read():
    endpoint = ScriptedEndpoint(['{"score": 9}'])
    assert ChannelWriter(Channel(endpoint)).write(ASKED, score) == 9.0
    assert endpoint.calls == 1


def test_everything_of_the_question_reaches_the_model():
    asked = []
    endpoint = ScriptedEndpoint(lambda request: asked.append(request) or "fine")
    ChannelWriter(Channel(endpoint)).write(ASKED, str)
    (request,) = asked
    assert isinstance(request, Write)
    assert [(m.role, m.text) for m in request.messages] == [
        ("system", "You judge."),
        ("user", "How good was it?"),
    ]
    assert (request.schema, request.temperature) == ('{"type": "object"}', 0.5)
    assert (request.draw, request.max_tokens) == (3, 40)


@pytest.mark.parametrize(
    "nonsense",
    [
        '{"score":',
        "",
        "I cannot evaluate this",
        "<think>8</think>",
        pytest.param("[" * 100_000, id="nested too deep"),
        pytest.param(f'{{"score": 1{"0" * 400}}}', id="too large a number"),
    ],
)
def test_nonsense_is_asked_once_more_and_then_kept_for_the_record(nonsense):
    endpoint = ScriptedEndpoint([nonsense])
    with pytest.raises(UnreadableAnswer, match="wrote twice") as caught:
        ChannelWriter(Channel(endpoint)).write(ASKED, lambda text: score(text))
    assert endpoint.calls == 2
    assert caught.value.answers == (nonsense, nonsense)


def test_a_second_answer_that_can_be_read_counts():
    endpoint = ScriptedEndpoint(["hm", '{"score": 2}'])
    assert ChannelWriter(Channel(endpoint)).write(ASKED, lambda text: score(text)) == 2.0


def test_a_provider_that_fails_is_no_unreadable_answer():
    channel = Channel(ScriptedEndpoint([ModelError("gone")]), retry=Retry(tries=1))
    with pytest.raises(ModelError, match="gone") as caught:
        ChannelWriter(channel).write(ASKED, str)
    assert not isinstance(caught.value, UnreadableAnswer)


def test_what_is_asked_at_temperature_0_is_asked_and_counted_once():
    endpoint = ScriptedEndpoint(['{"score": 9}', '{"score": 3}', '{"score": 1}'])
    ledger = Ledger(":memory:")
    writer = ChannelWriter(Channel(endpoint, meter=ledger.meter("judge")))
    cold = replace(ASKED, temperature=0.0)
    assert [writer.write(cold, score) for _ in range(3)] == [9.0, 9.0, 9.0]
    assert writer.write(replace(cold, sample=4), score) == 3.0
    [total] = ledger.totals()
    assert (total.calls, total.cached, endpoint.calls) == (2, 0, 2)
    assert ChannelWriter(Channel(endpoint)).write(cold, score) == 1.0


def test_what_is_drawn_or_could_not_be_read_is_asked_each_time():
    endpoint = ScriptedEndpoint(['{"score": 9}', '{"score": 3}', "hm", "hm", '{"score": 1}'])
    writer = ChannelWriter(Channel(endpoint))
    assert [writer.write(ASKED, score) for _ in range(2)] == [9.0, 3.0]
    cold = replace(ASKED, temperature=0.0)
    with pytest.raises(UnreadableAnswer):
        writer.write(cold, score)
    assert writer.write(cold, score) == 1.0


def test_samples_of_one_question_are_apart_in_a_cache(tmp_path):
    endpoint = ScriptedEndpoint([f"text {i}" for i in range(20)])
    writer = ChannelWriter(Channel(endpoint, cache=AnswerFile(tmp_path / "answers.db")))

    def samples(n):
        return [writer.write(replace(ASKED, sample=i), str) for i in range(n)]

    first = samples(8)
    assert len(set(first)) == endpoint.calls == 8
    assert samples(8) == first
    assert endpoint.calls == 8
    assert samples(10)[:8] == first
    assert endpoint.calls == 10


def test_half_a_surrogate_pair_in_an_answer_becomes_a_question_mark(tmp_path):
    endpoint = ScriptedEndpoint(["fine \ud800"])
    file = AnswerFile(tmp_path / "answers.db")
    writer = ChannelWriter(Channel(endpoint, cache=file))
    assert writer.write(ASKED, str) == writer.write(ASKED, str) == "fine ?"
    assert endpoint.calls == 1
