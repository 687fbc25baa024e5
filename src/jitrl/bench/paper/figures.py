"""The figures that the paper prints, and what must be known before one compares with them.

Source: *Just-In-Time Reinforcement Learning: Continual Learning in LLM Agents Without Gradient
Updates*, arXiv:2601.18510. Nothing here was measured by this package.
"""

from __future__ import annotations

from dataclasses import dataclass

SOURCE = "arXiv:2601.18510"

PROTOCOL = {"run": {"attempts": 5, "max_steps": 10}}
"""The paper's protocol on WebArena; everything else is the user's."""

ARMS = ("static", "memory", "reflexion", "awm", "evotest", "jitrl")
"""Agents of the paper's table, by their names here."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One printed number, or two.

    Attributes:
        table: Which of its tables, with the unit.
        method: As the paper calls it.
        agent: Entry point of the agent here; "" if there is none.
        avg: Mean over all attempts; ``None`` where it is not printed.
        final: The last attempt; ``None`` where it is not printed.
    """

    table: str
    method: str
    agent: str
    avg: float | None
    final: float | None


WEBARENA = "WebArena, % solved, 5 attempts, Gemini-2.5-flash"
_LITE = "WebArena-Lite (165 tasks), % solved, different base models"
_LLAMA = "WebArena-Lite by site, % solved, fifth attempt, Llama-3.1-8B for both"
_JERICHO = "Jericho, game score, 50 episodes"
_REBUTTAL = "Zork1, game score, Qwen3-32B for both (authors' rebuttal)"
_UPDATE = "Prompt update and logit update, % solved"


def _of(table: str, *rows: tuple[str, str, float | None, float | None]) -> tuple[Figure, ...]:
    return tuple(Figure(table, *row) for row in rows)


FIGURES: tuple[Figure, ...] = (
    *_of(
        WEBARENA,
        ("Static", "static", 35.63, 36.30),
        ("Memory", "memory", 41.36, 43.00),
        ("Reflexion", "reflexion", 41.08, 42.12),
        ("AWM", "awm", 39.37, 40.32),
        ("EvoTest", "evotest", 39.24, 42.49),
        ("JitRL", "jitrl", 46.98, 51.35),
    ),
    *_of(
        "WebArena by site, % solved",
        ("Shopping, JitRL", "jitrl", 41.67, None),
        ("Shopping, Reflexion", "reflexion", 30.83, None),
        ("Shopping, Static", "static", 24.06, None),
        ("Admin, JitRL", "jitrl", 52.31, None),
        ("Admin, AWM", "awm", 49.46, None),
        ("Reddit, JitRL", "jitrl", 57.64, None),
        ("Reddit, Memory", "memory", 53.02, None),
    ),
    *_of(
        _LITE,
        ("SFT-70B", "", None, 23.0),
        ("WebRL-70B", "", None, 46.06),
        ("JitRL", "jitrl", None, 60.00),
    ),
    *_of(
        _LLAMA,
        ("Admin, WebRL", "", None, 38.89),
        ("Admin, JitRL", "jitrl", None, 28.57),
        ("GitLab, WebRL", "", None, 23.53),
        ("GitLab, JitRL", "jitrl", None, 30.00),
        ("Map, WebRL", "", None, 9.68),
        ("Map, JitRL", "jitrl", None, 20.00),
        ("Reddit, WebRL", "", None, 50.00),
        ("Reddit, JitRL", "jitrl", None, 53.33),
        ("Shopping, WebRL", "", None, 17.39),
        ("Shopping, JitRL", "jitrl", None, 36.96),
        ("mean, WebRL", "", None, 27.27),
        ("mean, JitRL", "jitrl", None, 32.97),
    ),
    *_of(
        _JERICHO,
        ("Library, JitRL", "jitrl", 25.9, 30.0),
        ("Library, EvoTest", "evotest", 21.5, 26.0),
        ("Library, Static", "static", None, 10.0),
        ("Library, GRPO (Qwen3-32B)", "", None, 11.0),
        ("Zork1, JitRL", "jitrl", 53.0, 69.0),
        ("Zork1, EvoTest", "evotest", 46.8, 54.0),
        ("Zork1, Static", "static", None, 10.0),
        ("Zork1, GRPO (Qwen3-32B)", "", 16.2, 10.0),
        ("Zork3, JitRL", "jitrl", 3.1, 5.0),
        ("Zork3, EvoTest", "evotest", 2.6, 4.0),
        ("Zork3, Static", "static", None, 0.0),
        ("Zork3, GRPO (Qwen3-32B)", "", None, 2.0),
    ),
    *_of(_REBUTTAL, ("JitRL", "jitrl", 42.1, None), ("best GRPO", "", 25.5, None)),
    *_of(
        _UPDATE,
        ("Admin, prompt update", "prompt-update", 49.46, None),
        ("Admin, logit update", "jitrl", 52.31, None),
        ("Reddit, prompt update", "prompt-update", 53.02, None),
        ("Reddit, logit update", "jitrl", 57.64, None),
    ),
    *_of(
        "Reddit, % solved, DeepSeek-V3.2",
        ("JitRL", "jitrl", 54.42, None),
        ("Reflexion", "reflexion", 55.04, None),
    ),
)

DOLLARS = {
    "Static": 200,
    "Memory": 230,
    "Reflexion": 220,
    "AWM": 250,
    "EvoTest": 220,
    "JitRL": 290,
    "one WebRL training (16 H200 x 154 h x $4)": 9_900,
}
"""What the paper says the WebArena table cost, a method; a training is paid once."""

CAVEATS: tuple[str, ...] = (
    "The evaluator of the paper is told the gold outcome. Here a row says blind or told.",
    "On the four sites other than Shopping JitRL leads by 1.5 to 3.3 points; no intervals are "
    "printed.",
    "WebArena-Lite compares different base models, and a fifth attempt with a fixed checkpoint.",
    "With one base model (Llama-3.1-8B) the trained agent leads on Admin.",
    "The GRPO row of Jericho has another base model than the JitRL row.",
    "The prompt-update numbers equal baseline cells of the first table (Admin AWM 49.46, Reddit "
    "Memory 53.02), and a later version of the paper prints 48.35.",
    "Outside replications of WebArena with the same model differ by 25 points between papers "
    "(Shopping without memory: 24, 39, 50). Only paired runs in one harness mean anything: compare "
    "differences, not levels.",
)


def lead(agent: str) -> float | None:
    """Avg of ``agent`` minus that of Static in the paper's WebArena table, in [-1, 1]."""
    averages = {f.agent: f.avg for f in FIGURES if f.table == WEBARENA}
    ours, static = averages.get(agent), averages["static"]
    return None if ours is None or static is None else (ours - static) / 100
