"""What a run of the service must not show, however slow the machine is."""

from dataclasses import replace

import pytest

from jitrl.bench.service.measure import SCHEMA, Grown, Report, faults

FLAT = Grown(45.0, (200.0, 210.0), 800.0, (44, 46), (5, 9))
SOAK = Report(SCHEMA, "soak", {}, 9.0, {}, 5.0, (), 0, "", 3, 50.0, 0.5, FLAT)


def test_a_slow_and_degraded_run_has_no_fault():
    assert faults(SOAK) == []
    assert faults(replace(SOAK, grown=None)) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"errors": 1, "first_error": "POST /v1/episodes: 500"}, "1 requests failed: POST"),
        ({"grown": replace(FLAT, handles=(44, 80))}, "handles went from 44 to 80"),
        ({"grown": replace(FLAT, resident_mib=(200.0, 240.0))}, "memory grew from 200 to 240 MiB"),
    ],
)
def test_errors_and_growth_are_faults(changes, said):
    (fault,) = faults(replace(SOAK, **changes))
    assert said in fault


def test_a_load_is_learned_and_may_grow_more():
    grown = replace(FLAT, resident_mib=(200.0, 240.0))
    assert faults(replace(SOAK, what="load", grown=grown)) == []
