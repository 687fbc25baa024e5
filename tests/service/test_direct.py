"""The short way of a route: its answers are those of the framework's own way, to the byte."""

import json

import pytest
from served import Place

pytestmark = pytest.mark.server

STEP = {"state": "page", "candidates": {"yes": 1.0, "no": 0.0}}
JSON = {"Content-Type": "application/json"}
AT = "/v1/episodes/k/decide"
LONG = "/v1/episodes/" + "x" * 2000 + "/decide"


def sent(body):
    return json.dumps(body).encode()


ASKED = {
    "right": ("POST", AT, sent(STEP), ("decide",)),
    "a state in parts": (
        "POST",
        AT,
        sent({**STEP, "state": {"text": "page", "place": "p"}, "step": 0.0}),
        ("decide",),
    ),
    "no body": ("POST", AT, b"", ("decide",)),
    "null": ("POST", AT, b"null", ("decide",)),
    "a list": ("POST", AT, b"[1]", ("decide",)),
    "half of it": ("POST", AT, b'{"state": ', ("decide",)),
    "no UTF-8": ("POST", AT, b'{"state": "\xff"}', ("decide",)),
    "too deep": ("POST", AT, b"[" * 100_000, ("decide",)),
    "too many digits": ("POST", AT, b'{"step": ' + b"9" * 5000 + b"}", ("decide",)),
    "half a character": ("POST", AT, b'{"state": "\\ud800", "candidates": {"a": 0}}', ("decide",)),
    "wrong values": (
        "POST",
        AT,
        sent({"state": {"text": " ", "x": 1}, "candidates": {"": "0"}, "step": -1, "z": 1}),
        ("decide",),
    ),
    "not a number": ("POST", AT, b'{"state": "s", "candidates": {"a": NaN}}', ("decide",)),
    "a wrong address": ("POST", LONG, sent(STEP), ("decide",)),
    "address and body": ("POST", LONG, sent({}), ("decide",)),
    "no such episode": ("POST", AT.replace("k", "none"), sent(STEP), ("decide",)),
    "another step": ("POST", AT, sent({**STEP, "step": 7}), ("decide",)),
    "another scope": ("POST", AT, sent(STEP), ("metrics",)),
    "another scope, no JSON": ("POST", AT, b"{", ("metrics",)),
    "another scope, wrong": ("POST", AT, sent({}), ("metrics",)),
    "no key": ("POST", AT, sent(STEP), ()),
    "another method": ("GET", AT, b"", ("decide",)),
}


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Asks a service whose decisions go the short way, and one where they go the usual one."""
    from fastapi.routing import APIRoute
    from fastapi.testclient import TestClient

    from jitrl.service.routes import deciding

    def answers(way):
        place = Place(tmp_path_factory.mktemp(way))
        with TestClient(place.app(), raise_server_exceptions=False) as client:
            for name, (method, path, body, may) in ASKED.items():
                heads = {"Authorization": f"Bearer {place.key('decide')}"}
                client.post("/v1/episodes", json={"task": "t", "key": "k"}, headers=heads)
                heads = {"Authorization": f"Bearer {place.key(*may)}"} if may else {}
                made = client.request(method, path, content=body, headers=JSON | heads)
                client.post("/v1/episodes/k/close", headers=heads)
                yield name, (made.status_code, made.headers.multi_items(), made.content)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deciding, "directly", lambda ask: APIRoute)
        usual = dict(answers("usual"))
    return dict(answers("short")), usual


@pytest.mark.parametrize("name", ASKED)
def test_the_short_way_answers_as_the_usual_one(both, name):
    short, usual = both
    assert short[name] == usual[name]


def test_requests_of_every_kind_are_compared(both):
    statuses = {name: answer[0] for name, answer in both[1].items()}
    assert statuses["right"] == 200
    assert set(statuses.values()) == {200, 400, 401, 403, 404, 405, 409, 422}
