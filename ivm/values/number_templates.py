"""Templates that format and parse numbers, as of `to_char(number, …)` and `to_number`.

After `NUM_processor` of PostgreSQL's `formatting.c`, in the locale C.

>>> writer("FM9G990D00")(Decimal("1234.5")), writer("99V9")(Decimal("1.25"))
('1,234.50', '  13')
>>> reader("9G999D99")("1,234.5")
Decimal('1234.5')
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from functools import lru_cache

import numpy as np

_KEYWORDS = (
    ",", ".", "0", "9", "B", "C", "D", "EEEE", "FM", "G", "L", "MI", "PL", "PR", "RN", "SG", "SP",
    "S", "TH", "V",
)  # fmt: skip
_NAMES = sorted((*_KEYWORDS, *(k.lower() for k in _KEYWORDS if k.isalpha())), key=len, reverse=True)
_TOKEN = re.compile(
    r'"(?P<quoted>(?:[^"\\]|\\.)*)"?|\\(?P<quote>")|(?P<name>'
    + "|".join(map(re.escape, _NAMES))
    + ")|(?P<text>.)",
    re.S,
)
_WIDE = Context(prec=200)
_ROMAN_WIDTH = 15
_MOST_ROMAN = 3999
_SINGLE_DIGITS = 6
_ROMAN = (
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"),
    (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Token:
    """A pattern by its name in capitals, or a plain text; `lower`: it was written in small."""

    name: str
    text: str = ""
    lower: bool = False


@dataclass(slots=True)
class Template:
    """The tokens of a template, and what they ask for together.

    `before` and `after` count the digits around the point, `shifted` those after V. `zero_from` is
    the first place before the point that is written though it be 0, if any; `zero_to` counts the
    places up to the last one of all. `sign` is where S stands: `before` the number or `after` it.
    """

    tokens: list[Token] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    before: int = 0
    after: int = 0
    shifted: int = 0
    zero_from: int | None = None
    zero_to: int = 0
    sign: str = ""
    digits_before_sign: int = 0

    @property
    def bare(self) -> bool:
        """FM: without blanks."""
        return "FM" in self.names

    @property
    def has_point(self) -> bool:
        return not self.names.isdisjoint(("D", "."))

    def add(self, token: Token) -> None:
        """Take one more token into account (raises ValueError where it cannot stand there)."""
        self.tokens.append(token)
        name = token.name
        if not name:
            return
        if "EEEE" in self.names:
            raise ValueError("EEEE must be the last pattern of a template")
        _refuse_together(name, self.names)
        if name in ("9", "0"):
            self._add_digit(name)
        elif name == "S":
            self.sign = "after" if self.has_point else "before"
            self.digits_before_sign = self.before
        if not (name == "S" and "S" in self.names):
            self.names.add(name)

    def _add_digit(self, name: str) -> None:
        if name == "0" and self.zero_from is None and not self.has_point:
            self.zero_from = self.before
        if "V" in self.names and name == "9":
            self.shifted += 1
        elif self.has_point:
            self.after += 1
        else:
            self.before += 1
        if name == "0":
            self.zero_to = self.before + self.after


_SIGNS = ("MI", "PL", "SG", "PR")
# Patterns that cannot stand behind others.
_EXCLUDED: dict[str, tuple[str, ...]] = {
    "9": ("PR",),
    "0": ("PR",),
    "D": ("D", ".", "V"),
    ".": ("D", ".", "V"),
    "V": ("D", "."),
    "S": ("S", *_SIGNS),
    "MI": ("S",),
    "PL": ("S",),
    "SG": ("S",),
    "PR": ("S", "MI", "PL", "SG"),
    "EEEE": ("B", "FM", "S", *_SIGNS, "RN", "V"),
}


def _refuse_together(name: str, names: set[str]) -> None:
    for other in _EXCLUDED.get(name, ()):
        if other in names:
            raise ValueError(f"{name} cannot stand behind {other} in a template")


@lru_cache
def parsed(template: str) -> Template:
    """Read a template (raises ValueError for patterns that exclude each other)."""
    found = Template()
    for match in _TOKEN.finditer(template):
        if match["name"] is not None:
            name = match["name"]
            found.add(Token(name.upper(), lower=name != name.upper()))
        elif match["quoted"] is not None:
            found.add(Token("", re.sub(r"\\(.)", r"\1", match["quoted"], flags=re.S)))
        else:
            found.add(Token("", match["quote"] or match["text"]))
    return found


def writer(template: str, digits: int | None = None) -> Callable[[Decimal | float], str]:
    """Make the function that writes a number by a template (raises ValueError).

    `digits`: how many of a float count, 15 or 6.

    >>> writer("FM9,990.00")(Decimal("1234.5"))
    '1,234.50'
    """
    given = parsed(template)
    return lambda number: _write(given, number, digits)


def _write(template: Template, number: Decimal | float, digits: int | None) -> str:
    if "RN" in template.names:
        return _write_roman(template, number)
    if "EEEE" in template.names:
        return _scientific(template, number)
    value = number if isinstance(number, float) else Decimal(number)
    after = template.after
    before = template.before + template.shifted
    if template.shifted:
        value = _shifted(value, template.shifted, digits)
    if isinstance(value, float):
        assert digits is not None
        whole = len(f"{abs(value):.0f}")
        after = 0 if whole >= digits else min(after, digits - whole)
        text = f"{value:.{after}f}".replace("nan", "NaN").replace("inf", "Infinity")
    else:
        rounded = value.quantize(Decimal(1).scaleb(-after), ROUND_HALF_UP, _WIDE)
        text = f"{rounded:f}" if rounded else f"{abs(rounded):f}"
    sign, text = ("-", text[1:]) if text.startswith("-") else ("+", text)
    width = len(text.partition(".")[0])
    if width > before:
        text = "#" * before + "." + "#" * after
    exact = replace(template, before=before, after=after)
    return _Writing(exact, text, sign, max(before - width, 0)).result()


def _shifted(value: Decimal | float, places: int, digits: int | None) -> Decimal | float:
    if isinstance(value, Decimal):
        return value.scaleb(places, _WIDE)
    product = value * 10.0**places
    if digits != _SINGLE_DIGITS:
        return product
    with np.errstate(over="ignore"):  # what single precision does not hold is infinite
        return float(np.float32(product))


def _write_roman(template: Template, number: Decimal | float) -> str:
    whole = int(Decimal(number).quantize(Decimal(1), _rounding(number), _WIDE))
    if isinstance(number, Decimal) and not -(2**31) <= whole < 2**31:
        raise ValueError(number)
    roman = "#" * _ROMAN_WIDTH
    if 1 <= whole <= _MOST_ROMAN:
        roman, left = "", whole
        for value, letters in _ROMAN:
            roman += letters * (left // value)
            left %= value
    parts = []
    for token in template.tokens:
        if token.name == "RN":
            shown = roman.lower() if token.lower else roman
            parts.append(shown if template.bare else shown.rjust(_ROMAN_WIDTH))
        elif token.name == "SG":
            break  # there is no sign, and PostgreSQL ends its text here
        elif token.name == "L" or (token.name in (",", "G", "MI", "PL") and not template.bare):
            parts.append(" ")
        else:
            parts.append(token.text)
    return "".join(parts)


def _rounding(number: Decimal | float) -> str:
    return ROUND_HALF_EVEN if isinstance(number, float) else ROUND_HALF_UP


def _scientific(template: Template, number: Decimal | float) -> str:
    if not math.isfinite(number):
        filled = "#" * (template.before + template.after + 5)
        return f" {filled[: template.before]}.{filled[template.before + 1 :]}"
    if isinstance(number, float):
        text = f"{number:.{template.after}e}"
    else:
        exponent = number.adjusted() if number else 0
        scaled = number.scaleb(-exponent, _WIDE)
        unit = Decimal(1).scaleb(-template.after)
        text = f"{scaled.quantize(unit, ROUND_HALF_UP, _WIDE):f}e{exponent:+03d}"
    return text if text.startswith("-") else f" {text}"


@dataclass(slots=True)
class _Writing:
    """Writes digits into the places of a template; `blank` places come before the first digit.

    `at` is the next digit of `digits`, `place` the next place. `last` is the last digit that FM
    keeps after the point.
    """

    template: Template
    digits: str
    sign: str
    blank: int
    at: int = 0
    place: int = 0
    begun: bool = False
    signed: bool = False
    last: int | None = None
    count: int = 0
    trailing: bool = False
    bracketed: bool = False
    ended: bool = False
    out: list[str] = field(default_factory=list)

    def result(self) -> str:
        """Write all places."""
        self._prepare()
        for token in self.template.tokens:
            self._write(token)
            if self.ended:
                break  # more places than digits: PostgreSQL ends its text here
        return "".join(self.out)

    def _prepare(self) -> None:
        template = self.template
        names = template.names
        self.bracketed = "PR" in names
        self.trailing = template.sign == "after"
        self.count = template.before + template.after - 1
        if not names.isdisjoint(("MI", "PL", "SG")):
            self.signed = "SG" in names or "MI" in names
        else:
            if self.sign == "+" and template.bare:
                self.bracketed = False
            self.signed = self.sign == "+" and template.bare and not template.sign
            if template.sign == "before" and template.before == template.digits_before_sign:
                self.trailing = True
        if template.bare and template.has_point and "." in self.digits:
            self.last = max(self.digits.index("."), len(self.digits.rstrip("0")) - 1)
            if template.zero_to > self.blank:
                least = min(len(self.digits) - 1, template.zero_to - self.blank)
                self.last = max(self.last, least)
        if not self.signed and not self.blank:
            self.count += 1

    def _write(self, token: Token) -> None:
        bare = self.template.bare
        match token.name:
            case "9" | "0" | "." | "D":
                self._digit(token.name)
            case "," | "G":
                if self.begun or not bare:
                    self.out.append("," if self.begun else " ")
            case "L":
                self.out.append(" ")
            case "TH":
                if not (self.digits.startswith("#") or self.sign == "-" or self.template.has_point):
                    suffix = ordinal(self.digits)
                    self.out.append(suffix if token.lower else suffix.upper())
            case "MI" | "PL":
                wanted = "-" if token.name == "MI" else "+"
                if self.sign == wanted or not bare:
                    self.out.append(wanted if self.sign == wanted else " ")
            case "SG":
                self.out.append(self.sign)
            case "":
                self.out.append(token.text)

    def _digit(self, name: str) -> None:
        """Write the next digit, a blank or zero before the first, or the point."""
        template = self.template
        self.begun = False
        zero = template.zero_from
        self._write_sign(zero == self.place)
        if self.place < self.blank:
            if zero is not None and zero <= self.place:
                self.out.append("0")
                self.begun = True
            elif not template.bare:
                self.out.append(" ")
        else:
            self._write_digit(name)
            if self.ended:
                return
            self.at = min(self.at + 1, len(self.digits))
        end = self.count + (1 if self.blank else 0) + (1 if template.has_point else 0)
        if self.last is not None and self.last == self.at:
            end = self.place
        if self.place + 1 == end:
            self._write_last_sign()
        self.place += 1

    def _hides_zero(self) -> bool:
        """Tell whether the next digit is the 0 before the point, as of ` .1`."""
        first = self.template.zero_from is None and self.at == 0
        return first and self.digits[:1] == "0" and self.template.after > 0

    def _ends_at_point(self) -> bool:
        return self.last is not None and self.digits[self.last] == "."

    def _write_sign(self, zero: bool) -> None:
        if self.signed or (self.place < self.blank and not zero):
            return
        if self._hides_zero() and not self._ends_at_point():
            return
        if self.template.sign:
            if not self.trailing:
                self.out.append(self.sign)
                self.signed = True
            return
        if self.bracketed:
            self.out.append(" " if self.sign == "+" else "<")
        elif self.sign == "-" or not self.template.bare:
            self.out.append("-" if self.sign == "-" else " ")
        self.signed = True

    def _write_last_sign(self) -> None:
        if self.signed and self.bracketed:
            self.out.append(" " if self.sign == "+" else ">")
        elif self.template.sign and self.trailing:
            self.out.append(self.sign)

    def _write_digit(self, name: str) -> None:
        digit = self.digits[self.at : self.at + 1]
        if digit == ".":
            self.out.append(".")
        elif self.last is not None and self.at > self.last and name != "0":
            return
        elif self._hides_zero():
            if not self.template.bare:
                self.out.append(" ")
            elif self._ends_at_point():
                self.out.append("0")
        else:
            self.out.append(digit)
            self.begun = True
            self.ended = not digit


def ordinal(digits: str) -> str:
    """Give the suffix of an ordinal number (raises ValueError for what ends with no digit).

    >>> ordinal("21"), ordinal("112")
    ('st', 'th')
    """
    if not digits[-1:].isdecimal():
        raise ValueError(f"{digits} is no number")
    teens = digits[-2:-1] == "1"
    return "th" if teens else {"1": "st", "2": "nd", "3": "rd"}.get(digits[-1:], "th")


def reader(template: str) -> Callable[[str], Decimal | None]:
    """Make the function that reads a number by a template; it raises ValueError for none.

    Raises ValueError for patterns that are only written.

    >>> reader("9G999D99")("1,234.50")
    Decimal('1234.50')
    """
    given = parsed(template)
    for name in ("EEEE", "RN"):
        if name in given.names:
            raise ValueError(f"{name} is only written, not read")
    if not template:
        return lambda text: None
    return lambda text: _Reading(given, text).result()


@dataclass(slots=True)
class _Reading:
    """Reads the digits of a text at the places of a template."""

    template: Template
    text: str
    at: int = 0
    sign: str = ""
    digits: str = ""
    before: int = 0
    after: int = 0
    point: bool = False

    def result(self) -> Decimal:
        """Read all places (raises ValueError)."""
        for token in self.template.tokens:
            if self.at >= len(self.text):
                break
            self._read(token)
        digits = self.digits.rstrip(".")
        if not digits:
            raise ValueError(self.text)
        value = Decimal(self.sign + digits)
        whole = self.template.before + self.template.shifted
        if value.adjusted() >= whole and value:
            raise ValueError(self.text)
        return value.scaleb(-self.template.shifted, _WIDE)

    def _here(self) -> str:
        return self.text[self.at : self.at + 1]

    def _read(self, token: Token) -> None:
        match token.name:
            case "9" | "0" | "." | "D":
                self._digit(token.name)
                self.at += 1
            case "," | "G":
                if self._here() == "," and not self.template.bare:
                    self.at += 1
            case "L":
                self._skip(1)
            case "TH":
                if not (self.sign == "-" or self.template.has_point):
                    self._skip(2)
            case "MI" | "PL" | "SG":
                signs = {"MI": "-", "PL": "+", "SG": "+-"}[token.name]
                if self._here() in signs:
                    self.sign = self._here()
                    self.at += 1
                else:
                    self._skip(1)
            case "":
                self.at += len(token.text)

    def _skip(self, count: int) -> None:
        """Skip characters that cannot belong to a number."""
        while count and self.at < len(self.text) and self._here() not in "0123456789.,+-":
            self.at += 1
            count -= 1

    def _digit(self, name: str) -> None:
        if self._here() == " ":
            self.at += 1
        if not self.sign and name in "09" and not self.before + self.after:
            self._read_sign()
        found = False
        if self._here().isdecimal() and self._here().isascii():
            if self.point and self.after == self.template.after:
                return
            self.digits += self._here()
            found = True
            if self.point:
                self.after += 1
            else:
                self.before += 1
        elif self.template.has_point and not self.point and self._here() == ".":
            self.digits += "."
            self.point = found = True
        if self.at < len(self.text) and not self.sign and self.before + self.after:
            self._read_last_sign(found)

    def _read_sign(self) -> None:
        here = self._here()
        if here == "-" or (here == "<" and "PR" in self.template.names):
            self.sign = "-"
            self.at += 1
        elif here == "+":
            self.sign = "+"
            self.at += 1

    def _read_last_sign(self, found: bool) -> None:
        """Read a sign behind the last digit, which may come before its place."""
        following = self.text[self.at + 1 : self.at + 2]
        if self.template.sign:
            if found and following and following in "+-":
                self.sign = following
                self.at += 1
        elif not found and not self.template.names.isdisjoint(("PL", "MI", "SG")):
            self.sign = self._here() if self._here() in ("+", "-") else self.sign
