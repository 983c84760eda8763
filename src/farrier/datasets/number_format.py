"""Numbers as people write them: decimal commas, thousands separators, currency signs, per cent, minus signs.

    amount = read_amount("1.234,50 €")     # Amount("1.234,50", currency="€"): digits with marks, not a number yet
    decimal_mark(amount)                   # (",", True): certain
    to_float(amount, ",")                  # 1234.5

A point or comma alone may be either mark: "1.234" is 1.234 or 1234. Other cells of the column decide, then the other
columns of the file. If nothing decides, the column is in doubt: using it raises an error that names the option to give.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from farrier.series.columns import is_number

CURRENCIES = (
    *("US$", "R$", "€", "$", "£", "¥", "₹", "₽", "₩", "¤", "Fr.", "kr", "zł", "Kč"),
    *("EUR", "USD", "GBP", "CHF", "JPY", "INR", "CAD", "AUD", "SEK", "NOK", "DKK", "PLN", "CZK"),
)
"""Signs of currencies before or after a number; by judgement."""

_SIGN = "|".join(map(re.escape, CURRENCIES))
_AMOUNT = re.compile(
    rf"(?P<open>\()?(?P<minus>[+-])?\s*(?P<before>{_SIGN})?\s*(?P<inner>[+-])?\s*"
    r"(?P<digits>(?:\d[\d .,']*|[.,]\d+)(?:[eE][+-]?\d+)?)"
    rf"\s*(?P<percent>%)?\s*(?P<after>{_SIGN})?(?P<trailing>-)?(?P<close>\))?"
)
_SPACED = re.compile(r"(\d{1,3}(?:[ ']\d{3})+)([.,]\d+)?")
_GROUPS = re.compile(r"\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*|\d{1,2}(?:,\d\d)+,\d{3}")
_PLAINER = str.maketrans("\u00a0\u202f\u2009\u2212\u2013\u2019", "   --'")
"""No-break, narrow and thin spaces, minus and dash, and the typographic apostrophe."""


@dataclass(frozen=True)
class Amount:
    """A cell that is a number, with its marks as they are written."""

    digits: str
    negative: bool = False
    grouped: bool = False
    """Whether spaces or apostrophes separated thousands, so that a point or comma is a decimal mark."""
    currency: str = ""
    percent: bool = False


@dataclass
class Evidence:
    """What the cells of a column say about the decimal mark; rows by index."""

    decided: dict[str, int] = field(default_factory=dict)
    """Decimal marks that are certain, "." or ",", and the first row that shows each."""
    undecided: dict[str, int] = field(default_factory=dict)
    """Marks before exactly three digits, which may be thousands, and the first row that shows each."""
    whole: set[str] = field(default_factory=set)
    """Whole numbers other than 0 without any mark."""
    currency: bool = False
    """Whether a cell has the sign of a currency, whose amounts rarely have three decimals."""

    def add(self, amount: Amount, row: int) -> None:
        """Take one more row into account."""
        mark, certain = decimal_mark(amount)
        self.currency |= bool(amount.currency)
        if mark and certain:
            self.decided.setdefault(mark, row)
        elif mark:
            self.undecided.setdefault(mark, row)
        elif amount.digits.strip("0"):
            self.whole.add(amount.digits)

    def settle(self, elsewhere: Iterable[str], comma_separated: bool) -> str | None:
        """The decimal mark of the column; None if it is in doubt. `elsewhere` are the marks that other columns show."""
        if self.decided:
            return next(iter(self.decided)) if len(self.decided) == 1 else None
        if not self.undecided:
            return "."
        known = set(elsewhere)
        if len(known) == 1:
            return known.pop()
        if len(self.undecided) > 1:
            return None
        mark = next(iter(self.undecided))
        # whole numbers up to 999 beside 1.234 show thousands: three decimals are rarely cut off twice, and never to two
        thousands = len(self.whole) > 1 and all(len(number) <= 3 for number in self.whole)
        if comma_separated and mark == "." and not self.whole and not self.currency:
            return "."  # as every program that writes such files means it
        if comma_separated and mark == ".":
            return None
        return _other(mark) if thousands else None


def read_amount(text: str) -> Amount | None:
    """The parts of a number as people write it; None if the text is something else."""
    found = _AMOUNT.fullmatch(text.translate(_PLAINER).strip())
    if found is None or (found["open"] is None) != (found["close"] is None):
        return None
    signs = [sign for sign in (found["minus"], found["inner"], found["trailing"], found["open"]) if sign]
    units = [unit for unit in (found["before"], found["after"], found["percent"]) if unit]
    if len(signs) > 1 or len(units) > 1:
        return None
    digits = found["digits"].strip()
    spaced = _SPACED.fullmatch(digits)
    if spaced is not None:
        digits = re.sub("[ ']", "", digits)
    currency = "" if found["percent"] else "".join(units)
    amount = Amount(digits, signs[:1] in (["-"], ["("]), spaced is not None, currency, bool(found["percent"]))
    return None if decimal_mark(amount) == NO_NUMBER else amount


NO_NUMBER = ("", False)
"""The answer of `decimal_mark` for digits and marks that are no number, such as 1.2.3."""


def decimal_mark(amount: Amount) -> tuple[str, bool]:
    """The decimal mark, and whether it is certain; if not, the mark is decimal or separates thousands.

    ("", True) if there is no mark; `NO_NUMBER` if the digits are no number.
    """
    body = re.split("[eE]", amount.digits)[0]
    points, commas = body.count("."), body.count(",")
    if " " in body or "'" in body or not body[-1].isdigit():
        return NO_NUMBER
    if not points and not commas:
        return "", True
    mark = "," if body.rfind(",") > body.rfind(".") else "."
    left, _, right = body.rpartition(mark)
    if points and commas:
        return (mark, True) if mark not in left and _GROUPS.fullmatch(left) else NO_NUMBER
    if points + commas > 1:
        return (_other(mark), True) if _GROUPS.fullmatch(body) else NO_NUMBER
    group = len(right) == 3 and 1 <= len(left) <= 3 and left[0] != "0"
    return mark, amount.grouped or body != amount.digits or not group


def to_float(amount: Amount, decimal: str) -> float | None:
    """The value with a given decimal mark; None if the digits do not fit it."""
    mark, certain = decimal_mark(amount)
    if certain and mark not in ("", decimal):
        return None
    value = float(amount.digits.replace(_other(decimal), "").replace(decimal, "."))
    return -value if amount.negative else value


def refuse_signs(values: Sequence[Any], rows: Sequence[str]) -> str:
    """What is wrong with the signs of a column: two currencies, or per cent in some rows only. Empty if nothing is.

    The values are amounts, plain numbers, None or text; a plain zero needs no sign.
    """
    first: dict[str, int] = {}
    for i, value in enumerate(values):
        if isinstance(value, Amount):
            first.setdefault("%" if value.percent else value.currency, i)
        elif isinstance(value, int | float) and value:
            first.setdefault("", i)
    signs = [sign for sign in first if sign]
    if len(signs) > 1:
        one, other = signs[:2]
        return f"{rows[first[one]]} has {one!r} and {rows[first[other]]} {other!r}: give numbers of one unit"
    if "%" in first and "" in first:
        return f"{rows[first['%']]} has a per cent sign and {rows[first['']]} has none: give numbers of one unit"
    return ""


def is_amount(text: str) -> bool:
    """Whether a text is a number, plain or as people write it."""
    return is_number(text) or read_amount(text) is not None


def _other(mark: str) -> str:
    return "." if mark == "," else ","
