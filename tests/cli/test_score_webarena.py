"""`jitrl bench webarena` on hand-made finished tasks."""

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "envs"))
from webarena_traces import URLS, answered, request, saved

pytestmark = [
    pytest.mark.webarena,
    pytest.mark.skipif(
        find_spec("webarena_verified") is None, reason="needs webarena-verified (make .venv/worlds)"
    ),
]


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "finished"
    todos = request(f"{URLS['gitlab']}/dashboard/todos")
    saved(place / "44", answered("NAVIGATE"), [todos], urls={})
    saved(place / "45", answered("NAVIGATE"), [todos], urls={})
    saved(place / "46", answered("NAVIGATE"), [todos], urls={})
    (place / "46" / "network.har").write_text("{", encoding="utf-8")
    return place


def test_a_folder_of_finished_tasks_is_scored(jitrl, folder):
    done = jitrl("bench", "webarena", folder, "--urls", f"gitlab={URLS['gitlab']}", "--json")
    assert done.code == 0
    overall = done.data["overall"]
    assert (overall["tasks"], overall["unscored"], overall["success"]) == (2, 1, 0.5)
    assert [site["name"] for site in done.data["sites"]] == ["gitlab"]
    assert "unscored 1x: network.har is no HAR" in done.err
    assert "success %" in done.err


def test_without_addresses_nothing_is_scored_and_it_says_so(jitrl, folder):
    done = jitrl("bench", "webarena", folder, "--json")
    assert (done.code, done.data["overall"]["success"]) == (0, None)
    assert "unscored 2x: the address of gitlab is not known" in done.err


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("nowhere",), 2, "nowhere holds no finished task"),
        (("finished", "--urls", "shop=http://a"), 3, "urls names a site 'shop'"),
        (("finished", "--urls", "nonsense"), 3, "--urls is 'nonsense'; a table is written a=1,b=x"),
    ],
)
def test_a_mistake_is_one_line(jitrl, folder, args, code, message):
    done = jitrl("bench", "webarena", folder.parent / args[0], *args[1:])
    assert (done.code, done.err.count("\n")) == (code, 1)
    assert message in done.err


def test_the_data_are_json(jitrl, folder):
    assert json.loads(jitrl("bench", "webarena", folder, "--json").out)["schema"]
