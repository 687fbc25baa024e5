"""`jitrl bench judge` from the command line to the picture."""

from pathlib import Path


def test_the_curve_is_measured_shown_and_drawn(jitrl):
    small = ("--tasks", "6", "--seeds", "1", "--attempts", "5")
    done = jitrl("bench", "judge", "--what", "steps", *small, "--chart", "j.svg", "--json")
    assert done.code == 0, done.err
    assert done.data["schema"] == "jitrl.bench.judge/2"
    names = [result["arm"]["name"] for result in done.data["results"]]
    assert names[:3] == ["nothing learned", "static", "environment"]
    assert "told, steps, 0.7" in done.err
    assert Path("j.svg").read_text(encoding="utf-8").startswith("<svg")


def test_a_picture_of_another_kind_is_refused_before_anything_is_played(jitrl):
    done = jitrl("bench", "judge", "--chart", "j.png")
    assert done.code == 2
    assert "use .svg" in done.err
