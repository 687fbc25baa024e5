"""Keys of callers: told once, kept as digests, and of no use once revoked."""

import json
import sys
import threading

import pytest

from jitrl.errors import ConfigError, InputError
from jitrl.service.errors import Unknown
from jitrl.service.keys import SCOPES, Keys


@pytest.fixture
def keys(tmp_path):
    return Keys(tmp_path / "keys.json")


def test_a_key_is_found_by_its_text_alone(keys):
    key, text = keys.add("agent", "shop", ["read", "decide"])
    assert keys.find(text) == key
    assert key.scopes == ("decide", "read")
    for other in ("", text[:-1], text + "x", text.upper(), f"jitrl_{key.id}_", "jitrl__", key.id):
        assert keys.find(other) is None


def test_the_file_holds_no_secret_and_others_cannot_read_it(keys):
    key, text = keys.add("agent", "shop", ["decide"])
    assert text.split("_", 2)[2] not in keys.path.read_text()
    assert json.loads(keys.path.read_text())["keys"][0]["id"] == key.id
    if sys.platform != "win32":
        assert keys.path.stat().st_mode & 0o077 == 0


def test_a_revoked_key_is_of_no_use_from_the_next_call_of_every_process_on(keys):
    key, text = keys.add("agent", "shop", ["decide"])
    other = Keys(keys.path)
    assert other.find(text) == key
    keys.revoke(key.id)
    assert other.find(text) is None
    assert other.all()[0].revoked is not None
    with pytest.raises(Unknown):
        keys.revoke("nobody's")


def test_a_key_may_do_what_its_scopes_say(keys):
    trusted, _ = keys.add("checker", "shop", ["report:trusted"])
    agent, _ = keys.add("agent", "shop", ["report:self"])
    admin, _ = keys.add("ops", "shop", ["admin"])
    assert [scope for scope in SCOPES if trusted.may(scope)] == ["report:self", "report:trusted"]
    assert [scope for scope in SCOPES if agent.may(scope)] == ["report:self"]
    assert all(admin.may(scope) for scope in SCOPES)


@pytest.mark.parametrize("tenant", ["", "A", "a/b", "..", "a.db", "con", "keys", "-a", "x" * 64])
def test_a_tenant_is_one_that_a_file_can_be_named_by(keys, tenant):
    with pytest.raises(InputError, match="tenant"):
        keys.add("agent", tenant, ["decide"])


def test_an_unknown_scope_is_named_with_those_there_are(keys):
    with pytest.raises(InputError, match=r"did you mean .*decide"):
        keys.add("agent", "shop", ["decid"])
    for name, scopes in (("agent", []), ("", ["decide"]), ("a\nb", ["decide"])):
        with pytest.raises(InputError):
            keys.add(name, "shop", scopes)


def test_a_file_that_is_none_of_ours_is_refused(keys):
    for text in ("[]", '{"schema": "jitrl.keys/9"}', '{"schema": "jitrl.keys/1", "kees": []}'):
        keys.path.write_text(text)
        with pytest.raises(ConfigError, match="keys"):
            Keys(keys.path).all()


def test_keys_made_at_once_are_all_kept(keys):
    threads = [
        threading.Thread(target=lambda n=n: Keys(keys.path).add(f"{n}", "shop", ["decide"]))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {key.name for key in keys.all()} == {f"{n}" for n in range(8)}
