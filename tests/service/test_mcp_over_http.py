"""The MCP server inside the service, asked by the protocol's own client with the service's keys."""

from contextlib import asynccontextmanager

import pytest

pytestmark = [pytest.mark.frameworks, pytest.mark.server]

anyio = pytest.importorskip("anyio")
mcp = pytest.importorskip("mcp")
httpx2 = pytest.importorskip("httpx2")  # what mcp asks with
pytest.importorskip("fastapi")

TWO = {"A": 80, "B": 50}
AGENT = ("decide", "report:self")
PING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
MAY = {"Accept": "application/json, text/event-stream"}


@asynccontextmanager
async def asking(app, key, **how):
    """A client of an application in this process, with a key."""
    from mcp.client.streamable_http import streamable_http_client

    way = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(
        transport=way, headers={"Authorization": f"Bearer {key}"}, timeout=60
    ) as http:
        transport = streamable_http_client("http://testserver/mcp", http_client=http)
        async with mcp.Client(transport, **how) as client:
            yield client


async def said(client, tool, **given):
    answer = await client.call_tool(tool, given)
    assert not answer.is_error, answer.content
    return answer.structured_content


async def refused(client, tool, **given):
    answer = await client.call_tool(tool, given)
    assert answer.is_error
    return answer.content[0].text


def served(place, play, **limits):
    """What ``play`` gives, with an application that is served."""

    async def run():
        app = place.app(**limits)
        async with app.router.lifespan_context(app):
            return await play(app)

    return anyio.run(run)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_agent_with_a_key_runs_episodes_in_the_memory_of_its_tenant(place, mode):
    async def play(app):
        async with asking(app, place.key(*AGENT), mode=mode) as client:
            await said(client, "start", task="t", scope="s", key="k")
            advice = await said(client, "advise", episode="k", state="home", candidates=TWO)
            await said(client, "record", episode="k", reward=0.5)
            await said(client, "report", episode="k", outcome=True)
        desk = app.state.service.tenants.desk("shop")
        return advice, desk.memory.store.episode("k")

    advice, lived = served(place, play)
    assert (advice["action"], advice["degraded"]) == ("A", "")
    assert (lived.outcome.value, lived.outcome.basis) == (1.5, "agent_self_report")
    assert lived.principal == lived.outcome.principal == "decide/report:self"


def test_a_key_that_may_say_more_says_no_more_by_tools(place):
    async def play(app):
        async with asking(app, place.key("admin")) as client:
            await said(client, "start", task="t", key="k")
            await said(client, "advise", episode="k", state="home", candidates=TWO)
            await said(client, "report", episode="k", outcome=True)
        service = app.state.service
        sources = [row.source for row in service.tenants.desk("shop").rows()]
        return sources, service.metrics.text().decode()

    sources, counted = served(place, play)
    assert sources == ["principal:admin"]
    assert 'jitrl_decisions_total{result="model",tenant="shop"} 1.0' in counted
    assert 'jitrl_outcomes_total{basis="agent_self_report",tenant="shop"} 1.0' in counted


def test_a_run_is_there_for_its_agent_alone_and_after_a_restart(place):
    async def begin(app):
        async with asking(app, place.key(*AGENT)) as client:
            await said(client, "start", task="t", key="k")
            await said(client, "advise", episode="k", state="home", candidates=TWO)

    async def go_on(app):
        tell = {"episode": "k", "outcome": True}
        async with asking(app, place.key(*AGENT, tenant="other")) as client:
            foreign = await refused(client, "report", **tell)
        async with asking(app, place.key(*AGENT, name="another")) as client:
            another = await refused(client, "report", **tell)
        async with asking(app, place.key(*AGENT)) as client:
            return foreign, another, (await said(client, "report", **tell))["learned"]

    served(place, begin)
    foreign, another, learned = served(place, go_on)
    assert "there is no episode 'k'" in foreign
    assert "is somebody else's" in another
    assert learned == 1


@pytest.mark.parametrize(
    ("scopes", "status"),
    [((), 401), (("decide",), 403), (("report:self",), 403), (("read",), 403), (AGENT, 200)],
)
def test_a_request_needs_a_key_that_may_decide_and_report(ask, scopes, status):
    headers = dict(MAY)
    if scopes:
        headers["Authorization"] = f"Bearer {ask.place.key(*scopes)}"
    answer = ask.client.post("/mcp", json=PING, headers=headers)
    assert answer.status_code == status
    if status == 200:
        assert len(answer.json()["result"]["tools"]) == 5
    else:
        assert answer.json()["status"] == status


def test_only_questions_are_taken(ask):
    for method in ("GET", "DELETE"):
        answer = ask(method, "/mcp", may=AGENT)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
