"""The browser on pages made for the test; those marked ``browser`` need Chromium."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from jitrl.envs.browser import Browser
from jitrl.envs.browser.chromium import installed
from jitrl.envs.codecs.page import PageCodec
from jitrl.errors import ConfigError, InputError, WorldError
from jitrl.types import Observation

pytestmark = pytest.mark.browser
CODEC = PageCodec(site="test")


class Walker:
    """A browser on a site, driven by canonical actions."""

    def __init__(self, site: Any, browser: Browser) -> None:
        self.site, self.browser, self.goal = site, browser, ""
        self.shown = Observation("", "")

    def on(self, body: str, goal: str = "") -> Walker:
        self.goal = goal
        self.browser.begin(self.site.show(body))
        return self.look()

    def look(self) -> Walker:
        self.shown = self.browser.observe(self.goal)
        return self

    def take(self, action: str) -> Walker:
        self.browser.act(CODEC.ground(action, self.shown))
        return self.look()

    @property
    def text(self) -> str:
        return CODEC.text(self.shown)

    @property
    def actions(self) -> list[str]:
        return list(CODEC.actions(self.shown))


@pytest.fixture(scope="module")
def browser(site: Any) -> Iterator[Browser]:
    made = Browser(sites=[site.url], timeout=20)
    yield made
    made.close()


@pytest.fixture
def walker(site: Any, browser: Browser) -> Walker:
    site.pages.clear()
    return Walker(site, browser)


def test_a_page_is_its_title_its_text_and_its_elements_by_what_people_call_them(walker: Walker):
    walker.on(
        """<h1>Orders</h1><p>Two of <b>three</b> are open.</p>
        <a href="/a">Men's Shirts</a> <button aria-label="Close">x</button>
        <label for="n">Name</label><input id="n" value="Tom" onkeydown="0">
        <label><input type="checkbox" checked> Paid</label>
        <input placeholder="Search"><input type="submit" value="Go">
        <input type="password" name="pin" value="abc"><table><tr><td>Tea</td><td>4</td></tr></table>
        <select title="Size"><option>S<option selected>M</select>"""
    )
    assert walker.text.splitlines() == [
        "Test",
        "Orders",
        "Two of three are open.",
        "link: Men's Shirts",
        "button: Close",
        "textbox Name = Tom",
        "checkbox Paid = true",
        "textbox: Search",
        "button: Go",
        "textbox pin = •••",
        "Tea | 4",
        "combobox Size = M",
    ]
    assert "fill(<textbox[Name]>" not in str(walker.actions)
    assert walker.actions[:3] == [
        "click(<link[Men's Shirts]>)",
        "click(<button[Close]>)",
        'press(<textbox[Name]>, "Enter")',
    ]
    assert walker.actions[-1] == 'select_option(<combobox[Size]>, "S")'


def test_what_is_not_seen_is_neither_read_nor_offered(walker: Walker):
    walker.on(
        """<button style="display:none">a</button><button style="visibility:hidden">b</button>
        <button style="opacity:0">c</button><button hidden>d</button>
        <details><summary>More</summary><button>e</button></details>
        <div aria-hidden="true"><button>f</button></div><script>"g"</script><template>h</template>
        <button disabled>i</button>"""
    )
    assert walker.text.splitlines() == ["Test", "button: More", "button i"]
    assert walker.actions == ["click(<button[More]>)"]


def test_what_listens_to_the_mouse_is_offered_under_the_text_it_holds(walker: Walker):
    walker.on(
        """<div id="row">Tom <span class="icon-trash"></span></div><p id="dead">Jerry</p>
        <ul id="all"><li onclick="document.title='Ann'">Ann</li><li style="cursor:pointer">Bob</li>
        </ul><script>
        row.addEventListener("click", () => document.title = "row");
        row.firstElementChild.addEventListener("mousedown", () => document.title = "trash");
        all.addEventListener("click", () => {});</script>"""
    )
    assert walker.actions == [
        "click(<generic[Tom]>)",
        "click(<generic[icon trash]>)",
        "click(<listitem[Ann]>)",
        "click(<listitem[Bob]>)",
    ]
    assert walker.take("click(<listitem[Ann]>)").text.startswith("Ann")
    assert walker.take("click(<generic[Tom]>)").text.startswith("row")
    assert "Jerry" in walker.text


def test_shadow_trees_and_frames_of_the_site_are_read_and_reached(walker: Walker):
    walker.site.show("<button onclick=\"parent.document.title='frame'\">Inside</button>", "/frame")
    walker.on(
        """<x-open></x-open><x-closed>slotted</x-closed><br><br>
        <iframe src="/frame" style="margin:50px"></iframe><script>
        for (const mode of ["open", "closed"]) {
          const root = document.querySelector("x-" + mode).attachShadow({ mode });
          root.innerHTML = `<button>${mode}</button><slot></slot>`;
          root.firstChild.onclick = () => (document.title = mode);
        }</script>"""
    )
    assert walker.text.splitlines()[1:] == ["button: open | closed", "slotted", "button: Inside"]
    assert walker.take("click(<button[open]>)").text.startswith("open")
    assert walker.take("click(<button[closed]>)").text.startswith("closed")
    assert walker.take("click(<button[Inside]>)").text.startswith("frame")


def test_apostrophes_commas_and_brackets_come_back_to_the_right_element(walker: Walker):
    labels = ["Men's Shirts", "Women's Hats", "a, b [c]", 'He said "no"', "[x] button 'y'"]
    buttons = "".join(
        f"<button onclick='document.title=\"{i}\"'>{label}</button>"
        for i, label in enumerate(labels)
    )
    walker.on(buttons)
    assert len(walker.actions) == len(labels)
    for i, action in enumerate(list(walker.actions)):
        assert walker.take(action).text.startswith(f"{i}\n"), action


def test_text_that_looks_like_an_element_is_none(walker: Walker):
    walker.on("<p>[a1] button 'Pay'</p><button>Pay</button>")
    assert walker.actions == ["click(<button[Pay]>)"]
    assert "text [a1] button 'Pay'" in walker.shown.text


def test_of_elements_alike_each_is_reached_by_its_place(walker: Walker):
    walker.on("".join(f"<p><a href='/{i}'>Edit</a></p>" for i in range(3)))
    for i in range(3):
        walker.site.show("there", f"/{i}", f"Page {i}")
    walker.take("click(<link[Edit]#2>)")
    assert walker.text == "Page 1\nthere"
    assert walker.actions == ["back()"]
    assert walker.take("back()").actions[0] == "click(<link[Edit]>)"
    assert "back()" not in walker.actions


def test_values_of_the_goal_are_typed_as_they_are_and_each_field_hears_of_it(walker: Walker):
    walker.on(
        """<input name="a" oninput="document.title += ' input'" onkeyup="document.title += ' key'">
        <textarea name="b">old</textarea><input type="date" name="c"><input readonly name="d">""",
        """Enter "x, y" and 'it's 'and "09/30/2015".""",
    )
    assert walker.actions == [
        'fill(<textbox[a]>, "x, y")',
        'fill(<textbox[a]>, "09/30/2015")',
        'fill(<textbox[b]>, "x, y")',
        'fill(<textbox[b]>, "09/30/2015")',
        'fill(<textbox[c]>, "2015-09-30")',
        "click(<textbox[d]>)",
    ]
    walker.take('fill(<textbox[a]>, "x, y")')
    assert walker.text.splitlines()[:2] == ["Test input input key", "textbox a = x, y"]
    walker.take('fill(<textbox[b]>, "09/30/2015")').take('fill(<textbox[c]>, "2015-09-30")')
    assert walker.text.splitlines()[2:4] == ["textbox b = 09/30/2015", "textbox c = 2015-09-30"]
    assert 'press(<textbox[a]>, "Enter")' in walker.actions  # it listens to keys
    assert "press(<textbox[c]>" not in str(walker.actions)


def test_lists_take_one_or_several_and_options_alike_are_told_by_their_values(walker: Walker):
    walker.on(
        """<select name="one" onchange="document.title=value"><option value="1">A<option value="2">B
        <option value="3">B</select><select name="many" multiple><option>X<option>Y</select>"""
    )
    assert walker.actions == [
        'select_option(<combobox[one]>, "2")',
        'select_option(<combobox[one]>, "3")',
        'select_option(<listbox[many]>, "X")',
        'select_option(<listbox[many]>, "Y")',
    ]
    assert walker.take('select_option(<combobox[one]>, "3")').text.startswith("3\n")
    walker.take('select_option(<listbox[many]>, "X")').take('select_option(<listbox[many]>, "Y")')
    assert "listbox many = X, Y" in walker.text
    assert "listbox many = Y" in walker.take('select_option(<listbox[many]>, "X")').text


def test_a_box_drawn_by_its_label_alone_is_checked_through_the_label(walker: Walker):
    walker.on(
        """<style>input { position: absolute; opacity: 0 }</style>
        <input type="checkbox" id="c"><label for="c">I agree</label>"""
    )
    assert walker.take("click(<checkbox[I agree]>)").text == "Test\ncheckbox I agree = true"


@pytest.mark.parametrize(
    "action",
    [
        "evaluate('document.title = 1')",
        "click('javascript:alert(1)')",
        "goto('javascript:document.title=1')",
        "goto('https://example.com/')",
        "goto('file:///etc/passwd')",
        "press('{id}', 'F12')",
        "click('{id}', 2)",
        "click(bid='{id}')",
        "fill('{id}')",
        "scroll(0, 'x')",
        "page.click('{id}')",
        "click('{id}'); click('{id}')",
        "back()",
        "click('zz1')",
        "",
    ],
)
def test_whatever_is_not_on_the_list_is_refused_and_changes_nothing(walker: Walker, action: str):
    walker.on("<button onclick=\"document.title='changed'\">Go</button>")
    id = next(iter(walker.shown.actions)).split("'")[1]
    with pytest.raises(InputError):
        walker.browser.act(action.replace("{id}", id))
    assert walker.look().text == "Test\nbutton: Go"


def test_ways_off_the_allowed_sites_are_closed(walker: Walker, site: Any):
    walker.on(
        """<a href="https://example.com/">Away</a><a href="/in">In</a>
        <button onclick="location = 'http://localhost:9/x'">Jump</button>
        <button onclick="window.open('http://localhost:9/tab')">Tab</button>
        <button onclick="fetch('http://localhost:9/f').catch(() => document.title = 'no')">Fetch
        </button><form action="https://example.com/f"><button>Send</button></form>"""
    )
    assert "click(<link[Away]>)" not in walker.actions
    assert "Away" in walker.text
    for button, said in [("Jump", "localhost:9/x"), ("Tab", "localhost:9/tab"), ("Send", ".com/f")]:
        walker.take(f"click(<button[{button}]>)")
        assert walker.shown.url == f"{site.url}/"
        assert "Not allowed: http" in walker.text
        assert said in walker.text
    assert walker.take("click(<button[Fetch]>)").text.startswith("no\n")


def test_what_a_page_asks_is_confirmed_and_shown(walker: Walker):
    walker.on(
        """<button onclick="document.title = confirm('Delete it?')">Ask</button>
        <button onclick="document.title = prompt('Name?')">Prompt</button>"""
    )
    walker.take("click(<button[Ask]>)")
    assert walker.text.splitlines()[:2] == ["true", "alert: Delete it?"]
    assert "Delete it?" in CODEC.state(walker.shown, ()).text
    assert walker.take("click(<button[Prompt]>)").text.startswith("null\nalert: Name?")
    assert "Name?" not in walker.take("click(<button[Ask]>)").text


def test_a_new_tab_is_shown_and_back_closes_it(walker: Walker):
    walker.site.show("second", "/tab", "Second")
    walker.on("""<a href="/tab" target="_blank">Open</a>""")
    walker.take("click(<link[Open]>)")
    assert (walker.text, walker.actions) == ("Second\nsecond", ["back()"])
    assert walker.take("back()").text == "Test\nlink: Open"


def test_a_download_is_refused_and_said(walker: Walker):
    walker.on("""<a href="data:application/zip,abc" download="a.zip">Get</a>""")
    assert "Not downloaded" in walker.take("click(<link[Get]>)").text


def test_what_lies_under_something_is_not_offered_and_what_is_scrolled_away_is(walker: Walker):
    walker.on(
        """<button>Under</button><div style="position:fixed;inset:0;background:white">
        <button>Over</button></div>"""
    )
    assert walker.actions == ["click(<button[Over]>)"]
    walker.on(
        """<div style="height:40px;overflow:auto"><p style="height:500px">top</p>
        <button onclick="document.title='far'">Far</button></div><p style="height:4000px"></p>
        <button onclick="document.title='deep'">Deep</button>"""
    )
    assert walker.take("click(<button[Far]>)").text.startswith("far")
    assert walker.take("click(<button[Deep]>)").text.startswith("deep")


def test_what_has_gone_or_is_covered_meanwhile_is_not_done_and_said(walker: Walker):
    walker.on(
        """<button id="gone">Gone</button><button id="hid" onclick="document.title='x'">Hid</button>
        """
    )
    gone, hid = (action for action in walker.shown.actions)
    walker.browser.script("gone.remove()")
    walker.browser.act(gone)
    assert "no longer on the page" in walker.look().text
    hid = walker.shown.actions[0]
    walker.browser.script(
        """document.body.insertAdjacentHTML(
            "beforeend", "<div style='position:fixed;inset:0'>Wall")"""
    )
    walker.browser.act(hid)
    assert "covered by 'Wall'" in walker.look().text
    assert walker.text.startswith("Test")


def test_a_step_waits_for_pages_and_answers_that_take_a_while(walker: Walker):
    def slowly(handler: Any) -> str:
        time.sleep(0.4)
        handler.send_response(200)
        handler.send_header("Content-Type", "text/html")
        handler.end_headers()
        return "<title>Slow</title>late"

    walker.site.pages["/slow"] = slowly
    walker.on(
        """<a href="/slow">Go</a><button onclick="fetch('/slow').then(r => r.text())
        .then(t => document.body.append('came'))">Load</button>"""
    )
    assert "came" in walker.take("click(<button[Load]>)").text
    assert walker.take("click(<link[Go]>)").text == "Slow\nlate"
    assert "came" not in walker.take("back()").text


def test_a_page_that_has_begun_to_go_is_waited_for_though_the_next_is_asked_for_late(
    walker: Walker,
):
    walker.site.pages["/next"] = "<title>Next</title>there"
    walker.on(
        """<button onclick="dispatchEvent(new Event('beforeunload'));
        setTimeout(() => location = '/next', 300)">Go</button>"""  # a busy browser, as seen here
    )
    assert walker.take("click(<button[Go]>)").text == "Next\nthere"


def test_actions_before_the_page_was_reached_are_counted(walker: Walker):
    walker.site.show("""<a href="#">Top</a>""", "/next")
    walker.on("""<button>Idle</button><a href="/next">Next</a>""")
    assert walker.shown.info["arrived"] == 0
    walker.take("click(<button[Idle]>)")
    assert walker.shown.info["arrived"] == 0
    walker.take("click(<link[Next]>)")
    assert walker.shown.info["arrived"] == 2
    assert walker.take("click(<link[Top]>)").shown.info["arrived"] == 2


def test_a_new_episode_knows_nothing_of_the_last_and_a_state_brings_it_back(walker: Walker):
    body = """<script>document.write(document.cookie + "/" + (localStorage.x || ""));
    document.cookie = "c=1"; localStorage.x = 2</script>"""
    assert walker.on(body).text == "Test\n/"
    kept = walker.browser.storage()
    assert walker.on(body).text == "Test\n/"
    walker.browser.begin(walker.site.url + "/", state=kept)
    assert walker.look().text == "Test\nc=1/2"
    walker.browser.begin(walker.site.url + "/", fresh=False)
    assert walker.look().text == "Test\nc=1/2"


def test_answers_are_offered_and_touch_no_page(walker: Walker):
    walker.on("<p>3 items</p>")
    shown = walker.browser.observe("How many?", answers=["3", "it's"])
    assert CODEC.actions(shown) == ('answer("3")', 'answer("it\'s")')
    call = walker.browser.act(shown.actions[1])
    assert (call.verb, call.args) == ("answer", ("it's",))
    assert walker.look().text == "Test\n3 items"


def test_a_page_that_never_answers_ends_in_an_error_and_the_next_episode_goes_on(site: Any):
    browser = Browser(sites=[site.url], timeout=2)
    hang = "<button onclick='for (;;) {}'>Hang</button>"
    try:
        browser.begin(site.show(hang))
        browser.act(browser.observe("").actions[0].replace("click", "hover"))
        started = time.monotonic()
        with pytest.raises(WorldError, match="2 seconds"):
            browser.act(browser.observe("").actions[0])
        site.pages["/never"] = lambda handler: time.sleep(4)
        with pytest.raises(WorldError):
            browser.begin(f"{site.url}/never")
        assert time.monotonic() - started < 30
        browser.begin(site.show("fine"))
        assert browser.observe("").text == "Test\nfine"
    finally:
        browser.close()


def test_a_server_that_is_gone_is_an_error(walker: Walker):
    with pytest.raises(InputError, match="not on the allowed sites"):
        walker.browser.begin("http://127.0.0.1:9/")
    browser = Browser(sites=["http://127.0.0.1:9"])
    with pytest.raises(WorldError, match="ERR_"):
        browser.begin("http://127.0.0.1:9/")
    browser.close()


def test_the_virtual_clock_stands_still_and_chance_repeats(site: Any, tmp_path: Path):
    browser = Browser(sites=[site.url], clock="virtual", settle=2.0, screenshots=tmp_path)
    body = """<p id="p">early</p><script>
    document.write(Math.random() + " " + new Date().toISOString() + " " + performance.now());
    setTimeout(() => p.append(" late " + Date.now() % 100000), 1500);
    setTimeout("p.append(' never')", 60000); let n = 0;
    const draw = () => { n++; requestAnimationFrame(draw) }; draw();
    setInterval(() => { document.title = n }, 500);</script><button>Idle</button>"""
    shown = []
    for _ in range(2):
        started = time.monotonic()
        browser.begin(site.show(body), name="one")
        shown.append(browser.observe("").text.split("\n[")[0])
        browser.act(browser.observe("").actions[0])
        later = browser.observe("")
        assert time.monotonic() - started < 10
    assert shown[0] == shown[1]
    assert "2025-01-06T09:00:00.000Z 0" in shown[0]
    assert "late" in shown[0]
    assert "never" not in later.text
    assert later.info["screenshot"] == str(tmp_path / "one" / "001.png")
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == ["000.png", "001.png"]
    assert (tmp_path / "one" / "001.png").read_bytes().startswith(b"\x89PNG")
    browser.close()


def test_a_browser_is_closed_twice_and_begins_again(site: Any):
    browser = Browser(sites=[site.url])
    browser.close()
    browser.begin(site.show("one"))
    browser.close()
    browser.close()
    with pytest.raises(InputError, match="begin"):
        browser.observe("")
    browser.begin(site.show("two"))
    assert browser.observe("").text == "Test\ntwo"
    browser.close()


def test_browsers_of_one_thread_share_a_process_and_nothing_else(site: Any, browser: Browser):
    other = Browser(sites=[site.url])
    url = site.show("<script>document.write(document.cookie); document.cookie = 'c=1'</script>x")
    browser.begin(url)
    other.begin(url)
    assert browser.observe("").text == other.observe("").text == "Test\nx"
    other.close()
    assert browser.observe("").text == "Test\nx"


def test_a_missing_chromium_is_noticed_before_any_episode(tmp_path, monkeypatch):
    for name in ("PATH", "PLAYWRIGHT_BROWSERS_PATH"):
        monkeypatch.setenv(name, str(tmp_path))
    if installed() is not None:
        pytest.skip("this machine has a browser that is not on PATH")
    with pytest.raises(ConfigError, match="no Chromium was found: playwright install chromium"):
        Browser(sites=["http://localhost"])


def test_a_program_that_is_no_browser_is_told_with_what_it_said(tmp_path):
    program = tmp_path / "chrome"
    program.write_text("#!/bin/sh\necho no libnss3.so >&2\nexit 127\n")
    program.chmod(0o755)
    browser = Browser(sites=["http://localhost"], executable=str(program))
    with pytest.raises(ConfigError, match=r"does not start .*; no libnss3.so; another") as told:
        browser.begin("http://localhost/")
    assert "--headless" not in str(told.value)


def test_a_folder_of_pictures_that_cannot_be_made_stops_a_run(site: Any, tmp_path):
    (tmp_path / "file").touch()
    with closing(Browser(sites=[site.url], screenshots=tmp_path / "file" / "in")) as browser:
        browser.begin(site.show("x"))
        with pytest.raises(ConfigError, match=r"screenshots: .*000.png cannot be written"):
            browser.observe("")


@pytest.mark.parametrize(
    "settings",
    [
        {"timeout": 0},
        {"settle": -1},
        {"size": (0, 5)},
        {"clock": "none"},
        {"executable": "/no/such/browser"},
        {"sites": ["ftp://x"]},
        {"sites": ["http://user@host"]},
        {"sites": ["http://"]},
    ],
)
def test_impossible_browser_settings_are_refused(settings: dict[str, Any]):
    with pytest.raises(ConfigError):
        Browser(**{"sites": ["http://localhost"], **settings})
