"""Writes GGUF files, among them a small network with random weights and a byte vocabulary."""

import struct

import numpy as np

STRING, ARRAY, UINT32, FLOAT32 = 8, 9, 4, 6
KINDS = {"F32": 0, "F16": 1, "Q4_1": 3, "Q8_0": 8}


def text(value):
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def entry(key, value):
    """One metadata entry; lists are of texts or of int32."""
    if isinstance(value, str):
        return text(key) + struct.pack("<I", STRING) + text(value)
    if isinstance(value, float):
        return text(key) + struct.pack("<If", FLOAT32, value)
    if isinstance(value, int):
        return text(key) + struct.pack("<II", UINT32, value)
    if isinstance(value[0], str):
        packed = b"".join(map(text, value))
        return text(key) + struct.pack("<IIQ", ARRAY, STRING, len(value)) + packed
    packed = np.array(value, "<i4").tobytes()
    return text(key) + struct.pack("<IIQ", ARRAY, 5, len(value)) + packed


def gguf(metadata, tensors, version=3):
    """Bytes of a file; ``tensors``: name -> (shape, kind, raw bytes)."""
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(metadata))
    head += b"".join(entry(key, value) for key, value in metadata.items())
    body = b""
    for name, (shape, kind, raw) in tensors.items():
        axes = struct.pack(f"<I{len(shape)}Q", len(shape), *reversed(shape))
        head += text(name) + axes + struct.pack("<IQ", KINDS.get(kind, kind), len(body))
        body += raw + b"\0" * (-len(raw) % 32)
    return head + b"\0" * (-len(head) % 32) + body


def byte_characters():
    """GPT-2's printable stand-in for each byte, written out from its definition."""
    printable = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAC + 1), *range(0xAE, 0xFF + 1)]
    others = [byte for byte in range(256) if byte not in printable]
    stand_in = {byte: chr(byte) for byte in printable}
    stand_in |= {byte: chr(256 + i) for i, byte in enumerate(others)}
    return [stand_in[byte] for byte in range(256)]


MERGES = ("Ġ c", "l i", "c k", "li ck", "Ġc lick", "a b", "ab c", "b c")
VOCABULARY = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    *byte_characters(),
    *(merge.replace(" ", "") for merge in MERGES),
)


def network(seed=0, layers=2, width=24, heads=6, kv_heads=2, inner=40, context=2048, **changes):
    """Bytes of a network with random weights that reacts strongly to its input."""
    rng = np.random.default_rng(seed)
    head = width // heads

    def weight(*shape, spread=1.0, around=0.0):
        values = rng.normal(around, spread / np.sqrt(shape[-1]), shape).astype("<f4")
        return shape, "F32", values.tobytes()

    tensors = {
        "token_embd.weight": weight(len(VOCABULARY), width, spread=4),
        "output_norm.weight": weight(width, around=1.0),
    }
    for i in range(layers):
        shapes = {
            "attn_q": (width, width),
            "attn_k": (kv_heads * head, width),
            "attn_v": (kv_heads * head, width),
            "attn_output": (width, width),
            "ffn_gate": (inner, width),
            "ffn_up": (inner, width),
            "ffn_down": (width, inner),
        }
        tensors |= {f"blk.{i}.{n}.weight": weight(*s, spread=2) for n, s in shapes.items()}
        for norm in ("attn_norm", "ffn_norm"):
            tensors[f"blk.{i}.{norm}.weight"] = weight(width, around=1.0)
    metadata = {
        "general.architecture": "llama",
        "llama.context_length": context,
        "llama.block_count": layers,
        "llama.embedding_length": width,
        "llama.attention.head_count": heads,
        "llama.attention.head_count_kv": kv_heads,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.freq_base": 10000.0,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": list(VOCABULARY),
        "tokenizer.ggml.merges": list(MERGES),
    }
    return gguf(metadata | changes, tensors)
