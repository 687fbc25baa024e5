"""WebArena's tasks as they are read out of webarena-verified."""

import inspect
import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from webarena_traces import URLS

from jitrl import config
from jitrl.envs.webarena.environment import WebArena
from jitrl.envs.webarena.lite import LITE
from jitrl.envs.webarena.tasks import SITES, addresses, everything, filled_in, selected
from jitrl.errors import ConfigError

needs_tasks = pytest.mark.skipif(
    find_spec("webarena_verified") is None, reason="needs webarena-verified (make .venv/worlds)"
)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("__SHOPPING__", "http://a:1"),
        ("__SHOPPING_ADMIN__/sales/order/", "http://a:2/admin/sales/order/"),
        ("__SHOPPING__/a__b.html", "http://a:1/a__b.html"),
    ],
)
def test_a_placeholder_becomes_the_address_of_its_site(address, expected):
    urls = addresses({"shopping": "http://a:1/", "shopping_admin": "http://a:2/admin/"})
    assert filled_in(address, urls) == expected


def test_a_placeholder_without_an_address_says_what_to_give():
    with pytest.raises(ConfigError, match=r"needs the address of gitlab; give .*urls = \{ gitlab"):
        filled_in("__GITLAB__/x", {"shopping": "http://a"})


@pytest.mark.parametrize(
    ("urls", "message"),
    [
        ({"shop": "http://a"}, "urls names a site 'shop'; there are shopping, shopping_admin"),
        ({"map": "localhost:3000"}, "the address of map is 'localhost:3000'; write it as http"),
        ({"map": "ftp://a"}, "the address of map is 'ftp://a'"),
    ],
)
def test_an_address_that_is_none_is_refused(urls, message):
    with pytest.raises(ConfigError, match=message):
        addresses(urls)


def test_the_lite_subset_has_165_distinct_tasks():
    assert len(set(LITE)) == len(LITE) == 165


def test_the_settings_of_the_documentation_are_settings(tmp_path):
    page = Path(__file__).parents[2] / "docs" / "environments.md"
    [block] = re.findall(r"^```toml\n(# jitrl.toml.*?)^```$", page.read_text("utf-8"), re.S | re.M)
    (tmp_path / "jitrl.toml").write_text(block, encoding="utf-8")
    settings = config.load(env={}, folder=tmp_path)
    assert set(settings.environment.options["urls"]) == set(SITES)
    assert (settings.run.attempts, settings.run.max_steps) == (5, 10)
    known = inspect.signature(WebArena).parameters
    assert settings.environment.options.keys() <= known.keys()
    rows = re.findall(r"^\| (`.*?) \| .*$", page.read_text("utf-8"), re.M)
    said = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert known.keys() <= said | {"answers"}


@needs_tasks
@pytest.mark.webarena
class TestTasks:
    def test_all_812_tasks_are_there_in_190_templates(self):
        tasks = selected(URLS)
        assert [task.number for task in tasks] == list(range(812))
        assert len({task.template for task in tasks}) == 190

    def test_a_task_is_known_by_site_and_number_its_family_is_its_template(self):
        task = everything()[386].task
        assert (task.id, task.scope, task.family) == ("shopping:386", "shopping", "1355")
        assert task.goal == "What is the rating of Ugreen lightning to 3.5mm cable?"
        assert task.params == {
            "template": "What is the rating of {{product}}?",
            "product": "Ugreen lightning to 3.5mm cable",
        }

    def test_a_task_about_two_sites_has_both_as_its_scope(self):
        assert everything()[552].scope == everything()[681].scope == "gitlab-reddit"

    def test_nothing_of_the_expected_answer_is_in_a_task(self):
        assert "Lumaflex" not in repr(everything()[0])

    def test_only_tasks_whose_sites_all_have_an_address_are_listed(self):
        tasks = selected({"gitlab": "http://a", "reddit": "http://b"})
        assert {task.scope for task in tasks} == {"gitlab", "reddit", "gitlab-reddit"}
        assert len(tasks) == 180 + 106 + 18
        assert selected({}) == []

    def test_the_lite_subset_exists_in_full(self):
        assert [task.number for task in selected(URLS, "lite")] == sorted(LITE)

    def test_numbers_of_ones_own_are_a_subset_too(self):
        assert [task.number for task in selected(URLS, ids=(118, 44))] == [44, 118]

    def test_a_number_whose_site_has_no_address_says_which(self):
        with pytest.raises(ConfigError, match="task 7 needs site map, which has no address"):
            selected({"shopping": "http://a"}, ids=(7,))

    def test_a_number_that_does_not_exist_is_refused(self):
        with pytest.raises(ConfigError, match="no WebArena task 812"):
            selected(URLS, ids=(812,))

    def test_every_address_that_a_task_starts_at_can_be_filled_in(self):
        for task in everything().values():
            for address in task.start:
                assert filled_in(address, URLS).startswith(tuple(URLS.values()))
        assert set(URLS) == set(SITES)
