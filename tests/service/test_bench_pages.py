"""`jitrl bench serve --what pages` asks for each page until all of it is there."""

import pytest

pytestmark = pytest.mark.server


def test_each_page_of_the_dashboard_is_timed_until_it_is_whole():
    from jitrl.bench.service.pages import PAGES, measure
    from jitrl.service.pages.router import TABS

    assert PAGES == TABS
    stages = []
    report = measure(300, 0, lambda stage, share: stages.append(stage), seconds=1.0)
    assert [page.name for page in report.pages] == [*TABS, "a decision", "an episode", "a row"]
    assert report.decisions > 0
    assert all(0.0 < page.answer_s <= page.whole_s <= page.worst_s for page in report.pages)
    assert list(dict.fromkeys(stages)) == ["filling", "starting", "playing", "pages"]
