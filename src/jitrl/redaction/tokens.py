"""Built-in kind ``keys``: what lets in whoever has it, recognized by its form alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jitrl.ports.redaction import Secret

_FORMS = {
    "PRIVATE KEY": r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----"
    r"(?:[\s\S]{0,20000}?-----END (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----"
    r"|[A-Za-z0-9+/=\r\n]{0,20000})",
    "sk-": r"sk-[A-Za-z0-9_-]{20,}",  # OpenAI, Anthropic, DeepSeek, Moonshot and others
    "k_": r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}",
    "whsec_": r"whsec_[A-Za-z0-9+/=]{24,}",
    "gh": r"gh[pousr]_[A-Za-z0-9]{30,}",
    "github_pat_": r"github_pat_[A-Za-z0-9_]{40,}",
    "glpat-": r"glpat-[A-Za-z0-9_-]{20,}",
    "xox": r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
    "AKI": r"AKI[AD][A-Za-z0-9]{16,40}",
    "ASIA": r"ASIA[A-Z0-9]{16}",
    "LTAI": r"LTAI[A-Za-z0-9]{12,26}",
    "AIza": r"AIza[A-Za-z0-9_-]{35}",
    "ya29.": r"ya29\.[A-Za-z0-9_-]{20,}",
    "hf_": r"hf_[A-Za-z0-9]{30,}",
    "npm_": r"npm_[A-Za-z0-9]{36}",
    "pypi-": r"pypi-[A-Za-z0-9_-]{50,}",
    "dop_v1_": r"dop_v1_[a-f0-9]{64}",
    "SG.": r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    "eyJ": r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",  # JSON web tokens
}
"""What must be in a text that holds one → its form. Looking for a fixed text is far cheaper."""
_FORM = {mark: re.compile(form) for mark, form in _FORMS.items()}
_SENT = re.compile(r"\b(?:[Bb]earer|[Bb]asic|BEARER|BASIC)[ ]+([A-Za-z0-9._~+/-]{16,}=*)")
_IN_URL = re.compile(r"://[^\s/:@{}<>\"']{0,200}:([^\s/@{}<>\"']{1,200})@")
_IS_SECRET = re.compile(r"[0-9]")


class Keys:
    """API keys and access tokens of well-known forms, JSON web tokens, private keys, `Bearer` and
    `Basic` credentials, and passwords inside addresses (`https://user:password@host`).
    """

    name = "key"

    def find(self, text: str) -> Iterator[Secret]:
        """By their form; what merely looks random is none."""
        for mark, form in _FORM.items():
            for found in form.finditer(text) if mark in text else ():
                before = text[: found.start()][-1:]
                if not (before.isascii() and before.isalnum()):
                    yield Secret(found.start(), found.end(), found[0])
        if "earer" in text or "asic" in text or "BEARER" in text or "BASIC" in text:
            for found in _SENT.finditer(text):
                if _IS_SECRET.search(found[1]):
                    yield Secret(found.start(1), found.end(1), found[1])
        if "://" in text and "@" in text:
            for found in _IN_URL.finditer(text):
                yield Secret(found.start(1), found.end(1), found[1])


_WORDS = ("pass", "pwd", "pin", "secret", "token", "key", "密码", "口令", "密钥", "令牌", "验证码")
_NAMED = re.compile(
    r"(?:pass(?:word|wd|phrase)?|pwd|pin|secret|token|(?:api|access|secret|auth)[ _-]?key"
    r"|密码|口令|密钥|令牌|验证码)"
    r"(?:[\"']?[ ]?(?:[:=]|=>|是|为)[ ]?|[^\w\[\]<>(),]{0,2}\]?>?,[ ]?)"
    r"[\"']?([^\s\"'<>{}\[\](),;，。；、]{4,200})",
    re.IGNORECASE,
)


class Passwords:
    """What follows a word for a password or key: `password: …`, `api_key=…`, `密码：…`, and what is
    typed into a field of such a name.
    """

    name = "password"

    def find(self, text: str) -> Iterator[Secret]:
        """Values with a digit or a sign in them; words alone are taken for prose."""
        small = text.lower()
        for found in _NAMED.finditer(text) if any(word in small for word in _WORDS) else ():
            value = found[1].rstrip(".!?:")
            if not value.isalpha():
                yield Secret(found.start(1), found.start(1) + len(value), value)
