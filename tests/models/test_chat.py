import json
import logging
import subprocess
import sys
import time

import pytest
from loopback import Reply, chat, echo, serving

from jitrl import extras
from jitrl.errors import ConfigError, LogprobsUnavailable, ModelError
from jitrl.models.calls import Message, Rate, Transient, Write
from jitrl.models.channel import Channel, ReplayMiss, Retry
from jitrl.models.chat import OpenAIChat, OpenAIEndpoint
from jitrl.types import Prompt

pytest.importorskip("openai", reason="the openai package is not installed")

STEP = Prompt("Find reviews", "A menu.", (), ("sales()", "marketing()"))
VERBAL = json.dumps({"1": 90, "2": 20})
TOP = (("A", -0.2), ("B", -1.8), ("C", -4.0))


def model(provider, scorer="auto", **settings):
    if scorer == "auto":
        settings.setdefault("scorers", ("letters", "verbalized"))
    return OpenAIChat("m", base_url=provider.url, scorer=scorer, **settings)


def speaking(top=TOP, status=None):
    """A provider that answers verbally, and with these log-probabilities when asked for them."""

    def answer(path, body):
        if body.get("logprobs") and status:
            return Reply({"error": {"message": "logprobs is not supported"}}, status)
        return chat("A" if body.get("logprobs") else VERBAL, top if body.get("logprobs") else None)

    return answer


def counted(answers):
    """Gives these in turn, the last one for ever."""
    turns = iter(answers)
    last = [None]

    def answer(path, body):
        last[0] = next(turns, last[0])
        return last[0]

    return answer


# --- which scorer made z ---------------------------------------------------------------------

WITHOUT = {
    "null": speaking(None),
    "0.0 for each token": speaking((("A", 0.0), ("B", 0.0))),
    "-9999": speaking((("A", -9999.0), ("B", -9999.0))),
    "0.0 and -9999": speaking((("A", 0.0), ("B", -9999.0))),
    "HTTP 400": speaking(status=400),
    "HTTP 422": speaking(status=422),
}


@pytest.mark.parametrize("answer", WITHOUT.values(), ids=WITHOUT)
def test_auto_falls_to_the_next_scorer_and_says_so_once(answer, rng, caplog):
    with serving(answer) as provider, caplog.at_level(logging.WARNING):
        first = model(provider)
        proposals = [first.propose(STEP, rng) for _ in range(3)]
        proposals.append(model(provider).propose(STEP, rng))
    assert {proposal.scorer for proposal in proposals} == {"verbalized"}
    assert {proposal.model for proposal in proposals} == {f"m@{provider.place}"}
    assert len({c.logit for c in proposals[0].candidates}) == 2
    said = [record.getMessage() for record in caplog.records if "given up" in record.getMessage()]
    assert len(said) == 1
    assert f"m@{provider.place} letters -> verbalized" in said[0]


@pytest.mark.parametrize("answer", WITHOUT.values(), ids=WITHOUT)
def test_a_named_scorer_without_log_probabilities_is_a_typed_error(answer, rng):
    with serving(answer) as provider:
        named = model(provider, "letters")
        with pytest.raises(LogprobsUnavailable, match=rf"m@{provider.place}"):
            named.probe()
        with pytest.raises(LogprobsUnavailable):
            named.propose(STEP, rng)


def test_auto_keeps_the_first_scorer_where_it_works(rng, caplog):
    with serving(speaking()) as provider, caplog.at_level(logging.WARNING):
        proposal = model(provider).propose(STEP, rng)
    assert proposal.scorer == "letters"
    assert not caplog.records


def test_log_probabilities_that_stop_in_the_middle_make_auto_fall(rng):
    working = [chat("A", TOP)] * 4  # the probe and one step, two orders each
    with serving(counted([*working, chat("A"), chat(VERBAL)])) as provider:
        auto = model(provider)
        assert [auto.propose(STEP, rng).scorer for _ in range(2)] == ["letters", "verbalized"]


def test_auto_without_any_scorer_that_works_names_every_reason(rng):
    def refused(path, body):
        return Reply({"error": {"message": f"no {path}"}}, 404)

    expected = r"letters: .*no /chat.*; sequence: .*no /completions"
    with serving(refused) as provider, pytest.raises(ModelError, match=expected):
        model(provider, scorers=("letters", "sequence")).probe()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scorer": "auto", "scorers": ()}, "name one scorer"),
        ({"scorer": "letters", "scorers": ("verbalized",)}, "name one scorer"),
        ({"scorer": "logits"}, "no scorer 'logits'; there are letters, sequence"),
        ({"scorer": "verbalized", "calibrate": True}, "verbalized does not"),
        ({"scorers": ("letters", "single"), "calibrate": True}, "single does not"),
        ({"p0": 1.0}, "p0 must lie between"),
        ({"samples": 0}, "samples must be at least 1"),
        ({"base_url": "localhost:8080"}, "is no http address"),
        ({"cache": "a", "replay": "b"}, "both set"),
    ],
)
def test_an_impossible_setting_is_refused_before_anything_is_sent(settings, message):
    if "scorers" in settings:
        settings = {"scorer": "auto", **settings}
    with pytest.raises(ConfigError, match=message):
        OpenAIChat("m", **{"base_url": "http://127.0.0.1:9/v1", **settings})


# --- full sequences by echo ------------------------------------------------------------------


def test_a_sequence_is_read_from_the_echo(rng):
    def value(text, place):
        return -0.1 * (1 + place % 7) - (text[place] == "m")

    with serving(lambda path, body: echo(body, value)) as provider:
        proposal = model(provider, "sequence").propose(STEP, rng)
        path, body, _ = provider.asked[-1]
    assert path == "/completions"
    for text, action, candidate in zip(
        body["prompt"], STEP.actions, proposal.candidates, strict=True
    ):
        assert text.endswith(f"Next action: {action}")
        places = range(len(text) - len(action) - 1, len(text))
        assert candidate.action == action
        assert candidate.logit == pytest.approx(sum(value(text, i) for i in places))


GENERATED = list(" I would open the reviews." * 40)
IGNORED = {
    "no log-probabilities": None,
    "those of a chat": {"content": [{"token": "x", "logprob": -0.5}]},
    "those of what it wrote": {
        "tokens": GENERATED,
        "token_logprobs": [-0.1 * (i % 9) for i in range(len(GENERATED))],
    },
}


@pytest.mark.parametrize("logprobs", IGNORED.values(), ids=IGNORED)
def test_a_server_that_ignores_echo_is_found_out_at_the_start(logprobs):
    def answer(path, body):
        written = {"text": "".join(GENERATED), "logprobs": logprobs}
        return {"choices": [{"index": i, **written} for i in range(len(body["prompt"]))]}

    with serving(answer) as provider, pytest.raises(LogprobsUnavailable, match="ignored `echo`"):
        model(provider, "sequence").probe()


def test_an_echo_that_leaves_out_a_log_probability_is_an_error():
    def answer(path, body):
        return echo(body, lambda text, i: None if i == len(text) - 2 else -0.1 * (i % 7))

    with serving(answer) as provider, pytest.raises(LogprobsUnavailable, match="left out"):
        model(provider, "sequence").probe()


# --- failures --------------------------------------------------------------------------------


def endpoint_answer(provider, retry, request=None):
    endpoint = OpenAIEndpoint("m", base_url=provider.url)
    endpoint.connect()
    request = request or Write((Message("user", "hello"),))
    return Channel(endpoint, retry=retry).ask(request, lambda answer: answer, "test")


QUICK = Retry(deadline=5, tries=4, first=0.01, longest=0.02)


@pytest.mark.parametrize("status", [408, 429, 500, 503, 529])
def test_what_may_pass_is_asked_again(status):
    with serving(counted([Reply({}, status)] * 2 + [chat("hello")])) as provider:
        asked = endpoint_answer(provider, QUICK)
    assert (asked.value.text, asked.calls, len(provider.asked)) == ("hello", 3, 3)


@pytest.mark.parametrize(
    "body", ["not json", "[]", '{"error": {"message": "upstream"}}', '{"choices": []}', "{}", '""']
)
def test_an_answer_that_is_none_is_asked_again(body):
    with serving(counted([Reply(body), chat("hello")])) as provider:
        assert endpoint_answer(provider, QUICK).calls == 2


def test_what_fails_every_time_ends_with_its_last_reason():
    def busy(path, body):
        return Reply({"error": {"message": "busy"}}, 503)

    expected = r"no answer in 4 tries .* HTTP 503.*busy"
    with serving(busy) as provider, pytest.raises(ModelError, match=expected):
        endpoint_answer(provider, QUICK)
    assert len(provider.asked) == 4


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (401, {}, "check the key in OPENAI_API_KEY"),
        (403, {}, "check the key"),
        (429, {"error": {"code": "insufficient_quota", "message": "pay"}}, "no credit left"),
        (400, {"error": {"message": "context too long"}}, "HTTP 400.*context too long"),
        (410, {}, "HTTP 410"),
    ],
)
def test_what_cannot_pass_is_not_asked_again(status, body, message):
    def refused(path, sent):
        return Reply(body, status)

    with serving(refused) as provider, pytest.raises(ModelError, match=message):
        endpoint_answer(provider, QUICK)
    assert len(provider.asked) == 1


def test_the_wait_that_the_provider_names_is_kept():
    busy = Reply({}, 429, {"retry-after": "0.4"})
    with serving(counted([busy, chat("hello")])) as provider:
        started = time.monotonic()
        endpoint_answer(provider, QUICK)
    assert time.monotonic() - started >= 0.4


def test_a_wait_beyond_the_deadline_is_not_begun():
    with serving(lambda path, body: Reply({}, 429, {"retry-after": "60"})) as provider:
        started = time.monotonic()
        with pytest.raises(ModelError, match="in 1 try and"):
            endpoint_answer(provider, QUICK)
    assert time.monotonic() - started < 4


@pytest.mark.parametrize("reply", [Reply(chat("late"), delay=3), Reply(chat("late"), trickle=30)])
def test_a_server_that_hangs_or_trickles_is_left_at_the_deadline(reply):
    with serving(lambda path, body: reply) as provider:
        started = time.monotonic()
        with pytest.raises(ModelError, match="did not answer within"):
            endpoint_answer(provider, Retry(deadline=0.6, tries=9, first=0.01))
        assert time.monotonic() - started < 2


def test_a_server_that_is_not_there_is_a_typed_error():
    with serving(speaking()) as provider:
        pass
    with pytest.raises(ModelError, match=r"no answer from http://127\.0\.0\.1"):
        endpoint_answer(provider, QUICK)


def test_waits_double_up_to_the_longest():
    retry = Retry(first=1, longest=5)
    assert [retry.wait(n, 0.999999) for n in (1, 2, 3, 4)] == pytest.approx([1, 2, 4, 5], rel=1e-5)
    assert retry.wait(3, 0.0) == 2


def test_an_answer_that_is_nonsense_twice_is_a_typed_error(rng):
    with serving(counted([chat(VERBAL), chat("maybe")])) as provider:
        verbal = model(provider, "verbalized")
        verbal.probe()
        with pytest.raises(ModelError, match="twice"):
            verbal.propose(STEP, rng)
    assert len(provider.asked) == 3


# --- what is sent ----------------------------------------------------------------------------


def test_the_key_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-test")
    with serving(speaking()) as provider:
        model(provider, "verbalized", key_variable="MY_KEY").probe()
    assert provider.asked[0][2] == "Bearer sk-test"


def test_openai_itself_needs_a_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ConfigError, match="set the environment variable OPENAI_API_KEY"):
        OpenAIChat("gpt-4o-mini")


def test_parameters_are_added_replaced_and_left_out():
    changed = {
        "parameters": {"max_completion_tokens": 99, "temperature": 1},
        "omit": ("max_tokens",),
    }
    with serving(speaking()) as provider:
        model(provider, "verbalized", **changed).probe()
    body = provider.asked[0][1]
    assert (body["max_completion_tokens"], body["temperature"]) == (99, 1)
    assert "max_tokens" not in body


def test_other_parameters_are_another_model_in_a_file_of_answers(rng, tmp_path):
    with serving(speaking()) as provider:
        for settings in ({}, {"parameters": {"top_p": 0.5}}, {"omit": ("temperature",)}):
            model(provider, "verbalized", cache=tmp_path / "a.db", **settings).probe()
    assert len(provider.asked) == 3


def test_a_chinese_step_is_asked_in_chinese_and_never_escaped():
    step = Prompt(
        "当输入包含日期时，先统一成 YYYY-MM-DD 再处理", "页面", (), ("点击(销售)", "返回()")
    )
    with serving(speaking()) as provider:
        model(provider, "verbalized").propose(step, None)
    text = provider.asked[1][1]["messages"][1]["content"]
    assert "目标： 当输入包含日期时" in text
    assert "\\u" not in text


def test_an_address_with_a_password_does_not_show_it():
    endpoint = OpenAIEndpoint("m", base_url="http://user:secret@127.0.0.1:9/v1")
    assert "secret" not in endpoint.model + endpoint.identity


def test_it_gives_no_bare_logits():
    with pytest.raises(ConfigError, match="asked in words"):
        OpenAIEndpoint("m", base_url="http://127.0.0.1:9").answer(Rate(STEP), 1)


def test_a_missing_package_is_named_with_the_command_that_mends_it():
    code = (
        "import sys; sys.modules['openai'] = None\n"
        "from jitrl.models.chat import OpenAIChat\n"
        "OpenAIChat('m', base_url='http://127.0.0.1:9')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingExtra" in done.stderr
    assert f": {extras.command('openai')}" in done.stderr


# --- repeating a run -------------------------------------------------------------------------


def test_a_run_is_repeated_without_its_server(rng, tmp_path):
    recording = tmp_path / "answers.db"
    with serving(speaking(status=400)) as provider:
        first = model(provider, cache=recording).propose(STEP, rng)
    again = model(provider, replay=recording)
    proposal = again.propose(STEP, rng)
    assert (proposal.candidates, proposal.scorer) == (first.candidates, "verbalized")
    assert proposal.calls == 0
    with pytest.raises(ReplayMiss, match=r"Find something else"):
        again.propose(Prompt("Find something else", "A menu.", (), STEP.actions), rng)


def test_a_replay_repeats_a_nonsense_answer_and_the_second_one(rng, tmp_path):
    recording = tmp_path / "answers.db"
    answers = [chat(VERBAL), chat("hm"), chat(json.dumps({"1": 10, "2": 20}))]
    with serving(counted(answers)) as provider:
        first = model(provider, "verbalized", cache=recording).propose(STEP, rng)
    assert first.calls == 2
    again = model(provider, "verbalized", replay=recording).propose(STEP, rng)
    assert again.candidates == first.candidates


def test_a_transient_failure_remembers_the_wait():
    assert Transient("busy", 3.0).retry_after == 3.0
