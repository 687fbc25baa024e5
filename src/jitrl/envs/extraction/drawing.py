"""Values of a document, drawn at random, and how its region writes them."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from random import Random

from jitrl.envs.extraction import numerals
from jitrl.envs.extraction.reading import MONTHS, Value, read
from jitrl.envs.extraction.vocabulary import KINDS, Region, Style, Vocabulary

_DAYS: Mapping[str, tuple[int, int]] = {
    "ordered": (-25, -4),
    "deadline": (5, 12),
    "due": (14, 45),
    "delivered": (3, 20),
    "start": (20, 60),
    "end": (70, 200),
}
"""Days after the date of the document."""

_SUMS: Mapping[str, tuple[int, int]] = {
    "deposit": (300, 3000),
    "excess": (200, 900),
    "fee": (120, 900),
    "rent": (900, 2900),
    "salary": (2500, 6000),
    "premium": (400, 1900),
    "balance": (3000, 9900),
}
"""In units of the currency."""

_RATES: Mapping[str, tuple[str, ...]] = {
    "discount": ("2", "2.5", "3", "4.5", "5", "7.5"),
    "interest": ("1.25", "1.75", "2.1", "3.4", "3.75"),
}


_TRIES = 3  # draws of a date whose day is not above 12


@dataclass(frozen=True, slots=True)
class Drawn:
    """A value as a document has it.

    Attributes:
        reading: How the text must be read; "" where it is taken as it is written.
        value: What it means.
    """

    text: str
    value: Value
    reading: str = ""


class Drawing:
    """Draws the values of one document, all in its region's ways.

    Attributes:
        year: Of the document.
    """

    def __init__(self, vocabulary: Vocabulary, region: Region, rng: Random) -> None:
        self._vocabulary, self._region, self._rng = vocabulary, region, rng
        # Offsets reach 200 days ahead, and dates without a year are those of the document's.
        self._issued = datetime.date(rng.choice((2025, 2026, 2027)), 2, 1)
        self._issued += datetime.timedelta(rng.randrange(110))
        self.year = self._issued.year
        self._date, self._sum = rng.choice(region.dates), rng.choice(region.sums)
        self._time, self._rate = rng.choice(region.times), rng.choice(region.rates)
        scale = 100 if self._sum.unit == 1 else 1
        self._net = rng.randrange(12 * scale, 96 * scale) * self._sum.unit
        self._people = rng.sample(region.people, len(region.people))

    def drawn(self, field: str) -> Drawn:
        """A value for a field."""
        match KINDS[field]:
            case "date":
                return self._dated(field)
            case "time":
                hour = self._rng.randrange(8, 12) if field == "begins" else 0
                hour = hour or self._rng.randrange(13, 19)
                return self._clock(datetime.time(hour, self._rng.choice((0, 15, 30, 45))))
            case "amount":
                return self._money(self._amount(field))
            case "rate":
                tax = Decimal(self._region.tax)
                is_tax = field == "tax_rate"
                return self._share(tax if is_tax else Decimal(self._rng.choice(_RATES[field])))
            case "phone":
                text = self._filled(self._region.phones[("phone", "mobile", "fax").index(field)])
                name = self._region.name
                return Drawn(text, read("phone", name, text, self.year) or "", name)
            case "name":
                return _plain(self._person())
            case "code":
                return _plain(self._filled(self._rng.choice(self._vocabulary.codes[field])))
        return _plain(self._rng.choice(self._vocabulary.words[field]))

    def _person(self) -> str:
        title = self._rng.choice(self._vocabulary.titles) if self._vocabulary.titles else ""
        return self._people.pop() + title

    def _filled(self, pattern: str) -> str:
        digits = (str(self._rng.randrange(10)) if c == "#" else c for c in pattern)
        return "".join(digits)

    def _dated(self, field: str) -> Drawn:
        date = self._issued
        for _ in range(_TRIES if field in _DAYS else 0):
            date = self._issued + datetime.timedelta(self._rng.randint(*_DAYS[field]))
            if date.day <= 12:  # a day that could be a month
                break
        if date.day == date.month:
            date += datetime.timedelta(1)
        style = self._date
        if style.reading == "no year" and field == "issued":
            style = Style("{y}年{m}月{d}日", "year first")
        text = style.pattern.format(
            y=date.year,
            m=date.month,
            d=date.day,
            month=MONTHS[date.month - 1],
            roc=date.year - 1911,
            hy=numerals.spelled(date.year),
            hm=numerals.small(date.month),
            hd=numerals.small(date.day),
        )
        return Drawn(text, date, style.reading)

    def _clock(self, time: datetime.time) -> Drawn:
        hour = (time.hour - 1) % 12 + 1
        text = self._time.pattern.format(
            h=time.hour,
            h12=hour,
            min=time.minute,
            ap="a" if time.hour < 12 else "p",
            noon="上" if time.hour < 12 else "下",
            spoken={0: "", 30: "半"}.get(time.minute, f"{time.minute:02}"),
        )
        return Drawn(text, time, self._time.reading)

    def _amount(self, field: str) -> Decimal:
        net, tax = Decimal(self._net), Decimal(self._net) * self._region.tax / 100
        match field:
            case "net":
                return net
            case "tax":
                return tax
            case "total":
                return net + tax
        low, high = _SUMS[field]
        grain = Decimal(self._sum.unit) / 100
        return max(1, self._rng.randint(low * 100, high * 100) // self._sum.unit) * grain

    def _money(self, amount: Decimal) -> Drawn:
        style = self._sum
        text = style.pattern.format(n=grouped(amount, style.grouping), many=_short(amount, style))
        if style.reading == "formal":
            text = style.pattern.format(n=numerals.formal(int(amount)))
        return Drawn(text, amount, style.reading)

    def _share(self, rate: Decimal) -> Drawn:
        style, plain = self._rate, f"{rate.normalize():f}"
        whole, _, part = plain.partition(".")
        spoken = numerals.small(int(whole)) + (f"点{numerals.spelled(int(part))}" if part else "")
        shown = plain.replace(".", ",") if style.reading == "comma" else plain
        return Drawn(style.pattern.format(n=shown, spoken=spoken), rate, style.reading)


def _plain(text: str) -> Drawn:
    return Drawn(text, text)


def _short(amount: Decimal, style: Style) -> str:
    """The number before 万 or 千."""
    unit = {"ten thousands": 10_000, "thousands": 1000}.get(style.reading, 1)
    return f"{(amount / unit).normalize():f}"


_WIDE = {ord(c): chr(ord(c) + 0xFEE0) for c in "0123456789.,"}


def grouped(amount: Decimal, grouping: str) -> str:
    """Digits in groups, and two decimals: ``point``, ``comma``, ``space``, ``lakh``, ``wide``,
    ``none``; ``whole`` has no decimals.
    """
    text = f"{amount:,.2f}"
    match grouping:
        case "comma":
            return text.translate({ord(","): ".", ord("."): ","})
        case "space":
            return text.translate({ord(","): " ", ord("."): ","})
        case "wide":
            return text.replace(",", "").translate(_WIDE)
        case "whole":
            return f"{amount:,.0f}"
        case "none":
            return text.replace(",", "")
        case "lakh":
            whole, _, part = text.replace(",", "").partition(".")
            head, tail = whole[:-3], whole[-3:]
            groups = [head[max(i - 2, 0) : i] for i in range(len(head), 0, -2)][::-1]
            return ",".join([*groups, tail]) + f".{part}"
    return text
