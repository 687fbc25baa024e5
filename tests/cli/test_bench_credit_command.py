"""`jitrl bench credit` from the command line."""


def test_ways_to_name_decisive_steps_are_measured_and_shown(jitrl):
    done = jitrl("bench", "credit", "--world", "toy", "--tasks", "2", "--seeds", "1", "--json")
    assert done.code == 0, done.err
    assert done.data["schema"] == "jitrl.bench.credit/3"
    assert done.err.startswith("credit: 4 rounds\n")
    first = done.data["results"][0]
    assert (first["arm"]["name"], first["precision"]["mean"]) == ("contrast", 1.0)
    assert "toy, errors: own" in done.err
    assert "mixed-steps, .9" in done.err
    assert "were asked for" not in done.err


def test_fewer_tasks_than_were_asked_for_are_said(jitrl):
    done = jitrl("bench", "credit", "--world", "toy", "--tasks", "999", "--seeds", "1", "--json")
    there = len(done.data["protocol"]["tasks"]["toy"])
    said = f"999 tasks of toy that are long enough were asked for; there are {there}\n"
    assert 0 < there < 999
    assert said in done.err


def test_what_was_done_is_kept_and_goes_on_with_its_time(jitrl, tmp_path):
    kept = tmp_path / "kept"
    small = ("--world", "toy", "--tasks", "2", "--seeds", "1", "--json", "--out", str(kept))
    first, again = (jitrl("bench", "credit", *small) for _ in range(2))
    assert first.code == again.code == 0, first.err
    assert len(list(kept.iterdir())) == 2
    assert first.data["results"] == again.data["results"]
    assert first.data["protocol"] == again.data["protocol"]
    assert "2 tasks of toy, 1 seed; 0 rounds could not be drawn;" in again.err
