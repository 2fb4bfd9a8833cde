"""Advanced regular expressions of PostgreSQL, parsed to trees.

A tree is made of the nodes below. A set of characters is spelled as a class of RE2, so that the
Unicode tables are RE2's. Back references are refused: no algorithm matches them in less than
exponential time.

>>> parse("a|[0-9]").tree
Choice(branches=(Characters(spelled='a'), Characters(spelled='[0-9]')))
"""

import re
from dataclasses import dataclass, field

from ivm.errors import Unsupported

_MOST_REPETITIONS = 255
_DEEPEST = 100  # parentheses in parentheses
_SPACES = (
    "\\s\\v\\x{1680}\\x{2000}-\\x{2006}\\x{2008}-\\x{200a}\\x{2028}\\x{2029}\\x{205f}\\x{3000}"
)
_WORDS = "\\pL\\p{Nd}\\p{Nl}_"
WORD = f"[{_WORDS}]"
_CLASSES = {
    "alpha": "\\pL\\p{Nl}",
    "alnum": "\\pL\\p{Nd}\\p{Nl}",
    "upper": "\\p{Lu}\\p{Lt}",
    "lower": "\\p{Ll}",
    "digit": "0-9",
    "space": _SPACES,
    "punct": "[:punct:]\\pP\\pS\\p{No}",
    "blank": " \\t",
    "cntrl": "[:cntrl:]\\x{80}-\\x{9f}\\x{2028}\\x{2029}",
    "graph": "[:graph:]\\pL\\pM\\pN\\pP\\pS",
    "print": "[:print:]\\pL\\pM\\pN\\pP\\pS\\p{Zs}",
    "xdigit": "[:xdigit:]",
    "word": _WORDS,
}
_CONTROLS = {
    "a": 7, "b": 8, "B": 92, "e": 27, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11,
}  # fmt: skip
_SETS = {
    "d": "[0-9]",
    "D": "[^0-9]",
    "s": f"[{_SPACES}]",
    "S": f"[^{_SPACES}]",
    "w": WORD,
    "W": f"[^{_WORDS}]",
}
_IN_BRACKETS = {"d": "0-9", "s": _SPACES, "w": _WORDS, "D": "\\D", "S": "\\S", "W": "\\W"}
_CONSTRAINTS = frozenset("AZmMyY")
_CODE = re.compile(r"u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{1,255})|(0[0-7]{0,2})")
_OCTAL = re.compile(r"[0-7]{1,3}")
_QUANTIFIER = re.compile(r"(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})(\?)?", re.ASCII)
_LOOKS = {"(?=": (True, False), "(?!": (True, True), "(?<=": (False, False), "(?<!": (False, True)}


@dataclass(frozen=True, slots=True, eq=False)
class Characters:
    """One character of a set, which is spelled as RE2 does."""

    spelled: str


@dataclass(frozen=True, slots=True, eq=False)
class Constraint:
    """A place in the text: `^`, `$`, `A`, `Z`, or at words `m`, `M`, `y`, `Y`."""

    kind: str


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """A place that a match of `inner` begins at (`ahead`) or ends at; or does not."""

    inner: "Node"
    ahead: bool
    negative: bool


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """A part whose match is kept under its number, from 1."""

    inner: "Node"
    number: int


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    """Parts, one after another."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """Alternatives."""

    branches: tuple["Node", ...]


@dataclass(frozen=True, slots=True, eq=False)
class Repeat:
    """`inner`, from `least` to `most` times (None: any number).

    It prefers less if `lazy`; if that is None it has no preference but that of `inner`.
    """

    inner: "Node"
    least: int
    most: int | None
    lazy: bool | None


Node = Characters | Constraint | Look | Group | Sequence | Choice | Repeat


@dataclass(frozen=True, slots=True)
class Settings:
    """Flags of an expression: whether case counts, what a line's end does, how it is written."""

    sensitive: bool = True
    stops: bool = False  # a line's end is matched by no `.` and no complement
    anchors: bool = False  # `^` and `$` match at lines' ends too
    expanded: bool = False  # blanks and comments do not count
    literal: bool = False  # characters stand for themselves


_FLAGS: dict[str, dict[str, bool]] = {
    "c": {"sensitive": True},
    "i": {"sensitive": False},
    "m": {"stops": True, "anchors": True},
    "n": {"stops": True, "anchors": True},
    "p": {"stops": True, "anchors": False},
    "q": {"literal": True},
    "s": {"stops": False, "anchors": False},
    "t": {"expanded": False},
    "w": {"stops": False, "anchors": True},
    "x": {"expanded": True},
}


def _flagged(settings: Settings, flags: str) -> Settings:
    values = {name: getattr(settings, name) for name in Settings.__slots__}
    for flag in flags:
        if flag in "be":
            raise Unsupported(f"the flag {flag!r} of a regular expression; write an advanced one")
        if flag not in _FLAGS:
            raise ValueError(f"no flag {flag!r} of a regular expression")
        values |= _FLAGS[flag]
    return Settings(**values)


@dataclass(slots=True)
class _Reader:
    """Reads an expression from `at` on; `groups` counts those that have begun.

    `closed` are the numbers of those that have ended, `depth` counts the parentheses around.
    """

    text: str
    at: int
    settings: Settings
    groups: int = 0
    closed: set[int] = field(default_factory=set)
    depth: int = 0

    def choice(self) -> Node:
        branches = [self._sequence()]
        while self._take("|"):
            branches.append(self._sequence())
        return branches[0] if len(branches) == 1 else Choice(tuple(branches))

    def _sequence(self) -> Node:
        parts: list[Node] = []
        self._skip()
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            parts.append(self._quantified(self._atom()))
            self._skip()
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _take(self, prefix: str) -> bool:
        found = self.text.startswith(prefix, self.at)
        self.at += len(prefix) if found else 0
        return found

    def _skip(self) -> None:
        """Skip comments, and in expanded syntax blanks."""
        while self.at < len(self.text):
            if self._take("(?#"):
                self._until(")")
            elif self.settings.expanded and self.text[self.at].isspace():
                self.at += 1
            elif self.settings.expanded and self._take("#"):
                self._until("\n")
            else:
                return

    def _until(self, end: str) -> None:
        found = self.text.find(end, self.at)
        self.at = len(self.text) if found < 0 else found + 1

    def _quantified(self, atom: Node) -> Node:
        self._skip()
        found = _QUANTIFIER.match(self.text, self.at)
        if found is None:
            if self.text[self.at : self.at + 1] == "{" and self.text[self.at + 1 :][:1].isdigit():
                raise ValueError("braces {} are not balanced")
            return atom
        if isinstance(atom, Constraint | Look):
            raise ValueError("a quantifier after a constraint")
        self.at = found.end()
        least, most = _times(found)
        self._skip()
        if _QUANTIFIER.match(self.text, self.at):
            raise ValueError("a quantifier after a quantifier")
        preferring = found[1] or found[3]
        return Repeat(atom, least, most, lazy=bool(found[5]) if preferring else None)

    def _atom(self) -> Node:
        text, at = self.text, self.at
        for prefix, (ahead, negative) in _LOOKS.items():
            if self._take(prefix):
                return Look(self._inner(capturing=False), ahead, negative)
        if self._take("(?:"):
            return self._inner(capturing=False)
        if text.startswith("(?", at):
            raise ValueError(f"{text[at : at + 3]} in a regular expression")
        if self._take("("):
            return self._inner(capturing=True)
        if text.startswith(("[[:<:]]", "[[:>:]]"), at):
            self.at += len("[[:<:]]")
            return Constraint("m" if text[at + 3] == "<" else "M")
        if text[at] == "[":
            return self._brackets()
        if text[at] == "\\":
            return self._escape()
        if _QUANTIFIER.match(text, at) or text[at] in "*+?":
            raise ValueError("a quantifier without an operand")
        self.at += 1
        if text[at] in "^$":
            return Constraint(text[at])
        if text[at] == ".":
            return Characters("[^\\n]" if self.settings.stops else "(?s:.)")
        return Characters(_spelled(text[at]))

    def _inner(self, capturing: bool) -> Node:
        number = 0
        if capturing:
            self.groups += 1
            number = self.groups
        self.depth += 1
        if self.depth > _DEEPEST:
            raise Unsupported(f"a regular expression nested more than {_DEEPEST} deep")
        inner = self.choice()
        if not self._take(")"):
            raise ValueError("parentheses () are not balanced")
        self.depth -= 1
        self.closed.add(number)
        if capturing:
            return Group(inner, number)
        return Sequence((inner,)) if isinstance(inner, Constraint | Look) else inner

    def _escape(self) -> Node:
        self.at += 1
        character = self.text[self.at : self.at + 1]
        if character in _CONSTRAINTS and character:
            self.at += 1
            return Constraint(character)
        if character in _SETS:
            self.at += 1
            return Characters(_SETS[character])
        if character in "123456789" and character:
            self._back_reference()
        return Characters(_spelled(self._escaped()))

    def _back_reference(self) -> None:
        """Raise for a back reference; more digits than there are groups are an octal code."""
        digits = re.compile(r"\d+", re.ASCII).match(self.text, self.at)
        assert digits is not None
        if len(digits[0]) > 1 and int(digits[0]) > self.groups:
            return
        if int(digits[0]) not in self.closed:
            raise ValueError(f"\\{digits[0]} refers to no group")
        raise Unsupported(
            f"the back reference \\{digits[0]} in a regular expression; "
            "ask for the group by regexp_match() and compare it"
        )

    def _escaped(self) -> str:
        """Read the character that an escape stands for, after its backslash."""
        text, at = self.text, self.at
        character = text[at : at + 1]
        if character == "c" and at + 1 < len(text):
            self.at += 2
            return chr(ord(text[at + 1]) & 0x1F)
        code = _CODE.match(text, at)
        octal = _OCTAL.match(text, at)
        if code or octal:
            found = code or octal
            assert found is not None
            self.at = found.end()
            digits, base = (found[0], 8) if octal or found[4] else (found[0][1:], 16)
            return _character(int(digits, base))
        if not character or (character.isalnum() and character not in _CONTROLS):
            raise ValueError(f"no escape \\{character}")
        self.at += 1
        return chr(_CONTROLS.get(character, ord(character)))

    def _brackets(self) -> Node:
        start = self.at
        self.at += 1
        out = ["["]
        if self._take("^"):
            out.append("^\\n" if self.settings.stops else "^")
        first = True
        while self.at < len(self.text) and (self.text[self.at] != "]" or first):
            first = False
            out.append(self._item())
        if not self._take("]"):
            raise ValueError(f"the bracket at {start + 1} is not closed")
        return Characters("".join([*out, "]"]))

    def _item(self) -> str:
        """Read a class, a character or a range within brackets."""
        text, at = self.text, self.at
        if text.startswith("[:", at):
            end = text.find(":]", at)
            name = text[at + 2 : end]
            if end < 0 or name not in _CLASSES:
                raise ValueError(f"no class [:{name}:]")
            self.at = end + 2
            return _CLASSES[name]
        if text[at] == "\\" and text[at + 1 : at + 2] in _IN_BRACKETS:
            self.at += 2
            return _IN_BRACKETS[text[at + 1]]
        first = self._single()
        if text[self.at : self.at + 1] != "-" or text[self.at + 1 : self.at + 2] in ("]", ""):
            return _spelled(first)
        self.at += 1
        last = self._single()
        chained = text[self.at : self.at + 1] == "-" and text[self.at : self.at + 2] != "-]"
        if last < first or chained:
            raise ValueError(f"the range {first}-{last}")
        return f"{_spelled(first)}-{_spelled(last)}"

    def _single(self) -> str:
        """Read one character within brackets."""
        text, at = self.text, self.at
        if text[at] == "\\":
            self.at += 1
            return self._escaped()
        if text.startswith(("[.", "[="), at):
            end = text.find(text[at + 1] + "]", at + 2)
            if end != at + 3:
                raise Unsupported(f"{text[at : at + 2]} of several characters in brackets")
            self.at = end + 2
            return text[at + 2]
        self.at += 1
        return text[at]


def _times(found: re.Match[str]) -> tuple[int, int | None]:
    """How often the quantifier repeats."""
    if found[1]:
        return (1 if found[1] == "+" else 0), (1 if found[1] == "?" else None)
    least = int(found[2])
    most = None if found[3] and not found[4] else int(found[4] or found[2])
    if least > _MOST_REPETITIONS or (most is not None and not least <= most <= _MOST_REPETITIONS):
        raise ValueError(f"{found[0]} repeats up to {_MOST_REPETITIONS} times, the least first")
    return least, most


def _character(code: int) -> str:
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise ValueError(f"no character has the code {code:x}")
    return chr(code)


def _spelled(character: str) -> str:
    """Spell a character so that it stands for itself, in brackets too."""
    if character.isalnum() or not character.isascii():
        return character
    return f"\\x{{{ord(character):x}}}"


@dataclass(frozen=True, slots=True)
class Syntax:
    """A parsed expression: its tree, its number of groups and its settings."""

    tree: Node
    groups: int
    settings: Settings


def parse(pattern: str, flags: str = "") -> Syntax:
    """Parse an expression under flags of PostgreSQL, of which `g` is not one of the expression's.

    Raises Unsupported for an expression that cannot be matched here, ValueError for none at all.

    >>> parse("(a)|(?:b)").groups
    1
    """
    settings = _flagged(Settings(), flags.replace("g", ""))
    pattern = pattern.removeprefix("***:")
    if pattern.startswith("***="):
        pattern, settings = pattern[4:], _flagged(settings, "q")
    elif pattern.startswith("***"):
        raise ValueError("*** begins a regular expression only as ***: or ***=")
    options = re.match(r"\(\?([a-zA-Z]+)\)", pattern)
    if options and not settings.literal:
        settings = _flagged(settings, options[1])
        pattern = pattern[options.end() :]
    if settings.literal:
        return Syntax(Sequence(tuple(Characters(_spelled(c)) for c in pattern)), 0, settings)
    reader = _Reader(pattern, 0, settings)
    tree = reader.choice()
    if reader.at < len(pattern):
        raise ValueError("parentheses () are not balanced")
    return Syntax(tree, reader.groups, settings)
