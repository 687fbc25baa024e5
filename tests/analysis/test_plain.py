"""An interval has one form in all JSON, whether it is there or not."""

import msgspec
import numpy as np
import pytest

from jitrl.analysis.doctor.finding import said
from jitrl.analysis.plain import plain
from jitrl.bench.report import Number, Report
from jitrl.bench.webarena import Group, _row
from jitrl.core.stats import ALIKE, Difference, Interval, paired_difference, too_few

FORMS = [
    (Interval(0.25, 0.75), {"low": 0.25, "high": 0.75}),
    (ALIKE, {"low": None, "high": None, "reason": ALIKE.reason}),
    (too_few(3), {"low": None, "high": None, "reason": "3 clusters; 6 are needed"}),
]


@pytest.mark.parametrize(("interval", "form"), FORMS)
def test_a_mean_has_its_interval_beside_it_wherever_it_stands(interval, form):
    assert plain(interval) == form
    assert plain(Number(0.5, interval)) == {"mean": 0.5, **form}
    change = Difference(0.5, interval, 7)
    assert plain({"avg": [change]}) == {"avg": [{"mean": 0.5, "clusters": 7, **form}]}
    assert said(change) == {"mean": 0.5, "clusters": 7, **form, "verdict": change.verdict}
    assert _row(Group("all", 1, 1, 0, 0.5, interval))["interval"] == form


def test_everything_else_is_as_it_was():
    report = Report(
        schema="x/1", what="w", machine={"cpu": None}, protocol={"n": (1, 2)}, results=()
    )
    assert msgspec.json.encode(plain(report)) == msgspec.json.encode(report)
    same = paired_difference(np.ones((6, 1, 1)), np.zeros((6, 1, 1)))
    assert plain(same)["reason"] == ALIKE.reason
