import multiprocessing
import os
import sqlite3

import pytest

from jitrl.errors import StoreError
from jitrl.models.cache import AnswerFile
from jitrl.models.calls import Answer, Continue, Message, Rate, Write, key
from jitrl.models.channel import Channel, ReplayMiss
from jitrl.models.scripted import ScriptedEndpoint
from jitrl.types import Prompt

ASKED = (Message("user", "hello"),)
WRITE = Write(ASKED)


def text(answer):
    return answer.text


def ask(request, script, **settings):
    endpoint = ScriptedEndpoint(script)
    asked = Channel(endpoint, **settings).ask(request, text, "test")
    return asked.value, asked.calls, endpoint.calls


def test_every_field_of_an_answer_comes_back(tmp_path):
    answer = Answer(
        'a "b" 日期', (("A", -0.125), ("B", -9999.0)), ((-0.1, -2.0), (-3.0,)), {"x": 1.5}, "", 7, 8
    )
    AnswerFile(tmp_path / "a.db").put("m", "id", WRITE, answer, usable=True)
    stored = AnswerFile(tmp_path / "a.db").get("id", WRITE)
    assert (stored.answer, stored.usable) == (answer, True)


def test_an_answer_is_found_under_its_own_question_and_model_alone():
    file = AnswerFile(":memory:")
    file.put("m", "id", WRITE, Answer("yes"), usable=True)
    assert file.get("id", WRITE).answer.text == "yes"
    for identity, request in (
        ("other", WRITE),
        ("id", Write((Message("system", "hello"),))),
        ("id", Write(ASKED, max_tokens=9)),
        ("id", Write(ASKED, temperature=0.5)),
        ("id", Write(ASKED, top_logprobs=5)),
        ("id", Write(ASKED, schema="{}")),
        ("id", Write(ASKED, draw=1)),
        ("id", Write(ASKED, attempt=1)),
        ("id", Continue(ASKED, "", ("x",))),
    ):
        assert file.get(identity, request) is None


def test_no_two_requests_share_a_key():
    requests = [
        Continue(ASKED, "a", ("b c",)),
        Continue(ASKED, "a b", ("c",)),
        Continue(ASKED, "a", ("b", "c")),
        Rate(Prompt("a", "b")),
        Rate(Prompt("b", "a")),
    ]
    assert len({key("id", request) for request in requests}) == len(requests)


def test_what_is_stored_is_not_asked_again(tmp_path):
    cache = AnswerFile(tmp_path / "a.db")
    assert ask(WRITE, ["one"], cache=cache) == ("one", 1, 1)
    assert ask(WRITE, ["two"], cache=cache) == ("one", 0, 0)


def test_an_unusable_answer_is_asked_again_by_a_run_and_kept_for_a_replay(tmp_path):
    from jitrl.errors import ModelError
    from jitrl.models.calls import Unusable

    def picky(answer):
        if answer.text == "nonsense":
            raise Unusable("nonsense")
        return answer.text

    cache = AnswerFile(tmp_path / "a.db")
    endpoint = ScriptedEndpoint(["nonsense", "nonsense", "fine"])
    channel = Channel(endpoint, cache=cache)
    with pytest.raises(ModelError, match="twice"):
        channel.ask(WRITE, picky, "test")
    replay = Channel(ScriptedEndpoint(["never"]), cache=cache, replay=True)
    with pytest.raises(ModelError, match="twice"):
        replay.ask(WRITE, picky, "test")
    assert channel.ask(WRITE, picky, "test").value == "fine"
    assert replay.ask(WRITE, picky, "test").value == "fine"


def test_a_replay_that_misses_says_what_was_asked():
    with pytest.raises(ReplayMiss, match=r"'Write' request \(draw 2, attempt 0\): 'hello'") as miss:
        ask(Write(ASKED, draw=2), ["never"], cache=AnswerFile(":memory:"), replay=True)
    assert miss.value.request == Write(ASKED, draw=2)
    assert miss.value.exit_code == 5


def test_a_long_question_is_shortened_in_the_message():
    long = Write((Message("user", "begin " + "x" * 5000 + " end"),))
    with pytest.raises(ReplayMiss) as miss:
        ask(long, ["never"], cache=AnswerFile(":memory:"), replay=True)
    assert "begin" in str(miss.value)
    assert "end" in str(miss.value)
    assert len(str(miss.value)) < 1000


# --- files -----------------------------------------------------------------------------------


def test_a_file_that_is_none_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to be read as one" * 100)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="not a database"):
        AnswerFile(path)
    assert path.read_bytes() == before


def test_a_database_of_something_else_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE mine(x)")
    db.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="something else than a file of answers"):
        AnswerFile(path)
    assert path.read_bytes() == before


def test_a_file_from_a_newer_version_is_refused(tmp_path):
    path = tmp_path / "a.db"
    AnswerFile(path).close()
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(StoreError, match="newer jitrl"):
        AnswerFile(path)


def test_a_damaged_answer_is_a_typed_error(tmp_path):
    path = tmp_path / "a.db"
    file = AnswerFile(path)
    file.put("m", "id", WRITE, Answer("x"), usable=True)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE answer SET answer = '{'")
    db.close()
    with pytest.raises(StoreError, match="damaged answer"):
        file.get("id", WRITE)


def test_a_folder_that_is_not_there_is_a_typed_error(tmp_path):
    with pytest.raises(StoreError, match="unable to open"):
        AnswerFile(tmp_path / "nowhere" / "a.db")


def test_a_closed_file_may_be_closed_again_and_says_so(tmp_path):
    file = AnswerFile(tmp_path / "a.db")
    file.close()
    file.close()
    with pytest.raises(StoreError, match="closed"):
        file.get("id", WRITE)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs a read-only folder")
def test_a_read_only_folder_is_a_typed_error(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(StoreError):
        AnswerFile(tmp_path / "a.db")


def fill(path, start):
    file = AnswerFile(path)
    for i in range(25):
        file.put("m", "id", Write(ASKED, draw=i), Answer(f"shared {i}"), usable=True)
        file.put("m", "id", Write(ASKED, draw=start + i), Answer(f"own {start + i}"), usable=True)
        assert file.get("id", Write(ASKED, draw=start + i)).answer.text == f"own {start + i}"


def test_processes_share_a_file_from_its_creation_on(tmp_path):
    path = tmp_path / "a.db"
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=fill, args=(path, 1000 * (n + 1))) for n in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM answer").fetchone() == (25 + 4 * 25,)
    db.close()
