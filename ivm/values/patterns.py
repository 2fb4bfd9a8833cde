"""Regular expressions of PostgreSQL, matched in polynomial time.

RE2 finds the matches, in linear time, of an expression that it can spell: as in PostgreSQL the
match is the leftmost and there the longest. What RE2 lacks (places at words, look-around,
expressions that prefer less, groups in alternatives or within repetitions) is matched on sets of
places. Back references are refused.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import re2

from ivm.values.regular_matching import (
    Places,
    dissect,
    matches,
    prefers_less,
)
from ivm.values.regular_syntax import (
    Characters,
    Choice,
    Constraint,
    Group,
    Look,
    Node,
    Repeat,
    Sequence,
    Settings,
    Syntax,
    parse,
)

_CACHED_PATTERNS = 1024
_CACHED_SETS = 4096
Span = tuple[int, int]


class _BeyondRe2(Exception):
    """RE2 has no such expression, or needs too much memory for it."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled expression; `whole` finds matches by RE2, and `parts` their groups, if it can."""

    syntax: Syntax
    whole: Any
    parts: Any

    @property
    def groups(self) -> int:
        return self.syntax.groups

    def on(self, text: str) -> "Matching":
        return Matching(self, text)


class Matching:
    """The matches of an expression in a text.

    >>> list(compile_pattern("a|ab").on("ab a").spans())
    [(0, 2), (3, 4)]
    """

    def __init__(self, pattern: Pattern, text: str) -> None:
        self._pattern, self._text = pattern, text
        self._at: Places | None = None

    def spans(self, start: int = 0) -> Iterator[Span]:
        """Yield the spans of the matches from `start`, from left to right."""
        if self._pattern.whole is None:
            if start <= len(self._text):
                yield from matches(self._pattern.syntax.tree, self._places(), start)
            return
        while start <= len(self._text):
            found = self._pattern.whole.search(self._text, start)
            if found is None:
                return
            begin, end = found.span()
            yield begin, end
            start = max(end, begin + 1)

    def groups(self, span: Span) -> list[Span | None]:
        """List the groups' spans in a match, None for one without a match."""
        numbers = range(1, self._pattern.groups + 1)
        if self._pattern.parts is not None:
            found = self._pattern.parts.fullmatch(self._text, *span)
            return [None if found.start(n) < 0 else found.span(n) for n in numbers]
        spans: dict[int, Span] = {}
        dissect(self._pattern.syntax.tree, self._places(), *span, spans)
        return [spans.get(n) for n in numbers]

    def texts(self, span: Span) -> list[str | None]:
        """List the groups' texts in a match."""
        return [None if s is None else self._text[s[0] : s[1]] for s in self.groups(span)]

    def _places(self) -> Places:
        if self._at is None:
            settings = self._pattern.syntax.settings
            self._at = Places(self._text, settings, lambda s: _set(s, settings.sensitive))
        return self._at


class _Set(dict[int, str]):
    """Translates the characters of a set to 1, others to 0; RE2 is asked once of each."""

    def __init__(self, spelled: str, sensitive: bool) -> None:
        super().__init__()
        self._compiled = _compiled(spelled, sensitive, longest=False)

    def __missing__(self, code: int) -> str:
        found = "0" if self._compiled.fullmatch(chr(code)) is None else "1"
        self[code] = found
        return found


@lru_cache(_CACHED_SETS)
def _set(spelled: str, sensitive: bool) -> Mapping[int, str]:
    return _Set(spelled, sensitive)


@lru_cache(_CACHED_PATTERNS)
def compile_pattern(pattern: str, flags: str = "") -> Pattern:
    """Compile an expression under flags of PostgreSQL.

    Raises Unsupported for an expression that cannot be matched here, ValueError for none at all.

    >>> has_match(compile_pattern("^[0-9]+$"), "42")
    True
    """
    syntax = parse(pattern, flags)
    for spelled in _sets(syntax.tree):
        _set(spelled, syntax.settings.sensitive)
    sensitive, less = syntax.settings.sensitive, prefers_less(syntax.tree)
    simple = _is_simple(syntax.tree, lazy=bool(less))
    try:
        spelled = _spelled(syntax.tree, syntax.settings)
        whole = parts = None
        if not less or simple:
            whole = _compiled(spelled, sensitive, longest=not less)
        if simple:
            parts = _compiled(spelled, sensitive, longest=False)
    except _BeyondRe2:
        return Pattern(syntax, None, None)
    return Pattern(syntax, whole, parts)


def _compiled(pattern: str, sensitive: bool, longest: bool) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = sensitive
    options.longest_match = longest
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        raise _BeyondRe2 from error


def _spelled(node: Node, settings: Settings) -> str:
    """Spell a node in RE2's syntax."""
    match node:
        case Characters(spelled):
            return spelled
        case Constraint(kind):
            return _constraint(kind, settings)
        case Look():
            raise _BeyondRe2
        case Group(inner):
            return f"({_spelled(inner, settings)})"
        case Sequence(parts):
            return "".join(_spelled(p, settings) for p in parts)
        case Choice(branches):
            return f"(?:{'|'.join(_spelled(b, settings) for b in branches)})"
        case Repeat(inner, least, most, lazy):
            times = f"{{{least},{'' if most is None else most}}}{'?' if lazy else ''}"
            return f"(?:{_spelled(inner, settings)}){times}"


def _constraint(kind: str, settings: Settings) -> str:
    if kind in "^$" and settings.anchors:
        return f"(?m:{kind})"
    if kind in "^A":
        return "\\A"
    if kind in "$Z":
        return "\\z"
    raise _BeyondRe2


def _sets(node: Node) -> Iterator[str]:
    match node:
        case Characters(spelled):
            yield spelled
        case Group(inner) | Repeat(inner) | Look(inner):
            yield from _sets(inner)
        case Sequence(nodes) | Choice(nodes):
            for inner in nodes:
                yield from _sets(inner)


def _is_simple(node: Node, lazy: bool) -> bool:
    """Tell whether the parts of a node match the same for RE2 as for PostgreSQL.

    They do where there are no alternatives, only single characters repeat, and all of these
    repetitions prefer less, if `lazy`, or all prefer more.
    """
    match node:
        case Choice():
            return False
        case Repeat(inner, lazy=preferring):
            return isinstance(inner, Characters) and preferring in (lazy, None)
        case Group(inner):
            return _is_simple(inner, lazy)
        case Sequence(parts):
            return all(_is_simple(part, lazy) for part in parts)
        case _:
            return True


def searcher(pattern: str, flags: str) -> Callable[[pa.StringArray], pa.BooleanArray]:
    """Make the function that tests each of many texts for a match, by Arrow's own RE2 if it can.

    Raises as `compile_pattern` does.

    >>> searcher("b+", "i")(pa.array(["aBc", "ac", None])).to_pylist()
    [True, False, None]
    """
    compiled = compile_pattern(pattern, flags)
    settings = compiled.syntax.settings
    try:
        spelled = _spelled(compiled.syntax.tree, settings)
        _compiled(spelled, settings.sensitive, longest=False)
    except _BeyondRe2:
        return lambda texts: pa.array([has_match(compiled, t.as_py()) for t in texts], pa.bool_())
    marked = f"(?{'' if settings.sensitive else 'i'}){spelled}"

    def search(texts: pa.StringArray) -> pa.BooleanArray:
        found: pa.BooleanArray = pc.match_substring_regex(texts, marked)
        return found

    return search


def has_match(pattern: Pattern, text: str) -> bool:
    """Tell whether an expression matches somewhere in a text.

    >>> has_match(compile_pattern("b{2}"), "abbc")
    True
    """
    return next(pattern.on(text).spans(), None) is not None
