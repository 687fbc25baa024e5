import pytest

from jitrl.analysis.doctor.fit import items, overlap

ONE = (
    "The answer names the order number",
    "The refund amount is correct",
    "No other order was changed",
    "The customer is told when the money arrives",
)
SAME = (
    "tells the customer when the money arrives",
    "no other orders changed",
    "the amount of the refund is correct",
    "names the right order number",
)
OTHER = ("fast", "few clicks", "never opens the admin page", "closes the ticket with a note")


def test_items_are_lines_without_their_marks_and_each_counts_once():
    text = "- One thing\n\n2. Another\n* One thing\n[ ] a third\n  \n"
    assert items(text) == ("One thing", "Another", "a third")


def test_a_number_that_belongs_to_an_item_stays():
    assert items("3 clicks at most\n12) 24 hours at most") == (
        "3 clicks at most",
        "24 hours at most",
    )


def test_lists_that_say_the_same_in_other_words_share_a_notion():
    found = overlap(ONE, SAME)
    assert (len(found.pairs), found.only) == (4, ((), ()))
    assert (found.share, found.beyond, found.is_low) == (1.0, 1.0, False)
    assert ("The refund amount is correct", "the amount of the refund is correct") in found.pairs


def test_lists_that_share_nothing_are_found():
    found = overlap(ONE, OTHER)
    assert (found.share, found.is_low) == (0.0, True)
    assert found.only == (ONE, OTHER)


def test_an_item_is_matched_once_and_with_the_most_similar_one():
    found = overlap(("the refund amount is correct",), ("the refund amount is", *ONE))
    assert found.pairs == (("the refund amount is correct", "The refund amount is correct"),)
    assert found.share == pytest.approx(2 / 6)


def test_words_that_most_items_share_are_no_agreement():
    one = tuple(f"the order of the customer is {w}" for w in ("red", "low", "old", "big"))
    other = tuple(f"the order of the customer is {w}" for w in ("late", "paid", "new", "sent"))
    assert (overlap(one, other).share, overlap(one, other).is_low) == (0.0, True)


def test_what_words_dealt_out_anew_would_share_is_taken_off():
    one, other = ("a b", "a c", "b c", "c d"), ("a d", "b d", "a b", "x y")
    found = overlap(one, other)
    assert 0 < found.chance < 1
    assert found.beyond < found.share < 1
    assert found.beyond == pytest.approx((found.share - found.chance) / (1 - found.chance))


def test_short_lists_are_not_enough_to_tell():
    found = overlap(ONE[:3], OTHER)
    assert (found.n, found.is_known, found.is_low) == (3, False, False)
    assert overlap((), ()).n == 0


def test_chinese_items_are_compared_by_neighboring_characters():
    one = ("退款金额正确", "告知到账时间", "没有改动其他订单", "写明订单号")
    other = ("退款金额是正确的", "告诉客户到账时间", "没有改动别的订单", "写明了订单号")
    assert len(overlap(one, other).pairs) >= 3
