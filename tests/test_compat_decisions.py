"""Whole decisions worked out by hand, and fuzz."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitrl.compat.text import (
    TextDecision,
    TextParams,
    TextQuery,
    TextRow,
    decide_text,
    retrieve_text,
)
from jitrl.compat.values import Verbalized
from jitrl.compat.web import (
    WebDecision,
    WebParams,
    WebQuery,
    WebRow,
    WebStep,
    decide_web,
    retrieve_web,
    web_context,
)
from jitrl.errors import InputError

PAGE = "[1] link 'Cart'\n[2] link 'Orders'\n[3] textbox 'Search'"
URL = "http://h:9999/a/7"
ROW = WebRow(0, "shopping/a/ID", "find the order", "No action", "click(<link[Orders]>)", 2, (2,))


def web_row(id: int, key: str, *rewards: float, **changes: Any) -> WebRow:
    fields = {name: getattr(ROW, name) for name in ROW.__dataclass_fields__}
    return WebRow(
        **{**fields, "id": id, "action_key": key, "own_reward": rewards[0], "rewards": rewards}
        | changes
    )


def web_decision(
    memory: list[WebRow],
    proposals: list[tuple[str, float]],
    draws: tuple[float, ...] = (),
    params: WebParams | None = None,
    history: tuple[WebStep, ...] = (),
    best: int = 1,
) -> WebDecision:
    stated = tuple(Verbalized(*proposal) for proposal in proposals)
    query = WebQuery(history, PAGE, URL, "find the order", stated, best)
    return decide_web(query, memory, params or WebParams(), iter(draws))


def test_a_web_decision_worked_out_by_hand() -> None:
    memory = [
        web_row(1, "click(<link[Orders]>)", 3),
        web_row(2, "go_back()", -1),
        web_row(3, "click(<link[Orders]>)", 1, 0),
    ]
    proposals = [("click('1')", 90.0), ("click('99')", 10.0), ('click("1")', 40.0)]
    decision = web_decision(memory, proposals, (0.9, 0.01))
    # Returns 3, -1, 1.1; V = 3.1 / 3; the two clicks on the cart share one draw.
    assert [n.row.id for n in decision.neighbors] == [1, 3, 2]
    assert decision.values is not None
    assert decision.values.q == {
        "click(<link[Orders]>)": pytest.approx(2.05),
        "go_back()": -1,
        "click(<link[Cart]>)": 0,
        "click()": pytest.approx(3.1 / 3 + 1 / 3),
    }
    assert decision.values.v == pytest.approx((2.05 - 1 + 0 + 4.1 / 3) / 4)
    # go_back() has no element to ground: it stays in Q and is no candidate.
    assert [(c.n, c.action, c.prior) for c in decision.candidates] == [
        (1, "click('1')", 0.9),
        (2, "click('99')", 0.1),
        (3, 'click("1")', 0.4),
        (4, "click('2')", 0.0),
    ]
    assert decision.candidates[3].scaled == 1.0
    assert decision.chosen == "click('2')"


def test_the_first_of_two_equal_candidates_is_chosen() -> None:
    memory = [web_row(1, "click(<link[Orders]>)", 1), web_row(2, "click(<link[Cart]>)", 1)]
    proposals = [("click('2')", 30.0), ("click('1')", 30.0)]
    assert web_decision(memory, proposals).chosen == "click('2')"
    assert web_decision(memory, proposals[::-1]).chosen == "click('1')"


def test_equal_rows_keep_the_order_in_which_they_were_stored() -> None:
    memory = [web_row(i, "noop()", ret) for i, ret in enumerate((1, 2, 1, 2))]
    decision = web_decision(memory, [("noop()", 50.0)])
    assert [neighbor.row.id for neighbor in decision.neighbors] == [1, 3, 0, 2]


def test_similarity_may_equal_the_threshold_but_the_task_must_exceed_its_own() -> None:
    # Goals "find the order" and "find the order now please": 3 of 5 words shared.
    row = web_row(1, "noop()", 1, goal="find the order now please")
    exact = 0.7 * 1.0 + 0.3 * 0.6
    for base, task, kept in ((exact, 0.5, 1), (exact + 1e-9, 0.5, 0), (exact, 0.6, 0)):
        found = retrieve_web(
            [row],
            key=ROW.url_key,
            goal=ROW.goal,
            context="No action",
            threshold=base,
            params=WebParams(task_threshold=task),
        )
        assert len(found) == kept


def test_the_context_of_a_page_is_compared_with_its_case() -> None:
    memory = [web_row(1, "noop()", 1, context="no action")]
    assert web_decision(memory, [("noop()", 50.0)]).neighbors == ()


def test_the_context_is_what_was_done_on_pages_of_the_same_key() -> None:
    other = "[1] link 'Reports'"
    history = (
        WebStep("click('1')", other, "http://h:9999/a/8/?q"),
        WebStep("click('1')", other, "http://h:9999/b"),
        WebStep("send_msg_to_user('42')", other, "http://h:9999/a/9"),
        WebStep("what?", other, "http://h:9999/a/9#x"),
    )
    expected = "click(<link[Reports]>) -> send_msg_to_user('xxx') -> what?"
    assert web_context(history, URL) == expected
    assert web_context(history, "http://h:9999/c") == "No action"
    assert web_context(history, "") == web_context(history, None) == "No action"
    nowhere = (WebStep("noop()", "", ""),)
    assert web_context(nowhere, "N/A") == "noop()"
    assert web_context(nowhere, "") == web_context(nowhere, None) == "No action"
    assert web_context((), URL) == "No action"


def test_without_proposals_the_memory_alone_chooses_or_there_is_an_error() -> None:
    assert web_decision([ROW], []).chosen == "click('2')"
    with pytest.raises(InputError, match="nothing to choose from"):
        web_decision([web_row(1, "noop()", 1)], [])
    with pytest.raises(InputError, match="best_action is 1; it must be 1 to 0"):
        web_decision([], [])
    with pytest.raises(InputError, match="best_action is 3; it must be 1 to 1"):
        web_decision([], [("noop()", 50.0)], best=3)


def text_row(id: int, action: str, ret: float, env: str = "a b c d e") -> TextRow:
    return TextRow(id, "dark room", env, action, ret, (ret,))


def text_decision(
    visited: list[TextRow],
    proposals: list[tuple[str, float]],
    draws: tuple[float, ...] = (),
    **params: Any,
) -> TextDecision:
    stated = tuple(Verbalized(*proposal) for proposal in proposals)
    query = TextQuery("dark room", "a b c d e", 0, stated, 1)
    return decide_text(query, visited, TextParams(**params), iter(draws))


def test_a_text_decision_worked_out_by_hand() -> None:
    visited = [
        text_row(1, "west ", 4.0),
        text_row(2, "east", -4.0),
        text_row(3, "west", 0.0),
        text_row(4, "up", 2.0),
    ]
    proposals = [("east", 80.0), ("down ", 20.0), ("west ", 10.0)]
    # west: mean 2, sd 2, conf (2 / 2) ** .65 * 1, lambda 1/2. V = 2 / 4.
    decision = text_decision(visited, proposals, (0.5, 0.49), episode_number=50)
    assert decision.exploration == 0.5
    assert decision.values is not None
    assert decision.values.q == {"west": 2, "up": 2, "east": -4, "down ": 0, "west ": 0.75}
    assert decision.values.v == 0.75 / 5
    assert [(c.action, c.prior) for c in decision.candidates] == [
        ("east", 0.8),
        ("down ", 0.2),
        ("west ", 0.1),
        ("west", 0.0),
        ("up", 0.0),
    ]
    assert decision.candidates[4].score == 1.5
    assert decision.chosen == "west"
    assert text_decision(visited, [("down ", 990.0)], (0.5,)).chosen == "down"
    more = text_decision(visited, proposals, (0.4, 0.4), alpha=5.0)
    assert more.values is not None
    assert more.values.q["down "] == 0.5 + 5 / 4


def test_only_rows_above_98_percent_are_kept_beyond_k() -> None:
    def kept(shared: int, k: int) -> int:
        """Rows kept of three, each with ``shared - 1`` of ``shared`` 4-grams of the room."""
        env = " ".join(f"w{i}" for i in range(shared + 3))
        rows = [text_row(i, "noop", 1.0, env.rsplit(" ", 1)[0]) for i in range(3)]
        params = TextParams(k=k)
        return len(retrieve_text(rows, context="dark room", env=env, threshold=0.95, params=params))

    assert 0.3 + 0.7 * (34 / 35) == 0.98
    assert (kept(35, 1), kept(36, 1), kept(35, 2), kept(36, 2)) == (1, 3, 2, 3)
    assert (kept(10, 9), kept(20, 9)) == (0, 3)


WORDS = st.lists(st.sampled_from(["a", "b", "c", "D", "x!"]), max_size=6).map(" ".join)
REWARDS = st.lists(st.integers(-3, 3), min_size=1, max_size=4)
DRAWS = st.lists(st.floats(0, 0.999), max_size=4)
KEYS = st.sampled_from(
    ["click(<link[Cart]>)", "click(<link>)", "go_back()", 'fill(<textbox[Search]>, "x")']
)
ACTIONS = st.sampled_from(["click('1')", "click('2')", "noop()", "?", ""]) | st.text()
CONFIDENCES = st.floats(0, 100)


@given(
    st.lists(st.tuples(KEYS, WORDS, REWARDS), max_size=8),
    st.lists(st.tuples(ACTIONS, CONFIDENCES), max_size=4),
    st.lists(st.tuples(ACTIONS, st.sampled_from([URL, "", "http://h:9999/b"])), max_size=3),
    DRAWS,
    st.booleans(),
)
def test_any_web_case_is_decided_or_refused(
    rows: list[tuple[str, str, list[int]]],
    proposals: list[tuple[str, float]],
    history: list[tuple[str, str]],
    draws: list[float],
    is_strict: bool,
) -> None:
    memory = [
        web_row(i, key, *rewards, context=context) for i, (key, context, rewards) in enumerate(rows)
    ]
    params = WebParams() if is_strict else WebParams(base_threshold=0.0)
    steps = tuple(WebStep(action, PAGE, url) for action, url in history)
    try:
        decision = web_decision(memory, proposals, tuple(draws), params, steps)
    except InputError:
        return
    known = {action for action, _ in proposals} | {"click('1')", "fill('3', \"x\")"}
    assert decision.chosen in known
    scores = [candidate.score for candidate in decision.candidates]
    if scores:
        assert decision.candidates[scores.index(max(scores))].action == decision.chosen
    assert all(n.similarity >= decision.threshold for n in decision.neighbors)


@given(
    st.lists(st.tuples(WORDS, WORDS, WORDS, REWARDS), max_size=8),
    st.lists(st.tuples(WORDS, CONFIDENCES), max_size=4),
    DRAWS,
    st.integers(0, 5),
)
def test_any_text_case_is_decided_or_refused(
    rows: list[tuple[str, str, str, list[int]]],
    proposals: list[tuple[str, float]],
    draws: list[float],
    k: int,
) -> None:
    visited = [
        TextRow(i, context, env, action, rewards[0], tuple(rewards))
        for i, (context, env, action, rewards) in enumerate(rows)
    ]
    try:
        decision = text_decision(visited, proposals, tuple(draws), base_threshold=0.2, k=k)
    except InputError:
        return
    near = sum(n.similarity > 0.98 for n in decision.neighbors)
    assert len(decision.neighbors) <= max(k, near)
    assert decision.chosen in {a.strip() for _, _, a, _ in rows} | {a.strip() for a, _ in proposals}
