"""Credit: which steps of a good attempt made the difference, in each of the ways to find them."""

import json
from contextlib import contextmanager
from dataclasses import replace
from typing import ClassVar

import pytest
from made_agents import opened
from pasts import episode, past
from suggestible import WORLD, Suggestible, lived
from test_written import Scribe

from jitrl import registry
from jitrl.agents.rulebook.contrasts import Compared
from jitrl.agents.rulebook.credit import by_contrast, differences, strategy
from jitrl.agents.rulebook.written import written
from jitrl.config import Environment, Memory, Run, Settings
from jitrl.envs.toy import Toy
from jitrl.errors import ConfigError, InputError
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.run.compose import compose
from jitrl.run.ready import require_agent
from jitrl.run.replaying import Replayer
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Candidate, Prompt, Proposal, State, Unscored

GOAL = "Win."


class House:
    """Places and what leads where; who takes the lamp has won, and a dark attic holds a coat, too.

    From the hall there are two ways up, and a cellar that leads back.
    """

    ways: ClassVar = {
        "hall": {"left": "stairs", "right": "attic", "down": "cellar"},
        "stairs": {"up": "attic"},
        "cellar": {"back": "hall", "dig": ""},
        "attic": {"lamp": "", "coat": ""},
    }

    def __init__(self, won="lamp"):
        self.won, self.played = won, []

    @contextmanager
    def replays(self):
        yield self.replay

    def replay(self, key, agent):
        place, taken = "hall", []
        while place:
            acts = self.ways[place]
            listed = Proposal(tuple(Candidate(act, 0.0) for act in acts), "", "")
            action = agent.act(State(place), Prompt(GOAL, place), listed).action
            taken.append(f"{place}:{action}")
            place = acts[action]
        self.played.append(taken)
        paid = [0.0] * (len(taken) - 1) + [float(action == self.won)]
        return episode(key, *taken, rewards=paid)


GOOD = past("g", "hall:left", "stairs:up", "attic:lamp")


def bad(*steps, key="b", **more):
    return past(key, *steps, **{"rewards": [0.0] * len(steps), **more})


DETOUR = bad("hall:down", "cellar:back", "hall:left", "stairs:up", "attic:coat")
OTHER_WAY = bad("hall:right", "attic:coat")


def contrast(*attempts, good=GOOD):
    return Compared(GOAL, (good,), attempts, 1.0)


def named(name, case, house=None, *, budget=20, writer=None, evaluator=None):
    house = house or House()
    credit = strategy(
        name,
        writer=writer,
        evaluator=evaluator or EnvironmentRewards(),
        replays=house.replays,
        budget=budget,
    )
    return [(one.parting.action, one.weight) for one in credit(case)]


def test_a_detour_that_was_taken_back_is_no_difference():
    assert [(d.place, d.action) for d in differences(contrast(DETOUR))] == [(2, "coat")]


def test_a_comparison_takes_another_way_for_an_error_and_substitution_does_not():
    case = contrast(OTHER_WAY)
    assert named("contrast", case) == [("left", 1.0)]
    house = House()
    assert named("substitution", case, house) == [("lamp", 1.0)]
    assert house.played == [
        ["hall:left", "stairs:up", "attic:lamp"],
        ["hall:right", "attic:lamp"],
        ["hall:left", "stairs:up", "attic:coat"],
    ]


def test_after_the_swap_a_detour_leads_back_as_it_did_in_the_bad_attempt():
    case = contrast(bad("hall:down", "cellar:back", "hall:right", "attic:coat"))
    house = House()
    assert [action for action, _ in named("substitution", case, house)] == ["lamp"]
    lost = contrast(bad("hall:down", "cellar:dig"))
    assert named("substitution", lost) == [("left", 1.0)]


def test_where_neither_attempt_leads_on_it_comes_to_what_the_bad_one_did():
    cut_off = bad("hall:down", ended=False)
    assert named("substitution", contrast(cut_off)) == [("left", 1.0)]


def test_steps_after_an_error_are_compared_where_place_and_context_are_the_same():
    def rows(attempt, *places):
        kept = tuple(
            replace(row, state=State(row.state.text, "", place))
            for row, place in zip(attempt.rows, places, strict=True)
        )
        return replace(attempt, rows=kept)

    good = rows(past("g", "empty:a", "a:b"), "first", "second")
    spoiled = rows(bad("empty:x", "x:y"), "first", "second")
    assert [d.place for d in differences(Compared(GOAL, (good,), (spoiled,), 1.0))] == [0, 1]


def test_each_attempt_has_its_share_in_the_weight():
    case = contrast(bad("hall:down", "cellar:dig"), DETOUR, DETOUR)
    assert named("substitution", case) == [
        ("lamp", pytest.approx(2 / 3)),
        ("left", pytest.approx(1 / 3)),
    ]


def test_a_budget_ends_what_is_played():
    case = contrast(bad("hall:down", "cellar:dig"), DETOUR, DETOUR)
    house = House()
    assert named("substitution", case, house, budget=2) == [("lamp", pytest.approx(2 / 3))]
    assert len(house.played) == 2
    assert named("substitution", case, budget=1) == []


def test_mixed_costs_nothing_where_one_parting_explains_all():
    house = House()
    case = contrast(DETOUR, bad("hall:left", "stairs:up", "attic:coat"))
    assert named("mixed", case, house) == [("lamp", 1.0)]
    assert house.played == []


def test_mixed_costs_nothing_where_the_gap_is_small():
    house = House()
    case = replace(contrast(OTHER_WAY, DETOUR), gap=0.3)
    assert [action for action, _ in named("mixed", case, house)] == ["left", "lamp"]
    assert house.played == []


def test_mixed_plays_until_what_each_attempt_lacks_is_accounted_for():
    wrong = contrast(
        DETOUR,
        bad("hall:left", "stairs:up", "attic:coat", key="c"),
        bad("hall:right", "attic:coat", key="d"),
    )
    lazy, full = House(), House()
    assert named("mixed", wrong, lazy) == named("substitution", wrong, full) == [("lamp", 1.0)]
    assert (len(lazy.played), len(full.played)) == (2, 3)


def test_an_attempt_that_comes_to_another_score_again_is_refused():
    with pytest.raises(ConfigError, match=r"came to 1\.0 when it was played and to \[0\.0"):
        named("substitution", contrast(OTHER_WAY), House(won="coat"))


def test_what_cannot_be_judged_again_names_nothing():
    class Silent(EnvironmentRewards):
        def judge(self, episode):
            return Unscored("the judge's answer could not be read", self.name)

    good = replace(GOOD, info={"score": 1.0})

    class Scoring(House):
        def replay(self, key, agent):
            played = super().replay(key, agent)
            return replace(played, info={"score": sum(s.reward for s in played.steps)})

    assert (
        named("substitution", contrast(OTHER_WAY, good=good), Scoring(), evaluator=Silent()) == []
    )


def test_the_steps_where_rewards_of_an_evaluator_part_are_named():
    good = past("g", "hall:left", "stairs:up", "attic:lamp", rewards=[0.1, 0.1, 0.1])
    lost = bad("hall:right", "attic:coat", rewards=[0.1, -0.1])
    assert named("steps", contrast(lost, good=good)) == [("lamp", pytest.approx(0.2))]


def test_without_scores_of_steps_nothing_is_named_and_it_is_said(caplog):
    assert named("steps", contrast(OTHER_WAY)) == []
    assert "have no scores beside the last" in caplog.text


def scores(*given):
    return json.dumps({"scores": given})


def test_a_model_scores_the_steps_of_each_attempt_that_parts_within_the_budget():
    scribe = Scribe(scores(3, 3, 3), scores(3, -3), scores(-3, 0))
    case = contrast(OTHER_WAY, bad("hall:down", "cellar:dig", key="c"))
    assert named("steps", case, writer=scribe) == [("left", 1.0), ("lamp", 1.0)]
    assert len(scribe.asked) == 3
    assert "2. At stairs: up" in scribe.asked[0].text
    scribe = Scribe(scores(3, 3, 3), scores(3, -3))
    assert named("steps", case, writer=scribe, budget=2) == [("lamp", 2.0)]
    assert len(scribe.asked) == 2


@pytest.mark.parametrize("answer", ["no JSON", scores(3, 3), scores(3, 3, 9), scores(3, 3, 0.5)])
def test_scores_that_cannot_be_read_are_none(answer, caplog):
    assert named("steps", contrast(OTHER_WAY), writer=Scribe(answer)) == []
    assert "were not scored" in caplog.text


def test_mixed_steps_asks_only_where_several_steps_are_left():
    scribe = Scribe(scores(3, 3, 3), scores(3, -3), scores(3, 3, 3, 3, -3))
    assert named("mixed-steps", contrast(DETOUR), writer=scribe) == [("lamp", 1.0)]
    assert scribe.asked == []
    assert named("mixed-steps", contrast(OTHER_WAY, DETOUR), writer=scribe) == [("lamp", 2.0)]


def test_a_model_that_writes_is_told_the_steps_that_were_found():
    found = by_contrast(contrast(OTHER_WAY))
    scribe = Scribe(json.dumps({"rules": []}))
    written(scribe, contrast(OTHER_WAY), 2, [], [one.parting for one in found])
    assert "made the difference was what the good attempt did at these steps:\n- hall: left" in (
        scribe.asked[0].text
    )


def test_a_way_that_there_is_not_is_refused():
    with pytest.raises(ConfigError, match="credit is 'luck'; it is one of contrast, steps"):
        named("luck", contrast(OTHER_WAY))


def test_an_agent_without_an_environment_to_play_again_in_is_refused():
    with (
        SQLiteStore(":memory:") as store,
        pytest.raises(ConfigError, match="no environment here to play them in"),
    ):
        opened("rulebook", store, EnvironmentRewards(), credit="mixed")


def replayer(make):
    return Replayer("toy", make, Run(), pages=False, is_replayable=True)


def test_a_rulebook_makes_its_rules_of_what_substitution_finds():
    with SQLiteStore(":memory:") as store:
        agent = registry.create(
            "agents",
            "rulebook",
            {"credit": "substitution"},
            store=store,
            evaluator=EnvironmentRewards(),
            settings=Memory(),
            writer=None,
            replays=replayer(lambda: Toy(**WORLD)),
        )
        lived(agent, Suggestible(0.0), 24)
        texts = [rule.text for rule in store.rules()]
    assert any("stage0, take push" in text for text in texts)


def test_where_an_environment_does_not_declare_it_nothing_is_played_again_nor_opened():
    opened = list[str]()
    replays = Replayer(
        "mine", lambda: opened.append("one"), Run(), pages=False, is_replayable=False
    )
    with pytest.raises(ConfigError, match=r"'mine' does not declare .* set is_replayable = True"):
        strategy("mixed", writer=None, evaluator=EnvironmentRewards(), replays=replays, budget=12)
    assert not opened


def test_a_strategy_that_plays_again_opens_nothing_before_there_is_a_contrast():
    opened = list[str]()
    replays = replayer(lambda: opened.append("one"))
    strategy("mixed", writer=None, evaluator=EnvironmentRewards(), replays=replays, budget=12)
    assert not opened


@pytest.mark.parametrize("name", registry.names("environments"))
def test_all_environments_but_live_sites_declare_that_they_may_be_played_again(name):
    assert registry.load("environments", name).is_replayable is (name != "webarena")


def test_on_live_sites_an_agent_that_plays_again_is_refused_before_the_first_episode():
    settings = Settings(
        environment=Environment(name="webarena"),
        run=Run(agent="rulebook", options={"credit": "mixed"}),
    )
    with pytest.raises(ConfigError, match="'webarena' does not declare"):
        require_agent(settings, compose(settings))


def test_an_episode_that_no_run_played_is_not_played_again():
    with replayer(Toy)() as replay, pytest.raises(InputError, match="'mine'"):
        replay("mine", None)


def test_a_run_lends_its_environment_to_an_agent_that_plays_again():
    settings = Settings(
        environment=Environment(name="toy"),
        run=Run(agent="rulebook", options={"credit": "substitution"}),
    )
    require_agent(settings, compose(settings))
