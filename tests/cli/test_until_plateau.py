"""`jitrl run --until-plateau`: it ends, says so, and no comparison mixes lengths unasked."""

from pathlib import Path

TOY = ("--env", "toy", "--env-options", "tasks=8,size=2", "--model", "scripted")
LONG = (*TOY, "--attempts", "9", "--until-plateau", "2", "--set", "run.margin=1")


def test_a_run_that_ended_early_says_where_and_by_which_gain(jitrl):
    done = jitrl("run", *LONG, "--agent", "static", "--out", "r", "--json")
    assert done.code == 0
    assert (done.data["shape"]["attempts"], done.data["rows"][0]["stopped"]["attempts"]) == (4, 4)
    said = " ".join(jitrl("run", *LONG, "--agent", "static", "--out", "r").err.split())
    assert "ended at a plateau after 4 of 9 attempts: the last 2 minus the 2 before" in said
    report = jitrl("report", "r", "--lang", "zh", "--out", "r.md")
    assert report.code == 0
    assert "因进入平台期而结束" in Path("r.md").read_text(encoding="utf-8")


def test_arms_of_a_comparison_keep_their_length_unless_that_is_asked(jitrl):
    refused = jitrl("compare", *LONG, "--agents", "static,jitrl", "--out", "both")
    assert (refused.code, "--differ attempts" in refused.err) == (3, True)
    asked = ("--differ", "attempts")
    done = jitrl("compare", *LONG, "--agents", "static,jitrl", "--out", "both", *asked, "--json")
    assert (done.code, done.data["shape"]["attempts"]) == (0, 4)


def test_a_run_that_could_never_tell_is_refused(jitrl):
    done = jitrl("run", *LONG, "--tasks", "3", "--out", "r")
    assert (done.code, "run.plateau needs 6 tasks or seeds" in done.err) == (3, True)
