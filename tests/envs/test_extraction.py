"""Form filling: what documents hold, how values are written, and what a submitted form is worth."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from functools import partial
from random import Random

import numpy as np
import pytest

from jitrl.core.features import goal_of, parts
from jitrl.core.similarity import Retrieval, words
from jitrl.envs.extraction import DEMO, Extraction
from jitrl.envs.extraction.documents import Desk, Draft, Template
from jitrl.envs.extraction.environment import VOCABULARIES
from jitrl.envs.extraction.formats import Normaliser
from jitrl.envs.extraction.numerals import formal, read_formal, read_small, small
from jitrl.envs.extraction.vocabulary import KINDS, Paper
from jitrl.errors import ConfigError, InputError
from jitrl.evaluators.checks import graded
from jitrl.testing.environment import CHECKS, Factory
from jitrl.types import State, Task, TimeStep

LANGUAGES = ["en", "zh"]
PAPERS = [(lang, paper) for lang, words in VOCABULARIES.items() for paper in words.papers]


def made(language: str, **options: object) -> Extraction:
    return Extraction(language=language, **options)  # type: ignore[arg-type]


def drafts(language: str, paper: Paper, count: int = 12) -> list[Draft]:
    template = Template(paper, 4, (), ())
    desk = Desk(VOCABULARIES[language], 8)
    return list(itertools.islice(template.drafts(desk, Random(3)), count))


def followed(env: Extraction, task: Task, actions: tuple[str, ...]) -> list[TimeStep]:
    return [env.reset(task), *map(env.step, actions)]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_contract_is_kept(language: str, check: Callable[[Factory], None]):
    check(partial(Extraction, language=language, instances=1))  # type: ignore[arg-type]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_gold_path_takes_and_writes_each_field_once_and_wins(language: str):
    env = made(language)
    for task in env.tasks():
        path = env.gold(task)
        last = followed(env, task, path)[-1]
        assert (last.reward, last.terminated) == (1.0, True), task
        assert len(path) == 2 * int(task.id.split(":")[1]) + 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_are_fourteen_kinds_of_document_with_four_levels_each(language: str):
    tasks = made(language).tasks()
    assert len({task.family for task in tasks}) == 14
    assert len({task.params["template"] for task in tasks}) == 14 * 4
    assert len(tasks) == 14 * 4 * 3
    assert {task.id for task in tasks}.isdisjoint(
        t.id for t in made(language, split="heldout").tasks()
    )
    assert len(made(language, split="demo").tasks()) == len(DEMO) == 12


def test_both_languages_have_the_same_kinds_and_say_the_same_of_them():
    en, zh = (VOCABULARIES[language] for language in LANGUAGES)
    assert [paper.key for paper in en.papers] == [paper.key for paper in zh.papers]
    for one, other in zip(en.papers, zh.papers, strict=True):
        assert set(one.fields) == set(other.fields), one.key
    assert en.fields.keys() == zh.fields.keys() == KINDS.keys()
    assert en.phrases.keys() == zh.phrases.keys()


@pytest.mark.parametrize(("language", "paper"), PAPERS, ids=lambda one: getattr(one, "key", one))
def test_exactly_one_normaliser_makes_of_the_right_span_what_the_form_wants(language, paper):
    for draft in drafts(language, paper):
        for one in draft.fields:
            right = [n for n in one.normalisers if n.made(one.span.text, draft.year) == one.value]
            assert right == [one.normaliser], (one.span, one.value)


@pytest.mark.parametrize(("language", "paper"), PAPERS, ids=lambda one: getattr(one, "key", one))
def test_each_wording_of_a_document_gives_spans_of_its_own_names_and_texts(language, paper):
    seen = set()
    for draft in drafts(language, paper, 60):
        for one in draft.fields:
            actions = [span.action for span in one.spans]
            assert len(set(actions)) == len(actions), draft.text
            assert len({span.text for span in one.spans}) == len(actions), draft.text
            for span in one.spans:
                assert parts(span.action)[1:] == ((span.role,), (span.cue,))
                assert not re.search(r"\d", span.cue)
                assert span.cue in draft.text
                assert span.text in draft.text
                seen.add(span.field)
    assert seen == set(paper.fields)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_step_offers_as_many_actions_as_were_asked_for(language: str):
    for most in (3, 8):
        env = made(language, candidates=most, instances=1)
        for task in env.tasks():
            shown = followed(env, task, env.gold(task))[:-1]
            assert {len(step.observation.actions) for step in shown[:-1]} == {most}


WRITTEN = [
    ("date", "iso", "day first", "03/04/2026", "2026-04-03"),
    ("date", "iso", "month first", "03/04/2026", "2026-03-04"),
    ("date", "iso", "month first", "25/04/2026", None),
    ("date", "iso", "day first", "4 March 2026", "2026-03-04"),
    ("date", "joined", "month first", "March 4, 2026", "20260304"),
    ("date", "iso", "day first", "March 4, 2026", None),
    ("date", "iso", "year first", "2026年3月4日", "2026-03-04"),
    ("date", "iso", "numerals", "二〇二六年十二月二十一日", "2026-12-21"),
    ("date", "iso", "republic", "民国115年3月4日", "2026-03-04"),
    ("date", "iso", "republic", "115/03/04", "2026-03-04"),
    ("date", "iso", "no year", "3月4日", "2026-03-04"),
    ("date", "iso", "year first", "3月4日", None),
    ("time", "colon", "half day", "2:30 pm", "14:30"),
    ("time", "colon", "half day", "12:15 pm", "12:15"),
    ("time", "colon", "whole day", "2:30 pm", "02:30"),
    ("time", "no colon", "whole day", "14h30", "1430"),
    ("time", "colon", "half day", "14:30", None),
    ("time", "colon", "half day", "下午2点半", "14:30"),
    ("time", "colon", "half day", "上午9点", "09:00"),
    ("amount", "number", "comma", "1.234,56 EUR", "1234.56"),
    ("amount", "cents", "comma", "1 234,56 €", "123456"),
    ("amount", "number", "point", "1.234,56 EUR", None),
    ("amount", "number", "point", "589,00 EUR", "58900.00"),
    ("amount", "cents", "point", "INR 1,23,456.00", "12345600"),
    ("amount", "number", "ten thousands", "1.23万元", "12300.00"),
    ("amount", "cents", "thousands", "12.5千元", "1250000"),
    ("amount", "number", "thousands", "1.23万元", None),
    ("amount", "number", "formal", "人民币壹万零叁佰零伍元整", "10305.00"),
    ("amount", "number", "full width", "１２３４．５０元", "1234.50"),
    ("amount", "number", "point", "１２３４．５０元", None),
    ("rate", "fraction", "comma", "2,5 %", "0.025"),
    ("rate", "percent", "point", "19 %", "19"),
    ("rate", "fraction", "numerals", "百分之三点七五", "0.0375"),
    ("phone", "e164", "Germany", "030 23125 815", "+493023125815"),
    ("phone", "e164", "United States", "(303) 555-0145", "+13035550145"),
    ("phone", "e164", "新加坡", "6234 5678", "+6562345678"),
    ("phone", "digits", "", "(02) 2345-6789", "0223456789"),
    ("name", "untitled", "", "Prof. Dr. Jens Lindner", "Jens Lindner"),
    ("name", "capitals", "", "Mme Claire Dubois", "CLAIRE DUBOIS"),
    ("name", "family", "", "王建国经理", "王"),
    ("code", "squeezed", "", "ＨＸ－8160－16", "HX816016"),
    ("code", "half width", "", "ＯＲ　１２", "OR 12"),
    ("words", "bare", "", "松柏厅（二楼）", "松柏厅"),
]


@pytest.mark.parametrize(("kind", "format", "reading", "text", "value"), WRITTEN)
def test_a_text_is_written_in_a_format_as_it_was_read(kind, format, reading, text, value):
    assert Normaliser("", kind, format, reading).made(text, 2026) == value


def test_formal_numerals_are_written_as_on_cheques():
    written = {12_300: "壹万贰仟叁佰", 10_305: "壹万零叁佰零伍", 120_030: "壹拾贰万零叁拾"}
    assert {number: formal(number) for number in written} == written


def test_formal_and_small_numerals_come_back_as_the_number_they_were():
    numbers = [*range(1, 3000), 10_001, 10_305, 20_000, 120_030, 99_999_999]
    assert [read_formal(formal(n)) for n in numbers] == numbers
    assert [read_small(small(n)) for n in range(1, 100)] == list(range(1, 100))


def test_a_form_that_is_partly_right_is_worth_its_share_or_nothing():
    for is_graded, worth in ((True, 0.5), (False, 0.0)):
        env = made("en", templates=["invoice:2"], graded=is_graded)
        task = env.tasks()[0]
        take, write, *_ = env.gold(task)
        last = followed(env, task, (take, write, "submit()"))[-1]
        assert (last.reward, last.terminated) == (worth, True)
        assert followed(env, task, env.gold(task))[-1].reward == 1.0


def test_the_evaluator_checks_scores_a_submitted_form_as_the_environment_does():
    env, rng = made("en", levels=[3]), Random(2)
    worth = set()
    for task in env.tasks():
        right = env.gold(task)[: rng.randrange(7)]
        last = followed(env, task, (*right[: len(right) // 2 * 2], "submit()"))[-1]
        checks = last.observation.info["checks"]
        assert graded(checks, dict.fromkeys(checks, 1.0)) == pytest.approx(last.reward)
        worth.add(last.reward)
    assert len(worth) == 4


def test_what_is_missing_and_what_is_wrong_is_said_by_field():
    env = made("en", templates=["invoice:3"])
    task = env.tasks()[0]
    first, second, third = task.params["fields"].split(", ")
    take, write, *_ = env.gold(task)
    info = env.reset(task).observation.info
    assert (info["missing"], info["wrong"], info["errors"]) == ([first, second, third], [], 3)
    shown = followed(env, task, (take, write))[-1].observation
    other = next(a for a in shown.actions if a not in (*env.gold(task), "submit()"))
    wrong = env.step(other).observation
    as_it_is = next(a for a in wrong.actions if "as it is" in a or "digits only" in a)
    info = env.step(as_it_is).observation.info
    assert info["checks"] == {first: True, second: False, third: False}
    assert (info["missing"], info["wrong"], info["errors"]) == ([third], [second], 2)


def test_a_field_of_which_nothing_could_be_made_is_missing():
    env = made("en", templates=["invoice:1"], instances=40, candidates=8)
    for task in env.tasks():
        take, *_ = env.gold(task)
        shown = followed(env, task, (take,))[-1].observation
        if (
            take.startswith("take(<date")
            and 'write("rate in percent, decimal point")' in shown.actions
        ):
            shown = env.step('write("rate in percent, decimal point")').observation
            assert "= nothing" in shown.text
            assert (shown.info["missing"], shown.info["wrong"]) == ([task.params["fields"]], [])
            return
    raise AssertionError("no task offers a rate for a date")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_place_of_a_span_decides_how_it_must_be_read(language: str):
    env, readings = made(language, instances=20), dict[str, set[str]]()
    by_action = {n.action: n.reading for n in VOCABULARIES[language].normalisers()}
    for task in env.tasks():
        path = env.gold(task)
        shown = followed(env, task, path)
        for step, action in zip(shown[1:-1:2], path[1::2], strict=True):
            place = env.codec.state(step.observation, ()).place
            readings.setdefault(place, set()).add(by_action[action])
    decided = {place: found - {""} for place, found in readings.items()}
    assert max(map(len, decided.values())) == 1
    assert len(set().union(*decided.values())) == len(VOCABULARIES[language].readings)


@pytest.mark.parametrize(("language", "paper"), PAPERS, ids=lambda one: getattr(one, "key", one))
def test_a_date_means_another_day_or_none_if_day_and_month_change_places(language, paper):
    readings = ("day first", "month first")
    day, month = (Normaliser("", "date", "iso", reading) for reading in readings)
    for draft in drafts(language, paper, 30):
        for span in (span for one in draft.fields for span in one.spans):
            if KINDS[span.field] == "date":
                ways = [way.made(span.text, draft.year) for way in (day, month)]
                assert ways[0] != ways[1] or ways == [None, None], span.text


def test_a_document_that_leaves_years_out_says_its_own_in_full():
    seen = 0
    for paper in VOCABULARIES["zh"].papers:
        for draft in drafts("zh", paper, 40):
            if (
                re.search(r"(?<!年)(?<!\d)\d{1,2}月\d{1,2}日", draft.text)
                and "issued" in paper.fields
            ):
                assert f"{draft.year}年" in draft.text
                seen += 1
    assert seen > 10


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_oracle_mends_a_form_wherever_an_episode_has_strayed_to(language: str):
    env, rng = made(language, instances=1), Random(1)
    for task in env.tasks():
        shown = env.reset(task)
        for _ in range(5):
            ways = [a for a in shown.observation.actions if a != "submit()"]
            shown = env.step(rng.choice(ways))
        while not (shown.terminated or shown.truncated):
            shown = env.step(env.oracle_action())
        assert shown.reward == 1.0, task


def test_an_episode_is_cut_off_at_the_step_limit_with_nothing():
    env = made("en", templates=["job:4"], steps=3)
    task = env.tasks()[0]
    last = followed(env, task, env.gold(task)[:3])[-1]
    assert (last.reward, last.terminated, last.truncated) == (0.0, False, True)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_policy_that_knows_nothing_nearly_never_wins(language: str):
    env, rng = made(language), Random(0)
    won = []
    for _, task in itertools.product(range(5), env.tasks()):
        shown = env.reset(task)
        while not (shown.terminated or shown.truncated):
            shown = env.step(rng.choice(shown.observation.actions))
        won.append(shown.reward == 1.0)
    assert np.mean(won) < 0.02


@pytest.mark.parametrize("language", LANGUAGES)
def test_goals_say_the_formats_unless_they_are_to_be_found_out(language: str):
    told, untold = made(language), made(language, told=False)
    for one, other in zip(told.tasks(), untold.tasks(), strict=True):
        assert one.goal == other.goal + one.params["told"]
        assert one.params["told"]
        assert told.gold(one) == untold.gold(other)


@pytest.mark.parametrize("language", LANGUAGES)
def test_another_seed_makes_other_documents(language: str):
    one, other = made(language), made(language, seed=1)
    texts = [{env.reset(task).observation.text for task in env.tasks()} for env in (one, other)]
    assert len(texts[0]) == len(one.tasks())
    assert texts[0].isdisjoint(texts[1])


def bag(state: State) -> set[str]:
    return {*words(state.text), *words(state.context), f"place {state.place}"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_equal_states_have_equal_actions_and_steps_of_two_fields_are_no_neighbors(language: str):
    env, offered, near = made(language), dict[State, tuple[str, ...]](), []
    for task in env.tasks():
        path = env.gold(task)
        shown = [step.observation for step in followed(env, task, path)[:-1]]
        states = [env.codec.state(one, ()) for one in shown]
        for state, one in zip(states, shown, strict=True):
            assert offered.setdefault(state, one.actions) == one.actions
        for verb in (states[0:-1:2], states[1:-1:2]):
            pairs = itertools.combinations(map(bag, verb), 2)
            near += [len(a & b) / len(a | b) >= Retrieval().threshold for a, b in pairs]
    assert np.mean(near) < 0.05


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_was_done_looks_the_same_in_another_document_of_the_kind(language: str):
    """Actions name the words before a span, never the span: so lessons hold for other tasks."""
    env = made(language, templates=["invoice:4"], instances=30)
    masked = [{goal_of(task.goal).masked(a).text for a in env.gold(task)} for task in env.tasks()]
    for i, one in enumerate(masked):
        others = set().union(*masked[:i], *masked[i + 1 :])
        assert len(one & others) >= len(one) - 2, one - others


@pytest.mark.parametrize(
    "options", [{"levels": [5]}, {"levels": []}, {"candidates": 2}, {"candidates": 9}, {"steps": 0}]
)
def test_an_impossible_setting_is_refused_with_its_value(options):
    (value,) = options.values()
    with pytest.raises(ConfigError, match=re.escape(str(value))):
        Extraction(**options)


def test_a_task_of_another_split_is_refused():
    task = made("en", split="heldout").tasks()[0]
    with pytest.raises(InputError, match=task.id):
        made("en").reset(task)
