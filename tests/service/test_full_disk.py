"""A disk that is full while a service serves: the agent goes on, and no promise is broken."""

import json
import signal
from contextlib import contextmanager
from http.client import HTTPConnection

import pytest
from test_service_kills import Service

from jitrl.stores.sqlite import SQLiteStore

resource = pytest.importorskip("resource")
YES_NO = {"yes": 1.0, "no": 0.0}
PROBLEM = "application/problem+json"


def ask(service, method, path, body=None):
    """Status, type and content of an answer, whatever it is."""
    line = HTTPConnection("127.0.0.1", service.port, timeout=60)
    told = {"Authorization": f"Bearer {service.key}", "Content-Type": "application/json"}
    line.request(method, path, None if body is None else json.dumps(body), told)
    answer = line.getresponse()
    read = json.loads(answer.read())
    line.close()
    return answer.status, answer.headers.get_content_type(), read


def page(step):
    return {"state": f"page {step}", "candidates": YES_NO, "step": step}


def decide(service, key, step):
    status, _, made = ask(service, "POST", f"/v1/episodes/{key}/decide", page(step))
    assert status == 200
    return made["action"]


@contextmanager
def full(service):
    """No file of the service can grow."""
    for size in (0, resource.RLIM_INFINITY):
        limit = (size, resource.RLIM_INFINITY)
        resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, limit)
        if not size:
            yield


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="the system has no prlimit")
def test_an_agent_goes_on_and_what_cannot_be_written_is_refused_until_there_is_room(tmp_path):
    service = Service(tmp_path / "served")
    refused = [
        ("/v1/episodes/old/steps", {"reward": 0.5}),
        ("/v1/episodes/old/took", {"action": "no"}),
        ("/v1/episodes/ends/outcomes", {"value": 1.0, "basis": "test"}),
        ("/v1/episodes/ends/close", None),
        ("/v1/episodes/over/outcomes", {"value": 0.0, "basis": "test"}),
        ("/v1/episodes/over:quarantine", None),
    ]
    try:
        for key in ("over", "ends", "old"):
            service.asked("/v1/episodes", {"task": "t", "key": key})
            assert service.asked(f"/v1/episodes/{key}/decide", page(0))["action"] == "yes"
        service.asked("/v1/episodes/over/outcomes", {"value": 1.0, "basis": "test"})
        with full(service):
            assert ask(service, "POST", "/v1/episodes", {"task": "t", "key": "new"})[0] == 201
            for key, step in (("old", 1), ("new", 0)):
                assert decide(service, key, step) == "yes"
            for path, body in refused:
                status, kind, problem = ask(service, "POST", path, body)
                assert (path, status, kind) == (path, 503, PROBLEM)
                assert "room" in problem["detail"] or "free space" in problem["detail"]
            assert ask(service, "GET", "/v1/memory")[0] == 200
        for key, step in (("old", 2), ("new", 1)):
            assert decide(service, key, step) == "yes"
        assert ask(service, "POST", "/v1/episodes/ends/decide", page(1))[0] == 409
        assert service.asked(*refused[2])["rows"] == 1
        service.end(signal.SIGKILL)
        service.start()
        for key in ("new", "old"):
            for path, body in refused[:2]:
                service.asked(path.replace("old", key), body)
            service.asked(f"/v1/episodes/{key}/outcomes", refused[2][1])
        assert ask(service, "POST", *refused[4])[0] == 200
    finally:
        service.end(signal.SIGTERM)
        service.log.close()
    with SQLiteStore(tmp_path / "served" / "shop.db") as store:
        assert store.check() == []
        found = {e.key: [(s.action, s.reward) for s in e.steps] for e in store.episodes()}
        assert found == {
            "over": [("yes", None)],
            "ends": [("yes", None)],
            "old": [("yes", None), ("yes", None), ("no", 0.5)],
            "new": [("yes", None), ("no", 0.5)],
        }
        assert store.episode("over").outcome.value == 0.0
        assert all(store.episode(key).outcome.value == 1.0 for key in ("ends", "old", "new"))
