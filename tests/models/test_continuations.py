import itertools
from concurrent.futures import ThreadPoolExecutor

import modelfile
import numpy as np
import pytest
from plainforward import PlainForward

from jitrl.errors import InputError, ModelError
from jitrl.models import trie
from jitrl.models.continuations import BLOCK, Continuations
from jitrl.models.embedded import EmbeddedEndpoint
from jitrl.models.gguf import GGUF
from jitrl.models.llama import Llama


@pytest.fixture(scope="module")
def network(small_model):
    return Llama(GGUF(small_model))


@pytest.fixture(scope="module")
def plain(small_model):
    return PlainForward(GGUF(small_model))


class Counted(Llama):
    """Counts the tokens that were run."""

    ran = 0

    def forward(self, tokens, *args):
        self.ran += len(tokens)
        return super().forward(tokens, *args)


def tokens(count, seed):
    return np.random.default_rng(seed).integers(3, len(modelfile.VOCABULARY), count).tolist()


def worst(scores, plain, prompt, candidates):
    expected = [plain.continuation(prompt, candidate) for candidate in candidates]
    return max(np.abs(a - b).max() for a, b in zip(scores, expected, strict=True))


def test_nodes_see_their_ancestors_and_themselves_alone():
    tree = trie.build(9, [[1, 2, 3], [1, 2, 4], [1, 5], [6]])
    assert tree.tokens.tolist() == [9, 1, 2]
    assert tree.depths.tolist() == [0, 1, 2]
    assert tree.visible.astype(int).tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert tree.readers == ((0, 1, 2), (0, 1, 2), (0, 1), (0,))


def test_a_node_does_not_see_other_branches():
    tree = trie.build(9, [[1, 2, 3], [4, 2, 3]])
    assert tree.tokens.tolist() == [9, 1, 2, 4, 2]
    assert tree.visible[4].tolist() == [True, False, False, True, True]


def test_batches_hold_every_candidate_once_and_a_long_one_alone():
    candidates = [[0] * n for n in (2, 2, 9, 2, 3)]
    assert [list(run) for run in trie.batches(candidates, 5)] == [[0, 1], [2], [3, 4]]


def test_one_pass_for_all_candidates_equals_a_plain_pass_for_each(network, plain):
    prompt = tokens(40, 1)
    shared = tokens(3, 2)
    candidates = [[*shared, 7, 8], [*shared, 7, 9], [*shared, 12], [5], tokens(6, 3), shared]
    scores = Continuations(network).score(prompt, candidates)
    assert worst(scores, plain, prompt, candidates) < 1e-4


def test_random_prompts_and_candidates_equal_plain_passes(network, plain):
    scorer = Continuations(network, remember=3 * BLOCK)
    for seed in range(8):  # prompts share beginnings, so that remembered blocks are used
        prompt = tokens(300, seed % 2)[: 100 + 25 * seed] + tokens(seed, seed + 50) + [7]
        candidates = [tokens(1 + (seed + i) % 4, 100 * seed + i) for i in range(5)]
        assert worst(scorer.score(prompt, candidates), plain, prompt, candidates) < 1e-4


def test_what_is_remembered_changes_no_bit(network):
    first, second = tokens(300, 1), tokens(300, 1)[:200] + tokens(100, 2)
    candidates = [tokens(4, i) for i in range(5)]
    scorer, forgetful = Continuations(network), Continuations(network, remember=0)
    for prompt in (first, second, first):
        expected = forgetful.score(prompt, candidates)
        for a, b in zip(scorer.score(prompt, candidates), expected, strict=True):
            assert a.tolist() == b.tolist()


def test_only_what_is_not_remembered_is_run(small_model):
    network = Counted(GGUF(small_model))
    scorer = Continuations(network, remember=2 * BLOCK)
    prompt = tokens(2 * BLOCK + 10, 1)
    scorer.score(prompt, [[5]])
    assert network.ran == 2 * BLOCK + 10
    network.ran = 0
    scorer.score(prompt, [[6]])
    assert network.ran == 10
    network.ran = 0
    scorer.score([*prompt[: BLOCK + 5], *tokens(40, 9)], [[6]])
    assert network.ran == 45
    scorer.score(tokens(2 * BLOCK + 1, 2), [[6]])
    network.ran = 0
    scorer.score(prompt, [[5]])
    assert network.ran == 2 * BLOCK + 10  # two newer blocks took their place


def test_the_beginning_that_was_used_last_is_kept_longest(small_model):
    network = Counted(GGUF(small_model))
    scorer = Continuations(network, remember=2 * BLOCK)
    used, idle, newer = (tokens(BLOCK + 1, seed) for seed in (1, 2, 3))
    for prompt in (used, idle, used, newer):
        scorer.score(prompt, [[5]])
    network.ran = 0
    scorer.score(used, [[5]])
    assert network.ran == 1


def test_a_prompt_longer_than_one_pass_equals_a_plain_pass(network, plain):
    prompt, candidates = tokens(1100, 4), [[5, 6], [7]]
    scores = Continuations(network).score(prompt, candidates)
    assert worst(scores, plain, prompt, candidates) < 1e-4


def test_more_candidates_than_one_pass_holds_equal_plain_passes(network, plain):
    prompt = tokens(10, 4)
    candidates = [list(pair) for pair in itertools.product(range(3, 23), range(3, 23))]
    scores = Continuations(network).score(prompt, candidates)
    assert worst(scores[::37], plain, prompt, candidates[::37]) < 1e-4


def test_threads_get_to_the_bit_what_they_would_get_alone(network):
    asked = [(tokens(150, seed % 4), [tokens(3, seed)]) for seed in range(24)]
    alone = [Continuations(network, 0).score(*one)[0].tolist() for one in asked]
    shared = Continuations(network, remember=2 * BLOCK)
    with ThreadPoolExecutor(4) as pool:
        together = [scores[0] for scores in pool.map(lambda one: shared.score(*one), asked)]
    assert [score.tolist() for score in together] == alone


def test_what_cannot_be_scored_is_a_typed_error(network):
    scorer = Continuations(network)
    for prompt, candidates in (([], [[1]]), ([1], []), ([1], [[1], []])):
        with pytest.raises(InputError, match="at least one token"):
            scorer.score(prompt, candidates)
    with pytest.raises(InputError, match="2050 tokens, the model's context is 2048"):
        scorer.score(tokens(2046, 1), [[1, 2, 3, 4]])


def test_another_architecture_is_refused(tmp_path):
    path = tmp_path / "other.gguf"
    path.write_bytes(modelfile.network(**{"general.architecture": "mamba"}))
    with pytest.raises(ModelError, match="holds a 'mamba' model"):
        Llama(GGUF(path))


@pytest.mark.model
def test_the_real_network_equals_a_plain_pass_within_a_thousandth_of_a_nat(real_model):
    loaded = EmbeddedEndpoint().load()
    tokenizer = loaded.tokenizer
    prompt = tokenizer.encode("You are in the kitchen. The fridge is closed.\nNext:")
    texts = (" open the fridge", " open the door", " go north", " 打开冰箱")
    candidates = [tokenizer.encode(text) for text in texts]
    scores = loaded.continuations.score(prompt, candidates)
    plain = PlainForward(GGUF(real_model))
    for score, candidate in zip(scores, candidates, strict=True):
        assert abs(score.sum() - plain.continuation(prompt, candidate).sum()) < 1e-3
