import itertools
import struct

import modelfile
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitrl.errors import ModelError
from jitrl.models.gguf import GGUF

SMALL = modelfile.gguf(
    {"general.architecture": "llama", "a.number": 7, "a.list": ["x", "y"], "some.ints": [1, 2]},
    {"w": ((2, 32), "Q8_0", b"".join(struct.pack("<e32b", 0.5, *range(32)) for _ in range(2)))},
)


@pytest.fixture
def read(tmp_path):
    names = (tmp_path / f"{i}.gguf" for i in itertools.count())

    def opened(raw):
        path = next(names)
        path.write_bytes(raw)
        return GGUF(path)

    return opened


def test_metadata_comes_back(read):
    file = read(SMALL)
    assert file.value("general.architecture") == "llama"
    assert file.value("a.number") == 7
    assert file.value("a.list") == ["x", "y"]
    assert list(file.value("some.ints")) == [1, 2]


def test_each_tensor_type_is_dequantized_as_the_format_says(read):
    q4 = struct.pack("<ee16B", 0.5, -1.0, *[(15 - i) << 4 | i for i in range(16)])
    file = read(
        modelfile.gguf(
            {},
            {
                "f32": ((2, 2), "F32", struct.pack("<4f", 1, 2, 3, 4)),
                "f16": ((3,), "F16", struct.pack("<3e", 1.5, -2, 0)),
                "q8": ((1, 32), "Q8_0", struct.pack("<e32b", 0.25, *range(-16, 16))),
                "q4": ((32,), "Q4_1", q4),
            },
        )
    )
    assert file.tensor("f32").tolist() == [[1, 2], [3, 4]]
    assert file.tensor("f16").tolist() == [1.5, -2, 0]
    assert file.tensor("q8").tolist() == [[0.25 * q for q in range(-16, 16)]]
    low, high = [0.5 * i - 1 for i in range(16)], [0.5 * (15 - i) - 1 for i in range(16)]
    assert file.tensor("q4").tolist() == low + high
    assert all(file.tensor(name).dtype == np.float32 for name in file.tensors)


def test_what_is_not_in_the_file_is_named(read):
    file = read(SMALL)
    with pytest.raises(ModelError, match=r"no metadata 'llama\.block_count'"):
        file.value("llama.block_count")
    with pytest.raises(ModelError, match="no tensor 'head'"):
        file.tensor("head")


def test_a_missing_file_is_a_typed_error(tmp_path):
    with pytest.raises(ModelError, match="cannot read model file"):
        GGUF(tmp_path / "nothing.gguf")


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "cannot read model file"),
        (b"PK\x03\x04 a zip", "not a GGUF model file: it starts with b'PK"),
        (modelfile.gguf({}, {}, version=1), "version 1"),
        (modelfile.gguf({}, {"w": ((1,), 99, b"")}), "type 99; supported are F32, F16, Q4_1, Q8_0"),
        (modelfile.gguf({}, {"w": ((33,), "Q8_0", b"\0" * 99)}), "torn last block"),
        (modelfile.gguf({}, {"w": ((2**40, 2**40), "F32", b"")}), "'w' is not whole"),
        (modelfile.gguf({"general.alignment": 0}, {}), "general.alignment is 0"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(read, raw, message):
    with pytest.raises(ModelError, match=message):
        read(raw)


def test_a_file_cut_short_anywhere_is_refused(read):
    for size in range(4, len(SMALL) - 28, 7):  # its last 28 bytes only fill up
        with pytest.raises(ModelError):
            read(SMALL[:size])


@given(st.data())
@settings(max_examples=150)
def test_a_damaged_header_never_ends_in_an_untyped_error(tmp_path_factory, data):
    raw = bytearray(SMALL)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(4, len(raw) - 1))
        raw[at] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("damaged") / "model.gguf"
    path.write_bytes(raw)
    try:
        file = GGUF(path)
        for name in file.tensors:
            file.tensor(name)
    except ModelError:
        pass
