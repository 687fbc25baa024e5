"""What an agent saw at a step, as the journal keeps it."""

import pytest

import jitrl

TICKET = "Ann <ann@example.com>, card 4111 1111 1111 1111, writes: where is my order?"


@pytest.mark.parametrize("redact", [[], ["mails"]])
def test_what_was_seen_is_kept_without_secrets_whatever_is_redacted_elsewhere(tmp_path, redact):
    path = tmp_path / "m.db"
    with jitrl.open(path, redact=redact) as memory:
        with memory.episode("answer", key="e") as episode:
            episode.decide("a ticket", {"look": 0.0, "wait": 0.0}, seen=TICKET)
            episode.finish(True)
        page = memory.store.episode("e").info["pages"][0]
    assert "where is my order?" in page
    assert "{mail" in page
    assert "{card}" in page
    assert b"ann@example.com" not in path.read_bytes()
    assert b"4111 1111" not in path.read_bytes()


@pytest.mark.parametrize("seen", ["x" * 2_000_000, "half \ud800 a pair"])
def test_what_was_seen_never_costs_a_decision(seen):
    with jitrl.open(":memory:") as memory:
        with memory.episode("answer", key="e") as episode:
            assert episode.decide("a ticket", {"look": 0.0}, seen=seen).action == "look"
            episode.finish(True)
        assert len(memory.store.episode("e").info["pages"][0]) < 2100


def test_a_long_page_loses_its_middle_and_no_half_of_a_secret_is_left():
    with jitrl.open(":memory:") as memory:
        with memory.episode("answer", key="e") as episode:
            seen = "x " * 496 + "ann@example.com" + " y" * 2000
            episode.decide("a ticket", {"look": 0.0}, seen=seen)
            episode.finish(True)
        page = memory.store.episode("e").info["pages"][0]
    assert "characters left out" in page
    assert "ann" not in page
    assert len(page) < 2100
