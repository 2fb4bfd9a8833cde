"""Tokens of templates that format and parse moments: patterns with their marks, and plain text.

>>> [str(token.name or token.text) for token in tokens('FMDD"th" Month')]
['DD', 't', 'h', ' ', 'MONTH']
"""

import re
from dataclasses import dataclass
from functools import lru_cache

_MARKS = ("A.D.", "A.M.", "AD", "AM", "B.C.", "BC", "P.M.", "PM")
NUMBERS = (
    "CC", "DDD", "DD", "D", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6",
    "HH24", "HH12", "HH", "IDDD", "ID", "IW", "IYYY", "IYY", "IY", "I", "J",
    "MI", "MM", "MS", "Q", "SSSSS", "SSSS", "SS", "TZM", "US", "WW", "W", "Y,YYY", "YYYY", "YYY",
    "YY", "Y",
)  # fmt: skip
_WORDS = ("DAY", "DY", "MONTH", "MON")
_OTHERS = ("FX", "OF", "RM", "TZH", "TZ")
_NAMES = (*_MARKS, *NUMBERS, *_WORDS, *_OTHERS)
_SPELLED = sorted(
    {*_NAMES, *(n.lower() for n in _NAMES), *(n.capitalize() for n in _WORDS)},
    key=len,
    reverse=True,
)
_TOKEN = re.compile(
    r"(?P<prefix>FM|fm|TM|tm)?(?:(?P<name>"
    + "|".join(map(re.escape, _SPELLED))
    + r')(?P<suffix>TH|th|SP|sp)?|"(?P<quoted>(?:[^"\\]|\\.)*)"?|\\(?P<quote>")|(?P<text>.))?',
    re.S,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A pattern by its name in capitals and as it was `written`, or one character of plain text.

    `bare` (FM): without blanks and zeros; `translated` (TM): a name without blanks; `ordinal`: TH
    or th. `quoted`: the text was quoted.
    """

    name: str
    written: str = ""
    text: str = ""
    bare: bool = False
    translated: bool = False
    ordinal: str = ""
    quoted: bool = False

    @property
    def is_number(self) -> bool:
        """Tell whether digits are read here, so that a number before has a width."""
        return self.name in NUMBERS or (not self.name and self.text in "0123456789")

    @property
    def is_separator(self) -> bool:
        """Tell whether it is text of no letter or digit."""
        plain = not self.name and not self.quoted
        return plain and self.text.isascii() and not self.text.isalnum()


@lru_cache
def tokens(template: str) -> tuple[Token, ...]:
    """Split a template into its tokens.

    >>> [token.name or token.text for token in tokens("FMDD.")]
    ['DD', '.']
    """
    found: list[Token] = []
    for match in _TOKEN.finditer(template):
        name = match["name"]
        if name is not None:
            suffix = match["suffix"] or ""
            found.append(
                Token(
                    name.upper(),
                    name,
                    bare=(match["prefix"] or "").upper() == "FM",
                    translated=(match["prefix"] or "").upper() == "TM",
                    ordinal=suffix if suffix.upper() == "TH" else "",
                )
            )
        elif match["quoted"] is not None:
            text = re.sub(r"\\(.)", r"\1", match["quoted"], flags=re.S)
            found.extend(Token("", text=c, quoted=True) for c in text)
        elif match["quote"] or match["text"]:
            found.append(Token("", text=match["quote"] or match["text"]))
    return tuple(found)
