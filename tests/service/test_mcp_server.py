"""The memory as an MCP server, asked by the protocol's own client: in process and as a command."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

import jitrl
from jitrl.service.adviser import Adviser
from jitrl.service.desk import Desk
from jitrl.service.seats import Limits

pytestmark = pytest.mark.frameworks

anyio = pytest.importorskip("anyio")
mcp = pytest.importorskip("mcp")
served = pytest.importorskip("jitrl.service.mcp")

TASK = "find the reviews"
PATIENT = Limits(deadline=60.0)
WHO = {"name": "by hand", "version": "0"}


async def said(client: Any, tool: str, **given: Any) -> dict[str, Any]:
    answer = await client.call_tool(tool, given)
    assert not answer.is_error, answer.content
    found: dict[str, Any] = answer.structured_content
    return found


async def play(client: Any, outcome: object, **more: Any) -> str:
    started = await said(client, "start", task=TASK, **more)
    key = str(started["episode"])
    await said(client, "advise", episode=key, state="home", candidates={"A": 80, "B": 50})
    await said(client, "record", episode=key, reward=0.5)
    await said(client, "report", episode=key, outcome=outcome)
    return key


def command(file: Path, *options: str) -> Any:
    return mcp.StdioServerParameters(
        command=sys.executable,
        args=["-m", "jitrl", "mcp", str(file), "--deadline", "60000", *options],
        env={**os.environ, "PYTHONPATH": str(Path(jitrl.__file__).parents[1])},
    )


def test_tools_say_what_they_take_and_give(tmp_path: Path) -> None:
    async def look(adviser: Adviser) -> list[Any]:
        async with mcp.Client(served.server(adviser)) as client:
            return list((await client.list_tools()).tools)

    with Desk(tmp_path / "memory.db") as desk:
        tools = anyio.run(look, Adviser(desk))
    assert [tool.name for tool in tools] == ["start", "advise", "recall", "record", "report"]
    for tool in tools:
        assert tool.description
        assert tool.output_schema["properties"]
        assert "basis" not in tool.input_schema["properties"]
        assert tool.annotations.read_only_hint is (True if tool.name == "recall" else None)


def test_a_run_by_tools_is_an_episode_of_the_memory(tmp_path: Path) -> None:
    async def run(adviser: Adviser) -> tuple[str, Any]:
        async with mcp.Client(served.server(adviser)) as client:
            key = await play(client, True, scope="shop")
            running = (await said(client, "start", task=TASK, scope="shop"))["episode"]
            return key, await said(client, "recall", episode=running, state="home")

    with Desk(tmp_path / "memory.db", limits=PATIENT) as desk:
        key, recalled = anyio.run(run, Adviser(desk))
        lived = desk.memory.store.episode(key)
    assert lived.outcome is not None
    assert (lived.outcome.value, lived.outcome.basis) == (1.5, "agent_self_report")
    assert recalled["actions"][0]["action"] == "A"


def test_what_an_agent_got_wrong_is_told_to_it(tmp_path: Path) -> None:
    async def ask(adviser: Adviser) -> list[Any]:
        async with mcp.Client(served.server(adviser)) as client:
            report = {"episode": "nix", "outcome": True}
            return [
                await client.call_tool("report", report),
                await client.call_tool("report", report | {"basis": "test"}),
                await client.call_tool("advise", {"episode": "x", "state": "s", "candidates": []}),
            ]

    with Desk(tmp_path / "memory.db") as desk:
        answers = anyio.run(ask, Adviser(desk))
        assert list(desk.memory.store.episodes()) == []
    assert all(answer.is_error for answer in answers)
    assert "there is no episode 'nix'" in answers[0].content[0].text


def test_the_command_serves_two_agents_on_one_file_and_each_learns_of_the_other(
    tmp_path: Path,
) -> None:
    file = tmp_path / "memory.db"

    async def run() -> tuple[list[str], Any]:
        first, second = command(file, "--principal", "ann"), command(file, "--principal", "bob")
        async with mcp.Client(first) as one, mcp.Client(second) as two:
            keys: list[str] = []

            async def several(client: Any) -> None:
                for _ in range(5):
                    keys.append(await play(client, True))

            async with anyio.create_task_group() as group:
                group.start_soon(several, one)
                group.start_soon(several, two)
            running = (await said(one, "start", task=TASK))["episode"]
            return keys, await said(one, "recall", episode=running, state="home")

    keys, recalled = anyio.run(run)
    assert recalled["actions"][0]["visits"] == 10
    with jitrl.open(file) as memory:
        episodes = {episode.key: episode for episode in memory.store.episodes()}
        assert set(keys) <= set(episodes)
        said_by = [episodes[key].outcome.principal for key in keys]  # type: ignore[union-attr]
        assert (said_by.count("ann"), said_by.count("bob")) == (5, 5)
        assert memory.store.check() == []  # type: ignore[attr-defined]


def test_an_episode_that_runs_when_the_client_leaves_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"

    async def run() -> str:
        async with mcp.Client(command(file)) as client:
            key = str((await said(client, "start", task="t"))["episode"])
            await said(client, "advise", episode=key, state="home", candidates=["A", "B"])
            return key

    key = anyio.run(run)
    with jitrl.open(file) as memory:
        assert memory.store.episode(key).status == "truncated"


@contextmanager
def running(file: Path) -> Iterator[tuple["subprocess.Popen[bytes]", IO[bytes], IO[bytes]]]:
    """The command, with what goes in and comes out; it is ended at the end."""
    started = command(file)
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen([started.command, *started.args], env=started.env, **pipes)
    assert process.stdin is not None
    assert process.stdout is not None
    hung = threading.Timer(60.0, process.kill)  # so that what waits for an answer fails
    hung.start()
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": WHO}
    try:
        answered(process.stdin, process.stdout, "initialize", about)
        process.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        yield process, process.stdin, process.stdout
    finally:
        hung.cancel()
        process.kill()
        process.stdin.close()
        process.stdout.close()
        process.wait()


def answered(into: IO[bytes], out: IO[bytes], method: str, given: object) -> dict[str, Any]:
    """The answer to a message that is written by hand, as no client writes some of them."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": given}
    into.write(json.dumps(message).encode() + b"\n")
    into.flush()
    answer: dict[str, Any] = json.loads(out.readline())["result"]
    return answer


def asked(into: IO[bytes], out: IO[bytes], tool: str, **given: Any) -> dict[str, Any]:
    found = answered(into, out, "tools/call", {"name": tool, "arguments": given})
    content: dict[str, Any] = found["structuredContent"]
    return content


def test_half_of_a_character_and_a_line_that_is_no_json_leave_no_call_unanswered(
    tmp_path: Path,
) -> None:
    with running(tmp_path / "memory.db") as (_, into, out):
        into.write(b'{"half": \n\n\xff\n')
        key = asked(into, out, "start", task="cut here \ud83d", key="whole \U0001f642")["episode"]
        assert key == "whole \U0001f642"
        advice = asked(into, out, "advise", episode=key, state="s", candidates=["a \udc00", "b"])
        assert sorted(c["action"] for c in advice["candidates"]) == ["a \ufffd", "b"]


_ENDED_TWICE = """
import os, signal, sys
from jitrl.service.mcp_input import mended

with mended():
    while os.read(0, 100):  # till the client has left
        pass
    others = [open(os.path.join(sys.argv[1], str(n)), "wb") for n in range(8)]
    signal.raise_signal(signal.SIGTERM)
    for other in others:
        other.write(b"kept")
        other.close()
    os._exit(0)
"""


def test_a_signal_after_the_client_left_touches_no_other_file(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _ENDED_TWICE, str(tmp_path)]
    subprocess.run(command, input=b"{}\n", timeout=60, check=True)
    assert [(tmp_path / str(n)).read_bytes() for n in range(8)] == [b"kept"] * 8


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_run_is_kept_when_a_signal_ends_the_server(tmp_path: Path, name: str) -> None:
    file = tmp_path / "memory.db"
    with running(file) as (process, into, out):
        key = str(asked(into, out, "start", task="t")["episode"])
        asked(into, out, "advise", episode=key, state="home", candidates=["A", "B"])
        process.send_signal(getattr(signal, name))
        assert process.wait(60) == (130 if name == "SIGINT" else -signal.SIGTERM)
    with jitrl.open(file) as memory:
        assert memory.store.episode(key).status == "truncated"
