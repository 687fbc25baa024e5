"""Golden decisions, turned in ways whose right answer is known."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jitrl.compat.forms import form_of

GOLDEN = Path(__file__).parent / "golden"
Case = dict[str, Any]


def golden(name: str) -> list[Case]:
    cases: list[Case] = json.loads((GOLDEN / name).read_bytes())["cases"]
    return cases


WEB = golden("decisions_webarena.json")
TEXT = golden("decisions_jericho.json")
BOTH = pytest.mark.parametrize("cases", [WEB, TEXT], ids=["web", "text"])


def answer(case: Case) -> Case:
    form = form_of(case)
    assert form is not None
    return dict(form.answer(case, {}))


def turned(case: Case, turn: Callable[[Case], object]) -> Case:
    """The case itself with one thing changed."""
    changed = copy.deepcopy(case)
    turn(changed)
    return changed


def is_seen(case: Case) -> bool:
    return bool(case["retrieved"])


@BOTH
def test_an_empty_memory_leaves_the_choice_to_the_model(cases: list[Case]) -> None:
    for case in cases:
        found = answer(
            turned(case, lambda c: (c["memory"].clear(), c["derived"].update(recall_order=[])))
        )
        best = case["query"]["options"][case["query"]["best_action"] - 1]["action"]
        assert found["chosen"] == (best if cases is WEB else best.strip())
        assert found["V"] is found["Q"] is found["A"] is found["A_norm"] is None
        assert found["retrieved"] == found["candidates"] == found["uniform_draws"] == []


@BOTH
def test_draws_of_1_give_every_untried_action_0_and_draws_of_0_the_bonus(
    cases: list[Case],
) -> None:
    changed = 0
    for case in filter(is_seen, cases):
        count = len(case["uniform_draws"])
        low = answer({**case, "uniform_draws": [0.9999] * count})
        high = answer({**case, "uniform_draws": [0.0] * count})
        untried = list(case["Q"])[len(case["Q"]) - count :]
        for action in untried:
            assert low["Q"][action] == 0
            returns = [row["return"] for row in case["retrieved"]]
            mean = sum(returns) / len(returns)
            assert high["Q"][action] == pytest.approx(mean + 1 / len(returns))
        for action in set(case["Q"]) - set(untried):
            assert low["Q"][action] == high["Q"][action] == case["Q"][action]
        changed += low["V"] != high["V"]
    assert changed > 50


def test_lambda_and_alpha_are_the_cases_own() -> None:
    for case in filter(is_seen, WEB):
        count = len(case["uniform_draws"])
        if not count:
            continue
        # lambda = 1: every draw is below it; alpha moves the bonus by its share.
        one = answer(turned(case, lambda c: c["params"].update({"lambda": 1.0})))
        six = answer(turned(case, lambda c: c["params"].update({"lambda": 1.0, "alpha": 6})))
        action = list(case["Q"])[-1]
        share = 5 / len(case["retrieved"])
        assert six["Q"][action] == pytest.approx(one["Q"][action] + share)
        none = answer(turned(case, lambda c: c["params"].update({"lambda": 0})))
        assert none["Q"][action] == 0


def test_parameters_left_out_are_the_defaults() -> None:
    case = next(c for c in filter(is_seen, WEB) if c["params"]["gamma"] == 0.1)
    assert answer(turned(case, lambda c: c.pop("params"))) == answer(case)
    usual = {"gamma": 0.5, "base_threshold": 0.95, "exploration_rate": 0.65, "k": 10}
    text = next(c for c in filter(is_seen, TEXT) if usual.items() <= c["params"].items())
    finished = {"episode_number": text["params"]["episode_number"]}
    assert answer(turned(text, lambda c: c.update(params=finished))) == answer(text)


@BOTH
def test_rewards_times_two_double_every_value_and_change_no_scaled_advantage(
    cases: list[Case],
) -> None:
    def double(case: Case) -> None:
        for row in case["memory"]:
            row["own_score"] *= 2
            row["future_scores"] = [2 * score for score in row["future_scores"]]

    for case in filter(is_seen, cases):
        # Draws of nearly 1, so that no bonus, which does not double, is given.
        plain = turned(case, lambda c: c.update(uniform_draws=[0.9999] * len(c["uniform_draws"])))
        before, after = answer(plain), answer(turned(plain, double))
        assert after["V"] == 2 * before["V"]
        assert after["Q"] == {action: 2 * q for action, q in before["Q"].items()}
        assert after["A_norm"] == before["A_norm"]
        assert after["chosen"] == before["chosen"]


@BOTH
def test_confidence_moves_scores_and_nothing_else(cases: list[Case]) -> None:
    for case in filter(is_seen, cases):

        def favor_first(c: Case) -> None:
            for i, option in enumerate(c["query"]["options"]):
                option["confidence"] = 0 if i else 1000

        found = answer(turned(case, favor_first))
        for name in ("retrieved", "V", "Q", "A", "A_norm", "uniform_draws"):
            assert found[name] == case[name]
        first = case["query"]["options"][0]["action"]
        assert found["chosen"] == (first if cases is WEB else first.strip())
        assert [c["prior"] for c in found["candidates"]][:2] == [10.0, 0.0]


@BOTH
def test_a_beta_of_0_leaves_the_choice_to_the_prior(cases: list[Case]) -> None:
    for case in filter(is_seen, cases):
        found = answer(turned(case, lambda c: c["params"].update(beta=0)))
        assert [c["score"] for c in found["candidates"]] == [c["prior"] for c in case["candidates"]]
        assert found["A_norm"] == case["A_norm"]


def test_new_element_ids_change_actions_but_not_their_keys() -> None:
    def renumber(text: str) -> str:
        return re.sub(r"(?<=[\[(])('?)(\d+)(?=\1[\]),])", r"\g<1>9\2", text)

    def turn(case: Case) -> None:
        query = case["query"]
        query["state"] = renumber(query["state"])
        for option in query["options"]:
            if not option["action"].startswith(("send_msg", "scroll")):
                option["action"] = renumber(option["action"])

    for case in WEB:
        found = answer(turned(case, turn))
        assert found["Q"] == case["Q"]
        assert [c["action_key"] for c in found["candidates"]] == [
            c["action_key"] for c in case["candidates"]
        ]
        if not case["chosen"].startswith(("send_msg", "scroll")):
            assert found["chosen"] == renumber(case["chosen"]) != case["chosen"]


@pytest.mark.parametrize(
    "stranger",
    [{"url_key": "map/elsewhere"}, {"task_goal": "unrelated"}, {"context": "quite other things"}],
)
def test_rows_of_other_pages_tasks_or_contexts_take_no_part(stranger: Case) -> None:
    for case in WEB:
        rows = [{**row, "id": f"x{row['id']}", **stranger} for row in case["memory"]]
        more = turned(case, lambda c: None)
        more["memory"] += rows
        assert answer(more) == answer(case)


def test_reversed_recall_swaps_only_rows_that_are_equally_good() -> None:
    for case in filter(is_seen, TEXT):
        found = answer(turned(case, lambda c: c["derived"]["recall_order"].reverse()))
        rank = [(row["similarity"], row["return"]) for row in case["retrieved"]]
        assert [(row["similarity"], row["return"]) for row in found["retrieved"]] == rank
        # Without ties, and without a cut at k that may fall between two equal rows.
        if len(set(rank)) == len(rank) and rank[-1][0] > 0.98:
            assert found["retrieved"] == case["retrieved"]


def test_k_caps_all_but_the_nearly_equal_rows() -> None:
    def kept(case: Case, k: int) -> list[Case]:
        other = turned(case, lambda c: c["params"].update(k=k))
        rows: list[Case] = answer({**other, "uniform_draws": [0.5] * 9})["retrieved"]
        return rows

    for case in filter(is_seen, TEXT):
        everything = kept(case, 1000)
        near = sum(row["similarity"] > 0.98 for row in everything)
        for k in (0, 1, 4):
            assert kept(case, k) == everything[: max(k, near)]


def test_blanks_around_an_action_count_in_an_option_but_not_in_the_memory() -> None:
    def pad_memory(case: Case) -> None:
        for row in case["memory"]:
            row["action"] = f"  {row['action']}\n"

    def pad_options(case: Case) -> None:
        for option in case["query"]["options"]:
            option["action"] = f" {option['action']}  "
        case["uniform_draws"] = [0.9999] * 9

    for case in filter(is_seen, TEXT):
        assert answer(turned(case, pad_memory)) == answer(case)
        found = answer(turned(case, pad_options))
        options = {f" {option['action']}  " for option in case["query"]["options"]}
        assert all(found["Q"][action] == 0 for action in options)
        assert len(found["uniform_draws"]) == len(options)
        assert found["chosen"] == found["chosen"].strip()


def test_actions_of_the_memory_alone_join_if_their_mean_return_is_positive() -> None:
    for case in filter(is_seen, TEXT):
        tried = list(case["Q"])[: len(case["Q"]) - len(case["uniform_draws"])]
        options = [option["action"] for option in case["query"]["options"]]
        joined = [c["action"] for c in case["candidates"]][len(options) :]
        assert joined == [a for a in tried if a not in options and case["Q"][a] > 0]


def test_a_missing_reward_raises_in_text_only_where_the_row_is_retrieved() -> None:
    for case in filter(is_seen, TEXT):
        seen = {row["id"] for row in case["retrieved"]}
        blank = turned(case, lambda c: None)
        for row in blank["memory"]:
            row["future_scores"] = [None] if row["id"] in seen else row["future_scores"]
        assert answer(blank) == {"raises": "TypeError"}
    for case in WEB:
        blank = turned(case, lambda c: None)
        for row in blank["memory"]:
            row["own_score"], row["future_scores"] = None, [None, 0]
        assert {row["return"] for row in answer(blank)["retrieved"]} <= {0}
