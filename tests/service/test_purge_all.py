"""A purge leaves nothing of a subject in what a service remembers, nor in files of answers."""

import gc
import json
import subprocess
import sys

import numpy as np
import pytest

import jitrl
from jitrl.cli import main
from jitrl.models import vectors
from jitrl.models.cache import AnswerFile
from jitrl.models.calls import Answer, Message, Write
from jitrl.models.scripted import Scripted
from jitrl.service.desk import Desk
from jitrl.service.seats import Limits
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Prompt

NAME = "Zora Quill"
WRITINGS = [NAME.encode(), NAME.lower().encode(), b"zora", b"Zora"]


def lived(tmp_path, key="hers", principal="zora", once="zora-1", state=f"{NAME} is here"):
    with Desk(tmp_path / "shop.db", limits=Limits(deadline=30.0), is_kept=True) as desk:
        desk.episodes.start("help", key=key, principal=principal)
        desk.episodes.decide(key, state, {"yes": 1.0, "no": 0.0})
        desk.outcome(key, 1.0, principal=principal, once=once)


def asked(path, *texts):
    """A file of answers of a model that was asked these."""
    model = Scripted(cache=path)
    for text in texts:
        model.propose(Prompt("goal", text, (), ("yes", "no")), np.random.default_rng(0))
    model.channel._cache.close()


def purge(capsys, tmp_path, *subjects, more=()):
    named = [one for subject in subjects for one in ("--subject", subject)]
    with pytest.raises(SystemExit) as end:
        main(["memory", "purge", str(tmp_path / "shop.db"), *named, *more, "--json"])
    return end.value.code, json.loads(capsys.readouterr().out)["files"]


def left(folder):
    """The files that hold the subject's name in any writing."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [p.name for p in files if any(w in p.read_bytes() for w in WRITINGS)]


@pytest.mark.parametrize(
    "subjects",
    [
        ("text=ZORA",),
        ("principal=zora", f"text={NAME}", "text=zora-1"),
        ("task=help", "text=zora"),
        ("episode=hers", "text=zora"),
    ],
)
def test_no_file_of_the_folder_holds_the_subject(tmp_path, capsys, subjects):
    lived(tmp_path)
    lived(tmp_path, "another", "bob", "bob-1", "somebody is here")
    assert "shop.said" in left(tmp_path)
    code, files = purge(capsys, tmp_path, *subjects)
    assert (code, left(tmp_path)) == (0, [])
    (reports,) = (one for one in files if one["kind"] == "reports")
    assert reports["state"] == "clean"
    assert reports["entries"] >= 1


@pytest.mark.parametrize("subject", ["principal=zora", "task=help", "episode=hers"])
def test_reports_of_an_episode_that_goes_go_with_it(tmp_path, capsys, subject):
    lived(tmp_path, once="a")
    code, files = purge(capsys, tmp_path, subject)
    assert code == 0
    assert [one["entries"] for one in files if one["kind"] == "reports"] == [1]
    assert left(tmp_path) == []


def test_reports_of_others_are_remembered_after_a_purge(tmp_path, capsys):
    lived(tmp_path)
    lived(tmp_path, "another", "bob", "bob-1", "somebody is here")
    purge(capsys, tmp_path, "text=zora")
    with Desk(tmp_path / "shop.db") as desk:
        again = desk.outcome("another", 1.0, principal="bob", once="bob-1")
        assert again.rows == 1
        assert not again.duplicate


def test_a_service_that_runs_forgets_reports_with_the_purge(tmp_path, capsys):
    lived(tmp_path)
    with Desk(tmp_path / "shop.db", limits=Limits(deadline=30.0)):
        code, _ = purge(capsys, tmp_path, "text=zora")
    assert (code, left(tmp_path)) == (0, [])


def test_a_dry_run_counts_reports_and_removes_none(tmp_path, capsys):
    lived(tmp_path)
    code, files = purge(capsys, tmp_path, "text=zora", more=["--dry-run"])
    assert (code, [o["entries"] for o in files if o["kind"] == "reports"]) == (0, [1])
    assert "shop.said" in left(tmp_path)


def test_what_a_model_was_asked_of_the_subject_is_no_longer_kept(tmp_path, capsys):
    lived(tmp_path)
    asked(tmp_path / "answers.db", f"{NAME} is here", "somebody is here")
    assert "answers.db" in left(tmp_path)
    code, files = purge(capsys, tmp_path, f"text={NAME}", "text=zora")
    (answers,) = (one for one in files if one["kind"] == "answers")
    assert (code, answers["state"], left(tmp_path)) == (0, "clean", [])
    assert answers["entries"] > 0
    assert b"somebody is here" in (tmp_path / "answers.db").read_bytes()
    assert not [one for one in purge(capsys, tmp_path, "text=zora")[1] if one["kind"] == "answers"]


def test_what_is_escaped_in_a_prompt_is_found_and_what_was_answered_too(tmp_path, capsys):
    lived(tmp_path)
    file = AnswerFile(tmp_path / "answers.db")
    ask = Write((Message("user", 'a "Zora\nQuill"'),), 10)
    file.put("m", "m", ask, Answer(text="no"), usable=True)
    ask = Write((Message("user", "who?"),), 10)
    file.put("m", "m", ask, Answer(text="It is zora\nquill."), usable=True)
    file.close()
    _, files = purge(capsys, tmp_path, "text=zora\nquill")
    assert [one["entries"] for one in files if one["kind"] == "answers"] == [2]


def test_files_of_answers_elsewhere_are_named_or_in_the_settings(tmp_path, capsys, monkeypatch):
    (tmp_path / "away").mkdir()
    monkeypatch.chdir(tmp_path / "away")
    lived(tmp_path)
    asked(tmp_path / "away" / "one.db", f"{NAME} is here")
    asked(tmp_path / "away" / "two.db", f"{NAME} is here")
    (tmp_path / "away" / "jitrl.toml").write_text('[model.options]\ncache = "one.db"\n')
    code, _ = purge(capsys, tmp_path, "text=zora", more=["--answers", "two.db"])
    assert (code, left(tmp_path)) == (0, [])


def test_prompts_of_a_principal_cannot_be_told_and_the_receipt_says_so(tmp_path, capsys):
    lived(tmp_path)
    asked(tmp_path / "answers.db", f"{NAME} is here")
    code, files = purge(capsys, tmp_path, "principal=zora")
    (answers,) = (one for one in files if one["kind"] == "answers")
    assert (code, answers["state"]) == (1, "left")
    assert "does not say whose prompts" in answers["why"]


DYING = """
import os, sys
from jitrl.purging import purged
from jitrl.stores.sqlite import SQLiteStore

def die(event, args):
    if event == "sqlite3.connect" and os.fspath(args[0]).endswith(sys.argv[2]):
        os._exit(9)

with SQLiteStore(sys.argv[1]) as store:
    sys.addaudithook(die)
    purged(store, [sys.argv[3]])
"""


def dies(tmp_path, file, subject):
    """A purge that is killed when it comes to a file beside the memory."""
    command = [sys.executable, "-c", DYING, str(tmp_path / "shop.db"), file, subject]
    assert subprocess.run(command, check=False).returncode == 9


@pytest.mark.parametrize("subject", ["principal=zora", "task=help", "episode=other"])
def test_a_purge_that_was_killed_before_the_reports_is_ended_by_the_next(tmp_path, capsys, subject):
    lived(tmp_path, once="a")
    lived(tmp_path, "another", "bob", "bob-1", "somebody is here")
    dies(tmp_path, ".said", "principal=zora")
    with SQLiteStore(tmp_path / "shop.db", readonly=True) as store:
        assert [one.key for one in store.summaries()] == ["another"]
    assert "shop.said" in left(tmp_path)
    code, files = purge(capsys, tmp_path, subject)
    assert code == 0
    reports = [one["entries"] for one in files if one["kind"] == "reports"]
    assert reports == [2 if subject == "task=help" else 1]
    assert left(tmp_path) == []
    assert not list(tmp_path.glob("*.purging*"))


class Fixed:
    """An embedder."""

    name = "fixed"

    def embed(self, texts):
        return np.ones((len(texts), 1), np.float32)


def test_vectors_go_with_the_purge_after_the_one_that_was_killed_before_them(tmp_path, capsys):
    lived(tmp_path)
    made = vectors.Remembered(Fixed(), tmp_path / vectors.FILE)
    made.embed(["of her"])
    made.close()
    dies(tmp_path, vectors.FILE, "principal=zora")
    code, files = purge(capsys, tmp_path, "principal=zora")
    assert (code, [one["state"] for one in files if one["kind"] == "vectors"]) == (0, ["clean"])


def test_a_file_of_answers_counts_as_left_until_it_is_deleted(tmp_path, capsys):
    lived(tmp_path)
    asked(tmp_path / "answers.db", f"{NAME} is here")
    assert purge(capsys, tmp_path, "principal=zora")[0] == 1
    assert purge(capsys, tmp_path, "principal=zora")[0] == 1
    (tmp_path / "answers.db").unlink()
    asked(tmp_path / "answers.db", "asked after the purge")
    assert purge(capsys, tmp_path, "principal=zora")[0] == 0
    assert not list(tmp_path.glob("*.purging*"))


def test_the_process_that_purges_holds_nothing_of_the_subject(tmp_path):
    mark = "".join(["Zora", " ", "Quill", " of 77"])
    with jitrl.open(tmp_path / "m.db") as memory:
        with memory.episode("help", key="a") as episode:
            episode.decide(f"{mark} is here", {"yes": 1.0, f"tell({mark})": 0.0})
            episode.finish(1.0)
        with memory.episode("help", key="b") as episode:
            episode.decide(f"{mark} is here", {"yes": 1.0, f"tell({mark})": 0.0})
            episode.finish(1.0)
        del episode
        memory.purge(f"text={mark}")
        with memory.episode("help", key="c") as episode:
            episode.decide("somebody is here", {"yes": 1.0, "no": 0.0})
        gc.collect()
        held = _texts(memory)
    assert not [text for text in held if mark in text]


def _texts(root):
    """All texts that can be reached from ``root``."""
    seen, todo, found = set(), [root], []
    while todo:
        for one in gc.get_referents(todo.pop()):
            if id(one) in seen or isinstance(one, type) or type(one).__name__ == "module":
                continue
            seen.add(id(one))
            if isinstance(one, str):
                found.append(one)
            elif type(one).__name__ not in ("function", "frame", "traceback", "code"):
                todo.append(one)
    return found
