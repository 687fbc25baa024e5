"""What the Python client makes of answers of a server that fails, is busy, or breaks off."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType

import numpy as np
import pytest

import jitrl
from jitrl.errors import InputError

pytest.importorskip("httpx")
pytestmark = pytest.mark.server

SEAT = b'{"id":"k","key":"k","task":"t","scope":"","status":"running","holdout":false,"steps":0}'
CHOICE = b'{"action":"no"}'
YES_NO = {"yes": 1.0, "no": 0.0}
FAULTS = [
    (503, b'{"detail":"away"}', {}),
    (500, b"<html>", {}),
    (429, b"{}", {"Retry-After": "3600"}),
    (200, b'{"action":', {}),
    (200, b'{"id":7}', {}),
    (200, b"\xff\xfe", {}),
    (200, b"half", {"Content-Length": "100"}),
    (200, b"no gzip", {"Content-Encoding": "gzip"}),
    (200, b'{"id":' * 100_000, {}),
    (302, b"", {"Location": "https://elsewhere"}),
]


@contextmanager
def served(*faults):
    """A client of a server that answers what is not started or decided with ``faults`` in turn."""
    from jitrl.service.client import Client

    left, asked = list(faults), []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            asked.append(self.path.rsplit("/", 1)[-1])
            usual = {"episodes": SEAT, "decide": CHOICE}
            answer = 200, usual.get(asked[-1], SEAT), {}
            if left and asked[-1] not in ("episodes", "decide"):
                answer = left.pop(0)
            status, body, headers = answer
            self.send_response(status)
            for name, value in ({"Content-Length": str(len(body))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with Client(f"http://127.0.0.1:{server.server_port}", "key", timeout=20.0) as client:
            yield client, asked
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("say", ["took", "reward"])
def test_what_is_said_of_a_step_and_not_heard_fails_no_agent_and_loses_the_run(fault, say):
    with served(fault, fault) as (client, asked), client.episode("t", key="k") as episode:
        assert episode.decide("page", YES_NO).action == "no"
        getattr(episode, say)("yes" if say == "took" else 1.0)
        assert episode.is_lost
        assert episode.decide("next", YES_NO).action == "yes"
        assert episode.outcome(True) is None
    assert asked.count("close") == 1


@pytest.mark.parametrize("fault", FAULTS)
def test_an_outcome_that_is_not_heard_is_told_to_the_caller_in_the_clients_own_words(fault):
    from jitrl.service.client import Unreachable

    with (
        served(fault, fault) as (client, _),
        client.episode("t", key="k") as episode,
        pytest.raises(Unreachable),
    ):
        episode.outcome(True)


def test_a_busy_service_is_asked_again_after_as_long_as_it_says():
    busy = 429, b"{}", {"Retry-After": "1"}
    with served(busy) as (client, asked), client.episode("t", key="k") as episode:
        episode.decide("page", YES_NO)
        episode.reward(1.0)
        assert not episode.is_lost
    assert asked.count("steps") == 2


def test_an_end_that_is_refused_while_the_outcome_is_judged_hides_no_error_of_the_agent():
    from jitrl.service.client import Unreachable

    slow, judging = (503, b"{}", {}), (409, b'{"detail":"is being judged"}', {})
    with (
        pytest.raises(Unreachable),
        served(slow, judging) as (client, _),
        client.episode("t", key="k") as episode,
    ):
        episode.outcome(True)


@pytest.fixture
def asked_of():
    """A client whose decisions are answered in turn by what is given, and what was asked."""
    import httpx

    from jitrl.service.client import Client

    def client(*answers):
        left, asked = list(answers), []

        def answer(request):
            asked.append(request.url.path.rsplit("/", 1)[-1])
            if asked[-1] != "decide":
                return httpx.Response(200, content=SEAT)
            said = left.pop(0)
            if isinstance(said, Exception):
                raise said
            return said if isinstance(said, httpx.Response) else httpx.Response(200, content=said)

        return Client("http://x", "k", transport=httpx.MockTransport(answer)), asked

    return client


def test_an_answer_lost_after_a_busy_moment_is_asked_for_again(asked_of):
    import httpx

    busy = httpx.Response(429, headers={"Retry-After": "1"})
    client, asked = asked_of(busy, httpx.ReadTimeout("late"), CHOICE)
    with client, client.episode("t", key="k") as episode:
        assert not episode.decide("page", YES_NO).degraded
    assert asked.count("decide") == 3


@pytest.mark.parametrize(
    "answer",
    [
        b'{"action":"perhaps"}',
        b'{"action":"no","step":7}',
        b'{"action":' * 100_000,
    ],
)
def test_an_answer_to_something_else_is_no_choice(asked_of, answer):
    client, _ = asked_of(answer)
    with client, client.episode("t") as episode:
        made = episode.decide("page", YES_NO)
    assert (made.action, made.degraded, episode.is_lost) == ("yes", True, True)


@pytest.mark.parametrize(
    ("say", "what"),
    [
        (lambda e: e.decide("p", {"a": float("nan")}), r"logit of 'a' is nan; .* finite"),
        (lambda e: e.decide("p", {"a": {1}}), r"logit of 'a' is \{1\}; it must be a finite number"),
        (lambda e: e.decide("p", {7: 1.0}), r"an action is 7; an action must be a text"),
        (lambda e: e.decide("p", {"\ud800": 1.0}), r"an action has half of a surrogate pair"),
        (lambda e: e.decide("p", ["a"]), r"candidates is \['a'\]; it must be a mapping"),
        (lambda e: e.decide("p", {}), r"no candidates"),
        (lambda e: e.decide("p", YES_NO, more="wait"), r"more is 'wait'; it must be a collection"),
        (lambda e: e.decide("p", YES_NO, more=[7]), r"more holds 7; it must be a collection"),
        (lambda e: e.decide("\ud800", YES_NO), r"text of the state has half of a surrogate pair"),
        (lambda e: e.decide(7, YES_NO), r"state is 7, a int; it must be a text or a State"),
        (lambda e: e.decide("p", YES_NO, seen="\ud800"), r"body.'seen' is .* surrogate"),
        (lambda e: e.decide("p", YES_NO, scorer={1}), r"body.'scorer' is \{1\}; a set"),
        (lambda e: e.notes("p", "wait"), r"actions is 'wait'; it must be a collection"),
        (lambda e: e.notes("", []), r"state is '', which is empty"),
        (lambda e: e.reward(1.0), r"'reward': 1.0.* before the first decision"),
        (lambda e: e.took("a"), r"'action': 'a'.* before the first decision"),
        (lambda e: e.outcome(float("inf")), r"body.'value' is inf; .* finite"),
    ],
)
def test_what_cannot_be_sent_is_refused_with_the_value(asked_of, say, what):
    from jitrl.service.client import Refused

    client, _ = asked_of()
    with client, client.episode("t") as episode:
        with pytest.raises(Refused, match=what):
            say(episode)
        assert not episode.is_lost


@pytest.mark.parametrize(
    ("candidates", "more"),
    [
        (MappingProxyType(YES_NO), ("no",)),
        (dict.fromkeys(YES_NO, np.float32(1.0)), iter(["no"])),
        ({np.str_("yes"): 1, "no": False}, {"no": 1}),
    ],
)
def test_what_the_library_takes_for_candidates_can_be_sent_as_well(asked_of, candidates, more):
    client, _ = asked_of(CHOICE)
    with client, client.episode("t") as episode:
        made = episode.decide(jitrl.State("page"), candidates, more=more)
    assert (made.action, made.degraded) == ("no", False)


@pytest.mark.parametrize(
    "address", ["127.0.0.1:8321", "", "http://", "http://[::1", "http://x:99999", "ftp://x", None]
)
def test_an_address_where_nothing_can_be_asked_is_refused_at_once(address):
    from jitrl.service.client import Client

    with pytest.raises(InputError, match=r"address is .*http://127\.0\.0\.1:8321"):
        Client(address, "k")


@pytest.mark.parametrize("key", ["", " ", "a\nb", "\u00e9", None])
def test_a_key_that_none_can_be_is_refused_without_being_shown(key):
    from jitrl.service.client import Client

    with pytest.raises(InputError, match="key is empty or holds") as error:
        Client("http://127.0.0.1:1", key)
    assert not key or key.strip() == "" or key not in str(error.value)
