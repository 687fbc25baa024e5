"""What the built-in redactors find, and what they leave alone, in English and Chinese."""

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitrl.errors import ConfigError
from jitrl.redaction.named import BUILT_IN, placeholders
from jitrl.redaction.persons import is_iban, is_luhn, is_resident

ALL = tuple(BUILT_IN)
FOUND = {
    "key": [
        "sk-proj-abcdefghijklmnop1234567890",
        "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUv",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "github_pat_11ABCDEFG0123456789_abcdefghijklmnopqrstuvwxyz",
        "glpat-abcdefghij0123456789",
        "xoxb-123456789012-abcdefghijkl",
        "AKIAIOSFODNN7EXAMPLE",
        "LTAI5tAbCdEfGhIjKlMnOp",
        "AIzaSyA0123456789abcdefghijklmnopqrstuv",
        "hf_abcdefghijklmnopqrstuvwxyzABCDEF",
        "sk_live_0123456789abcdefghij",
        "SG.abcdefghijklmnop.qrstuvwxyz012345",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlMQ",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIB\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk",  # cut off
    ],
    "card": [
        "4111111111111111",
        "4111 1111 1111 1111",
        "5500-0000-0000-0004",
        "378282246310005",
        "3782 822463 10005",
        "6212345678901265",
    ],
    "mail": ["alice@example.com", "Alice.B+tag@mail.example.co.uk", "a@b.cn"],
    "phone": [
        "+44 20 7946 0958",
        "+8613812345678",
        "13812345678",
        "138 1234 5678",
        "8613812345678",
    ],
    "id": [
        "11010519491231002X",
        "GB82 WEST 1234 5698 7654 32",
        "DE89370400440532013000",
        "078-05-1120",
    ],
}
AROUND = [
    "{}",
    "use {} now",
    "（{}）",
    "请用{}办理。",
    "是{}，然后",
    "“{}”",
    "send(<textbox[To]>, {})",
]


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize(("kind", "secret"), [(k, s) for k, some in FOUND.items() for s in some])
def test_a_secret_is_found_wherever_it_stands(kind, secret, around):
    done = placeholders(ALL, ":memory:").found(around.format(secret))
    assert secret not in done.text
    assert [p[1:].split(":")[0] for p in done.secrets] == [kind]
    assert around.format(next(iter(done.secrets))) == done.text


@pytest.mark.parametrize(
    "text",
    [
        "order 4111111111111112 was paid",  # wrong check digit
        "1234567890123456",  # no card begins with 1
        "0000000000000000 4444444444444444",
        "version 13812345678.5",
        "id 3f2504e0-4f89-41d3-9a0c-0305e82c3301",
        "task-sk-short risk-averse-portfolio-of-several-years",
        "Basic authentication is on. Bearer of good news",
        "user@host and @mention, a@b",
        "110105194912310021",  # wrong check sign
        "http://host:8080/path@x",
        "数量 20240101123456，编号 A-000017",
        "{mail:0123456789ab} {password:0123456789ab}",
        "Password: required. Pass: enter",
    ],
)
def test_what_only_looks_like_a_secret_is_left_alone(text):
    assert placeholders(ALL, ":memory:").text(text) == text


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("password: hunter2", "hunter2"),
        ("api_key = 'a1b2c3d4'", "a1b2c3d4"),
        ("密码：abc123！", "abc123"),
        ("验证码是884213", "884213"),
        ('fill(<textbox[Password]>, "hunter22")', "hunter22"),
        ("Authorization: Bearer abcdef1234567890abcd", "abcdef1234567890abcd"),
        ("https://bob:s3cr3t@host/x", "s3cr3t"),
    ],
)
def test_what_follows_a_word_for_a_secret_is_hidden_and_the_word_stays(text, hidden):
    done = placeholders(ALL, ":memory:").found(text)
    assert list(done.secrets.values()) == [hidden]
    assert text.replace(hidden, next(iter(done.secrets))) == done.text


def test_equal_secrets_get_equal_placeholders_however_they_are_written():
    text = placeholders(ALL, ":memory:").text
    assert (
        text("Alice@Example.com")
        == text("alice@example.com")
        == text("ａｌｉｃｅ＠ｅｘａｍｐｌｅ．ｃｏｍ")
    )
    assert text("4111 1111 1111 1111") == text("4111-1111-1111-1111") == text("4111111111111111")
    assert text("+86 138 1234 5678") == text("13812345678")
    assert text("alice@example.com") != text("bob@example.com")


def test_another_memory_has_another_key_so_placeholders_cannot_be_guessed(tmp_path):
    texts = {placeholders(ALL, str(tmp_path / n)).text("a@b.cn") for n in ("one.db", "two.db")}
    assert len(texts) == 2
    again = placeholders(ALL, str(tmp_path / "one.db")).text("a@b.cn")
    assert again in texts
    assert (tmp_path / "one.db.redaction-key").stat().st_size == 65


def test_no_key_is_made_where_nothing_is_hidden(tmp_path):
    assert placeholders(ALL, str(tmp_path / "m.db")).text("nothing here") == "nothing here"
    assert list(tmp_path.iterdir()) == []


def test_a_card_with_its_check_number_behind_it_is_found():
    done = placeholders(["cards"], ":memory:").found("4111 1111 1111 1111 123")
    assert list(done.secrets.values()) == ["4111 1111 1111 1111"]


@settings(max_examples=200)
@given(st.text(alphabet=string.printable + "邮箱密码：，。＠１２３", max_size=120))
def test_a_second_time_changes_nothing_more(text):
    done = placeholders(ALL, ":memory:")
    assert done.text(done.text(text)) == done.text(text)


@given(st.text(alphabet=string.digits, min_size=12, max_size=18))
def test_exactly_one_check_digit_is_right(digits):
    assert sum(is_luhn(digits + last) for last in string.digits) == 1


def test_check_digits_are_those_of_the_standards():
    assert is_luhn("79927398713")
    assert not is_luhn("79927398714")
    assert is_resident("11010519491231002X")
    assert not is_resident("110105194912310029")
    assert is_iban("GB82WEST12345698765432")
    assert not is_iban("GB82WEST12345698765433")


def test_a_name_that_nobody_offers_is_refused_with_those_that_are_there():
    with pytest.raises(ConfigError, match=r"did you mean 'mails'.*keys, passwords, cards"):
        placeholders(["mail"], ":memory:")
