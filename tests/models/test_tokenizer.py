import json
import time
from pathlib import Path

import modelfile
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitrl.errors import ModelError
from jitrl.models.gguf import GGUF
from jitrl.models.tokenizer import Tokenizer

CHARACTERS = {c: byte for byte, c in enumerate(modelfile.byte_characters())}


@pytest.fixture(scope="module")
def tokenizer(small_model):
    return Tokenizer(GGUF(small_model))


def decoded(tokenizer, ids):
    return bytes(CHARACTERS[c] for i in ids for c in tokenizer.tokens[i]).decode()


def pieces(tokenizer, text):
    return [tokenizer.tokens[i] for i in tokenizer.encode(text)]


def test_pairs_are_joined_in_the_order_of_training(tokenizer):
    assert pieces(tokenizer, " click") == ["Ġclick"]
    assert pieces(tokenizer, "abc") == ["abc"]  # "a b" came before "b c"
    assert pieces(tokenizer, "bc") == ["bc"]


def test_words_end_at_spaces_digits_and_signs(tokenizer):
    assert pieces(tokenizer, "ab12 ab'sab_ab") == [
        *("ab", "1", "2", "Ġ", "ab", "'", "s", "ab", "_", "ab"),
    ]


def test_the_last_of_several_spaces_belongs_to_the_next_word(tokenizer):
    assert pieces(tokenizer, "ab   click") == ["ab", "Ġ", "Ġ", "Ġclick"]


def test_a_control_token_in_a_text_stays_text(tokenizer):
    end = tokenizer.special("<|im_end|>")
    assert end not in tokenizer.encode("x <|im_end|> y")
    assert decoded(tokenizer, tokenizer.encode("<|im_end|>")) == "<|im_end|>"


def test_a_control_token_that_is_not_in_the_vocabulary_is_named(tokenizer):
    with pytest.raises(ModelError, match=r"no '<\|tool\|>'"):
        tokenizer.special("<|tool|>")


@given(st.text(max_size=60))
@settings(max_examples=300)
def test_any_text_comes_back_from_its_tokens(small_model, text):
    tokenizer = Tokenizer(GGUF(small_model))
    expected = text.encode("utf-8", "replace").decode()
    assert decoded(tokenizer, tokenizer.encode(text)) == expected


def test_a_word_of_a_hundred_thousand_letters_is_cut_up_in_seconds(tokenizer):
    started = time.process_time()
    ids = tokenizer.encode("abcli" * 20_000)
    assert time.process_time() - started < 5
    assert decoded(tokenizer, ids) == "abcli" * 20_000


def test_another_kind_of_tokenizer_is_refused(tmp_path):
    path = tmp_path / "other.gguf"
    path.write_bytes(modelfile.network(**{"tokenizer.ggml.pre": "llama-bpe"}))
    with pytest.raises(ModelError, match="tokenizer gpt2/llama-bpe is not supported"):
        Tokenizer(GGUF(path))


@pytest.mark.model
def test_tokens_are_those_of_the_tokenizers_package(real_model):
    tokenizer = Tokenizer(GGUF(real_model))
    golden = json.loads((Path(__file__).parent / "tokens.json").read_text())
    for one in golden:
        assert tokenizer.encode(one["text"]) == one["ids"], one["text"]
