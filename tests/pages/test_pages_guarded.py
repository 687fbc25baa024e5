"""Who may see the pages, what may be changed, and what a browser is told to refuse."""

import re
from contextlib import closing

import pytest

from jitrl.stores.paging import Paging, Wanted
from jitrl.stores.sqlite import SQLiteStore

pytestmark = pytest.mark.server


def counts(path):
    with closing(SQLiteStore(path, readonly=True)) as store:
        return Paging(store).counts(Wanted())


def proof(client):
    found = re.search(r'name="proof" value="([^"]+)"', client.get("/p/support.db/memory").text)
    return found[1]


def previewed(client, form):
    """The form that confirms, once the replay is over."""
    page = client.post("/p/support.db/preview", data=form)
    assert page.status_code == 200, page.text
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text))
    for _ in range(500):
        part = client.get(
            "/p/support.db/awaited", params={"job": fields["job"]}, headers={"hx-request": "true"}
        )
        if "progress" not in part.text:
            break
    return page, part, fields | {"reason": "looks forged"}


def test_nobody_is_shown_anything_without_the_token(visit, memory):
    client = visit(memory, let_in=False)
    for path in ("/", "/p/support.db/curve", "/p/support.db/row?id=1"):
        answer = client.get(path)
        assert answer.status_code == 401
        assert "look_up" not in answer.text
        assert "ticket" not in answer.text
    assert client.post("/p/support.db/mark", data={"row": "1"}).status_code == 401
    client.get("/open/not-the-token")
    assert client.get("/").status_code == 401


def test_the_token_lets_in_one_browser_once(visit, memory):
    client = visit(memory)
    assert client.get("/p/support.db/curve").status_code == 200
    client.cookies.clear()
    client.get(f"/open/{client.ticket.text}")
    assert client.get("/p/support.db/curve").status_code == 401


def test_another_name_for_this_machine_is_refused(visit, memory):
    client = visit(memory)
    assert client.get("/", headers={"host": "evil.example:80"}).status_code == 421
    assert client.get("/", headers={"host": "localhost:80"}).status_code == 200


def test_every_answer_forbids_inline_code_and_other_sites(visit, memory):
    client = visit(memory)
    for path in ("/p/support.db/curve", "/static/pages.js", "/p/support.db/row?id=99999", "/no"):
        policy = client.get(path).headers.get("content-security-policy", "")
        if path == "/no":
            continue
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert "http" not in policy


@pytest.mark.parametrize("path", ["../router.py", "..%2Frouter.py", "vendor/../../router.py"])
def test_files_outside_the_static_folder_are_not_given_out(visit, memory, path):
    answer = visit(memory).get(f"/static/{path}")
    assert answer.status_code in (401, 404)
    assert "APIRouter" not in answer.text


def test_rows_are_taken_back_after_the_list_of_changed_decisions_was_seen(visit, own_memory):
    client, before = visit(own_memory), counts(own_memory)
    form = {"proof": proof(client), "row": ["1", "2"], "mark": "quarantined"}
    page, part, confirm = previewed(client, form)
    assert "go into quarantine: 2 of 2" in page.text
    assert "tored decision" in part.text
    assert counts(own_memory) == before
    done = client.post("/p/support.db/mark", data=confirm)
    assert "In quarantine now: 2 rows" in done.text
    assert "Stored decisions that they changed: " in done.text
    assert counts(own_memory)["quarantined"] == before["quarantined"] + 2
    with closing(SQLiteStore(own_memory, readonly=True)) as store:
        history = Paging(store).history(1)
    assert history[-1].kind == "quarantine"
    assert (history[-1].reason, history[-1].principal) == ("looks forged", "ann")
    _, part, back = previewed(client, form | {"mark": "active"})
    assert "with these rows" in part.text
    assert "without these rows" not in part.text
    assert "Taking part again: 2 rows" in client.post("/p/support.db/mark", data=back).text
    assert counts(own_memory) == before


def test_all_rows_of_a_filter_are_taken_back_at_once(visit, own_memory):
    client, before = visit(own_memory), counts(own_memory)
    with closing(SQLiteStore(own_memory, readonly=True)) as store:
        rows = Paging(store).ids(Wanted(status="active", basis="user_feedback"))
    page = client.post(
        "/p/support.db/preview?basis=user_feedback",
        data={"proof": proof(client), "all": "1", "mark": "quarantined"},
    )
    assert f"go into quarantine: {len(rows)} of {len(rows)}" in page.text
    assert counts(own_memory) == before


def test_nothing_is_changed_before_the_replay_was_seen(visit, own_memory):
    client, before = visit(own_memory), counts(own_memory)
    form = {"proof": proof(client), "row": "1", "mark": "quarantined", "reason": "x"}
    answer = client.post("/p/support.db/mark", data=form | {"job": "unknown"})
    assert answer.status_code == 400
    _, _, confirm = previewed(client, form)
    answer = client.post("/p/support.db/mark", data=confirm | {"row": "1,2"})
    assert answer.status_code == 400
    assert "was not finished" in answer.text
    assert counts(own_memory) == before


@pytest.mark.parametrize(
    ("change", "headers"),
    [
        ({"proof": ""}, {}),
        ({"proof": "0" * 64}, {}),
        ({}, {"origin": "http://evil.example"}),
        ({}, {"origin": "null"}),
        ({}, {"sec-fetch-site": "cross-site"}),
        ({}, {"sec-fetch-site": "same-site"}),
    ],
)
def test_a_form_of_another_site_changes_nothing(visit, own_memory, change, headers):
    client, before = visit(own_memory), counts(own_memory)
    _, _, confirm = previewed(client, {"proof": proof(client), "row": "1", "mark": "quarantined"})
    answer = client.post("/p/support.db/mark", data=confirm | change, headers=headers)
    assert answer.status_code == 403
    assert counts(own_memory) == before


def test_who_may_only_look_changes_nothing(visit, own_memory):
    client = visit(own_memory, may_curate=False)
    page = client.get("/p/support.db/memory").text
    assert 'name="mark"' not in page
    form = {"proof": proof(client), "row": "1", "mark": "quarantined"}
    assert client.post("/p/support.db/preview", data=form).status_code == 403


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/p/other/curve", 400, "there is nothing called"),
        ("/p/support.db/nothing", 404, "There is no such page"),
        ("/p/support.db/decision?id=x", 400, "is not a decision id"),
        ("/p/support.db/decision?id=x%230", 404, "no episode"),
        ("/p/support.db/episode?key=x", 404, "no episode"),
        ("/p/support.db/row?id=999999", 400, "has no row 999999"),
        ("/p/support.db/row?id=one", 400, "must be a whole number"),
        ("/p/support.db/memory?status=gone", 400, "must be one of"),
        ("/p/support.db/memory?before=-1", 400, "must be a whole number"),
        ("/p/support.db/rule?id=x", 404, "no rule"),
    ],
)
def test_what_is_not_there_is_said_in_words(visit, memory, path, status, said):
    answer = visit(memory).get(path)
    assert answer.status_code == status
    assert said in answer.text


def test_what_pages_and_people_wrote_is_text(visit, tmp_path):
    import jitrl

    path, bad = tmp_path / "bad.db", '<img src=x onerror="alert(1)">'
    with jitrl.open(path) as memory:
        for n in range(3):
            with memory.episode(bad, scope=bad, key=f"{bad}#{n}") as episode:
                episode.decide(f"{bad}\n{bad}", {bad: 1.0, "b": 0.0})
                episode.finish(True, principal=bad)
    client = visit(path)
    key = {"key": f"{bad}#1"}
    for view, given in (
        ("curve", {}),
        ("decisions", {"show": "all"}),
        ("decision", {"id": f"{bad}#1#0"}),
        ("episodes", {}),
        ("episode", key),
        ("memory", {"text": bad, "source": bad}),
        ("memory", {}),
        ("row", {"id": 1}),
    ):
        page = client.get(f"/p/bad.db/{view}", params=given)
        assert page.status_code == 200
        assert "<img src=x" not in page.text
        assert "&lt;img" in page.text or view in ("curve", "memory")


def test_pictures_are_given_out_only_from_where_the_run_lies(visit, tmp_path):
    import jitrl
    from jitrl.evaluators.environment import EnvironmentRewards
    from jitrl.types import Episode, State, Transition

    home, outside = tmp_path / "a" / "home", tmp_path / "outside.png"
    home.mkdir(parents=True)
    outside.write_bytes(b"\x89PNG outside")
    (home / "in.png").write_bytes(b"\x89PNG inside")
    (home / "secret.txt").write_text("secret")
    kept = [str(home / "in.png"), str(outside), str(home / "secret.txt"), None]
    steps = tuple(Transition(State(f"s{n}"), "a", reward=0.0) for n in range(4))
    episode = Episode("one", "t", "", steps, info={"screenshots": kept})
    path = home / "m.db"
    with jitrl.open(path) as memory:
        judgment = EnvironmentRewards().judge(episode)
        memory.store.commit(episode, judgment, memory.agent.derive(episode, judgment))
    client = visit(path)
    codes = [
        client.get("/p/m.db/picture", params={"key": "one", "step": n}).status_code
        for n in range(5)
    ]
    assert codes == [200, 404, 404, 404, 404]


def test_language_and_colors_are_kept_in_cookies(visit, memory):
    client = visit(memory)
    assert '<html lang="en"' in client.get("/p/support.db/memory").text
    asked = client.get("/p/support.db/memory", headers={"accept-language": "zh-CN"}).text
    assert '<html lang="zh-CN"' in asked
    answer = client.get("/p/support.db/memory?status=active&lang=zh&theme=dark")
    assert str(answer.url).endswith("/memory?status=active")
    later = client.get("/p/support.db/memory").text
    assert '<html lang="zh-CN" data-theme="dark">' in later
    assert "记住了什么" in later


def test_a_replay_is_stopped_by_its_owner_alone_and_changes_nothing(visit, own_memory):
    client, before = visit(own_memory), counts(own_memory)
    _, _, confirm = previewed(client, {"proof": proof(client), "row": "1", "mark": "quarantined"})
    other = visit(own_memory)
    stop = {"proof": proof(other), "job": confirm["job"]}
    assert other.post("/p/support.db/cancel", data=stop).status_code == 400
    mine = {"proof": confirm["proof"], "job": confirm["job"]}
    assert client.post("/p/support.db/cancel", data=mine | {"proof": ""}).status_code == 403
    assert "Nothing was changed." in client.post("/p/support.db/cancel", data=mine).text
    assert counts(own_memory) == before


def test_a_dropped_job_ends_at_its_next_report_and_is_begun_anew_when_asked_again():
    import threading

    from jitrl.service.pages.jobs import Jobs

    jobs, go = Jobs(), threading.Event()

    def work(tell):
        tell(0, 2)
        go.wait(60)
        tell(1, 2)
        return "done"

    first = jobs.shared("ann", {"what": "x"}, work, 0.0)
    jobs.drop("ann", first.id)
    second = jobs.shared("ann", {"what": "x"}, work, 0.0)
    go.set()
    assert second is not first
    for job, result in ((first, None), (second, "done")):
        for _ in range(6000):
            if job.is_over:
                break
            threading.Event().wait(0.01)
        assert (job.is_over, job.result) == (True, result)
