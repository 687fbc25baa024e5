"""Words, bags and the similarity of states."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitrl.core.similarity import (
    Retrieval,
    bags,
    jaccard,
    ngrams,
    numbered,
    similarity,
    words,
)
from jitrl.types import State

SET = Retrieval()
texts = st.text(st.sampled_from("ab1 C+#_.-日期时デタé́ก\x00\u200bＡ😀\ud800"), max_size=12)
places = st.sampled_from(["", "p", "q", "stage: p", "stage: q"])
states = st.builds(State, texts, texts, places)
retrievals = st.builds(
    Retrieval,
    kind=st.sampled_from(["set", "multiset"]),
    ngram=st.integers(1, 3),
    context_weight=st.sampled_from([None, 0.0, 0.3, 0.7, 1.0]),
    context_ngram=st.sampled_from([None, 1]),
    match_place=st.booleans(),
)


def test_the_jaccard_index_is_common_features_over_all_features():
    assert jaccard({"a", "b", "c"}, {"b", "c", "d"}) == 0.5


def test_an_empty_side_has_no_overlap_with_anything():
    assert jaccard(set(), {"a"}) == 0.0
    assert jaccard(set(), set()) == 0.0


def test_a_word_that_occurs_twice_is_two_features_of_a_multiset():
    once, twice = numbered(["go", "north"]), numbered(["go", "go", "north"])
    assert jaccard(once, twice) == 2 / 3


def test_ngrams_keep_the_order_of_words():
    assert ngrams(["a", "b", "c"], 2) == ["a b", "b c"]
    assert jaccard(set(ngrams(["a", "b", "c"], 2)), set(ngrams(["c", "b", "a"], 2))) == 0.0


def test_a_text_shorter_than_an_ngram_is_taken_word_by_word():
    assert ngrams(["a", "b"], 4) == ["a", "b"]


def test_words_ignore_case_width_and_punctuation():
    assert words("Click (ＬＩＮＫ[Customer Reviews]), 3.14!") == [
        "click",
        "link",
        "customer",
        "reviews",
        "3",
        "14",
    ]
    assert words("Straße") == words("STRASSE")


@pytest.mark.parametrize(
    ("word", "rule"),
    [
        ("日期", "当输入包含日期时，先统一成 YYYY-MM-DD 再处理"),
        ("统一", "当输入包含日期时，先统一成 YYYY-MM-DD 再处理"),
        ("YYYY-MM-DD", "当输入包含日期时，先统一成 YYYY-MM-DD 再处理"),
        ("部署前", "部署前必须运行测试"),
        ("itgc", "重跑gen-itgc后检查悬空引用"),
        ("悬空", "重跑gen-itgc后检查悬空引用"),
        ("設定", "データベースの設定を確認する"),
        ("データ", "データベースの設定を確認する"),
    ],
)
def test_a_chinese_or_japanese_word_is_found_inside_a_sentence(word, rule):
    assert set(words(word)) <= set(words(rule))


def test_a_lone_character_is_a_word():
    assert words("open 门 now") == ["open", "门", "now"]


def test_an_unrelated_chinese_word_is_not_found():
    assert not set(words("苹果")) & set(words("当输入包含日期时，先统一成 YYYY-MM-DD 再处理"))


def test_blanks_and_full_stops_around_chinese_text_change_nothing():
    assert words("　部署前必须运行测试。") == words("部署前必须运行测试")


def test_changing_one_word_moves_a_chinese_state_about_as_far_as_an_english_one():
    def change(before, after):
        return similarity(State(before), State(after), SET)

    english = change(
        "the order page shows twelve open orders and a button to export all of them",
        "the order page shows twelve closed orders and a button to export all of them",
    )
    chinese = change(
        "订单页面显示十二个未完成订单以及导出全部订单的按钮",
        "订单页面显示十二个已取消订单以及导出全部订单的按钮",
    )
    japanese = change(
        "注文ページには未処理の注文が十二件と全件を出力するボタンがあります",
        "注文ページには処理済の注文が十二件と全件を出力するボタンがあります",
    )
    assert 0.6 < min(english, chinese, japanese) <= max(english, chinese, japanese) < 0.9


def test_a_letter_with_plus_signs_is_another_word_than_the_letter():
    assert words("C++ 模板") == ["c++", "模板"]
    assert words("C 模板 a+b") == ["c", "模板", "a", "b"]
    assert words("C# code") == ["c#", "code"]


def test_scripts_with_vowel_signs_keep_their_words_whole():
    assert words("हिन्दी में") == ["हिन्दी", "में"]
    assert len(words("café")) == len(words("cafe\u0301")) == 1


def test_a_text_without_words_is_compared_piece_by_piece():
    assert similarity(State("#.. .@."), State("#.. ..@"), SET) == 1 / 3
    assert similarity(State("|.. .@."), State("|.. ..@"), SET) == 1 / 3
    assert similarity(State("😀 😡"), State("😀 😀"), SET) == 0.5


def test_control_and_invisible_characters_change_no_word():
    assert words("re\u200bviews\x00\x1b open\ufeff") == ["reviews", "open"]


@pytest.mark.parametrize(
    "piece",
    ["word ", "a", "日", "é ", "\u0300\u0316", "\u302a\u0f39", "+", "c+", "\x00", "\ud800x"],
)
def test_a_megabyte_of_anything_is_read_in_linear_time(piece):
    began = time.process_time()
    words(piece * (1_000_000 // len(piece)))
    assert time.process_time() - began < 5.0


def test_the_place_is_one_feature_of_its_own_kind():
    assert bags(State("open", place="open"), SET).text == {"open", "place:open"}
    assert similarity(State("a b", place="x"), State("a b", place="y"), SET) == 0.5


def test_places_that_must_match_are_not_compared_otherwise():
    match = Retrieval(match_place=True)
    assert similarity(State("a b", place="x"), State("a b", place="y"), match) == 0.0
    assert similarity(State("a b", place="x"), State("a c", place="x"), match) == 1 / 3


def test_stages_are_compared_with_no_other_place_whatever_the_settings_say():
    words = "a long ticket that stays the same"
    for retrieval in (SET, Retrieval(match_place=True), Retrieval(context_weight=0.5)):
        early = State("", words, "stage: start")
        assert similarity(early, State("", words, "stage: look"), retrieval) == 0.0
        assert similarity(early, State("", words), retrieval) == 0.0
        assert similarity(early, State("", words + " now", "stage: start"), retrieval) > 0.4
    assert bags(State("open", place="stage: start"), SET).text == {"open"}


def test_a_context_shares_the_bag_unless_it_has_a_weight():
    a, b = State("open door", "goal"), State("open door", "other")
    assert similarity(a, b, SET) == 0.5
    assert similarity(a, b, Retrieval(context_weight=0.25)) == 0.75
    assert (
        similarity(State("x", "goal"), State("y", "goal"), Retrieval(context_weight=0.25)) == 0.25
    )


def test_the_context_can_have_ngrams_of_its_own_length():
    retrieval = Retrieval(ngram=2, context_weight=0.5, context_ngram=1)
    assert bags(State("a b c", "a b c"), retrieval) == ({"a b", "b c"}, {"a", "b", "c"})


def test_different_states_with_equal_words_are_capped_below_one():
    assert similarity(State("open the door"), State("Open the door!"), SET) == 0.999


def test_equal_states_have_similarity_one_even_if_empty():
    assert similarity(State(""), State(""), SET) == 1.0
    assert similarity(State("\x00"), State("\x01"), SET) == 0.0


@given(states, states, retrievals)
def test_similarity_is_symmetric_bounded_and_one_only_for_the_same_state(a, b, retrieval):
    value = similarity(a, b, retrieval)
    assert value == similarity(b, a, retrieval)
    assert 0.0 <= value <= 1.0
    assert (value == 1.0) == (a == b)


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "bag"},
        {"ngram": 0},
        {"k": 0},
        {"context_ngram": 0},
        {"context_weight": 1.5},
        {"threshold": float("nan")},
        {"cap": 1.0},
    ],
)
def test_a_setting_outside_its_range_is_named_with_its_value(wrong):
    ((name, value),) = wrong.items()
    with pytest.raises(ValueError, match=f"{name} is '?{value}"):
        Retrieval(**wrong)
