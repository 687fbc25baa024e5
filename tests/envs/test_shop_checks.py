"""What counts as done in the shop: rows of its database against what was asked for."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jitrl.envs.shop.answers import offered
from jitrl.envs.shop.checks import Change, Check, Wanted, added, check, edited, removed
from jitrl.envs.shop.data import PIPELINE, STATUSES, make_shop

OLD = {"id": 7, "price": 10.0, "stock": 3, "note": None, "date_updated": "monday"}


def changed(**cells: Any) -> list[Any]:
    return ["item", 7, OLD, {**OLD, **cells}]


def test_exactly_the_change_asked_for_is_done():
    assert check([changed(price=12.5)], edited("item", 7, price="12.50")) == Check(1, 0, 0)


def test_nothing_changed_is_missing_and_not_wrong():
    found = check([], edited("item", 7, price=12, stock=4))
    assert found == Check(wanted=2, missing=2, wrong=0)
    assert not found.is_done


def test_half_of_two_cells_is_half_of_the_way():
    found = check([changed(price=12)], edited("item", 7, price=12, stock=4))
    assert found == Check(2, 1, 0)


def test_another_value_is_missing_and_wrong():
    assert check([changed(price=13)], edited("item", 7, price=12)) == Check(1, 1, 1)


def test_another_cell_and_another_row_are_wrong():
    beside = ["item", 8, {"id": 8, "price": 1.0}, {"id": 8, "price": 2.0}]
    found = check([changed(price=12, stock=0), beside], edited("item", 7, price=12))
    assert found == Check(1, 0, 2)
    assert not found.is_done


def test_what_the_site_notes_by_itself_is_neither_missing_nor_wrong():
    noise = ["analytics_usersearch", 1, None, {"id": 1, "query": "tea"}]
    assert check([noise, changed(date_updated="tuesday")], Wanted()).is_done


def test_what_follows_from_the_change_is_not_wrong_only_where_that_is_said():
    rating = ["product", 1, {"id": 1, "rating": 4.0}, {"id": 1, "rating": 5.0}]
    gone = ["item", 7, OLD, None]
    assert check([gone, rating], removed("item", 7, product=("rating",))).is_done
    assert check([gone, rating], removed("item", 7)) == Check(1, 0, 1)


def test_a_row_that_went_by_mistake_is_wrong():
    assert check([["item", 8, {"id": 8}, None]], removed("item", 7)) == Check(1, 1, 1)


def test_a_new_row_may_hold_only_what_was_asked_for():
    row = {"id": 9, "name": "Tea", "slug": "tea", "size": None, "count": 0, "is_hidden": False}
    assert check([["item", 9, None, row]], added("item", "slug", name="Tea")).is_done
    assert check([["item", 9, None, row]], added("item", name="Tea")) == Check(1, 0, 1)


def test_of_two_new_rows_one_is_too_many():
    rows = [["item", n, None, {"id": n, "name": "Tea"}] for n in (9, 10)]
    assert check(rows, added("item", name="Tea")) == Check(1, 0, 2)


def test_empty_cells_of_all_kinds_say_the_same():
    assert check([changed(note="")], Wanted()).is_done


@given(st.permutations(range(4)), st.integers(0, 3))
def test_the_order_of_rows_plays_no_part(order: list[int], missing: int):
    rows = [["t", n, {"id": n, "a": 1}, {"id": n, "a": 2}] for n in range(4) if n != missing]
    wanted = Wanted(tuple(Change("t", n, {"a": 2}) for n in range(4)))
    shuffled = [rows[i] for i in order if i < len(rows)]
    assert check(shuffled, wanted) == check(rows, wanted) == Check(4, 1, 0)


def test_another_seed_is_another_shop_and_the_same_one_the_same():
    assert make_shop(0) == make_shop(0) != make_shop(1)


def test_an_order_costs_what_its_lines_cost():
    for order in make_shop(3).orders:
        cents = sum(round(float(li.product.price) * 100) * li.quantity for li in order.lines)
        assert order.total == f"{cents // 100}.{cents % 100:02}"


def test_every_status_that_may_follow_is_a_status():
    assert set(PIPELINE) == set(STATUSES)
    assert {status for after in PIPELINE.values() for status in after} <= set(STATUSES)


def test_answers_are_what_the_page_says_of_their_kind():
    shop = make_shop(0)
    page = "[a12] link '100838'\nTotal $1,402.00 5 Cancelled, 12% of 54 and $7.50\n5.00% off"
    assert offered("money", page, 0, shop) == ["$1,402.00", "$7.50"]
    assert offered("number", page, 0, shop) == ["5", "54"]
    assert offered("percent", page, 0, shop) == ["5.00%"]
    assert offered("status", page, 0, shop) == ["Cancelled"]
    assert offered("customer", f"{page} {shop.shopper.name}", 0, shop) == [shop.shopper.name]


def test_a_count_is_offered_among_its_neighbors_where_there_is_a_table():
    shop = make_shop(0)
    assert offered("count", "", 3, shop) == ["1", "2", "3", "4", "5"]
    assert offered("count", "", 0, shop) == []
