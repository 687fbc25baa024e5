"""Nothing that is hidden reaches the file, and what was learned is found again all the same."""

import json
from dataclasses import fields, is_dataclass, replace
from typing import Any, get_args

import pytest

import jitrl
from jitrl.cli import main
from jitrl.core.credit import derive_rows
from jitrl.core.sentences import rule_id
from jitrl.errors import ConfigError
from jitrl.redaction.named import placeholders
from jitrl.stores.redacting import RedactingStore
from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.rule_samples import sample_contrast
from jitrl.testing.store_samples import sample_decision, sample_episode
from jitrl.types import RISKS, Basis, Contrast, Outcome, Rule, RuleUse, Scored, Unscored

MAIL, KEY = "alice@example.com", "sk-proj-abcdefghijklmnop1234567890"
SECRETS = (MAIL, KEY, "4111 1111 1111 1111")
KINDS = ["keys", "cards", "mails"]


def written(folder):
    """All bytes of all files, and all that packed decisions hold."""
    raw = b"".join(p.read_bytes() for p in sorted(folder.iterdir()) if p.suffix != ".part")
    for path in folder.glob("*.db"):
        with SQLiteStore(path, readonly=True) as store:
            raw += repr(list(store.decisions())).encode()
    return raw


def spoilt(value: Any) -> Any:
    """``value`` with a secret in every text that may be any."""
    literal = {*get_args(Basis), *RISKS, "terminated", "active", "model", "act", "any"}
    if isinstance(value, str):
        return value if value in literal else f"{value} {MAIL} {KEY}，卡{SECRETS[2]}。"
    if isinstance(value, dict):
        return {spoilt(k): spoilt(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        made = [spoilt(v) for v in value]
        return value._make(made) if hasattr(value, "_make") else type(value)(made)
    if is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in fields(value) if f.name != "seed"]
        return replace(value, **{name: spoilt(getattr(value, name)) for name in names})
    return value


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "m.db"
    with RedactingStore(path, redaction=placeholders(KINDS, str(path))) as store:
        yield store


def nothing_of_it(store, folder):
    store.close()
    raw = written(folder)
    for secret in SECRETS:
        assert secret.encode() not in raw
    assert b"{mail:" in raw
    assert b"{key:" in raw
    with SQLiteStore(folder / "m.db", readonly=True) as plain:
        assert plain.check() == []


def test_no_field_of_an_episode_its_judgment_or_its_rows_writes_a_secret(store, tmp_path):
    episode = spoilt(sample_episode("e1"))
    info = {"answer": [{"said": f"ask {MAIL}"}], f"of {MAIL}": KEY}
    judgment = Scored((1.0, 0.0, 0.5), f"judge of {MAIL}", "test", False, info)
    rows = derive_rows(episode, judgment, gamma=0.5, trusted=frozenset({"test"}))
    assert store.commit(episode, judgment, rows).rows == 3
    more = Unscored(f"could not read {MAIL}", "judge", info)
    store.rederive(episode.key, Outcome(0.5, "human", MAIL, False, MAIL), more, ())
    store.set_status("quarantined", episodes=[episode.key], reason=f"by {MAIL}", principal=MAIL)
    store.configure({"note": MAIL})
    nothing_of_it(store, tmp_path)


def test_no_field_of_a_rule_or_its_evidence_writes_a_secret(store, tmp_path):
    said = f"When {MAIL} writes, use {KEY}"
    rule = Rule(rule_id(said), said, "shop", f"kind {MAIL}", (MAIL,), author=MAIL, evidence=("c1",))
    child = replace(rule, id=rule_id("x"), text="x", parents=(rule.id,))
    contrast = replace(spoilt(sample_contrast("c")), id="c1")
    new = store.add_rules([rule, child], [contrast], reason=f"of {MAIL}", principal=MAIL)
    assert store.set_rule_status("active", [rule.id], reason=MAIL, principal=MAIL) == 1
    assert store.rule(rule.id).id == new[0] != rule.id
    assert store.rule(child.id).parents == (new[0],)
    episode = sample_episode("e1")
    use = RuleUse(rule.id, "e1", told=True, chance=0.5)
    store.commit(episode, Unscored("none"), (), [use])
    assert store.record("e1").uses[0].rule == new[0]
    nothing_of_it(store, tmp_path)


def test_no_name_of_a_snapshot_nor_what_is_said_of_a_rollback_writes_a_secret(store, tmp_path):
    versions = store.versions
    versions.name(f"before {MAIL}", reason=f"asked by {MAIL}", principal=KEY)
    episode = sample_episode("e1")
    judgment = Scored((1.0, 0.0, 0.5), "judge", "test")
    rows = derive_rows(episode, judgment, gamma=0.5, trusted=frozenset({"test"}))
    store.commit(episode, judgment, rows)
    assert versions.number(f"before {MAIL}") == 0
    moved = versions.rollback(0, reason=f"{MAIL} complained", principal=KEY)
    assert moved.first
    versions.undo(moved.first, moved.last, reason=f"{MAIL} was wrong", principal=KEY)
    nothing_of_it(store, tmp_path)


def test_whatever_a_field_is_called_its_text_is_looked_at():
    clean = placeholders(KINDS, ":memory:").record
    for value in (sample_decision("a"), sample_episode("e"), Contrast("c", "s", "t")):
        found = repr(clean(spoilt(value)))
        assert not any(secret in found for secret in SECRETS)
    assert clean(episode := sample_episode("e")) is episode


def play(memory, key, who):
    with memory.episode(f"Refund {who}", key=key) as episode:
        chosen = episode.decide(f"inbox of {who}", {f"send({who})": 0.0, "stop()": 0.5})
        episode.finish(chosen.action.startswith("send"), principal=who)
    return chosen


def test_what_was_learned_of_a_hidden_address_is_found_again(tmp_path):
    with jitrl.open(tmp_path / "m.db", redact=KINDS, seed=3) as memory:
        learned = [play(memory, f"r{n}", MAIL).action for n in range(6)]
        assert learned[-3:] == [f"send({MAIL})"] * 3  # to be executed, so without placeholders
        other = play(memory, "other", "bob@example.com")
        assert all(c.visits == 0 for c in other.candidates if "bob" in c.action)
        told = memory.explain("r5#0")
        assert told.exact
        assert MAIL not in repr(told)
    assert MAIL.encode() not in written(tmp_path)


def test_an_episode_whose_key_is_hidden_is_found_by_its_key(tmp_path):
    with jitrl.open(tmp_path / "m.db", redact=KINDS) as memory:
        play(memory, f"{MAIL}/1", MAIL)
        assert memory.outcome(f"{MAIL}/1", 0.25).rows == 1
        assert memory.quarantine(episodes=[f"{MAIL}/1"]) == 1
        assert memory.explain(f"{MAIL}/1#0").exact


def test_candidates_that_differ_by_the_writing_of_a_secret_stay_two(tmp_path):
    with jitrl.open(tmp_path / "m.db", redact=KINDS) as memory, memory.episode("t") as episode:
        given = {"send(a@b.cn)": 0.0, "send(A@b.cn)": 9.0}
        chosen = episode.decide("s", given)
        assert [c.action for c in chosen.candidates] == list(given)
        assert chosen.action == "send(A@b.cn)"


def test_an_action_of_the_memory_comes_back_with_the_secret_that_the_caller_names(tmp_path):
    with jitrl.open(tmp_path / "m.db", redact=KINDS, rule={"memory_only": "zero"}) as memory:
        with memory.episode("t") as episode:
            episode.decide("inbox", {f"send({MAIL})": 0.0})
            episode.finish(1.0)
        with memory.episode("t") as episode:
            chosen = episode.decide("inbox", {"stop()": -9.0}, allowed=["stop()", f"send({MAIL})"])
            assert chosen.action == f"send({MAIL})"
            episode.finish(1.0)
    assert MAIL.encode() not in written(tmp_path)


def test_by_default_keys_and_cards_are_hidden_and_addresses_are_not(tmp_path):
    with jitrl.open(tmp_path / "m.db") as memory, memory.episode("t") as episode:
        episode.decide(f"{KEY} {SECRETS[2]} {MAIL}", {"a": 0.0})
        episode.finish(1.0)
    raw = written(tmp_path)
    assert KEY.encode() not in raw
    assert SECRETS[2].encode() not in raw
    assert MAIL.encode() in raw


def test_nothing_is_hidden_where_the_setting_is_empty(tmp_path):
    with jitrl.open(tmp_path / "m.db", redact=[]) as memory, memory.episode("t") as episode:
        episode.decide(KEY, {"a": 0.0})
        episode.finish(1.0)
    assert KEY.encode() in written(tmp_path)


def test_a_redactor_that_is_not_there_is_refused_before_anything_is_made(tmp_path):
    with pytest.raises(ConfigError, match="no redactor is named"):
        jitrl.open(tmp_path / "m.db", redact=["names"])
    assert list(tmp_path.iterdir()) == []


def test_a_redactor_of_another_package_is_an_entry_point(tmp_path, monkeypatch):
    info = tmp_path / "installed" / "jitrl_orders-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: jitrl-orders\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[jitrl.redactors]\norders = orders_found:Orders\n")
    (tmp_path / "installed" / "orders_found.py").write_text(
        "import re\nfrom jitrl.ports.redaction import Secret\n\n\nclass Orders:\n"
        "    name = 'order'\n\n    def find(self, text):\n"
        "        for found in re.finditer('SO-[0-9]+', text):\n"
        "            yield Secret(found.start(), found.end(), found[0])\n"
    )
    monkeypatch.syspath_prepend(tmp_path / "installed")
    (tmp_path / "here").mkdir()
    opened = jitrl.open(tmp_path / "here/m.db", redact=["orders"])
    with opened as memory, memory.episode("t") as episode:
        assert episode.decide("order SO-4711", {"ship(SO-4711)": 0.0}).action == "ship(SO-4711)"
        episode.finish(1.0)
    raw = written(tmp_path / "here")
    assert b"SO-4711" not in raw
    assert b"{order:" in raw


def command(*args):
    with pytest.raises(SystemExit) as end:
        main([str(arg) for arg in args])
    return end.value.code or 0


def test_exports_and_imports_hide_what_an_older_file_holds(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    said = f"When {MAIL} writes, answer first"
    with SQLiteStore("old.db") as store:
        episode = spoilt(sample_episode("e1"))
        judgment = Scored((1.0, 0.0, 0.5), "judge", "test", False, {"said": MAIL})
        store.add_rules([Rule(rule_id(said), said, "shop", author="human")])
        rows = derive_rows(episode, judgment, gamma=0.5, trusted=frozenset({"test"}))
        store.commit(episode, judgment, rows, [RuleUse(rule_id(said), episode.key, True, 0.5)])
    assert command("memory", "export", "old.db", "default.jsonl") == 0
    default = (tmp_path / "here/default.jsonl").read_bytes()
    assert KEY.encode() not in default
    assert MAIL.encode() in default
    monkeypatch.setenv("JITRL_MEMORY_REDACT", "keys,cards,mails")
    assert command("memory", "export", "old.db", "new.jsonl") == 0
    lines = (tmp_path / "here/new.jsonl").read_bytes()
    assert not any(secret.encode() in lines for secret in SECRETS)
    rule, found = map(json.loads, lines.splitlines())
    assert found["uses"][0]["rule"] == rule["id"] == rule_id(rule["text"])
    assert command("memory", "import", "new.db", "default.jsonl", "--trust") == 0
    (tmp_path / "here/default.jsonl").unlink()
    (tmp_path / "here/old.db").unlink()
    assert not any(secret.encode() in written(tmp_path / "here") for secret in SECRETS)
    assert command("memory", "check", "new.db") == 0
    sentence = f"When {MAIL} calls, write it down first"
    assert command("rules", "add", "new.db", sentence, "--scope", "shop") == 0
    assert MAIL.encode() not in written(tmp_path / "here")
