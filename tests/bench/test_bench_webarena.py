"""Success by site and template, of tasks that were scored by hand."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from jitrl.bench.webarena import by_site, by_template, data, overall
from jitrl.core.stats import NoInterval
from jitrl.envs.webarena.scoring import Finished
from jitrl.types import Scored, Unscored

pytestmark = [
    pytest.mark.webarena,
    pytest.mark.skipif(
        find_spec("webarena_verified") is None, reason="needs webarena-verified (make .venv/worlds)"
    ),
]


def finished(number, score, attempt=0):
    judgment = Unscored("torn") if score is None else Scored((score,), "by hand")
    return Finished(Path(f"runs/{number}/{attempt}"), number, judgment)


DONE = [
    finished(0, 1.0),  # shopping_admin, template 279
    finished(1, 0.0),  # shopping_admin, template 279
    finished(44, 1.0),  # gitlab, template 303
    finished(44, 0.0, attempt=1),
    finished(45, None),  # gitlab, template 300
]


def numbers(groups):
    return {g.name: (g.tasks, g.episodes, g.unscored, g.success) for g in groups}


def test_attempts_at_a_task_are_averaged_before_tasks_are():
    assert numbers(by_site(DONE)) == {
        "gitlab": (1, 2, 1, 0.5),
        "shopping_admin": (2, 2, 0, 0.5),
    }
    more = [*DONE, *(finished(0, 1.0, attempt=n) for n in range(1, 9))]
    assert overall(more).success == pytest.approx((1.0 + 0.0 + 0.5) / 3)


def test_a_template_without_scores_has_no_success_rate():
    groups = by_template(DONE)
    assert [group.name for group in groups][:2] == ["279", "303"]
    assert numbers(groups) == {
        "279": (2, 2, 0, 0.5),
        "303": (1, 2, 0, 0.5),
        groups[2].name: (0, 0, 1, None),
    }
    assert isinstance(groups[2].interval, NoInterval)


def test_the_data_say_why_a_task_has_no_score():
    told = data(DONE, Path("runs"))
    assert told["schema"] == "jitrl.webarena/2"
    assert told["episodes"][0] == {"task": 0, "folder": "0/0", "score": 1.0}
    assert told["episodes"][-1] == {"task": 45, "folder": "45/0", "unscored": "torn"}
    assert (
        told["templates"][0]["wording"] == "Get the top-{{n}} best-selling {{entity}} in {{period}}"
    )
