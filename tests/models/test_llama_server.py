"""The client against llama.cpp's own server: real tokens, real log-probabilities."""

import math
import socket

import pytest

from jitrl.errors import LogprobsUnavailable
from jitrl.models.chat import OpenAIChat
from jitrl.types import Prompt

pytestmark = pytest.mark.llama_server

STEP = Prompt("Find reviews", "A menu.", (), ("click(<link[Sales]>)", "click(<link[Reviews]>)"))


@pytest.fixture(scope="module")
def server(real_model):
    """Address of a server in this process with the embedded model's file."""
    pytest.importorskip("openai", reason="the openai package is not installed")
    xllamacpp = pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    params = xllamacpp.CommonParams()
    params.model.path = str(real_model)
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.n_ctx, params.n_parallel, params.warmup, params.port = 2048, 1, False, port
    running = xllamacpp.Server(params)
    yield f"{running.listening_address}/v1"
    del running


def model(server, scorer, **settings):
    return OpenAIChat("smollm2", base_url=server, scorer=scorer, deadline=110, **settings)


@pytest.mark.parametrize(
    ("scorer", "settings", "calls"),
    [
        ("letters", {}, 2),
        ("verbalized", {}, 1),
        ("sampling", {"samples": 3}, 3),
        ("single", {}, 1),
    ],
)
def test_each_scorer_makes_finite_logits(server, rng, scorer, settings, calls):
    proposal = model(server, scorer, **settings).propose(STEP, rng)
    assert (proposal.scorer, proposal.calls) == (scorer, calls)
    assert [candidate.action for candidate in proposal.candidates] == list(STEP.actions)
    assert all(math.isfinite(candidate.logit) for candidate in proposal.candidates)


def test_the_canary_finds_out_that_echo_is_ignored(server):
    with pytest.raises(LogprobsUnavailable, match="ignored `echo`"):
        model(server, "sequence").probe()


def test_auto_takes_what_the_server_can_do(server, rng, caplog):
    auto = model(server, "auto", scorers=("sequence", "letters"))
    assert auto.propose(STEP, rng).scorer == "letters"
    assert "sequence -> letters" in caplog.text


def test_the_model_proposes_actions_of_its_own(server, rng):
    proposal = model(server, "single").propose(Prompt("Go north", "A room with a door."), rng)
    (candidate,) = proposal.candidates
    assert candidate.action
