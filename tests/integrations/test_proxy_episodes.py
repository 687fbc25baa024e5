"""Runs behind the proxy: when they are over, where their outcome is stored, and what is kept."""

import json
import logging

import pytest

pytest.importorskip("fastapi", reason="fastapi is not installed (extra server)")
pytest.importorskip("httpx", reason="httpx is not installed (extra server)")

from chat_stub import FLAT, TOOLS, Stub
from fastapi.testclient import TestClient
from httpx import MockTransport, Response
from tool_desk import KIND, TASK

import jitrl
from jitrl.core.sentences import rule_id
from jitrl.integrations.guide import Guide, GuidedEpisode
from jitrl.service.proxy import app
from jitrl.types import Rule

pytestmark = pytest.mark.server

SAID = [{"role": "user", "content": TASK}]
CHAT = {"model": "habits", "messages": SAID, "tools": TOOLS}
PLACES = {"chat/completions": CHAT, "responses": {"model": "h", "input": SAID, "tools": FLAT}}
ALWAYS = {"attempts": 0, "holdout": 0.01}
TEXT = "When a parcel is lost, look at its order"


def provided(request):
    asked, stub = json.loads(request.content), Stub()
    said = stub.respond(asked) if request.url.path.endswith("responses") else stub.answer(asked)
    return Response(200, json=said)


def proxied(guide, **more):
    return TestClient(app(guide, "http://x/v1", transport=MockTransport(provided), **more))


def ask(client, key="k", path="chat/completions"):
    return client.post(f"/v1/{path}", json=PLACES[path], headers={"X-JitRL-Episode": key})


def tell(client, outcome=True, key="k"):
    return client.post(f"/jitrl/episodes/{key}/outcome", json={"outcome": outcome})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.db"


@pytest.mark.parametrize("rules", [False, ALWAYS], ids=["scores", "rules"])
@pytest.mark.parametrize("place", list(PLACES))
@pytest.mark.parametrize("is_new", [False, True], ids=["one process", "another process"])
def test_a_run_that_is_over_stays_over_and_its_agent_goes_on_alone(
    path, rules, place, is_new, caplog
):
    with jitrl.open(path, rules=rules) as memory:
        if rules:
            memory.store.add_rules([Rule(rule_id(TEXT), TEXT, author="ann", status="active")])
        guide = Guide(memory)
        with proxied(guide) as client:
            first = ask(client, path=place)
            assert tell(client).json()["rows"] == 1
            later = None if is_new else [ask(client, path=place) for _ in range(2)]
        if later is None:
            with proxied(guide) as client:
                later = [ask(client, path=place) for _ in range(2)]
                assert tell(client, False).status_code == 200  # it can be corrected all the same
        assert (first.headers["x-jitrl-decision"], "x-jitrl-degraded" in first.headers) == (
            "k#0",
            False,
        )
        for answer in later:
            assert answer.json() == first.json()
            assert answer.headers["x-jitrl-degraded"] == "1"
            assert "x-jitrl-decision" not in answer.headers
        (episode,) = memory.store.episodes()
        assert (len(episode.steps), episode.outcome.value) == (1, float(not is_new))
        if rules:
            (uses,) = memory.store.rule_uses([rule_id(TEXT)]).values()
            assert [one.use.episode for one in uses] == ["k"]
    warned = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
    assert warned == [
        "degraded key=k episode 'k' is over, so the model answers alone; send a new key for each "
        "run"
    ]


def test_a_run_that_was_left_quiet_too_long_is_over(path):
    with jitrl.open(path) as memory, proxied(Guide(memory), most=1) as client:
        ask(client, "a")
        ask(client, "b")  # for which "a" has to go
        assert ask(client, "a").headers["x-jitrl-degraded"] == "1"
        assert tell(client, key="a").json()["rows"] == 1
        assert len(memory.store.episode("a").steps) == 1


def test_an_outcome_that_could_not_be_stored_is_said_and_may_be_told_again(path):
    class Full(GuidedEpisode):
        def finish(self, *said, **about):
            self.degraded = "the episode could not be stored: StoreError: the disk is full"
            self.__class__ = GuidedEpisode  # and has room again

    class OnceFull(Guide):
        def episode(self, *args, **about):
            episode = super().episode(*args, **about)
            episode.__class__ = Full
            return episode

    with jitrl.open(path) as memory, proxied(OnceFull(memory)) as client:
        ask(client)
        failed = tell(client)
        assert failed.status_code == 503
        assert "disk is full; tell the outcome again" in failed.json()["error"]["message"]
        assert tell(client).json() == {"episode": "k", "rows": 1}


@pytest.mark.parametrize("observed", [True, False])
def test_what_the_model_was_shown_is_kept_unless_it_is_not_wanted(path, observed):
    with jitrl.open(path) as memory:
        with proxied(Guide(memory, observed=observed)) as client:
            ask(client)
        (episode,) = memory.store.episodes()
    assert (TASK in json.dumps(dict(episode.info))) is observed
    assert episode.steps[0].state.context == KIND


def test_addresses_cookies_and_what_the_provider_says_beside_an_answer_go_through(path):
    heard = []

    def provided_with(request):
        heard.append((request.method, request.url.raw_path))
        said = [("set-cookie", "a=1"), ("set-cookie", "b=2"), ("x-request-id", "r1")]
        body = {} if request.method != "POST" else Stub().answer(json.loads(request.content))
        return Response(200, json=body, headers=said)

    with jitrl.open(path) as memory:
        guide = Guide(memory)
        with TestClient(app(guide, "http://x/v1", transport=MockTransport(provided_with))) as one:
            answer = one.get("/v1/models/owner%2Fname?x=%2F")
            assert answer.headers.get_list("set-cookie") == ["a=1", "b=2"]
            assert one.head("/v1/models").status_code == 200
            assert one.options("/v1/models").status_code == 200
            assert ask(one).headers["x-request-id"] == "r1"
    assert heard[0] == ("GET", b"/v1/models/owner%2Fname?x=%2F")
