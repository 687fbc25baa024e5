"""Forms of golden cases: how each is recognized, and what the released rule answers to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jitrl.compat.actions import ground, normalize
from jitrl.compat.returns import correct_return, released_return_text, released_return_web
from jitrl.compat.similarity import ngram_jaccard, set_jaccard, words
from jitrl.compat.text import TextParams, TextQuery, TextRow, decide_text
from jitrl.compat.urls import url_key
from jitrl.compat.values import (
    Neighbor,
    Values,
    Verbalized,
    Weighed,
    choose,
    choose_without_noise,
    evaluate,
)
from jitrl.compat.web import WebParams, WebQuery, WebRow, WebStep, decide_web
from jitrl.errors import InputError

Json = Mapping[str, Any]
Answer = Callable[[Json, Json], Json]
"""From a case and its document to the fields that the case should hold."""


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of case: the fields that tell it from all others, and its answer.

    Attributes:
        fields: Names a case of this form has; a dot looks inside.
    """

    name: str
    fields: tuple[str, ...]
    answer: Answer


def form_of(case: Any) -> Form | None:
    """The form whose fields the case has, whatever its file is called; ``None`` if unknown."""
    return next((form for form in FORMS if all(_has(case, name) for name in form.fields)), None)


def _has(case: Any, name: str) -> bool:
    for part in name.split("."):
        if not isinstance(case, Mapping) or part not in case:
            return False
        case = case[part]
    return True


def _answer_url(case: Json, document: Json) -> Json:
    return {"normalized": url_key(case["url"])}


def _answer_normalize(case: Json, document: Json) -> Json:
    key = normalize(
        case["action"],
        document["states"][case["state"]],
        normalize_send_msg=case.get("normalize_send_msg", True),
    )
    return {
        "normalized": key.text,
        "semantic": key.semantic,
        "type": key.verb,
        "params": list(key.params),
        "role": key.role,
        "label": key.label,
    }


def _answer_ground(case: Json, document: Json) -> Json:
    return {"raw": ground(case["normalized"], document["states"][case["state"]])}


def _answer_round_trip(case: Json, document: Json) -> Json:
    pages = document["states"]
    key = normalize(case["action"], pages["state1"]).text
    return {
        "normalized": key,
        "same_page": ground(key, pages["state1"]),
        "other_page": ground(key, pages["state2"]),
    }


def _answer_similarity(case: Json, document: Json) -> Json:
    kind, a, b = case["kind"], case["a"], case["b"]
    if kind == "webarena_task":
        return {"sim": set_jaccard(words(a), words(b)), "tokens_a": words(a)}
    if kind == "webarena_traj":
        return {"sim": set_jaccard(a.split(), b.split()), "tokens_a": a.split()}
    if size := re.fullmatch(r"jericho_(\d+)gram", kind):
        return {"sim": ngram_jaccard(a, b, int(size[1])), "tokens_a": words(a)}
    raise InputError(f"kind {kind!r} is none of webarena_task, webarena_traj, jericho_<N>gram")


def _answer_returns(case: Json, document: Json) -> Json:
    released = {"webarena": released_return_web, "jericho": released_return_text}[case["env"]]
    rewards, gamma = case["future_scores"], case["gamma"]
    ret: float | None = None
    raises = None
    try:
        ret = released(case["own_score"], rewards, gamma)
    except TypeError:
        raises = "TypeError"
    return {
        "correct_return": correct_return(rewards, gamma),
        "authors_return": ret,
        "authors_raises": raises,
    }


def _answer_rounding(case: Json, document: Json) -> Json:
    neighbors = [Neighbor(action, ret) for action, ret in case["neighbours"]]
    priors = case["priors"]
    values = evaluate(neighbors, list(priors), iter(()), exploration=0.0, alpha=1.0)
    return {
        "V": values.v,
        "Q": values.q,
        "A_norm": values.scaled,
        "chosen": choose(priors, values),
        "mathematically_chosen": choose_without_noise(priors, values),
    }


def _answer_web(case: Json, document: Json) -> Json:
    query = case["query"]
    try:
        decision = decide_web(
            WebQuery(
                history=tuple(
                    WebStep(step["action"], step["state"], step["url"]) for step in query["history"]
                ),
                page=query["state"],
                url=query["url"],
                goal=query["task_goal"],
                proposals=_proposals(query),
                best_action=query["best_action"],
            ),
            [
                WebRow(
                    id=row["id"],
                    url_key=row["url_key"],
                    goal=row["task_goal"],
                    context=row["context"],
                    action_key=row["action_key"],
                    own_reward=row["own_score"],
                    rewards=tuple(row["future_scores"]),
                )
                for row in case["memory"]
            ],
            WebParams(**_settings(case, WebParams, {"lambda": "exploration"})),
            _draws(case),
        )
    except TypeError as error:
        return {"raises": type(error).__name__}
    return {
        "derived": {
            "url_key": decision.url_key,
            "context": decision.context,
            "dynamic_threshold": decision.threshold,
        },
        "retrieved": [
            {
                "id": neighbor.row.id,
                "similarity": neighbor.similarity,
                "task_similarity": neighbor.task_similarity,
                "history_similarity": neighbor.history_similarity,
                "return": neighbor.ret,
            }
            for neighbor in decision.neighbors
        ],
        **_values(decision.values),
        "candidates": [
            {**_candidate(each), "action_key": each.key} for each in decision.candidates
        ],
        "chosen": decision.chosen,
        "raises": None,
    }


def _answer_text(case: Json, document: Json) -> Json:
    query, derived = case["query"], case["derived"]
    rows = {
        row["id"]: TextRow(
            id=row["id"],
            context=row["context"],
            env=row["env_info"],
            action=row["action"],
            own_reward=row["own_score"],
            rewards=tuple(row["future_scores"]),
        )
        for row in case["memory"]
    }
    try:
        decision = decide_text(
            TextQuery(
                context=derived["context"],
                env=derived["env_info"],
                step=query["history_len"],
                proposals=_proposals(query),
                best_action=query["best_action"],
            ),
            [rows[id] for id in derived["recall_order"]],
            TextParams(**_settings(case, TextParams, {})),
            _draws(case),
        )
    except TypeError as error:
        return {"raises": type(error).__name__}
    return {
        "derived": {**derived, "dynamic_threshold": decision.threshold},
        "retrieved": [
            {
                "id": neighbor.row.id,
                "similarity": neighbor.similarity,
                "sim_history": neighbor.context_similarity,
                "sim_state": neighbor.env_similarity,
                "return": neighbor.ret,
            }
            for neighbor in decision.neighbors
        ],
        "exploration_prob": decision.exploration,
        **_values(decision.values),
        "candidates": [_candidate(each) for each in decision.candidates],
        "chosen": decision.chosen,
        "raises": None,
    }


def _settings(case: Json, params: type[WebParams | TextParams], names: Mapping[str, str]) -> Json:
    """The case's own numbers under the names of ``params``; what decides nothing is left out."""
    renamed = {names.get(name, name): value for name, value in case.get("params", {}).items()}
    return {name: renamed[name] for name in params.__dataclass_fields__ if name in renamed}


def _draws(case: Json) -> Iterator[float]:
    return iter(case["uniform_draws"])


def _proposals(query: Json) -> tuple[Verbalized, ...]:
    return tuple(Verbalized(each["action"], each["confidence"]) for each in query["options"])


def _values(values: Values | None) -> Json:
    if values is None:
        return {"uniform_draws": [], "V": None, "Q": None, "A": None, "A_norm": None}
    return {
        "uniform_draws": list(values.draws),
        "V": values.v,
        "Q": values.q,
        "A": values.a,
        "A_norm": values.scaled,
    }


def _candidate(candidate: Weighed) -> Json:
    return {
        "n": candidate.n,
        "action": candidate.action,
        "prior": candidate.prior,
        "A_norm": candidate.scaled,
        "score": candidate.score,
    }


FORMS: tuple[Form, ...] = (
    Form("page key", ("url", "normalized"), _answer_url),
    Form("action key", ("action", "state", "normalized", "semantic"), _answer_normalize),
    Form("grounding", ("normalized", "state", "raw"), _answer_ground),
    Form("round trip", ("action", "normalized", "same_page", "other_page"), _answer_round_trip),
    Form("similarity", ("kind", "a", "b", "sim"), _answer_similarity),
    Form("return", ("env", "own_score", "future_scores", "gamma"), _answer_returns),
    Form("rounding", ("neighbours", "priors", "chosen"), _answer_rounding),
    Form("web decision", ("memory", "query.url", "chosen", "raises"), _answer_web),
    Form("text decision", ("memory", "query.history_len", "chosen", "raises"), _answer_text),
)
