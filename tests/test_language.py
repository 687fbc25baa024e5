import pytest

from jitrl.language import counted, singular


@pytest.mark.parametrize(
    ("number", "what", "said"),
    [
        (0, "row", "0 rows"),
        (1, "row", "1 row"),
        (2_000, "labelled step", "2,000 labelled steps"),
        (1, "memory", "1 memory"),
        (2, "memory", "2 memories"),
        (3, "try", "3 tries"),
        (3, "day", "3 days"),
    ],
)
def test_a_number_stands_with_its_noun(number, what, said):
    assert counted(number, what) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 tasks × 24 attempts × 1 seeds", "1 task × 24 attempts × 1 seed"),
        ("1 model calls (1 more from a cache)", "1 model call (1 more from a cache)"),
        ("11 rows, 2.1 rows, 1,001 rows", "11 rows, 2.1 rows, 1,001 rows"),
        ("at run/1 rules, protocol:1 steps", "at run/1 rules, protocol:1 steps"),
        ("1 classes of 1 tasksets", "1 classes of 1 tasksets"),
    ],
)
def test_only_a_lone_1_brings_a_noun_into_the_singular(text, said):
    assert singular(text) == said
