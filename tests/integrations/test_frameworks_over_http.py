"""Each framework's own client of a provider, over HTTP: a forced tool is one on the wire, too."""

import asyncio

import pytest
from chat_stub import served
from tool_desk import LOST, TASK, Desk, rounds

import jitrl

pytestmark = pytest.mark.frameworks

DESK = Desk()
SETTLE = {"type": "function", "function": {"name": "settle"}}


@pytest.fixture
def memory(tmp_path):
    with jitrl.open(tmp_path / "memory.db", rule={"warmup": 1.0}) as opened:
        yield opened


@pytest.fixture
def stub():
    with served() as running:
        yield running


def tools():
    from typing import Literal

    def look(order: str) -> str:
        """Look at an order."""
        return LOST

    def settle(order: str, how: Literal["refund", "resend"]) -> str:
        """Settle an order."""
        return DESK.settle(how)

    look.__annotations__ = {"order": str, "return": str}
    settle.__annotations__ = {"order": str, "how": Literal["refund", "resend"], "return": str}
    return [look, settle]


def learns(guide, stub, run):
    solved = rounds(guide, DESK, run)
    assert not solved[0]
    assert solved[-4:] == [True] * 4
    assert SETTLE in stub.forced


def test_langchains_client_of_a_provider(memory, stub):
    pytest.importorskip("langchain", reason="langchain is not installed (extra langchain)")
    models = pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
    from langchain.agents import create_agent

    from jitrl.integrations.langchain import JitRLMiddleware

    model = models.ChatOpenAI(model="habits", base_url=stub.url, api_key="none", max_retries=0)
    guide = JitRLMiddleware(memory)
    agent = create_agent(model, tools(), middleware=[guide])
    learns(guide, stub, lambda: agent.invoke({"messages": [("user", TASK)]}))


def test_the_agents_sdks_client_of_a_provider(memory, stub):
    pytest.importorskip("agents.run", reason="openai-agents is not installed")
    import agents
    from openai import AsyncOpenAI

    from jitrl.integrations.openai_agents import JitRLModel

    async def all_rounds(run):
        async with AsyncOpenAI(base_url=stub.url, api_key="none", max_retries=0) as client:
            return await run(client)

    quiet = agents.RunConfig(tracing_disabled=True)

    def run():
        async def one(client):
            guide.inner = agents.OpenAIChatCompletionsModel("habits", client)
            return await agents.Runner.run(agent, TASK, run_config=quiet, max_turns=30)

        return asyncio.run(all_rounds(one))

    guide = JitRLModel(
        agents.OpenAIChatCompletionsModel("habits", AsyncOpenAI(api_key="none")), memory
    )
    agent = agents.Agent(
        name="desk", model=guide, tools=[agents.function_tool(tool) for tool in tools()]
    )
    learns(guide, stub, run)


def test_pydantic_ais_client_of_a_provider(memory, stub):
    ai = pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed")
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    from jitrl.integrations.pydantic_ai import JitRLCapability

    guide = JitRLCapability(memory)

    def run():
        async def one():
            async with AsyncOpenAI(base_url=stub.url, api_key="none", max_retries=0) as client:
                model = OpenAIChatModel("habits", provider=OpenAIProvider(openai_client=client))
                agent = ai.Agent(model, tools=tools(), capabilities=[guide])
                return await agent.run(TASK)

        return asyncio.run(one())

    learns(guide, stub, run)
