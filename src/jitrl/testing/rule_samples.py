"""What tests of a rulebook start from: sample rules and contrasts, and episodes that use them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from jitrl.core.sentences import cleaned, rule_id
from jitrl.ports import Receipt
from jitrl.ports.rules import RuleStore
from jitrl.testing.store_samples import derive, sample_episode, scored
from jitrl.types import Contrast, Outcome, Rule, RuleUse, Unscored

TEXTS = (
    "当输入包含日期时，先统一成 YYYY-MM-DD 再处理",
    "部署前必须运行测试",
    "重跑gen-itgc后检查悬空引用",
    "データベースの設定を確認する",
)


def sample_rule(text: str = TEXTS[0], **values: Any) -> Rule:
    """A rule as an agent hands it in."""
    rule = Rule(rule_id(text), cleaned(text), "shop", "", ("a", "日期"), 0.75, "a-model")
    return replace(rule, **values)


def sample_contrast(id: str = "c1", **values: Any) -> Contrast:
    """A contrast between episodes ``good`` and ``bad``."""
    scores = (1.0, 0.25)
    said = Contrast(id, "shop", "t1", "form", 2, "登记订单", ("good",), ("bad",), scores, 12.5)
    return replace(said, **values)


def played(
    store: RuleStore,
    key: str,
    uses: Sequence[tuple[str, bool]] = (),
    *,
    score: float | None = 1.0,
    task: str = "t1",
) -> Receipt:
    """Commit an episode that came to ``score`` and could tell rules, by a coin."""
    episode = replace(sample_episode(key, task=task), outcome=Outcome(score or 0.0))
    judgment = Unscored("no outcome") if score is None else scored(episode)
    told = [RuleUse(rule, key, is_told, 0.5, 3, 2, 1) for rule, is_told in uses]
    return store.commit(episode, judgment, derive(episode, judgment), told)
