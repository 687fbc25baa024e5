"""The named settings: what they are, and that the released ones decide as the released code did."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jitrl.core.admission import AS_PUBLISHED
from jitrl.core.update import decide
from jitrl.errors import ConfigError
from jitrl.presets import NAMES, load
from jitrl.types import Candidate, Decision, Neighbor

GOLDEN = Path(__file__).parent / "golden"


class Drawn:
    """A generator whose first number takes the first of equal choices, and then gives ``draws``."""

    def __init__(self, draws: list[float]) -> None:
        self._left = [0.0, *draws]

    def random(self) -> float:
        return self._left.pop(0)


def cases(name: str) -> list[dict[str, Any]]:
    return json.loads((GOLDEN / name).read_text(encoding="utf-8"))["cases"]


def logit(p: float) -> float:
    if p <= 0.0:
        return -700.0
    return 40.0 if p >= 1.0 else math.log(p / (1.0 - p))


def decided(
    case: dict[str, Any], preset: str, action_of: str, key_of: str, **changes: Any
) -> Decision:
    """A golden case through the core: the same neighbors, priors and draws."""
    rows = {row["id"]: row[action_of].strip() for row in case["memory"]}
    keys = [c[key_of] for c in case["candidates"]]
    proposals = case["query"]["options"]
    proposed = [
        Candidate(key, logit(o["confidence"] / 100))
        for key, o in zip(keys, proposals, strict=False)
    ]
    neighbors = [Neighbor(rows[r["id"]], r["similarity"], r["return"]) for r in case["retrieved"]]
    rule = replace(load(preset).rule, **changes)
    rng = Drawn(case["uniform_draws"])
    return decide(proposed, neighbors, rule, rng, allowed=set(keys))  # type: ignore[arg-type]


def told(case: dict[str, Any], key_of: str) -> str:
    """Why the core cannot be asked about a case; "" if it can."""
    keys = [c[key_of] for c in case["candidates"]]
    if case["raises"]:
        return "the released code raised"
    if not case["retrieved"]:
        return "nothing was retrieved: the released code then takes the model's favorite by number"
    if len(set(keys)) < len(keys):
        return "two candidates with one key"
    return ""


@pytest.mark.parametrize(
    ("file", "preset", "action_of", "key_of", "floor"),
    [
        ("decisions_webarena.json", "released-web", "action_key", "action_key", 60),
        ("decisions_jericho.json", "released-text", "action", "action", 60),
    ],
)
def test_a_released_preset_decides_as_the_released_code_did(
    file: str, preset: str, action_of: str, key_of: str, floor: int
) -> None:
    left_out, same = Counter[str](), 0
    for number, case in enumerate(cases(file)):
        if why := told(case, key_of):
            left_out[why] += 1
            continue
        params = case["params"]
        changes = {"beta": float(params["beta"]), "bonus": float(params["alpha"])}
        if preset == "released-web":
            changes["explore"] = params["lambda"]
        else:
            changes["explore_rate"] = params["exploration_rate"]
        made = decided(case, preset, action_of, key_of, **changes)
        assert list(made.draws[1:]) == case["uniform_draws"], f"case {number}"
        assert made.value == pytest.approx(case["V"], abs=1e-9), f"case {number}"
        for mine, theirs in zip(made.candidates, case["candidates"], strict=True):
            assert mine.scaled == pytest.approx(theirs["A_norm"], abs=1e-6), f"case {number}"
            assert mine.corrected == pytest.approx(theirs["score"], abs=1e-6), f"case {number}"
        chosen = made.candidates.index(made.chosen)
        scores = [c["score"] for c in case["candidates"]]
        assert scores[chosen] == pytest.approx(max(scores), abs=1e-9), f"case {number}"
        same += 1
    assert same >= floor, left_out


def test_rounding_noise_turns_the_released_rule_and_no_other() -> None:
    found = cases("rounding.json")
    for case in found:
        neighbors = [Neighbor(action, 1.0, ret) for action, ret in case["neighbours"]]
        proposed = [Candidate(a, logit(p)) for a, p in case["priors"].items()]
        released = load("released-web").rule
        made = decide(proposed, neighbors, released, Drawn([]))  # type: ignore[arg-type]
        q = {c.action: c.q for c in made.candidates}
        if q == case["Q"] and made.value == case["V"]:  # sums that round as CPython's did
            assert made.action == case["chosen"]
        for name in ("default", "paper-web", "paper-text"):
            rule = replace(load(name).rule, choose="argmax")
            rows = [n._replace(visits=1.0) for n in neighbors]
            made = decide(proposed, rows, replace(rule, novelty=0.0), Drawn([]))  # type: ignore[arg-type]
            assert made.action == case["mathematically_chosen"], name
    assert len(found) > 10


def test_each_preset_has_its_own_rule_or_retrieval() -> None:
    assert NAMES == ("default", "paper-web", "paper-text", "released-web", "released-text")
    assert len({load(name).rule.digest for name in NAMES}) == len(NAMES)


def test_the_papers_numbers_are_those_of_its_appendix() -> None:
    web, text = load("paper-web"), load("paper-text")
    assert (web.gamma, web.retrieval.k, web.retrieval.threshold) == (0.1, 10, 0.8)
    assert (web.rule.explore, web.rule.bonus, web.rule.beta) == (0.05, 5.0, 1.0)
    assert (text.gamma, text.retrieval.k, text.retrieval.threshold) == (0.5, 10, 0.95)
    assert (text.rule.explore, text.rule.bonus, text.rule.eps) == (0.65, 5.0, 1e-8)


def test_a_published_preset_stays_what_it_is_whatever_the_default_becomes() -> None:
    """A new setting gets the value in them that keeps their numbers."""
    pinned = {
        name: blake2b(
            repr(load(name)).replace(f", admission={AS_PUBLISHED!r}", "").encode(), digest_size=6
        ).hexdigest()
        for name in NAMES[1:]
    }
    assert pinned == {
        "paper-web": "1f1075dae489",
        "paper-text": "e5adfb20dc33",
        "released-web": "e4d16c31a644",
        "released-text": "92e7ed8515f3",
    }


def test_an_unknown_preset_is_named_beside_those_that_exist() -> None:
    with pytest.raises(ConfigError, match=r"no preset 'papers'; there are default, paper-web"):
        load("papers")


def test_a_changed_preset_keeps_the_rest_and_rejects_what_does_not_exist() -> None:
    preset = load("default")
    changed = preset.changed({"beta": 1.0}, {"threshold": 0.5}, 0.9)
    assert (changed.rule.beta, changed.retrieval.threshold, changed.gamma) == (1.0, 0.5, 0.9)
    assert changed.rule.novelty == preset.rule.novelty
    assert preset.changed().gamma == preset.gamma
    with pytest.raises(ConfigError, match="rule has no setting 'betta'"):
        preset.changed({"betta": 1.0})
    with pytest.raises(ConfigError, match=r"retrieval: threshold is 2; it must be in \[0, 1\]"):
        preset.changed(None, {"threshold": 2})


def test_rules_are_pure_data_with_a_digest_of_their_own() -> None:
    rule = load("default").rule
    assert rule.digest == replace(rule).digest != replace(rule, beta=rule.beta + 1).digest
    assert len(rule.digest) == 12
    assert np.isfinite(rule.beta)
