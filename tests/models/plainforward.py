"""A second, slow way to score a text: one token at a time, one head at a time, in float64.

Shares nothing with the product but the reader of tensors: no stacking of weights, no folding of
gains, no mask, no cache, rotation by complex numbers.
"""

import numpy as np


class PlainForward:
    """Log-probabilities of a text under the network in a model file."""

    def __init__(self, file):
        self.w = {name: file.tensor(name).astype(np.float64) for name in file.tensors}
        get = file.value
        self.layers = int(get("llama.block_count"))
        self.heads = int(get("llama.attention.head_count"))
        self.kv_heads = int(get("llama.attention.head_count_kv"))
        self.head = int(get("llama.embedding_length")) // self.heads
        self.epsilon = float(get("llama.attention.layer_norm_rms_epsilon"))
        self.base = float(get("llama.rope.freq_base"))

    def continuation(self, prompt, tokens):
        """``log p`` of each token of ``tokens`` after ``prompt``."""
        after = self._predictions([*prompt, *tokens[:-1]])[len(prompt) - 1 :]
        return np.array([row[token] for row, token in zip(after, tokens, strict=True)])

    def _predictions(self, tokens):
        x = self.w["token_embd.weight"][tokens]
        for i in range(self.layers):
            w = {n: self.w[f"blk.{i}.{n}.weight"] for n in ("attn_norm", "ffn_norm")}
            y = self._norm(x, w["attn_norm"])
            x = x + self._attention(y, i) @ self._of(i, "attn_output").T
            y = self._norm(x, w["ffn_norm"])
            gate, up = y @ self._of(i, "ffn_gate").T, y @ self._of(i, "ffn_up").T
            x = x + (gate / (1 + np.exp(-gate)) * up) @ self._of(i, "ffn_down").T
        out = self.w.get("output.weight", self.w["token_embd.weight"])
        logits = self._norm(x, self.w["output_norm.weight"]) @ out.T
        return logits - np.logaddexp.reduce(logits, axis=1)[:, None]

    def _of(self, layer, name):
        return self.w[f"blk.{layer}.{name}.weight"]

    def _norm(self, x, gain):
        return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + self.epsilon) * gain

    def _attention(self, y, layer):
        q = self._turned(y @ self._of(layer, "attn_q").T, self.heads)
        k = self._turned(y @ self._of(layer, "attn_k").T, self.kv_heads)
        v = (y @ self._of(layer, "attn_v").T).reshape(len(y), self.kv_heads, self.head)
        rows = []
        for t in range(len(y)):
            parts = []
            for h in range(self.heads):
                shared = h * self.kv_heads // self.heads
                scores = k[: t + 1, shared] @ q[t, h] / np.sqrt(self.head)
                weights = np.exp(scores - scores.max())
                parts.append(weights @ v[: t + 1, shared] / weights.sum())
            rows.append(np.concatenate(parts))
        return np.array(rows)

    def _turned(self, x, heads):
        pairs = x.reshape(len(x), heads, self.head // 2, 2)
        numbers = pairs[..., 0] + 1j * pairs[..., 1]
        rates = self.base ** (-2 * np.arange(self.head // 2) / self.head)
        numbers = numbers * np.exp(1j * np.arange(len(x))[:, None, None] * rates)
        return np.stack([numbers.real, numbers.imag], axis=-1).reshape(len(x), heads, self.head)
