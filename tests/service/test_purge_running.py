"""A purge reaches episodes that were running when a service ended, and names those that run."""

import json

import pytest

from jitrl.cli import main
from jitrl.service.desk import Desk
from jitrl.service.seats import Limits

NAME = "Zora Quill"


def opened(tmp_path):
    return Desk(tmp_path / "shop.db", limits=Limits(deadline=30.0), is_kept=True)


def run(desk, key, state="page", task="t", principal=""):
    desk.episodes.start(task, key=key, principal=principal)
    desk.episodes.decide(key, state, {"yes": 1.0, "no": 0.0})


def purge(tmp_path, capsys, *subjects, more=()):
    """The exit code, and the running episodes in the receipt."""
    named = [one for subject in subjects for one in ("--subject", subject)]
    with pytest.raises(SystemExit) as end:
        main(["memory", "purge", str(tmp_path / "shop.db"), *named, *more, "--json"])
    files = json.loads(capsys.readouterr().out)["files"]
    return end.value.code, [one for one in files if one["kind"] == "running"]


def texts(tmp_path):
    return b"".join(path.read_bytes() for path in (tmp_path / "shop.running").glob("*.episode"))


@pytest.mark.parametrize(
    "subject", [f"text={NAME}", "text=zora quill", "principal=zora", "episode=hers", "task=help"]
)
def test_a_run_that_a_service_left_is_deleted_and_others_go_on(tmp_path, capsys, subject):
    with opened(tmp_path) as desk:
        run(desk, "hers", f"{NAME} is here", task="help", principal="zora")
        run(desk, "another")
    code, (cleaned,) = purge(tmp_path, capsys, subject)
    assert (code, cleaned["state"]) == (0, "deleted")
    assert NAME.encode() not in texts(tmp_path)
    with opened(tmp_path) as desk:
        assert (len(desk.roster), desk.episodes.find("another").steps) == (1, 1)


def test_a_run_that_was_rewarded_under_a_key_with_the_name_is_deleted(tmp_path, capsys):
    with opened(tmp_path) as desk:
        run(desk, "hers")
        desk.episodes.reward("hers", 1.0, once=f"client/{NAME}")
    code, (cleaned,) = purge(tmp_path, capsys, f"text={NAME}")
    assert (code, cleaned["state"]) == (0, "deleted")
    assert NAME.encode() not in texts(tmp_path)


def test_a_run_that_is_torn_within_the_name_is_found(tmp_path, capsys):
    with opened(tmp_path) as desk:
        run(desk, "hers", f"{NAME} is here")
    (file,) = (tmp_path / "shop.running").glob("*.episode")
    data = file.read_bytes()
    file.write_bytes(data[: data.index(NAME.encode()) + len(NAME)])
    code, (cleaned,) = purge(tmp_path, capsys, f"text={NAME}")
    assert (code, cleaned["state"], file.exists()) == (0, "deleted", False)


def test_a_run_that_a_service_has_open_is_named_and_the_next_purge_ends_it(tmp_path, capsys):
    with opened(tmp_path) as desk:
        run(desk, "hers", f"{NAME} is here")
        code, (cleaned,) = purge(tmp_path, capsys, f"text={NAME}")
        assert (code, cleaned["state"]) == (1, "left")
        assert "a service has it running" in cleaned["why"]
        assert desk.episodes.find("hers").status == "running"
        desk.episodes.close("hers")
        code, left = purge(tmp_path, capsys, f"text={NAME}")
        assert (code, left) == (0, [])


def test_a_dry_run_says_which_would_be_deleted(tmp_path, capsys):
    with opened(tmp_path) as desk:
        run(desk, "hers", f"{NAME} is here")
    code, (cleaned,) = purge(tmp_path, capsys, f"text={NAME}", more=["--dry-run"])
    assert (code, cleaned["state"]) == (0, "left")
    assert NAME.encode() in texts(tmp_path)


def test_nobody_elses_run_keeps_a_purge_from_being_complete(tmp_path, capsys):
    with opened(tmp_path) as desk:
        run(desk, "another")
        assert purge(tmp_path, capsys, f"text={NAME}") == (0, [])
