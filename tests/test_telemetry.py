"""What OpenTelemetry is told of a memory: the numbers, and content only for who asks for it."""

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

import jitrl
from jitrl.errors import InputError

pytestmark = pytest.mark.frameworks

trace = pytest.importorskip("opentelemetry.trace")
sdk = pytest.importorskip("opentelemetry.sdk.trace")
export = pytest.importorskip("opentelemetry.sdk.trace.export")
memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")

SECRET = "find the reviews of ann@example.org"


@pytest.fixture(scope="module")
def everything():
    """Where the only provider of this process puts its spans."""
    exporter = memory.InMemorySpanExporter()
    provider = sdk.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


@pytest.fixture
def spans(everything) -> Iterator[object]:
    everything.clear()
    return everything


def run(agent, key=None, state="a secret page", outcome=True):
    with agent.episode(SECRET, scope="shop", key=key) as episode:
        episode.decide(state, {"open A": 0.4, "open B": 0.0})
        with trace.get_tracer("mine").start_as_current_span("my own call"):
            pass
        episode.decide("another secret page", {"read": 0.0})
        return episode.finish(outcome, basis="state_check", evaluator="orders")


def by_name(spans):
    found = {}
    for span in spans.get_finished_spans():
        found.setdefault(span.name, []).append(span)
    return found


def test_an_episode_is_a_span_around_its_decisions_what_they_read_and_what_was_learned(spans):
    with jitrl.open(":memory:", telemetry="spans") as agent:
        run(agent, key="run-1")
    found = by_name(spans)
    assert {name: len(some) for name, some in found.items()} == {
        "invoke_agent jitrl": 1,
        "jitrl.decide": 2,
        "retrieval default": 2,
        "jitrl.learn": 1,
        "my own call": 1,
    }
    (episode,), (learn,) = found["invoke_agent jitrl"], found["jitrl.learn"]
    inside = [*found["jitrl.decide"], learn, *found["my own call"]]
    assert {span.parent.span_id for span in inside} == {episode.context.span_id}
    assert [span.parent.span_id for span in found["retrieval default"]] == [
        span.context.span_id for span in found["jitrl.decide"]
    ]
    assert episode.attributes == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "jitrl",
        "gen_ai.agent.name": "jitrl",
        "gen_ai.data_source.id": "default",
        "gen_ai.conversation.id": "run-1",
        "jitrl.scope": "shop",
        "jitrl.status": "terminated",
        "jitrl.holdout": False,
        "jitrl.steps": 2,
    }
    (event,) = episode.events
    assert event.name == "gen_ai.evaluation.result"
    assert event.attributes == {
        "gen_ai.evaluation.name": "orders",
        "gen_ai.evaluation.score.value": 1.0,
        "jitrl.basis": "state_check",
        "jitrl.told": False,
    }
    assert learn.attributes == {"jitrl.rows": 2, "jitrl.version": 1, "jitrl.duplicate": False}


def test_a_decision_tells_its_numbers(spans):
    with jitrl.open(":memory:", telemetry="spans") as agent:
        for _ in range(3):
            run(agent)
    first, *_, last = by_name(spans)["jitrl.decide"]
    assert (first.attributes["jitrl.step"], last.attributes["jitrl.step"]) == (0, 1)
    assert first.attributes["jitrl.reason"] == "empty"
    assert "jitrl.reason" not in last.attributes
    assert last.attributes["jitrl.neighbors"] > 0
    assert last.attributes["jitrl.version"] == 2
    assert by_name(spans)["retrieval default"][-1].attributes["jitrl.neighbors"] > 0


@pytest.mark.parametrize("key", [None, "run-1"])
def test_no_content_is_told_unless_it_is_asked_for(spans, key):
    with jitrl.open(":memory:", telemetry="spans") as agent:
        run(agent, key=key)
        with pytest.raises(InputError), agent.episode(SECRET) as episode:
            episode.decide("a secret page", {"open A": "a secret logit"})
    said = "".join(span.to_json() for span in spans.get_finished_spans())
    for content in (SECRET, "secret", "open A", "another"):
        assert content not in said


def test_content_is_told_where_it_is_asked_for(spans):
    with jitrl.open(":memory:", telemetry="content") as agent:
        run(agent)
    found = by_name(spans)
    first = found["jitrl.decide"][0].attributes
    assert found["invoke_agent jitrl"][0].attributes["jitrl.task"] == SECRET
    assert (first["jitrl.state.text"], first["jitrl.action"]) == ("a secret page", "open A")
    query = found["retrieval default"][0].attributes["gen_ai.retrieval.query.text"]
    assert query == "a secret page"


def test_an_outcome_that_comes_late_is_a_span_of_its_own(spans):
    with jitrl.open(":memory:", telemetry="spans") as agent:
        run(agent, key="run-1", outcome=None)
        agent.outcome("run-1", 0.5, basis="human", evaluator="ann")
        agent.outcome("run-1", None)
    told, withdrawn = by_name(spans)["jitrl.outcome"]
    assert told.events[0].attributes["gen_ai.evaluation.score.value"] == 0.5
    assert told.attributes["jitrl.rows"] == 2
    assert withdrawn.attributes["jitrl.withdrawn"]
    assert not by_name(spans)["invoke_agent jitrl"][0].events


def test_what_failed_is_marked_and_what_was_under_way_before_is_so_again(spans):
    before = trace.get_current_span()
    with jitrl.open(":memory:", telemetry="spans") as agent:
        with pytest.raises(ZeroDivisionError), agent.episode("t"):
            1 / 0  # noqa: B018
        (span,) = by_name(spans)["invoke_agent jitrl"]
        assert span.status.status_code is trace.StatusCode.ERROR
        assert span.attributes["error.type"] == "ZeroDivisionError"
        assert span.attributes["jitrl.status"] == "aborted"
    assert trace.get_current_span() is before


def test_an_episode_without_a_with_block_ends_its_span_when_it_is_finished(spans):
    with jitrl.open(":memory:", telemetry="spans") as agent:
        episode = agent.episode("t")
        episode.decide("s", {"a": 0.0})
        assert "invoke_agent jitrl" not in by_name(spans)
        episode.finish(True)
        assert len(by_name(spans)["invoke_agent jitrl"]) == 1


def test_decisions_are_the_same_with_and_without_spans(spans):
    def actions(telemetry):
        with jitrl.open(":memory:", telemetry=telemetry) as agent:
            for n in range(6):
                run(agent, key=f"r{n}", outcome=n % 2)
            return [(d.action, d.decision.candidates) for d in agent.store.decisions()]

    assert actions("spans") == actions("off")


PROGRAM = """
import json, sys
import jitrl
with jitrl.open(":memory:"{}) as agent, agent.episode("t") as episode:
    episode.decide("s", {{"a": 0.0}})
print(json.dumps([name for name in sys.modules if name.startswith("opentelemetry")]))
"""


@pytest.mark.parametrize(("setting", "loads"), [("", False), (", telemetry='spans'", True)])
def test_opentelemetry_is_loaded_by_the_setting_alone(setting, loads):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(setting)], capture_output=True, text=True, check=True
    )
    assert bool(json.loads(done.stdout)) is loads


def test_a_missing_package_is_named_before_the_first_episode():
    program = "import sys; sys.modules['opentelemetry'] = None" + PROGRAM.format(
        ", telemetry='spans'"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "MissingExtra: memory.telemetry needs OpenTelemetry" in done.stderr
