"""Regular expressions of PostgreSQL are translated to RE2, which matches in linear time.

`translate` turns an expression into RE2's syntax. What automata cannot match is refused: back
references, look-around, `\\m` and `\\M`; so are equivalence classes and collating elements. As in
PostgreSQL the match is the leftmost and there the longest, or the shortest where the expression's
quantifiers are all lazy; an expression that mixes greedy and lazy quantifiers can be tested for a
match but not asked what matched. Of a group that matches repeatedly the last match counts; where
its repetitions can be told apart in several ways, as in `(.?)+`, PostgreSQL may take another.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import re2

from ivm.errors import Unsupported

_ESCAPES = {
    **{c: "\\" + c for c in "dDSaefnrtv"},
    "s": "[\\s\\v]",
    "w": "[\\pL\\pN_]",
    "W": "[^\\pL\\pN_]",
    "A": "\\A",
    "Z": "\\z",
    "y": "\\b",
    "Y": "\\B",
    "b": "\\x08",
    "B": "\\\\",
    "e": "\\x1b",
}
_IN_BRACKETS = {**_ESCAPES, "s": "\\s\\v", "w": "\\pL\\pN_"}
_NO_ESCAPES_IN_BRACKETS = frozenset("AZyYWDS")
_CLASSES = {
    "alpha": "\\pL",
    "alnum": "\\pL\\pN",
    "upper": "\\p{Lu}",
    "lower": "\\p{Ll}",
    "digit": "0-9",
    "space": "\\s\\v",
    "punct": "[:punct:]",
    "blank": " \\t",
    "cntrl": "[:cntrl:]",
    "xdigit": "[:xdigit:]",
    "word": "\\pL\\pN_",
}
_CODE = re.compile(r"\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})|\\x([0-9a-fA-F]{1,255})")
_QUANTIFIER = re.compile(r"(?:[*+?]|\{\d+(?:,\d*)?\})(\?)?")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled expression: `whole` finds the match, `parts` its groups within it."""

    whole: Any
    parts: Any
    mixed: bool  # greedy and lazy quantifiers

    def matches(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the spans of the matches, from left to right.

        >>> list(compile_pattern("a|ab").matches("ab a"))
        [(0, 2), (3, 4)]
        """
        at = 0
        while at <= len(text):
            found = self.whole.search(text, at)
            if found is None:
                return
            start, end = found.span()
            yield start, end
            at = end if end > start else end + 1

    def groups(self, text: str, start: int, end: int) -> tuple[str | None, ...]:
        """Give the groups' texts in the match `start` to `end`, None for one without a match."""
        found = self.parts.fullmatch(text, start, end)
        groups: tuple[str | None, ...] = (None,) * self.whole.groups
        return groups if found is None else tuple(found.groups())


def compile_pattern(pattern: str, flags: str = "") -> Pattern:
    """Compile an expression under the flags of PostgreSQL, some of `gicnms`.

    Raises Unsupported for an expression beyond RE2, ValueError for one that is malformed.
    """
    pattern, sensitive, lines = _settings(pattern, flags)
    translated, greedy, lazy = translate(pattern, lines)
    alternatives = "|" in translated
    return Pattern(
        _compiled(translated, sensitive, lines, longest=not lazy),
        _compiled(translated, sensitive, lines, longest=False),
        mixed=lazy and (greedy or alternatives),
    )


def _settings(pattern: str, flags: str) -> tuple[str, bool, bool]:
    """Give the bare expression, whether case counts, and whether a line's end ends matches."""
    lines = False
    sensitive = True
    for flag in flags:
        if flag not in "gicnms":
            raise Unsupported(f"the flag {flag!r} of a regular expression")
        sensitive = {"i": False, "c": True}.get(flag, sensitive)
        lines = {"n": True, "m": True, "s": False}.get(flag, lines)
    if pattern.startswith("(?i)"):
        pattern, sensitive = pattern[4:], False
    return pattern, sensitive, lines


def _compiled(pattern: str, sensitive: bool, lines: bool, longest: bool) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = sensitive
    options.dot_nl = not lines
    options.longest_match = longest
    try:
        return re2.compile("(?m)" + pattern if lines else pattern, options)
    except re2.error as error:
        raise ValueError(_reason(error)) from error


def _reason(error: Exception) -> str:
    reason = error.args[0]
    return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)


def translate(pattern: str, lines: bool = False) -> tuple[str, bool, bool]:
    """Translate to RE2's syntax; says also whether greedy and whether lazy quantifiers occur.

    With `lines` neither `.` nor a complement matches a line's end. Raises Unsupported, ValueError.

    >>> translate(r"\\w+?")
    ('[\\\\pL\\\\pN_]+?', False, True)
    """
    out: list[str] = []
    greedy = lazy = False
    at = 0
    if pattern.startswith("***"):
        raise Unsupported("a regular expression that begins with ***")
    while at < len(pattern):
        if pattern[at] == "\\":
            piece, at = _escape(pattern, at, _ESCAPES)
        elif pattern[at] == "[":
            piece, at = _brackets(pattern, at, lines)
        elif pattern.startswith("(?", at) and not pattern.startswith("(?:", at):
            raise Unsupported(f"{pattern[at : at + 3]!r} in a regular expression")
        elif quantifier := _QUANTIFIER.match(pattern, at):
            piece, at = quantifier[0], quantifier.end()
            greedy, lazy = greedy or not quantifier[1], lazy or bool(quantifier[1])
        else:
            piece, at = pattern[at], at + 1
        out.append(piece)
    return "".join(out), greedy, lazy


def _escape(pattern: str, at: int, escapes: dict[str, str]) -> tuple[str, int]:
    """Translate the escape at `at`; gives its end too."""
    if code := _CODE.match(pattern, at):
        return f"\\x{{{(code[1] or code[2] or code[3])[-6:]}}}", code.end()
    character = pattern[at + 1 : at + 2]
    if not character:
        raise ValueError("a backslash at the end")
    if character in escapes:
        return escapes[character], at + 2
    if character.isalnum():
        raise Unsupported(f"\\{character} in a regular expression")
    return "\\" + character if character.isascii() else character, at + 2


def _brackets(pattern: str, at: int, lines: bool) -> tuple[str, int]:
    """Translate the bracket expression at `at`; gives its end too."""
    if pattern.startswith(("[[:<:]]", "[[:>:]]"), at):
        raise Unsupported("[[:<:]] in a regular expression")
    out, start = ["["], at
    at += 1
    if pattern.startswith("^", at):
        out.append("^\\n" if lines else "^")
        at += 1
    first = True
    while at < len(pattern) and (pattern[at] != "]" or first):
        first = False
        if pattern.startswith("[:", at):
            end = pattern.find(":]", at)
            name = pattern[at + 2 : end]
            if name not in _CLASSES:
                raise Unsupported(f"[:{name}:] in a regular expression")
            out.append(_CLASSES[name])
            at = end + 2
        elif pattern.startswith(("[.", "[="), at):
            raise Unsupported(f"{pattern[at : at + 2]!r} in a regular expression")
        elif pattern[at] == "\\":
            if pattern[at + 1 : at + 2] in _NO_ESCAPES_IN_BRACKETS:
                raise Unsupported(f"{pattern[at : at + 2]} in brackets of a regular expression")
            piece, at = _escape(pattern, at, _IN_BRACKETS)
            out.append(piece)
        else:
            out.append("\\" + pattern[at] if pattern[at] in "[]" else pattern[at])
            at += 1
    if at >= len(pattern):
        raise ValueError(f"the bracket at {start + 1} is not closed")
    return "".join([*out, "]"]), at + 1


def similar(pattern: str, escape: str = "\\") -> str:
    """Translate a pattern of SIMILAR TO to a regular expression for the whole text.

    >>> similar("a_%")
    '^(?:a..*)$'
    """
    out, characters = [], iter(pattern)
    inside = False
    for c in characters:
        if c == escape:
            out.append(re.escape(next(characters, "")))
        elif inside:
            out.append("\\\\" if c == "\\" else c)
            inside = c != "]"
        elif c in "%_":
            out.append(".*" if c == "%" else ".")
        elif c == "(":
            out.append("(?:")
        elif c in "\\.^$":
            out.append("\\" + c)
        else:
            out.append(c)
            inside = c == "["
    return f"^(?:{''.join(out)})$"


def searcher(pattern: str, flags: str) -> Callable[[pa.StringArray], pa.BooleanArray]:
    """Make the function that tests each of many texts for a match, by Arrow's own RE2.

    Raises as `compile_pattern` does.
    """
    compile_pattern(pattern, flags)
    bare, sensitive, lines = _settings(pattern, flags)
    translated, _, _ = translate(bare, lines)
    marked = f"(?{'' if sensitive else 'i'}{'m' if lines else 's'}){translated}"

    def search(texts: pa.StringArray) -> pa.BooleanArray:
        found: pa.BooleanArray = pc.match_substring_regex(texts, marked)
        return found

    return search
