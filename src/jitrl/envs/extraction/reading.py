"""Readings: what a written date, time, sum, rate or phone number means, read in one way."""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Callable, Mapping
from decimal import Decimal

from jitrl.envs.extraction import numerals

Value = datetime.date | datetime.time | Decimal | str
"""Sums are in units of the currency, rates in percent; a phone number is written in E.164."""

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
CODES: Mapping[str, str] = {
    "Germany": "49",
    "France": "33",
    "Netherlands": "31",
    "United Kingdom": "44",
    "India": "91",
    "United States": "1",
    "上海": "86",
    "吉隆坡": "60",
    "台北": "886",
    "新加坡": "65",
    "旧金山": "1",
}
"""Country code of each region."""

_NO_TRUNK = ("1", "65")  # codes of regions whose numbers have no 0 before them

_NUMERIC = re.compile(r"(\d{1,2})[./-](\d{1,2})[./-](\d{4})")
_DAY_NAMED = re.compile(r"(\d{1,2}) ([A-Z][a-z]+) (\d{4})")
_MONTH_NAMED = re.compile(r"([A-Z][a-z]+) (\d{1,2}), (\d{4})")
_YEAR_FIRST = re.compile(r"(\d{4})[年/-](\d{1,2})[月/-](\d{1,2})日?")
_HAN = re.compile(
    r"([〇一二三四五六七八九]{4})年([一二三四五六七八九十]+)月([一二三四五六七八九十]+)日"
)
_MINGUO = re.compile(r"(?:民国)?(\d{2,3})[年/](\d{1,2})[月/](\d{1,2})日?")
_NO_YEAR = re.compile(r"(\d{1,2})月(\d{1,2})日")
_WHOLE_DAY = re.compile(r"(\d{1,2})[:.h时](\d{2})分?")
_HALF_DAY = re.compile(r"(\d{1,2})(?::(\d{2}))? ([ap])m")
_HALF_DAY_ZH = re.compile(r"([上下])午(\d{1,2})(?:点|:)(半|\d{2})?")
_FORMAL = re.compile(r"人民币(\D+)元整")
_SUM = re.compile(r"[^\d]*?(\d[\d,.\s']*)\s*(?:元|€|[A-Z]{3})?")
_TIMES = re.compile(r"(\d+(?:\.\d+)?)(万|千)元")
_SAME_WIDTH = re.compile(r"[\x00-\x7f£€¥元]+")


def read(kind: str, reading: str, text: str, year: int) -> Value | None:
    """What ``text`` means; ``None`` if it cannot be read in this way.

    Args:
        year: Of the document, for dates that leave theirs out.
    """
    if kind == "date":
        return _date(reading, text, year)
    if kind == "phone":
        digits = re.sub(r"\D", "", text)
        code = CODES[reading]
        return f"+{code}{digits if code in _NO_TRUNK else digits.removeprefix('0')}"
    return _READERS[kind](reading, text)


def _date(reading: str, text: str, year: int) -> datetime.date | None:
    if reading == "day first":
        if found := _NUMERIC.fullmatch(text):
            return _day(int(found[3]), int(found[2]), int(found[1]))
        if found := _DAY_NAMED.fullmatch(text):
            return _day(int(found[3]), _month(found[2]), int(found[1]))
    elif reading == "month first":
        if found := _NUMERIC.fullmatch(text):
            return _day(int(found[3]), int(found[1]), int(found[2]))
        if found := _MONTH_NAMED.fullmatch(text):
            return _day(int(found[3]), _month(found[1]), int(found[2]))
    elif reading == "year first":
        if found := _YEAR_FIRST.fullmatch(text):
            return _day(int(found[1]), int(found[2]), int(found[3]))
    elif reading == "numerals":
        if found := _HAN.fullmatch(text):
            parts = numerals.read_spelled(found[1]), *map(numerals.read_small, found.groups()[1:])
            return _day(*(part or 0 for part in parts))
    elif reading == "republic":
        if found := _MINGUO.fullmatch(text):
            return _day(int(found[1]) + 1911, int(found[2]), int(found[3]))
    elif found := _NO_YEAR.fullmatch(text):
        return _day(year, int(found[1]), int(found[2]))
    return None


def _day(year: int, month: int, day: int) -> datetime.date | None:
    try:
        return datetime.date(year, month, day)
    except ValueError:
        return None


def _month(name: str) -> int:
    return MONTHS.index(name) + 1 if name in MONTHS else 0


def _time(reading: str, text: str) -> datetime.time | None:
    if reading == "whole day":
        found = _WHOLE_DAY.match(text)
        return _clock(int(found[1]), int(found[2])) if found else None
    if found := _HALF_DAY.fullmatch(text):
        return _clock(int(found[1]) % 12 + 12 * (found[3] == "p"), int(found[2] or 0))
    if found := _HALF_DAY_ZH.fullmatch(text):
        minutes = 30 if found[3] == "半" else int(found[3] or 0)
        return _clock(int(found[2]) % 12 + 12 * (found[1] == "下"), minutes)
    return None


def _clock(hour: int, minute: int) -> datetime.time | None:
    return datetime.time(hour, minute) if hour < 24 and minute < 60 else None


def _amount(reading: str, text: str) -> Decimal | None:
    if reading == "formal":
        found = _FORMAL.fullmatch(text)
        number = numerals.read_formal(found[1]) if found else None
        return None if number is None else Decimal(number)
    if reading in ("ten thousands", "thousands"):
        found = _TIMES.fullmatch(text)
        unit, times = ("万", 10_000) if reading == "ten thousands" else ("千", 1000)
        return Decimal(found[1]) * times if found and found[2] == unit else None
    if reading == "full width":
        if _SAME_WIDTH.fullmatch(text):
            return None
        text, reading = unicodedata.normalize("NFKC", text), "point"
    elif not _SAME_WIDTH.fullmatch(text):
        return None
    return _decimal(reading, text)


def _rate(reading: str, text: str) -> Decimal | None:
    if reading == "numerals":
        whole, _, part = text.removeprefix("百分之").partition("点")
        if not text.startswith("百分之"):
            return None
        high, low = numerals.read_small(whole), numerals.read_spelled(part) if part else 0
        return None if high is None or low is None else Decimal(f"{high}.{low}")
    return _decimal(reading, text.rstrip("% "), ratio=True)


def _decimal(reading: str, text: str, *, ratio: bool = False) -> Decimal | None:
    """A number with that decimal sign; the other signs part thousands."""
    found = _SUM.fullmatch(text)
    if found is None:
        return None
    sign, other = (",", ".") if reading == "comma" else (".", ",")
    digits = re.sub(rf"[\s'{re.escape(other)}]", "", found[1]).replace(sign, ".")
    if not re.fullmatch(r"\d+(\.\d{1,2})?" if not ratio else r"\d+(\.\d+)?", digits):
        return None
    return Decimal(digits)


_READERS: Mapping[str, Callable[[str, str], Value | None]] = {
    "time": _time,
    "amount": _amount,
    "rate": _rate,
}
