"""Golden files of the released behavior: all match, and whatever does not is named."""

from __future__ import annotations

import copy
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jitrl.compat.__main__ import main
from jitrl.compat.forms import FORMS, form_of
from jitrl.compat.replay import replay_file

GOLDEN = Path(__file__).parent / "golden"
CASES = {
    "actions.json": 478,
    "decisions_jericho.json": 120,
    "decisions_webarena.json": 204,
    "returns.json": 139,
    "rounding.json": 48,
    "similarity.json": 301,
    "url_keys.json": 124,
}
DRAWS = "uniform_draws"
OUTPUTS = {
    "page key": ["normalized"],
    "action key": ["normalized", "semantic", "type", "params", "role", "label"],
    "grounding": ["raw"],
    "round trip": ["normalized", "same_page", "other_page"],
    "similarity": ["sim", "tokens_a"],
    "return": ["correct_return", "authors_return", "authors_raises"],
    "rounding": ["V", "Q", "A_norm", "chosen", "mathematically_chosen"],
    "web decision": [
        *[DRAWS, "derived", "retrieved", "V", "Q", "A", "A_norm"],
        *["candidates", "chosen", "raises"],
    ],
    "text decision": [
        *[DRAWS, "derived", "retrieved", "exploration_prob", "V", "Q", "A", "A_norm"],
        *["candidates", "chosen", "raises"],
    ],
}


def document(name: str) -> Any:
    return json.loads((GOLDEN / name).read_bytes())


def write(folder: Path, content: Any, name: str = "cases.json") -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def run(*arguments: object) -> tuple[int, str]:
    out = io.StringIO()
    return main([str(argument) for argument in arguments], out), out.getvalue()


def with_output(field: str, form: str) -> tuple[Any, Any]:
    """A document with one case of the form, and the case; the field is in it, if possible set."""
    for name in CASES:
        content = document(name)
        for section in [key for key, value in content.items() if isinstance(value, list)]:
            cases = [c for c in content[section] if field in c]
            if cases and (kind := form_of(cases[0])) is not None and kind.name == form:
                case = next((c for c in cases if c[field]), cases[0])
                states = {"states": content["states"]} if "states" in content else {}
                return {**states, section: [case]}, case
    raise AssertionError(f"no golden {form} has {field}")


def altered(value: Any) -> Any:
    """Another value of the same kind, wrong in one place."""
    if isinstance(value, dict) and value:
        name = next(reversed(value))
        return {**value, name: altered(value[name])}
    if isinstance(value, list) and value:
        return [*value[:-1], altered(value[-1])]
    if isinstance(value, bool) or value is None:
        return "x"
    if isinstance(value, (int, float)):
        return value + 2**-20
    return f"{value}x" if isinstance(value, str) else [value]


@pytest.mark.parametrize("name", CASES)
def test_every_golden_case_matches(name: str) -> None:
    report = replay_file(GOLDEN / name)
    assert report.mismatches == ()
    assert (report.matched, report.total, report.problem) == (CASES[name], CASES[name], "")


def test_the_command_prints_matches_per_file() -> None:
    code, out = run(GOLDEN)
    assert code == 0
    assert out.splitlines() == [f"{name}  {total}/{total}" for name, total in CASES.items()]


def test_the_module_runs_as_a_program(tmp_path: Path) -> None:
    write(tmp_path, {"cases": [{"url": "N/A", "normalized": "unknown"}]})
    command = [sys.executable, "-m", "jitrl.compat"]
    good = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, check=False)
    assert (good.returncode, good.stdout, good.stderr) == (0, "cases.json  1/1\n", "")
    bare = subprocess.run(command, capture_output=True, text=True, check=False)
    assert bare.returncode == 2
    assert "folder" in bare.stderr


def test_the_outputs_under_test_are_all_that_a_form_answers() -> None:
    for form in FORMS:
        content, case = with_output(OUTPUTS[form.name][0], form.name)
        assert set(form.answer(case, content)) == set(OUTPUTS[form.name])


@pytest.mark.parametrize(
    ("form", "field"),
    [(form, field) for form, fields in OUTPUTS.items() for field in fields if field != DRAWS],
)
def test_a_changed_output_is_reported_and_exits_1(tmp_path: Path, form: str, field: str) -> None:
    content, case = with_output(field, form)
    assert replay_file(write(tmp_path, content)).is_match
    if field == "derived":
        case[field]["dynamic_threshold"] += 2**-20
    else:
        case[field] = altered(case[field])
    write(tmp_path, content)
    code, out = run(tmp_path)
    assert code == 1
    lines = out.splitlines()
    assert lines[0] == "cases.json  0/1"
    assert f"[0].{field}" in lines[1]
    assert lines[2].startswith("    expected ")
    assert lines[3].startswith("    got ")


@pytest.mark.parametrize("form", OUTPUTS)
def test_a_file_is_known_by_its_content_not_by_its_name(tmp_path: Path, form: str) -> None:
    content, _ = with_output(OUTPUTS[form][0], form)
    assert replay_file(write(tmp_path, content, "url_keys.json")).is_match
    assert replay_file(write(tmp_path, content, "anything.json")).is_match


def test_only_some_mismatches_are_shown_and_the_rest_counted(tmp_path: Path) -> None:
    write(tmp_path, {"cases": [{"url": f"u{i}", "normalized": "?"} for i in range(9)]})
    code, out = run(tmp_path)
    assert code == 1
    assert out.count("expected") == 5
    assert out.splitlines()[-1] == "  differ, too: 4 more fields"


def test_one_bad_file_does_not_hide_the_others(tmp_path: Path) -> None:
    write(tmp_path, "{", "a.json")
    write(tmp_path, {"cases": [{"url": "N/A", "normalized": "unknown"}]}, "b.json")
    code, out = run(tmp_path)
    assert code == 1
    assert out.splitlines()[0].startswith("a.json  not readable as JSON: ")
    assert out.splitlines()[1] == "b.json  1/1"


@pytest.mark.parametrize(
    "content",
    [
        [],
        {},
        3,
        {"cases": []},
        {"about": "nothing"},
        {"cases": [1, 2]},
        {"cases": [{"question": 1}]},
        [{"url": "N/A", "normalized": "unknown"}],
    ],
)
def test_a_file_of_unknown_form_is_named_and_fails(tmp_path: Path, content: Any) -> None:
    write(tmp_path, content, "odd.json")
    code, out = run(tmp_path)
    assert code == 1
    assert out.startswith("odd.json  unknown form: ")


def test_a_case_of_unknown_form_among_known_ones_fails(tmp_path: Path) -> None:
    known = {"url": "N/A", "normalized": "unknown"}
    write(tmp_path, {"cases": [known, {"question": 1}, 7]})
    code, out = run(tmp_path)
    assert code == 1
    assert out.startswith("cases.json  1/3\n")
    assert "an object of question" in out


@pytest.mark.parametrize(
    "case",
    [
        {"kind": "other", "a": "x", "b": "x", "sim": 1.0},
        {"env": "chess", "own_score": 1, "future_scores": [1], "gamma": 0.5},
        {"neighbours": [], "priors": {}, "chosen": ""},
        {"action": "noop()", "state": "nowhere", "normalized": "noop()", "semantic": ""},
        {"memory": [{}], "query": {"url": "", "history": []}, "chosen": "", "raises": None},
        {"memory": [], "query": {"history_len": 0}, "chosen": "", "raises": None},
    ],
)
def test_a_malformed_case_is_a_mismatch_not_a_crash(tmp_path: Path, case: Any) -> None:
    write(tmp_path, {"states": {}, "cases": [case]})
    code, out = run(tmp_path)
    assert code == 1
    assert out.startswith("cases.json  0/1\n  cases[0]\n")


@pytest.mark.parametrize("extra", [[0.5], [0.5, 0.5]])
def test_draws_left_over_or_missing_are_a_mismatch(tmp_path: Path, extra: list[float]) -> None:
    content, case = with_output(DRAWS, "web decision")
    case[DRAWS] += extra
    assert not replay_file(write(tmp_path, content)).is_match
    case[DRAWS] = case[DRAWS][: -len(extra) - 1]
    assert "there is none" in replay_file(write(tmp_path, content)).mismatches[0].got


def test_true_is_not_one_and_nan_is_nan(tmp_path: Path) -> None:
    base = {"state": "page", "semantic": "", "normalized": "click(true)", "action": "click(true)"}
    wrong = {**base, "params": [1], "semantic": "click with params: true"}
    nan = {
        "state": "page",
        "action": "click(NaN)",
        "normalized": "click(NaN)",
        "semantic": "click with params: NaN",
        "params": [float("nan")],
    }
    path = write(tmp_path, {"states": {"page": ""}, "cases": [wrong, nan]})
    report = replay_file(path)
    assert [mismatch.where for mismatch in report.mismatches] == ["cases[0].params[0]"]


def test_text_that_the_terminal_lacks_is_escaped(tmp_path: Path) -> None:
    write(tmp_path, {"cases": [{"url": "日本\ud800", "normalized": "x"}]})
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    assert main([str(tmp_path)], out) == 1
    out.flush()
    assert rb"\u65e5" in raw.getvalue()


def test_no_folder_a_file_and_an_empty_folder_are_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, {}, "cases.txt")
    for arguments in ([], [str(path)], [str(tmp_path / "none")], [str(tmp_path)], ["a", "b"]):
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == 2
    assert "holds no golden file" in capsys.readouterr().err


def test_the_case_numbers_in_a_report_are_those_of_the_file(tmp_path: Path) -> None:
    content = copy.deepcopy(document("similarity.json"))
    content["cases"][17]["sim"] += 0.25
    report = replay_file(write(tmp_path, content))
    assert (report.matched, report.total) == (300, 301)
    assert [mismatch.where for mismatch in report.mismatches] == ["cases[17].sim"]
