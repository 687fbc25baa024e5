import numpy as np
import pytest
from made import learned, result

from jitrl.analysis import results
from jitrl.analysis.compare import TERMS, compare
from jitrl.core.stats import ALIKE, Interval
from jitrl.errors import ConfigError, InputError
from jitrl.run import experiment


def static(**changed):
    return result("static", learned(end=0.2), agent="static", **changed)


def test_the_static_run_is_the_base_wherever_it_stands():
    assert compare([result("a", learned()), static(), result("b", learned())]).base == "static"
    assert compare([result("a", learned()), result("b", learned())]).base == "a"
    assert compare([static(), result("a", learned())], base="a").base == "a"
    with pytest.raises(InputError, match="no run is labelled 'c'"):
        compare([static(), result("a", learned())], base="c")


def test_the_difference_is_paired_by_task_and_seed():
    rng = np.random.default_rng(0)
    hard = rng.normal(0, 10, (8, 2, 1)).repeat(3, axis=2)  # tasks differ far more than agents
    gain = 0.5 + 0.01 * rng.normal(size=hard.shape)
    _, line = compare([static_like(hard), result("mem", hard + gain)]).lines
    assert line.difference.mean == pytest.approx(0.5, abs=0.02)
    assert isinstance(line.difference.interval, Interval)
    assert line.difference.interval.high - line.difference.interval.low < 0.1
    assert line.difference.verdict == "better"


def static_like(scores):
    return result("static", scores, agent="static")


def test_pairs_are_found_by_name_and_not_by_place():
    scores = np.random.default_rng(1).random((8, 2, 3))
    names = [f"t{i}" for i in range(8)]
    turned = result("mem", scores[::-1], tasks=names[::-1])
    comparison = compare([result("static", scores, agent="static"), turned], allow=["tasks"])
    assert comparison.lines[1].difference.interval == ALIKE
    assert comparison.lines[1].summary.final == pytest.approx(scores[:, :, -1].mean())


@pytest.mark.parametrize(
    ("term", "other"),
    [
        ("environment", {"environment__name": "toy"}),
        ("environment", {"environment__options": {"slip": 0.1}}),
        ("model", {"model": "tiny-2"}),
        ("model", {"model__options": {"temperature": 3.0}}),
        ("evaluator", {"memory__evaluator": "judge"}),
        ("evaluator", {"told": True}),
        ("rewards", {"run__rewards": "during"}),
        ("schedule", {"run__schedule": "rounds"}),
        ("protocol", {"run__protocol": "transfer"}),
        ("max_steps", {"run__max_steps": 9}),
        ("seeds", {"seeds": [0, 5]}),
        ("tasks", {"tasks": [f"t{i}" for i in range(1, 9)]}),
    ],
)
def test_runs_that_differ_in_a_term_are_refused_unless_the_row_says_so(term, other):
    runs = [static(), result("mem", learned(), **other)]
    with pytest.raises(ConfigError, match=rf"differ in {term} .*--differ {term}"):
        compare(runs)
    line = compare(runs, allow=[term]).lines[1]
    assert [text.split(":")[0] for text in line.differs] == [term]


def test_runs_of_different_length_are_compared_on_what_they_share():
    runs = [static(), result("mem", learned(tasks=10, attempts=9))]
    with pytest.raises(ConfigError, match="differ in tasks"):
        compare(runs)
    comparison = compare(runs, allow=["tasks", "attempts"])
    assert comparison.shape == (8, 2, 6)
    assert len(comparison.lines[1].curve.mean) == 6


def test_runs_that_share_nothing_cannot_be_paired():
    other = result("mem", learned(), tasks=[f"x{i}" for i in range(8)])
    with pytest.raises(ConfigError, match="share no task"):
        compare([static(), other], allow=["tasks"])


def test_an_unknown_term_and_a_repeated_label_are_errors():
    with pytest.raises(InputError, match=r"'modle' is no term.*model"):
        compare([static()], allow=["modle"])
    with pytest.raises(InputError, match="labels must differ"):
        compare([static(), static()])


def test_demands_are_met_by_all_runs_or_not_at_all():
    better = result("good", learned(start=0.9, end=1.0))
    same = result("same", learned(end=0.2, seed=1))
    worse = result("bad", np.zeros((8, 2, 6)))
    high = result("static", learned(start=0.9, end=1.0), agent="static")
    assert compare([static(), better]).meets("better")
    assert not compare([static(), better, same]).meets("better")
    assert compare([static(), better, same]).meets("not-worse")
    assert not compare([high, worse]).meets("not-worse")


def test_the_chances_of_the_base_grow_with_the_attempts_to_its_pass_at_k():
    scores = np.array([[[0, 1, 0]], [[0, 0, 0]], [[0, 0, 1]]])
    comparison = compare([static_like(scores)])
    assert comparison.chances == pytest.approx((0, 1 / 3, 2 / 3))
    assert comparison.lines[0].summary.best == pytest.approx(2 / 3)


def test_a_single_run_has_no_difference():
    assert compare([static()]).lines[0].difference is None


def test_every_term_can_be_read_from_a_run(tmp_path, settings, parts):
    experiment.run(settings(attempts=1), tmp_path / "r", parts())
    found = results.read(tmp_path / "r")
    assert {term: value(found) for term, value in TERMS.items()}["model"][0] == "scripted"


def test_a_folder_of_runs_stands_for_all_of_them(tmp_path, settings, parts):
    for agent in ("static", "tabular"):
        experiment.run(settings(attempts=1, agent=agent), tmp_path / agent, parts(agent))
    assert [r.label for r in results.gather([str(tmp_path)])] == ["static", "tabular"]
    place = tmp_path / "tabular"
    assert [r.label for r in results.gather([f"mine={place}", str(place)])] == ["mine", "tabular"]
    with pytest.raises(InputError, match="holds no run"):
        results.gather([str(tmp_path / "nowhere")])
