"""Scores of hand-made answers and requests; what the sites hold is in the tasks of the package."""

import json
from importlib.util import find_spec

import pytest
from webarena_traces import URLS, answered, request, saved

from jitrl.envs.webarena.form import fault
from jitrl.envs.webarena.scoring import Scoring, scored
from jitrl.envs.webarena.tasks import everything, package_folder
from jitrl.errors import InputError
from jitrl.types import Scored, Unscored

pytestmark = [
    pytest.mark.webarena,
    pytest.mark.skipif(
        find_spec("webarena_verified") is None, reason="needs webarena-verified (make .venv/worlds)"
    ),
]

ADMIN, SHOP, GIT = URLS["shopping_admin"], URLS["shopping"], URLS["gitlab"]
BAND = "Quest Lumaflex™ Band"
TODOS = request(f"{GIT}/dashboard/todos")
WISH = request(
    f"{SHOP}/wishlist/index/add/",
    "POST",
    302,
    form="product=14&uenc=x",
    redirect=f"{SHOP}/wishlist/",
    cookies=[("mage-messages", "Tide%20laundry%20detergent has been added to your wish list. x")],
)


@pytest.fixture(scope="module")
def scoring():
    return Scoring(URLS)


@pytest.mark.parametrize(
    ("number", "answer", "requests", "expected"),
    [
        # retrieve: only the answer counts, its kind of work included
        (0, answered("RETRIEVE", [BAND]), [request(ADMIN)], 1.0),
        (0, answered("retrieve", ["quest lumaflex band"]), [request(ADMIN)], 1.0),
        (0, answered("RETRIEVE", ["Sprite Yoga Strap"]), [request(ADMIN)], 0.0),
        (0, answered("RETRIEVE", [BAND, "Sprite Yoga Strap"]), [request(ADMIN)], 0.0),
        (0, answered("NAVIGATE", [BAND]), [request(ADMIN)], 0.0),
        (0, None, [request(ADMIN)], 0.0),
        (386, answered("RETRIEVE", ["65"]), [request(SHOP)], 1.0),
        (386, answered("RETRIEVE", [65]), [request(SHOP)], 1.0),
        (48, answered("RETRIEVE", [{"order_count": 0, "amount": 0}]), [request(SHOP)], 1.0),
        (48, answered("RETRIEVE", [{"order_count": 1, "amount": 0}]), [request(SHOP)], 0.0),
        # what cannot be done must be said
        (8, answered("RETRIEVE", None, "NOT_FOUND_ERROR"), [request(URLS["map"])], 1.0),
        (8, answered("RETRIEVE", None), [request(URLS["map"])], 0.0),
        (8, answered("RETRIEVE", ["15213"]), [request(URLS["map"])], 0.0),
        (8, answered("RETRIEVE", ["15213"], "NOT_FOUND_ERROR"), [request(URLS["map"])], 0.0),
        # navigate: the last page that was opened counts
        (44, answered("NAVIGATE"), [request(GIT), TODOS], 1.0),
        (44, answered("NAVIGATE"), [TODOS, request(GIT)], 0.0),
        (44, answered("NAVIGATE"), [request(f"{SHOP}/dashboard/todos")], 0.0),
        (118, answered("NAVIGATE"), [request(f"{SHOP}/dental-night-guard.html")], 1.0),
        (118, answered("NAVIGATE"), [request(f"{SHOP}/shoes.html")], 0.0),
        # mutate: the request that changes the site counts
        (511, answered("MUTATE"), [request(SHOP), WISH, request(f"{SHOP}/wishlist/")], 1.0),
        (511, answered("MUTATE"), [request(SHOP)], 0.0),
        (511, answered("NAVIGATE"), [request(SHOP), WISH], 0.0),
    ],
)
def test_a_finished_task_scores_1_or_0(scoring, number, answer, requests, expected):
    judgment = scoring.judge(number, answer, requests)
    assert judgment == Scored((expected,), "webarena-verified", "state_check")


def test_a_field_that_holds_several_values_may_be_a_list(scoring):
    names = ["Nike", "Sony"]
    answer = answered("RETRIEVE", [{"names": names, "min": 1, "max": 2}])
    assert everything()[279].lists == {"names"}
    assert fault(answer, lambda text: False, {"names"}) == ""
    assert "alternatives" in fault(answer, lambda text: False)
    nested = answered("RETRIEVE", [{"names": [names], "min": 1, "max": 2}])
    assert "alternatives" in fault(nested, lambda text: False, {"names"})
    assert scoring.judge(279, answer, [request(SHOP)]).rewards == (0.0,)


def test_without_requests_there_is_no_score(scoring):
    judgment = scoring.judge(0, answered("RETRIEVE", [BAND]), [])
    assert judgment == Unscored("no requests were recorded", "webarena-verified")


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        (0, answered("RETRIEVE", ["^.*$"])),
        (0, answered("RETRIEVE", [" ＾.*＄ "])),
        (0, answered("RETRIEVE", "^.*$")),
        (386, answered("RETRIEVE", [["64", "65"]])),
        (386, answered("RETRIEVE", ['["64", "65"]'])),
        (48, answered("RETRIEVE", [{"order_count": [0, 1], "amount": 0}])),
        (44, answered("^.*$")),
        (44, answered("NAVIGATE", status="^.*$")),
        (44, {"status": "SUCCESS"}),
        (44, {"task_type": "NAVIGATE", "status": 5}),
        (44, "navigate"),
        (44, ["navigate"]),
    ],
)
def test_an_answer_of_another_form_is_wrong_whatever_the_checks_would_make_of_it(
    scoring, number, answer
):
    requests = [TODOS] if number == 44 else [request(ADMIN), request(SHOP)]
    assert scoring.judge(number, answer, requests).rewards == (0.0,)


def test_without_the_address_of_a_site_there_is_no_score():
    judgment = Scoring({"shopping": SHOP}).judge(552, answered("MUTATE"), [request(SHOP)])
    assert judgment == Unscored("the address of gitlab, reddit is not known", "webarena-verified")


def test_a_task_that_does_not_exist_is_refused(scoring):
    with pytest.raises(InputError, match="no WebArena task 812"):
        scoring.judge(812, None, [TODOS])


def broken(folder, name, text):
    """The finished task 44 with one file replaced by ``text``, or taken away for ``None``."""
    place = saved(folder / "44", answered("NAVIGATE"), [TODOS])
    (place / name).write_bytes(text) if text is not None else (place / name).unlink()
    return place


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("agent_response.json", None, "there is no agent_response.json"),
        ("agent_response.json", b"", "agent_response.json is empty"),
        ("agent_response.json", b'{"task_type": "NAVI', "agent_response.json is not JSON"),
        ("agent_response.json", b"\xff\xfe", "agent_response.json cannot be read"),
        ("network.har", None, "there is no network.har"),
        ("network.har", b"", "network.har is no HAR"),
        ("network.har", b'{"log": {}}', "network.har is no HAR: KeyError('entries')"),
        ("network.har", b'{"log": {"entries": [{}]}}', "network.har is no HAR"),
        ("network.har", b'{"log": {"entries": []}}', "no requests were recorded"),
        ("sites.json", b"[]", "sites.json holds no addresses"),
        ("sites.json", None, "the address of gitlab is not known"),
    ],
)
def test_an_unreadable_file_is_unscored_and_never_0(tmp_path, name, text, reason):
    broken(tmp_path, name, text)
    (only,) = scored(tmp_path)
    assert isinstance(only.judgment, Unscored)
    assert reason in only.judgment.reason


def test_an_answer_in_a_block_of_code_is_read(tmp_path):
    text = f"Done.\n```json\n{json.dumps(answered('NAVIGATE'))}\n```\n"
    broken(tmp_path, "agent_response.json", text.encode())
    assert [one.judgment for one in scored(tmp_path)] == [
        Scored((1.0,), "webarena-verified", "state_check")
    ]


def test_addresses_that_are_given_count_before_recorded_ones(tmp_path):
    saved(tmp_path / "44", answered("NAVIGATE"), [request("http://10.0.0.1/dashboard/todos")])
    assert scored(tmp_path)[0].judgment.rewards == (0.0,)
    assert scored(tmp_path, {"gitlab": "http://10.0.0.1"})[0].judgment.rewards == (1.0,)


def test_attempts_at_a_task_lie_in_folders_below_its_number(tmp_path):
    saved(tmp_path / "44" / "seed-7", answered("NAVIGATE"), [TODOS])
    saved(tmp_path / "44" / "seed-8", answered("NAVIGATE"), [request(GIT)])
    saved(tmp_path / "0", answered("RETRIEVE", [BAND]), [request(ADMIN)])
    found = [(one.number, one.folder.name, one.judgment.rewards) for one in scored(tmp_path)]
    assert found == [(0, "0", (1.0,)), (44, "seed-7", (1.0,)), (44, "seed-8", (0.0,))]


def test_a_number_that_no_task_has_is_refused(tmp_path):
    saved(tmp_path / "812", answered("NAVIGATE"), [TODOS])
    (tmp_path / "812" / "agent_response.json").write_text("[[[")  # it is not even scored
    with pytest.raises(InputError, match="no WebArena task 812"):
        scored(tmp_path)


def test_a_folder_that_names_no_task_is_refused(tmp_path):
    saved(tmp_path / "first", answered("NAVIGATE"), [TODOS])
    with pytest.raises(InputError, match=r"first does not say which task .* number of the task"):
        scored(tmp_path)


def test_a_folder_without_finished_tasks_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds no finished task"):
        scored(tmp_path)


def expected_answers():
    """What the tasks themselves expect: of alternatives the first, where that is no pattern."""
    path = package_folder() / "assets" / "dataset" / "webarena-verified.json"
    for task in json.loads(path.read_text(encoding="utf-8")):
        wanted, lists = task["eval"][0]["expected"], everything()[task["task_id"]].lists
        if wanted["task_type"] != "retrieve" or len(task["eval"]) > 1:
            continue

        def first(value, lists=lists, name=""):
            if isinstance(value, list):
                return [first(v) for v in value] if name in lists else first(value[0])
            if isinstance(value, dict):
                return {key: first(part, name=key) for key, part in value.items()}
            return value

        data = [first(value) for value in wanted.get("retrieved_data") or ()] or None
        if '"^' not in json.dumps(data):
            yield task["task_id"], answered("RETRIEVE", data, wanted["status"])


def test_what_the_tasks_expect_is_right_and_nothing_at_all_is_wrong(scoring):
    requests = [request(url) for url in URLS.values()]
    known = dict(expected_answers())
    assert len(known) > 300
    right = {n: scoring.judge(n, answer, requests).rewards for n, answer in known.items()}
    impossible = {319}  # in 1.2.3: it expects no data, and compares with a field that is not there
    assert {n for n, rewards in right.items() if rewards != (1.0,)} <= impossible
    nothing = answered("RETRIEVE", ["no such thing at all"])
    wrong = {n: scoring.judge(n, nothing, requests).rewards for n in known}
    assert {n for n, rewards in wrong.items() if rewards != (0.0,)} == set()
