"""A judge that is slow, or hangs, keeps nobody waiting but who ends the run that it judges."""

import asyncio
import threading
import time
from contextlib import asynccontextmanager

import pytest

import jitrl
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.service.desk import Desk
from jitrl.service.errors import Conflict

httpx = pytest.importorskip("httpx")
pytestmark = pytest.mark.server

DECIDE = {"state": "page", "candidates": {"yes": 1.0, "no": 0.0}}
TELL = {"value": True, "basis": "test"}
SOON = 20.0  # seconds; all of it is done in a few milliseconds unless a judge is waited for


class Hanging(EnvironmentRewards):
    """Judges runs whose key begins with `slow` once it is let."""

    def __init__(self):
        super().__init__()
        self.may, self.asked = threading.Event(), threading.Semaphore(0)

    def judge(self, episode):
        if episode.key.startswith("slow"):
            self.asked.release()
            self.may.wait(2 * SOON)  # so that what waits for it fails, and does not hang
        return super().judge(episode)


@pytest.fixture
def judge():
    judge = Hanging()
    yield judge
    judge.may.set()


class Served:
    """Asks an application whose judge hangs."""

    def __init__(self, app, http, judge):
        self.app, self.http, self.judge = app, http, judge
        self.desk = app.state.service.tenants.desk("shop")
        self.desk.memory.agent.evaluator = judge

    async def post(self, path, body):
        asked = self.http.post(f"/v1/episodes{path}", json=body)
        return await asyncio.wait_for(asked, SOON)

    async def begin(self, *keys):
        for key in keys:
            await self.post("", {"task": "t", "key": key})
            await self.post(f"/{key}/decide", DECIDE)

    async def hang(self, key, path="close", body=None):
        """End a run, whose judge hangs by the time this returns."""
        await self.begin(key)
        ending = asyncio.create_task(self.http.post(f"/v1/episodes/{key}/{path}", json=body or {}))
        assert await asyncio.to_thread(self.judge.asked.acquire, timeout=SOON)
        return ending


@asynccontextmanager
async def served(place, judge, **bounds):
    from jitrl.service.serving import Bounds

    app, key = place.app(Bounds(**bounds)), place.key("admin")
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app),
            base_url="http://testserver",
            headers={"Authorization": f"Bearer {key}"},
            timeout=60.0,
        ) as http,
    ):
        yield Served(app, http, judge)


def test_runs_whose_judge_hangs_delay_no_other_run_and_no_end_of_the_service(place, judge):
    async def run():
        async with served(place, judge) as at:
            await at.begin("other", "third")
            ways = ("close", {}), ("outcomes", TELL), ("close", {}), ("outcomes", TELL)
            endings = [await at.hang(f"slow{n}", *way) for n, way in enumerate(ways)]
            asked = [
                at.post("", {"task": "t", "key": "new"}),
                at.post("/other/decide", DECIDE),
                at.post("/other/took", {"action": "no"}),
                at.post("/other/steps", {"reward": 0.5}),
                at.post("/other/outcomes", TELL),
                at.post("/third/close", {}),
            ]
            asked += [
                asyncio.wait_for(at.http.get(path), SOON)
                for path in (
                    "/v1/episodes/slow0",
                    "/v1/memory",
                    "/v1/rules",
                    "/v1/decisions/slow0:0",
                )
            ]
            said = [(await one).status_code for one in asked]
            waiting = [ending.done() for ending in endings]
            threads = [t.daemon for t in threading.enumerate() if t.name == "jitrl-judge"]
            for ending in endings:
                ending.cancel()
        return said, waiting, threads, judge.may.is_set()

    said, waiting, threads, is_judged = asyncio.run(run())
    assert said == [201, *[200] * 9]
    assert waiting == [False] * 4
    assert threads == [True] * 4  # no process waits for them at its end
    assert not is_judged


def test_so_many_runs_are_judged_at_once_and_one_more_may_be_ended_later(place, judge):
    async def run():
        async with served(place, judge, judges=2, patience=0.1) as at:
            await at.begin("more")
            endings = [await at.hang(f"slow{n}") for n in range(2)]
            refused = await at.post("/more/outcomes", TELL)
            status = at.desk.episodes.find("more").status
            judge.may.set()
            ended = [(await ending).status_code for ending in endings]
            return refused, status, ended, await at.post("/more/outcomes", TELL)

    refused, status, ended, again = asyncio.run(run())
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
    assert "2 episodes are being judged" in refused.json()["detail"]
    assert status == "running"
    assert (ended, again.status_code, again.json()["rows"]) == ([200, 200], 200, 1)


def test_what_is_asked_of_a_run_that_is_judged_is_refused_and_holds_up_nobody(place, judge):
    async def run():
        async with served(place, judge) as at:
            await at.begin("other")
            ending = await at.hang("slow")
            tried = [
                await at.post("/slow/decide", DECIDE),
                await at.post("/slow/steps", {"reward": 1.0}),
                await at.post("/slow/took", {"action": "no"}),
                await at.post("/slow/close", {}),
            ]
            decided = await at.post("/other/decide", DECIDE)
            judge.may.set()
            ended = await ending
            return tried, decided, ended, await at.post("/slow/close", {})

    tried, decided, ended, again = asyncio.run(run())
    assert [one.status_code for one in tried] == [409] * 4
    assert "is over" in tried[0].json()["detail"]
    assert "is being judged" in tried[-1].json()["detail"]
    assert not decided.json()["degraded"]
    assert (ended.json()["duplicate"], again.json()["duplicate"]) == (False, True)


def test_reports_by_tools_are_bounded_alike_and_other_tools_go_on(place, judge):
    mcp, httpx2 = pytest.importorskip("mcp"), pytest.importorskip("httpx2")
    from mcp.client.streamable_http import streamable_http_client

    async def run():
        async with served(place, judge, judges=1, patience=0.1) as at:
            headers = {"Authorization": f"Bearer {place.key('decide', 'report:self')}"}
            way = httpx2.ASGITransport(at.app)
            async with httpx2.AsyncClient(transport=way, headers=headers, timeout=60) as http:
                transport = streamable_http_client("http://testserver/mcp", http_client=http)
                async with mcp.Client(transport) as client:
                    for key in ("slow", "other"):
                        await client.call_tool("start", {"task": "t", "key": key})
                    tell = {"episode": "slow", "outcome": True}
                    ending = asyncio.create_task(client.call_tool("report", tell))
                    assert await asyncio.to_thread(judge.asked.acquire, timeout=SOON)
                    refused = await client.call_tool("report", tell | {"episode": "other"})
                    begun = await client.call_tool("start", {"task": "t"})
                    judge.may.set()
                    return refused, begun, await ending

    refused, begun, ended = asyncio.run(run())
    assert refused.is_error
    assert "1 episodes are being judged" in refused.content[0].text
    assert not begun.is_error
    assert not ended.is_error


def test_a_server_of_tools_alone_judges_so_many_at_once_and_its_other_tools_go_on(tmp_path, judge):
    mcp = pytest.importorskip("mcp")
    from jitrl.service.adviser import Adviser
    from jitrl.service.mcp import server

    async def run(desk):
        async with mcp.Client(server(Adviser(desk))) as client:
            for n in range(17):
                await client.call_tool("start", {"task": "t", "key": f"slow{n}"})
            ends = [
                asyncio.create_task(
                    client.call_tool("report", {"episode": f"slow{n}", "outcome": True})
                )
                for n in range(17)
            ]
            for _ in range(16):
                assert await asyncio.to_thread(judge.asked.acquire, timeout=SOON)
            one_more = await asyncio.to_thread(judge.asked.acquire, timeout=0.3)
            begun = await asyncio.wait_for(client.call_tool("start", {"task": "t"}), SOON)
            judge.may.set()
            return one_more, begun, [await end for end in ends]

    with Desk(tmp_path / "a.db") as desk:
        desk.memory.agent.evaluator = judge
        one_more, begun, ended = asyncio.run(run(desk))
    assert not one_more
    assert not begun.is_error
    assert not any(end.is_error for end in ended)


def test_while_one_run_is_judged_idle_ones_are_closed_and_lessons_are_fitted(
    tmp_path, judge, caplog
):
    with Desk(tmp_path / "a.db") as desk:
        desk.memory.agent.evaluator = judge
        for key in ("slow", "idle", "done"):
            desk.episodes.start("t", key=key)
            for page in ("home", "orders"):
                desk.episodes.decide(key, page, DECIDE["candidates"])
        ending = threading.Thread(target=desk.episodes.close, args=("slow",))
        ending.start()
        assert judge.asked.acquire(timeout=SOON)
        desk.episodes.outcome("done", True, basis="test", is_trusted=True)
        view, until = desk.memory.agent.view(""), time.monotonic() + SOON
        while time.monotonic() < until and (view.version < desk.lookup.head() or view.is_fit_due):
            time.sleep(0.01)
        assert view.version == desk.lookup.head()
        assert not view.is_fit_due
        assert desk.roster.sweep(0.0) == ["idle"]
        assert "sweep failed" not in caplog.text
        with pytest.raises(Conflict, match="is being judged"):
            desk.episodes.close("slow")
        judge.may.set()
        ending.join()
        assert desk.episodes.find("slow").status == "terminated"


def test_a_judge_that_hangs_at_an_idle_run_holds_up_no_sweep_for_longer_than_it_says(
    tmp_path, judge, caplog
):
    with Desk(tmp_path / "a.db") as desk:
        desk.memory.agent.evaluator = judge
        for key in ("slow", "slow too", "idle"):
            desk.episodes.start("t", key=key)
            desk.episodes.decide(key, "page", DECIDE["candidates"])
        assert desk.roster.sweep(0.0, 0.05) == []
        assert "a judge hangs: key=slow left=2" in caplog.text
        assert "key=slow too" not in caplog.text
        assert desk.episodes.find("slow too").status == "running"
        judge.may.set()
        assert set(desk.roster.sweep(0.0)) >= {"slow too", "idle"}


def test_a_judge_that_hangs_at_an_idle_run_keeps_no_desk_from_its_end(
    tmp_path, judge, caplog, monkeypatch
):
    monkeypatch.setattr("jitrl.service.roster._PATIENCE", 0.05)
    desk = Desk(tmp_path / "a.db")
    desk.memory.agent.evaluator = judge
    desk.episodes.start("t", key="slow")
    desk.episodes.decide("slow", "page", DECIDE["candidates"])
    closing = threading.Thread(target=desk.close, daemon=True)
    closing.start()
    closing.join(SOON)
    assert not closing.is_alive()
    assert "a judge hangs: key=slow left=0" in caplog.text
    judge.may.set()


def test_the_end_of_a_desk_waits_for_a_run_that_is_being_judged(tmp_path, judge):
    desk = Desk(tmp_path / "a.db")
    desk.memory.agent.evaluator = judge
    desk.episodes.start("t", key="slow")
    desk.episodes.decide("slow", "page", {"yes": 1.0, "no": 0.0})
    ending = threading.Thread(target=desk.outcome, args=("slow", True), daemon=True)
    ending.start()
    assert judge.asked.acquire(timeout=SOON)
    threading.Timer(0.3, judge.may.set).start()
    desk.close()
    ending.join(SOON)
    with jitrl.open(tmp_path / "a.db") as memory:
        kept = memory.store.episode("slow")
    assert (kept.status, kept.outcome.value) == ("terminated", 1.0)
