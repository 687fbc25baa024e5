"""Embedders: a model in this process, static word vectors, and functions."""

import logging
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from jitrl import extras
from jitrl.errors import ConfigError, MissingExtra, ModelError
from jitrl.models.embedded import EmbeddedEndpoint
from jitrl.models.embedder import MOST, WINDOW, EmbeddedEmbedder
from jitrl.models.embedder_function import FunctionEmbedder
from jitrl.models.embedder_words import WordLlamaEmbedder
from jitrl.models.vectors import Remembered
from jitrl.run.embedding import embedder_of
from jitrl.testing.embedder import CHECKS, HashedWords, embed

words = [
    pytest.mark.wordllama,
    pytest.mark.skipif(find_spec("wordllama") is None, reason="needs wordllama"),
]
FUNCTION = "jitrl.testing.embedder:embed"
MAKERS = [
    pytest.param(HashedWords, id="hashed words"),
    pytest.param(lambda: FunctionEmbedder(FUNCTION), id="function"),
    pytest.param(lambda: Remembered(HashedWords(), ":memory:"), id="remembered"),
    pytest.param(WordLlamaEmbedder, id="wordllama", marks=words),
]


@pytest.fixture
def function(tmp_path, monkeypatch):
    """Writes a module with a function ``f`` and names it."""

    def written(body):
        module = f"embeds_{abs(hash(body))}"
        (tmp_path / f"{module}.py").write_text(f"def f(texts):\n    return {body}\n")
        return f"{module}:f"

    monkeypatch.syspath_prepend(tmp_path)
    return written


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_an_embedder_keeps_the_contract(check, make):
    check(make)


def test_a_name_with_a_colon_is_a_function_and_any_other_an_entry_point():
    assert isinstance(embedder_of(FUNCTION), FunctionEmbedder)
    with pytest.raises(
        ConfigError, match=r"no embedder is named 'embeded' \(did you mean 'embedded'"
    ):
        embedder_of("embeded")


def test_vectors_of_a_function_are_brought_to_length_one(function):
    found = FunctionEmbedder(function("[[3, 4] for _ in texts]")).embed(["a", "b"])
    assert found.tolist() == np.array([[0.6, 0.8]] * 2, np.float32).tolist()
    assert FunctionEmbedder(function("[[0, 0]]")).embed(["a"]).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("[[1, 2]]", r"shape \(1, 2\) for 2 texts; \(2, D\) is wanted"),
        ("[1, 2]", r"shape \(2,\) for 2 texts"),
        ("[[], []]", r"shape \(2, 0\)"),
        ("[[1], [1, 2]]", "no vectors of numbers"),
        ("'ab'", "no vectors of numbers"),
        ("[[1, 2], [float('inf'), 0]]", "not finite"),
    ],
)
def test_a_function_that_returns_no_vectors_is_an_error_that_names_it(function, body, said):
    with pytest.raises(ModelError, match=f"embeds_.*:f .*{said}"):
        FunctionEmbedder(function(body)).embed(["a", "b"])


def test_a_function_that_changed_has_another_name(function):
    one, other = FunctionEmbedder(function("[[1.0]]")), FunctionEmbedder(function("[[2.0]]"))
    assert one.name.partition(" ")[2] != other.name.partition(" ")[2]
    assert len(one.name.partition(" ")[2]) == 12
    assert FunctionEmbedder(FUNCTION).name.startswith(f"{FUNCTION} ")


def test_what_is_no_function_is_refused():
    with pytest.raises(ConfigError, match="cannot be called"):
        FunctionEmbedder("jitrl.testing.embedder:WIDTH")
    with pytest.raises(ConfigError, match="cannot be imported"):
        FunctionEmbedder("jitrl.testing.embedder:nothing")
    assert embed(["a"]).shape == (1, 16)


def test_without_wordllama_its_embedder_names_the_command_that_installs_it():
    program = (
        "import sys; sys.modules['wordllama'] = None\n"
        "from jitrl.errors import MissingExtra\n"
        "from jitrl.models.embedder_words import WordLlamaEmbedder\n"
        "try:\n    WordLlamaEmbedder()\n"
        "except MissingExtra as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert f": {extras.command('wordllama')}, or use" in done.stdout
    assert issubclass(MissingExtra, ConfigError)


@pytest.mark.wordllama
@pytest.mark.skipif(find_spec("wordllama") is None, reason="needs wordllama")
def test_word_vectors_need_no_network_and_leave_the_logs_of_the_process_alone():
    program = (
        "import logging, socket\n"
        "def refuse(*args, **rest):\n    raise AssertionError('a connection was tried')\n"
        "socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse\n"
        "from jitrl.models.embedder_words import WordLlamaEmbedder\n"
        "made = WordLlamaEmbedder()\n"
        "a, b, c = made.embed(['the list of orders', 'all orders', 'a red door'])\n"
        "print(a @ b > a @ c, logging.getLogger().handlers, logging.getLogger().level)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split("\n")[0] == f"True [] {logging.WARNING}", done.stderr


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_network_keeps_the_contract(check, small_model):
    check(lambda: EmbeddedEmbedder(small_model))


def test_the_mean_is_over_all_tokens_of_windows_that_do_not_see_each_other(small_model):
    endpoint = EmbeddedEndpoint(small_model)
    loaded = endpoint.load()
    text = "orders " * (WINDOW // 7 + 9)
    tokens = loaded.tokenizer.encode(text)
    assert WINDOW < len(tokens) < 2 * WINDOW

    def states(window):
        seen = np.tri(len(window), dtype=bool)
        passed = loaded.network.forward(
            np.array(window), np.arange(len(window)), seen, None, slice(None)
        )
        return passed.hidden.astype(np.float64)

    mean = np.concatenate([states(tokens[:WINDOW]), states(tokens[WINDOW:])], axis=1).mean(axis=1)
    expected = mean / np.linalg.norm(mean)
    found = EmbeddedEmbedder(small_model).embed([text])[0]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_what_comes_after_the_last_window_is_not_read(small_model):
    text = "x" * MOST
    longer = EmbeddedEmbedder(small_model).embed([text, text + "orders", text[1:] + "o"])
    assert longer[0].tolist() == longer[1].tolist() != longer[2].tolist()


@pytest.mark.model
def test_the_embedded_model_puts_pages_of_a_kind_closer_together(real_model):
    embedder = EmbeddedEmbedder()
    assert embedder.name.startswith("embedded/1 SmolLM2-135M-Instruct.Q4_1 b179c95")
    a, b, c = embedder.embed(["the list of orders", "the list of all orders", "拿起红色的钥匙"])
    assert 1.0 > a @ b > a @ c


def test_a_missing_model_file_stops_it_before_anything_is_embedded():
    program = (
        "from importlib import metadata\n"
        "from jitrl.models import embedded\n"
        "embedded.DISTRIBUTION = 'not-installed-at-all'\n"
        "from jitrl.errors import ModelError\n"
        "from jitrl.models.embedder import EmbeddedEmbedder\n"
        "try:\n    EmbeddedEmbedder()\n"
        "except ModelError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "jitrl model install" in done.stdout
