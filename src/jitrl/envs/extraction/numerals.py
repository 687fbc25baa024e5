"""Chinese numerals: 二〇二六, 十二, and the formal ones of sums, 壹万贰仟元整."""

from __future__ import annotations

DIGITS = "〇一二三四五六七八九"
_FORMAL = "零壹贰叁肆伍陆柒捌玖"
_UNITS = ("", "拾", "佰", "仟")


def spelled(number: int) -> str:
    """A number digit by digit, as years are written: 2026 is 二〇二六."""
    return "".join(DIGITS[int(digit)] for digit in str(number))


def small(number: int) -> str:
    """A number from 1 to 99 as months, days and rates are written: 12 is 十二."""
    tens, ones = divmod(number, 10)
    head = {0: "", 1: "十"}.get(tens, f"{DIGITS[tens]}十")
    return head + (DIGITS[ones] if ones else "")


def read_spelled(text: str) -> int | None:
    """The number that ``spelled`` wrote."""
    digits = [DIGITS.find(character) for character in text]
    return int("".join(map(str, digits))) if digits and min(digits) >= 0 else None


def read_small(text: str) -> int | None:
    """The number that ``small`` wrote."""
    head, ten, tail = text.partition("十")
    if not ten:
        return read_spelled(text) if len(text) == 1 else None
    tens = read_spelled(head) if head else 1
    ones = read_spelled(tail) if tail else 0
    if tens is None or ones is None or max(tens, ones) > 9:
        return None
    return 10 * tens + ones


def formal(number: int) -> str:
    """A whole number below 100 million as cheques have it: 12300 is 壹万贰仟叁佰."""
    high, low = divmod(number, 10_000)
    if not high:
        return _formal_group(low)
    gap = "零" if 0 < low < 1000 else ""
    return f"{_formal_group(high)}万{gap}{_formal_group(low)}"


def read_formal(text: str) -> int | None:
    """The number that ``formal`` wrote."""
    high, many, low = text.partition("万")
    groups = [_read_group(high), _read_group(low) if low else 0] if many else [_read_group(text)]
    if None in groups:
        return None
    total = 0
    for group in groups:
        total = total * 10_000 + (group or 0)
    return total


def _formal_group(number: int) -> str:
    out, is_gap = "", False
    for place in (3, 2, 1, 0):
        digit = number // 10**place % 10
        if digit:
            out += ("零" if is_gap and out else "") + _FORMAL[digit] + _UNITS[place]
        is_gap = not digit
    return out


def _read_group(text: str) -> int | None:
    total, digit = 0, 0
    for character in text:
        if character in _FORMAL:
            digit = _FORMAL.index(character)
        elif character in _UNITS[1:]:
            total += digit * 10 ** _UNITS.index(character)
            digit = 0
        else:
            return None
    return total + digit if text else None
