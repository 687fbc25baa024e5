"""Arrays that grow without copying everything at once."""

import numpy as np
import pytest

from jitrl.memory.index_rows import Rows


@pytest.mark.parametrize("capacity", [1, 2, 3, 8])
def test_rows_hold_what_was_appended(capacity):
    rows = Rows((3,), np.int32, capacity)
    expected = []
    for number in range(100):
        row = [number + 1] * (3 - number % 4)
        rows.append(np.array(row, np.int32))
        expected.append(row + [0] * (3 - len(row)))
        assert rows.data[: len(rows)].tolist() == expected


def test_a_row_that_was_read_stays_where_it_was_seen():
    rows = Rows((), np.int64)
    seen = []
    for number in range(200):
        rows.append(number)
        seen.append((len(rows), rows.data))
    assert all(data[:count].tolist() == list(range(count)) for count, data in seen)


def test_no_append_copies_more_than_two_rows():
    rows = Rows((), np.int64)
    for number in range(1, 1000):
        following = rows._next
        before = None if following is None else following.copy()
        rows.append(number)
        if following is not None and before is not None:
            assert following is rows._next or following is rows.data
            assert np.count_nonzero(following != before) <= 2


def test_bytes_are_those_of_rows_written():
    rows = Rows((3,), np.int32, capacity=8)
    for _ in range(6):
        rows.append((1, 2, 3))
    assert rows.nbytes == (6 + 4) * 3 * 4  # two appends beyond the half copied two rows each
