"""Matching of regular expressions on sets of places in a text, as bits of an integer.

Place i is before character i. For a node and a set S of places, `spread` computes
    ahead(node, S) = {j : i in S, node matches text[i:j]}
    behind(node, S) = {i : j in S, node matches text[i:j]}
so the places where a match of the whole begins are behind(tree, all), and the ends of the matches
that begin at i are ahead(tree, {i}). Of these PostgreSQL takes the last, or the first where the
expression prefers less. Within a match the parts take what they prefer from left to right, each as
far as the rest still matches. An operation on n places takes n / 64 words, and a repetition at most
n of them.

>>> from ivm.values.regular_syntax import parse
>>> syntax = parse("b+")
>>> def of(spelled: str) -> dict[int, str]:
...     return {ord(c): "1" if c == spelled else "0" for c in "ab "}
>>> places = Places("abba b", syntax.settings, of)
>>> list(matches(syntax.tree, places, 0))
[(1, 3), (5, 6)]
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce

from ivm.values.regular_syntax import (
    WORD,
    Characters,
    Choice,
    Constraint,
    Group,
    Look,
    Node,
    Repeat,
    Sequence,
    Settings,
)

Test = Callable[[str], Mapping[int, str]]
"""For a set as RE2 spells it, a table that translates the characters in it to 1, others to 0."""


@dataclass(slots=True)
class Places:
    """The places of a text, with those of each set of characters and each constraint."""

    text: str
    settings: Settings
    test: Test
    all: int = 0
    _known: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.all = (1 << (len(self.text) + 1)) - 1

    def of(self, spelled: str) -> int:
        """Places before a character of the set."""
        if spelled not in self._known:
            digits = self.text[::-1].translate(self.test(spelled))
            self._known[spelled] = int(digits or "0", 2)
        return self._known[spelled]

    def constrained(self, kind: str) -> int:
        """Places where a constraint holds."""
        first, last = 1, 1 << len(self.text)
        if kind in "^$" and self.settings.anchors:
            line_ends = self.of("\\n")
            return first | line_ends << 1 if kind == "^" else last | line_ends
        if kind in "^A":
            return first
        if kind in "$Z":
            return last
        words = self.of(WORD)
        after = words << 1
        bounds = {"m": words & ~after, "M": after & ~words, "y": words ^ after}
        return self.all & ~bounds["y"] if kind == "Y" else bounds[kind]


def spread(node: Node, at: Places, places: int, ahead: bool) -> int:
    """Give the places that matches of `node` from `places` lead to, ahead or behind."""
    if not places:
        return 0
    match node:
        case Characters(spelled):
            here = at.of(spelled)
            return (places & here) << 1 if ahead else places >> 1 & here
        case Constraint(kind):
            return places & at.constrained(kind)
        case Look(inner, forward, negative):
            found = spread(inner, at, at.all, ahead=not forward)
            return places & (at.all & ~found if negative else found)
        case Group(inner):
            return spread(inner, at, places, ahead)
        case Sequence(parts):
            ordered = parts if ahead else reversed(parts)
            return reduce(lambda reached, part: spread(part, at, reached, ahead), ordered, places)
        case Choice(branches):
            return reduce(lambda a, b: a | b, (spread(b, at, places, ahead) for b in branches))
        case Repeat(inner, least, most):
            for _ in range(least):
                places = spread(inner, at, places, ahead)
            return _repeated(inner, at, places, ahead, None if most is None else most - least)


def _repeated(inner: Node, at: Places, places: int, ahead: bool, most: int | None) -> int:
    """Give the places after up to `most` matches of `inner`."""
    if most is None and isinstance(inner, Characters):
        return _run(at.of(inner.spelled), places, ahead)
    new = places
    while new and most != 0:
        new = spread(inner, at, new, ahead) & ~places
        places |= new
        most = None if most is None else most - 1
    return places


def _run(runs: int, places: int, ahead: bool) -> int:
    """As far as characters of one set go: `runs` are places before 1, 2, 4 … of them."""
    length = 1
    while runs:
        places |= (places & runs) << length if ahead else places >> length & runs
        runs &= runs >> length
        length *= 2
    return places


def prefers_less(node: Node) -> bool | None:
    """Tell whether a node prefers a shorter match; None if it has no preference.

    >>> prefers_less(Repeat(Characters("a"), 1, None, lazy=True))
    True
    """
    match node:
        case Group(inner):
            return prefers_less(inner)
        case Sequence(parts):
            return next((p for part in parts if (p := prefers_less(part)) is not None), None)
        case Choice():
            return False
        case Repeat(inner, lazy=lazy):
            return prefers_less(inner) if lazy is None else lazy
        case _:
            return None


def matches(tree: Node, at: Places, start: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of the matches from `start`, from left to right, none overlapping."""
    begins = spread(tree, at, at.all, ahead=False)
    less = bool(prefers_less(tree))
    while left := begins >> start << start:
        begin = _first(left)
        end = _chosen(spread(tree, at, 1 << begin, ahead=True), less)
        yield begin, end
        start = max(end, begin + 1)


def _first(places: int) -> int:
    return (places & -places).bit_length() - 1


def _chosen(places: int, less: bool) -> int:
    return _first(places) if less else places.bit_length() - 1


Spans = dict[int, tuple[int, int]]


def dissect(node: Node, at: Places, start: int, end: int, spans: Spans) -> None:
    """Find the spans of the groups of `node`, which matches from `start` to `end`."""
    match node:
        case Group(inner, number):
            spans[number] = (start, end)
            dissect(inner, at, start, end, spans)
        case Sequence(parts):
            _dissect_sequence(parts, at, start, end, spans)
        case Choice(branches):
            matching = (b for b in branches if _matches(b, at, start, end))
            dissect(next(matching), at, start, end, spans)
        case Repeat() if any(groups_of(node)):
            _dissect_repeat(node, at, start, end, spans)


def _matches(node: Node, at: Places, start: int, end: int) -> bool:
    return bool(spread(node, at, 1 << start, ahead=True) >> end & 1)


def _dissect_sequence(
    parts: tuple[Node, ...], at: Places, start: int, end: int, spans: Spans
) -> None:
    plain = [p for p in parts if not _is_plain(p)]
    if not plain:
        return
    lead = next(i for i, p in enumerate(parts) if not _is_plain(p))
    head: Node = Sequence(parts[:lead]) if lead else parts[0]
    rest = parts[lead or 1 :]
    if rest:
        ends = spread(head, at, 1 << start, ahead=True)
        ends &= spread(Sequence(rest), at, 1 << end, ahead=False)
        middle = _chosen(ends, bool(prefers_less(head)))
    else:
        middle = end
    dissect(head, at, start, middle, spans)
    _dissect_sequence(rest, at, middle, end, spans)


def _is_plain(node: Node) -> bool:
    """Tell whether a node has no groups and prefers no shorter match."""
    return not any(groups_of(node)) and not prefers_less(node)


def _dissect_repeat(node: Repeat, at: Places, start: int, end: int, spans: Spans) -> None:
    """Of the rounds of a repetition the last one counts; it is empty only if it must be."""
    inner, most = node.inner, node.most
    if node.least:
        earlier = Repeat(inner, node.least - 1, None if most is None else most - 1, node.lazy)
        places = spread(earlier, at, 1 << start, ahead=True)
        places &= spread(inner, at, 1 << end, ahead=False)
        dissect(inner, at, _chosen(places, bool(prefers_less(node))), end, spans)
    elif start == end:
        if most != 0 and not prefers_less(inner) and _matches(inner, at, start, end):
            dissect(inner, at, start, end, spans)
    else:
        _dissect_rounds(node, at, start, end, spans)


def _dissect_rounds(node: Repeat, at: Places, start: int, end: int, spans: Spans) -> None:
    """Follow the rounds of a repetition from none on; each takes what it prefers."""
    inner, most = node.inner, node.most
    while start < end:
        most = None if most is None else most - 1
        places = spread(inner, at, 1 << start, ahead=True) >> (start + 1) << (start + 1)
        places &= spread(Repeat(inner, 0, most, node.lazy), at, 1 << end, ahead=False)
        middle = _chosen(places, bool(prefers_less(inner)))
        for number in groups_of(inner):
            spans.pop(number, None)
        dissect(inner, at, start, middle, spans)
        start = middle


def groups_of(node: Node) -> Iterator[int]:
    """List the numbers of the groups within a node."""
    match node:
        case Group(inner, number):
            yield number
            yield from groups_of(inner)
        case Repeat(inner):
            yield from groups_of(inner)
        case Sequence(nodes) | Choice(nodes):
            for inner in nodes:
                yield from groups_of(inner)
