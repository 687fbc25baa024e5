import pytest
from rich.cells import cell_len

import jitrl as package
from jitrl.core.features import SiteMap, Situation, features
from jitrl.report.taught import WORDS, said
from jitrl.types import State

BUTTONS = ("click(<button[Cancel]>)", "click(<button[Ship]>)", "click(<button[打印]>)", "back()")
GOALS = ("cancel the order {}", "ship the order {}", "打印订单 {}")


@pytest.fixture
def shop(jitrl):
    """A memory `m.db` of twelve solved tasks and the first attempt at another, `Q`."""

    def live(memory, goal, key, right, push):
        with memory.episode(goal, key=key) as episode:
            state = package.State("the orders of a shop", goal, "orders")
            logits = {a: push * (i == right) + 0.1 * i for i, a in enumerate(BUTTONS)}
            episode.decide(state, logits)
            episode.finish(outcome=True)

    with package.open("m.db", mode="off") as alone:
        for n in range(12):
            live(alone, GOALS[n % 3].format(100 + n), f"e{n}", n % 3, 1.0)
    with package.open("m.db") as memory:
        live(memory, "ship the order 7", "Q", 1, 0.0)
    return jitrl


@pytest.mark.parametrize(
    ("lang", "labels"),
    [
        (
            "en",
            (
                "How other tasks were solved outweighed the model.",
                "What other tasks taught: +",
                "Learned from 12 solved tasks",
                "how much of the label the goal names",
                "on orders: click button | {text}",
                "by other tasks",
            ),
        ),
        (
            "zh",
            (
                "其他任务的成功做法压过了模型的偏好。",
                "其他任务所教：",
                "学自 12 个已完成的任务",
                "目标提到标签的多少",
                "在 orders：click button | {text}",
                "由其他任务",
            ),
        ),
    ],
)
def test_people_read_what_other_tasks_taught_in_their_language(shop, monkeypatch, lang, labels):
    monkeypatch.setenv("COLUMNS", "80")
    done = shop("explain", "m.db", "Q#0", "--lang", lang)
    assert (done.code, done.out) == (0, "")
    unbroken = done.err.replace("\n", "")
    for label in (*labels, "e10"):
        assert label in done.err or label in unbroken, label
    assert max(cell_len(line) for line in done.err.splitlines()) <= 80


def test_the_data_holds_the_lesson_its_features_and_who_taught(shop):
    data = shop("explain", "m.db", "Q#0", "--json").data
    assert (data["schema"], data["why"]) == ("jitrl.explain/2", "lessons")
    assert data["lesson"]["tasks"] == 12
    at = {c["action"]: c["transfer"] for c in data["candidates"]}
    taught = data["taught"]
    assert taught["nats"] == pytest.approx(at[taught["action"]] - at[taught["against"]])
    assert sum(m["nats"] for m in taught["moved"]) == pytest.approx(taught["nats"])
    assert {w["episode"] for w in data["without"] if w["has_taught"]} == {
        f"e{n}" for n in range(12)
    }
    assert all(w["exact"] for w in data["without"])


def test_a_decision_that_other_tasks_turned_is_listed_with_its_cause(shop):
    [one] = shop("explain", "m.db", "--changed", "--json").data["decisions"]
    assert (one["id"], one["why"]) == ("Q#0", "lessons")
    assert "other tasks" in shop("explain", "m.db", "--changed").err
    assert "其他任务" in shop("explain", "m.db", "--changed", "--lang", "zh").err


@pytest.mark.parametrize("lang", WORDS)
def test_every_feature_has_words(lang):
    site = SiteMap({("p", "a(<b[x]>)"): "q", ("q", "c(<d[y]>)"): "r"}, {})
    for page, named in (("q", "c(<d[goal]>)"), ("r", "e(<f[goal]>)")):
        site.offered[page] = ["c(<d[y]>)", named]
    actions = ("a(<b[x]>)", "put goal in box", "put it in box")
    here = State("text", place="p")
    for kind, read in (("page", ""), ("words", ""), ("words", "goal\nput goal")):
        for last in ("", "take goal from shelf"):
            step = Situation("the goal", here, last, actions, set(actions), read=read)
            for found in features(kind, step, site, lambda t: 1.0):
                for feature in found:
                    words = said(feature, WORDS[lang])
                    assert words
                    assert "{1}" not in words
    kinds = {*WORDS["en"].features} - {"named+"}
    assert WORDS["en"].features.keys() == WORDS["zh"].features.keys()
    assert kinds >= {feature[0] for feature in found}
