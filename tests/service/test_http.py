"""The service over HTTP: what it answers, to whom, and how it says that something is wrong."""

import json
import re

import pytest
from served import Caller

pytestmark = pytest.mark.server

START = {"task": "t", "key": "k"}
STEP = {"state": "page", "candidates": {"yes": 1.0, "no": 0.0}}
PROBLEM = "application/problem+json"


def is_problem(answer, status):
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == PROBLEM
    body = answer.json()
    assert body["status"] == status
    assert body["detail"]
    return True


# --- an episode ----------------------------------------------------------------------------------


def test_an_episode_is_started_decided_rewarded_and_told_how_it_ended(ask):
    started = ask("POST", "/v1/episodes", START)
    assert (started.status_code, started.json()["id"]) == (201, "k")
    choice = ask("POST", "/v1/episodes/k/decide", STEP).json()
    assert (choice["action"], choice["decision"], choice["degraded"]) == ("yes", "k:0", False)
    assert ask("POST", "/v1/episodes/k/steps", {"reward": 0.5}).json()["steps"] == 1
    told = ask("POST", "/v1/episodes/k/outcomes", {"value": True, "basis": "test"}).json()
    assert (told["rows"], told["duplicate"]) == (1, False)
    (row,) = ask("GET", "/v1/memory").json()["rows"]
    assert (row["reward"], row["basis"], row["principal"]) == (1.5, "test", "admin")
    assert ask("GET", "/v1/episodes/k").json()["status"] == "terminated"


def test_what_was_learned_is_seen_by_the_next_decision(ask):
    for number in range(8):
        ask("POST", "/v1/episodes", {"task": "t", "key": f"{number}"})
        chosen = ask("POST", f"/v1/episodes/{number}/decide", STEP).json()["action"]
        said = {"value": chosen == "no", "basis": "test"}
        ask("POST", f"/v1/episodes/{number}/outcomes", said)
    ask("POST", "/v1/episodes", START)
    choice = ask("POST", "/v1/episodes/k/decide", STEP).json()
    assert (choice["action"], choice["changed"]) == ("no", True)


def test_starting_again_under_a_key_finds_the_episode(ask):
    assert ask("POST", "/v1/episodes", START).status_code == 201
    again = ask("POST", "/v1/episodes", START)
    assert (again.status_code, again.json()["id"]) == (200, "k")
    assert is_problem(ask("POST", "/v1/episodes", {"task": "other", "key": "k"}), 409)


def test_any_key_of_an_episode_has_a_plain_address(ask):
    for key in ("a/b#c?d", "客户 7", "..", ".hidden", "x" * 200, "~", "k:restore"):
        id = ask("POST", "/v1/episodes", {"task": "t", "key": key}).json()["id"]
        assert re.fullmatch(r"[A-Za-z0-9._~-]+", id)
        choice = ask("POST", f"/v1/episodes/{id}/decide", STEP).json()
        assert ask("GET", f"/v1/decisions/{choice['decision']}").json()["action"] == "yes"
        assert ask("GET", f"/v1/episodes/{id}").json()["key"] == key


def test_actions_that_the_memory_knows_join_where_they_are_named(ask):
    ask("POST", "/v1/episodes", {"task": "t", "key": "a"})
    ask("POST", "/v1/episodes/a/decide", {"state": "page", "candidates": {"best": 0.0}})
    ask("POST", "/v1/episodes/a/outcomes", {"value": True, "basis": "test"})
    ask("POST", "/v1/episodes", START)
    choice = ask("POST", "/v1/episodes/k/decide", {**STEP, "more": ["best"]}).json()
    assert (choice["action"], choice["source"]) == ("best", "memory")


def test_an_outcome_with_an_idempotency_key_is_done_once(ask):
    ask.live("k", True)
    path = "/v1/episodes/k/outcomes"
    first, second = {"value": False, "basis": "human"}, {"value": True, "basis": "human"}
    done = ask("POST", path, first, headers={"Idempotency-Key": "1"})
    ask("POST", path, second, headers={"Idempotency-Key": "2"})
    again = ask("POST", path, first, headers={"Idempotency-Key": "1"})
    assert again.json() == done.json()
    active = ask("GET", "/v1/memory?status=active").json()["rows"]
    assert [row["reward"] for row in active] == [1.0]
    other = ask("POST", path, second, headers={"Idempotency-Key": "1"})
    assert is_problem(other, 409)
    assert "with idempotency key '1';" in other.json()["detail"]


@pytest.mark.parametrize("may", ["report:self", "report:trusted"])
def test_a_reward_with_an_idempotency_key_is_counted_once_as_long_as_the_run_goes_on(ask, may):
    ask("POST", "/v1/episodes", START)
    ask("POST", "/v1/episodes/k/decide", STEP)
    how = {"may": ("read", "decide", may), "headers": {"Idempotency-Key": "1"}}
    path, half = "/v1/episodes/k/steps", {"reward": 0.5, "step": 0}
    first = ask("POST", path, half, **how)
    ask("POST", "/v1/episodes/k/decide", STEP)
    again = ask("POST", path, half, **how)
    assert (first.status_code, again.status_code, again.json()["steps"]) == (200, 200, 2)
    other = ask("POST", path, {"reward": 0.25, "step": 0}, **how)
    assert is_problem(other, 409)
    assert "take another one" in other.json()["detail"]
    said = {"value": 0.0, "basis": "test" if may == "report:trusted" else "agent_self_report"}
    ask("POST", "/v1/episodes/k/outcomes", said, **how)
    assert sum(row["reward"] for row in ask("GET", "/v1/memory").json()["rows"]) == 0.5
    assert is_problem(ask("POST", path, half, **how), 409)


def test_an_outcome_is_withdrawn(ask):
    ask.live("k")
    withdrawn = ask("POST", "/v1/episodes/k/outcomes", {"value": None, "basis": "test"}).json()
    assert (withdrawn["rows"], withdrawn["duplicate"]) == (0, False)
    assert ask("GET", "/v1/memory?status=active").json()["rows"] == []


def test_a_late_decision_is_the_models_own_and_says_so(place):
    from fastapi.testclient import TestClient
    from test_desk import slowed

    place.key("admin")
    with TestClient(place.app(deadline=0.05)) as client:
        ask = Caller(place, client)
        service = client.app.state.service
        gate = slowed(service.tenants.desk("shop")).gate
        ask("POST", "/v1/episodes", START)
        choice = ask("POST", "/v1/episodes/k/decide", STEP).json()
        gate.set()
        assert (choice["action"], choice["degraded"], choice["reason"]) == ("yes", True, "deadline")
        text = ask("GET", "/metrics").text
        assert 'jitrl_decisions_total{result="deadline",tenant="shop"} 1.0' in text


# --- looking and undoing -------------------------------------------------------------------------


def test_a_decision_is_shown_with_every_number(ask):
    ask.live("k")
    ask.live("l")
    found = ask("GET", "/v1/decisions/l:0").json()
    assert found["state"] == {"text": "page", "context": "", "place": ""}
    candidate = found["decision"]["candidates"][0]
    total = candidate["logit"] + candidate["correction"]
    assert candidate["corrected"] == pytest.approx(total)
    assert found["decision"]["neighbors"][0]["rows"]
    assert is_problem(ask("GET", "/v1/decisions/l:1"), 404)
    assert is_problem(ask("GET", "/v1/decisions/nobody:0"), 404)


def test_rows_come_in_pages(ask):
    for number in range(5):
        ask.live(f"{number}")
    first = ask("GET", "/v1/memory?limit=2").json()
    rest = ask("GET", f"/v1/memory?limit=500&before={first['next']}").json()
    ids = [row["id"] for row in (*first["rows"], *rest["rows"])]
    assert ids == sorted(ids, reverse=True)
    assert (len(ids), rest["next"]) == (5, None)
    assert len(ask("GET", "/v1/memory?episode=3").json()["rows"]) == 1


def test_rows_and_episodes_are_quarantined_and_restored(ask):
    ask.live("k")
    (row,) = ask("GET", "/v1/memory").json()["rows"]
    done = ask("POST", f"/v1/memory/{row['id']}:quarantine", {"reason": "planted"}).json()
    assert (done["status"], done["changed"]) == ("quarantined", 1)
    assert ask("GET", f"/v1/memory/{row['id']}").json()["status"] == "quarantined"
    assert ask("POST", f"/v1/memory/{row['id']}:restore").json()["changed"] == 1
    assert ask("POST", "/v1/episodes/k:quarantine").json()["changed"] == 1
    assert ask("POST", "/v1/episodes/k:restore").json()["changed"] == 1
    assert is_problem(ask("POST", "/v1/memory/99:quarantine"), 404)


def test_rules_are_listed(ask, place):
    from jitrl.core.sentences import cleaned, rule_id
    from jitrl.stores.sqlite import SQLiteStore
    from jitrl.types import Rule

    text = "部署前必须运行测试"
    with SQLiteStore(place.folder / "shop.db") as store:
        store.add_rules([Rule(rule_id(text), cleaned(text), "s")])
    (rule,) = ask("GET", "/v1/rules").json()["rules"]
    assert (rule["text"], rule["status"]) == (text, "candidate")
    assert ask("GET", "/v1/rules?status=active").json()["rules"] == []


# --- who may do what -----------------------------------------------------------------------------

CALLS = {
    ("POST", "/v1/episodes"): {"decide"},
    ("GET", "/v1/episodes/k"): {"decide", "read"},
    ("POST", "/v1/episodes/k/decide"): {"decide"},
    ("POST", "/v1/episodes/k/notes"): {"decide"},
    ("POST", "/v1/episodes/k/close"): {"decide"},
    ("POST", "/v1/episodes/k/steps"): {"report:self", "report:trusted"},
    ("POST", "/v1/episodes/k/outcomes"): {"report:self", "report:trusted"},
    ("GET", "/v1/decisions/k:0"): {"read"},
    ("GET", "/v1/memory"): {"read"},
    ("GET", "/v1/memory/1"): {"read"},
    ("GET", "/v1/rules"): {"read"},
    ("POST", "/v1/memory/1:quarantine"): {"curate"},
    ("POST", "/v1/memory/1:restore"): {"curate"},
    ("POST", "/v1/episodes/k:quarantine"): {"curate"},
    ("POST", "/v1/episodes/k:restore"): {"curate"},
    ("GET", "/metrics"): {"metrics"},
}
BODIES = {
    "/v1/episodes": START,
    "decide": STEP,
    "notes": {"state": "page"},
    "steps": {"reward": 1.0},
    "outcomes": {"value": 1},
}


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_a_key_does_what_its_scopes_say_and_nothing_else(ask, call):
    method, path = call
    body = next((b for end, b in BODIES.items() if path.endswith(end)), None)
    scopes = ("decide", "report:self", "report:trusted", "read", "curate", "metrics", "admin")
    for scope in scopes:
        status = ask(method, path, body, may=(scope,)).status_code
        assert (status != 403) == (scope in CALLS[call] or scope == "admin"), scope


def test_every_address_but_health_needs_a_key(ask):
    from jitrl.service.guard import OPEN

    described = ask.client.get("/openapi.json").json()
    for path, methods in described["paths"].items():
        for method in methods:
            at = path.replace("{id}", "k").replace("{row}", "1")
            answer = ask.client.request(method.upper(), at)
            if path in OPEN:
                assert answer.status_code == 200
            else:
                assert is_problem(answer, 401)
                assert "Bearer" in answer.headers["www-authenticate"]


def test_a_wrong_or_revoked_key_is_no_key(ask, place):
    text = place.key("read")
    id = text.split("_")[1]
    headers = [
        {"Authorization": said}
        for said in ("", "Bearer", "Bearer x", f"Bearer {text}x", f"Bearer jitrl_{id}_", "Basic ?")
    ]
    assert {ask.client.get("/v1/memory", headers=h).status_code for h in headers} == {401}
    assert ask("GET", "/v1/memory", may=("read",)).status_code == 200
    place.keys.revoke(id)
    assert is_problem(ask("GET", "/v1/memory", may=("read",)), 401)


@pytest.mark.parametrize("basis", ["test", "state_check", "human", "user_feedback", "llm_judge"])
def test_an_agents_key_never_asserts_a_basis_that_is_not_its_own_report(ask, basis):
    agent = ("decide", "report:self")
    ask("POST", "/v1/episodes", START, may=agent)
    ask("POST", "/v1/episodes/k/decide", STEP, may=agent)
    said = {"value": True, "basis": basis}
    assert is_problem(ask("POST", "/v1/episodes/k/outcomes", said, may=agent), 403)
    ask("POST", "/v1/episodes/k/steps", {"reward": 1.0}, may=agent)
    ask("POST", "/v1/episodes/k/close", may=agent)
    (row,) = ask("GET", "/v1/memory").json()["rows"]
    assert (row["basis"], row["source"]) == (
        "agent_self_report",
        "principal:decide/report:self",
    )


def test_what_belongs_to_another_tenant_is_not_there(ask):
    ask.live("k", tenant="other")
    ask("POST", "/v1/episodes", {"task": "t", "key": "running"}, tenant="other")
    calls = [
        ("GET", "/v1/episodes/k", None),
        ("GET", "/v1/episodes/running", None),
        ("POST", "/v1/episodes/running/decide", STEP),
        ("POST", "/v1/episodes/running/close", {}),
        ("POST", "/v1/episodes/k/outcomes", {"value": False}),
        ("POST", "/v1/episodes/k:quarantine", None),
        ("GET", "/v1/decisions/k:0", None),
        ("GET", "/v1/memory/1", None),
        ("POST", "/v1/memory/1:quarantine", None),
    ]
    for method, path, body in calls:
        assert is_problem(ask(method, path, body), 404)
        assert is_problem(ask(method, path.replace("k", "none").replace("1", "9"), body), 404)
    assert ask("GET", "/v1/memory").json()["rows"] == []
    assert ask("GET", "/v1/episodes/running", tenant="other").json()["status"] == "running"


# --- what is wrong -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/v1/episodes", {}, "task"),
        ("/v1/episodes", {"task": ""}, "task"),
        ("/v1/episodes", {"task": "t", "kee": "k"}, "kee"),
        ("/v1/episodes", {"task": "t", "key": "x" * 201}, "key"),
        ("/v1/episodes/k/decide", {"state": " ", "candidates": {"a": 0}}, "state"),
        ("/v1/episodes/k/decide", {"state": "s", "candidates": {}}, "candidates"),
        ("/v1/episodes/k/decide", {"state": "s", "candidates": {"a": "0"}}, "candidates"),
        ("/v1/episodes/k/decide", {"state": "s", "candidates": {"a": 1e101}}, "candidates"),
        (
            "/v1/episodes/k/decide",
            {"state": "s", "candidates": {f"{n}": 0 for n in range(1001)}},
            "1000",
        ),
        ("/v1/episodes/k/decide", {**STEP, "step": -1}, "step"),
        ("/v1/episodes/k/steps", {"reward": None}, "reward"),
        ("/v1/episodes/k/outcomes", {}, "value"),
        ("/v1/episodes/k/outcomes", {"value": "yes"}, "value"),
        ("/v1/episodes/k/outcomes", {"value": 1, "basis": "certain"}, "basis"),
        ("/v1/episodes/k/close", {"status": "done"}, "status"),
    ],
)
def test_a_value_that_cannot_be_used_is_named(ask, path, body, said):
    ask("POST", "/v1/episodes", START)
    answer = ask("POST", path, body)
    assert is_problem(answer, 422)
    assert said in answer.json()["detail"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"state": "\xff"}', "no JSON in UTF-8"),
        (b'{"state": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"state": "page", "step": ' + b"9" * 5000 + b"}", "too many digits"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused_with_what_is_wrong_with_it(ask, body, said):
    ask("POST", "/v1/episodes", START)
    how = {"content": body, "headers": {"Content-Type": "application/json"}}
    answer = ask("POST", "/v1/episodes/k/notes", **how)
    assert is_problem(answer, 400)
    assert said in answer.json()["detail"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "9" * 5000])
def test_a_number_that_is_none_is_refused(ask, number):
    ask("POST", "/v1/episodes", START)
    body = f'{{"state": "s", "candidates": {{"a": {number}}}}}'
    headers = {"Content-Type": "application/json"}
    answer = ask("POST", "/v1/episodes/k/decide", content=body, headers=headers)
    assert answer.status_code in (400, 422)
    assert answer.headers["content-type"] == PROBLEM


@pytest.mark.parametrize("body", ["{", "[" * 100_000, "\xff", '{"task": "\\ud800"}'])
def test_a_body_that_is_no_json_is_refused(ask, body):
    headers = {"Content-Type": "application/json"}
    answer = ask("POST", "/v1/episodes", content=body.encode("latin-1"), headers=headers)
    assert answer.status_code in (400, 422)
    assert answer.headers["content-type"] == PROBLEM


def test_a_body_of_another_kind_or_too_large_is_refused(place):
    from fastapi.testclient import TestClient

    from jitrl.service.serving import Bounds

    place.key("admin")
    with TestClient(place.app(Bounds(body=2000))) as client:
        ask = Caller(place, client)
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        assert is_problem(ask("POST", "/v1/episodes", content="task=t", headers=form), 415)
        assert is_problem(ask("POST", "/v1/episodes", {"task": "t" * 3000}), 413)
        parts = (b" " * 500 for _ in range(10))
        headers = {"Content-Type": "application/json"}
        assert is_problem(ask("POST", "/v1/episodes", content=parts, headers=headers), 413)
        assert ask("POST", "/v1/episodes", START).status_code == 201


def test_a_key_that_asks_too_often_is_told_when_to_come_back(place):
    from fastapi.testclient import TestClient

    from jitrl.service.serving import Bounds

    place.key("admin")
    with TestClient(place.app(Bounds(rate=0.1))) as client:
        ask = Caller(place, client)
        assert ask("GET", "/v1/memory").status_code == 200
        late = ask("GET", "/v1/memory")
        assert is_problem(late, 429)
        assert int(late.headers["retry-after"]) >= 1
        assert ask("GET", "/v1/memory", may=("read",)).status_code == 200  # another key


def test_whoever_asks_too_often_without_a_key_is_told_to_wait_and_others_are_not(place):
    from fastapi.testclient import TestClient

    from jitrl.service.serving import Bounds

    place.key("admin")
    place.key("read")
    with TestClient(place.app(Bounds(strangers=0.1))) as client:
        ask = Caller(place, client)
        bad = {"Authorization": "Bearer jitrl_0_0"}
        assert is_problem(client.get("/v1/memory", headers=bad), 401)
        for late in (client.get("/v1/memory", headers=bad), client.get("/openapi.json")):
            assert is_problem(late, 429)
            assert int(late.headers["retry-after"]) >= 1
        assert {ask("GET", "/v1/memory").status_code for _ in range(3)} == {200}
        assert ask("POST", "/v1/memory/1:restore", may=("read",)).status_code == 403
        assert {client.get("/healthz").status_code for _ in range(3)} == {200}
        other = TestClient(client.app, client=("192.0.2.7", 1))
        assert is_problem(other.get("/v1/memory"), 401)


def test_a_flood_of_addresses_takes_no_more_than_so_much_memory():
    from jitrl.service.guard import Rates

    rates = Rates(0.01)  # a burst of one, back after 100 s
    assert all(rates.take(f"{number}") == 0.0 for number in range(10_000))
    assert rates.take("0") > 0.0
    assert rates.take("one more") == 0.0
    assert len(rates._left) == 1


def test_an_address_that_is_not_there_or_has_other_methods_is_a_problem_too(ask):
    assert is_problem(ask("GET", "/nowhere"), 404)
    refused = ask("DELETE", "/v1/episodes/k")
    assert is_problem(refused, 405)
    assert refused.headers["allow"] == "GET"
    assert ask("PUT", "/v1/memory/1:restore").headers["allow"] == "POST"


def test_every_answer_of_this_file_is_declared(ask):
    described = ask.client.get("/openapi.json").json()
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            for status, response in operation["responses"].items():
                if int(status) >= 400 and not (path == "/readyz" and status == "503"):
                    assert list(response["content"]) == [PROBLEM], (method, path, status)
    assert set(described["components"]["schemas"]["Problem"]["required"]) >= {"title", "detail"}
    assert not re.search(r"ValidationError", json.dumps(described))


def test_nothing_it_says_of_an_error_holds_a_key(ask, place, caplog):
    for path in ("/v1/memory/9", "/nowhere", "/v1/decisions/x:0"):
        ask("GET", path, may=("read",))
    assert place.key("read").split("_")[2] not in caplog.text
    stored = (place.folder / "keys.json").read_text()
    assert not any(text.split("_", 2)[2] in stored for text in place._texts.values())


# --- the service about itself --------------------------------------------------------------------


def test_it_is_ready_once_its_memories_are_read(place):
    from fastapi.testclient import TestClient

    place.key("admin")
    (place.folder / "broken.db").write_bytes(b"no memory, but long enough for a file" * 100)
    with TestClient(place.app()) as client:
        assert client.get("/healthz").json()["status"] == "ok"
        while client.get("/readyz").json()["status"] == "starting":
            pass
        assert client.get("/readyz").status_code == 503
        assert is_problem(Caller(place, client)("GET", "/v1/memory", tenant="broken"), 503)
        assert Caller(place, client)("GET", "/v1/memory").status_code == 200


def test_counters_say_what_was_asked_decided_and_told(ask):
    ask.live("k")
    ask("GET", "/nowhere")
    ask("BREW", "/healthz")
    text = ask("GET", "/metrics", may=("metrics",)).text
    assert 'jitrl_decisions_total{result="model",tenant="shop"} 1.0' in text
    assert 'jitrl_outcomes_total{basis="test",tenant="shop"} 1.0' in text
    assert 'jitrl_running_episodes{tenant="shop"} 0.0' in text
    assert 'jitrl_memory_version{tenant="shop"} 1.0' in text
    assert 'route="/v1/episodes/{id}/decide",status="200"' in text
    assert 'route="other"' in text
    assert "BREW" not in text
