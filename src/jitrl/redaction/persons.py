"""Built-in kinds ``cards``, ``mails``, ``phones``, ``ids``: what leads to a person or an account.

Numbers count only with the right check digits, so that an order number is not taken for one.
Nothing here relies on blanks between words, which Chinese has none of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jitrl.ports.redaction import Secret

# What stands before is looked at after the first sign, so that the search runs over digits alone.
_CARD = re.compile(
    r"[2-6](?<![\dA-Za-z.-].)"
    r"(?:\d{12,18}|\d{3}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3}(?!\d))?|[47]\d\d([ -])\d{6}\2\d{5})"
    r"(?![\dA-Za-z]|[.-]\d)"
)
_WHOLE = 19  # characters of a card in groups; three digits more may be its check number
_SEPARATORS = str.maketrans("", "", " -.()")


class Cards:
    """Payment cards: 13 to 19 digits, with blanks or hyphens between them, whose last is right
    (Luhn) and whose first is that of a card (2 to 6).
    """

    name = "card"

    def find(self, text: str) -> Iterator[Secret]:
        """By form and check digit."""
        for found in _CARD.finditer(text):
            for length in (len(found[0]), _WHOLE):
                digits = found[0][:length].translate(_SEPARATORS)
                if is_luhn(digits) and len(set(digits)) > 1:
                    yield Secret(found.start(), found.start() + length, digits)
                    break


def is_luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of the others (ISO/IEC 7812-1, annex B)."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        number = int(digit) * (1 + place % 2)
        total += number - 9 if number > 9 else number
    return total % 10 == 0


_MAIL = re.compile(
    r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9](?:[A-Za-z0-9._%+-]{0,62}[A-Za-z0-9_%+-])?"
    r"@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9])"
)


class Mails:
    """Mail addresses; upper and lower case are one."""

    name = "mail"

    def find(self, text: str) -> Iterator[Secret]:
        """By form."""
        if "@" in text:
            for found in _MAIL.finditer(text):
                yield Secret(found.start(), found.end(), found[0].lower())


_PHONE = re.compile(
    r"\+(?<![A-Za-z0-9+].)[1-9](?:[ .()-]{0,2}\d){7,14}(?!\d)"
    r"|[18](?<![\dA-Za-z.+-].)(?:(?<=8)6[ -]?1|(?<=1))[3-9]\d(?:[ -]?\d{4}){2}"
    r"(?![\dA-Za-z]|[.-]\d)"
)


class Phones:
    """Telephone numbers: international ones with their `+`, and Chinese mobile numbers."""

    name = "phone"

    def find(self, text: str) -> Iterator[Secret]:
        """By form."""
        for found in _PHONE.finditer(text):
            digits = found[0].translate(_SEPARATORS)
            own = digits.removeprefix("+").removeprefix("86")
            is_chinese = len(own) == 11 and own[0] == "1"
            yield Secret(found.start(), found.end(), own if is_chinese else digits)


_RESIDENT = re.compile(r"[1-9](?<![\dA-Za-z.-].)\d{5}(?:18|19|20)\d{9}[\dXx](?![\dA-Za-z])")
_IBAN = re.compile(r"[A-Z](?<![A-Za-z0-9].)[A-Z]\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?")
_SOCIAL = re.compile(
    r"[0-8](?<![\d-].)(?<!\d\d)\d\d(?<!000|666)-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])"
)
_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)


class Ids:
    """Numbers of persons and accounts: Chinese resident ids (GB 11643), IBANs (ISO 13616), US
    social security numbers.
    """

    name = "id"

    def find(self, text: str) -> Iterator[Secret]:
        """By form, and by check digits where there are some."""
        for found in _RESIDENT.finditer(text):
            if is_resident(found[0]):
                yield Secret(found.start(), found.end(), found[0].upper())
        for found in _IBAN.finditer(text):
            number = found[0].replace(" ", "")
            if 15 <= len(number) <= 34 and is_iban(number):
                yield Secret(found.start(), found.end(), number)
        for found in _SOCIAL.finditer(text):
            yield Secret(found.start(), found.end(), found[0])


def is_resident(number: str) -> bool:
    """Whether the last sign of 18 is the check sign of the others (GB 11643-1999)."""
    total = sum(int(digit) * weight for digit, weight in zip(number, _WEIGHTS, strict=False))
    return "10X98765432"[total % 11] == number[-1].upper()


def is_iban(number: str) -> bool:
    """Whether the two check digits are right (ISO 13616, modulo 97)."""
    turned = number[4:] + number[:4]
    return int("".join(str(int(sign, 36)) for sign in turned)) % 97 == 1
