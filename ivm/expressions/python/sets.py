"""Set-returning functions give their sets as arrays, of at most a million elements in a series."""

from collections.abc import Callable
from typing import Any

from ivm.expressions.python.script import Script
from ivm.values import documents
from ivm.values.intervals import moved, span
from ivm.values.types import Interval

MOST = 1_000_000


def series(first: int, last: int, step: int) -> list[int]:
    """Generate a series of integers, `last` included (raises OverflowError beyond a million)."""
    if step == 0:
        raise ValueError(step)
    if (last - first) // step >= MOST:
        raise OverflowError
    return list(range(first, last + (1 if step > 0 else -1), step))


def moments(first: int, last: int, step: Interval) -> list[int]:
    """Generate a series of timestamps, each a step after the one before, in microseconds."""
    length = span(step)
    if length == 0:
        raise ValueError(step)
    out: list[int] = []
    at = first
    while (at <= last) if length > 0 else (at >= last):
        if len(out) == MOST:
            raise OverflowError
        out.append(at)
        at = moved(at, step)
    return out


def _items(show: Callable[[Any], Any]) -> Callable[[str], list[Any]]:
    def items(text: str) -> list[Any]:
        document = documents.parse(text)
        if not isinstance(document, list):
            raise ValueError(text)
        return [show(item) for item in document]

    return items


def _members(text: str) -> list[tuple[str, Any]]:
    document = documents.parse(text)
    if not isinstance(document, dict):
        raise ValueError(text)
    return sorted(document.items(), key=lambda m: documents.key_order(m[0]))


SCRIPTS: dict[str, Script] = {
    "series": Script(series, ("signed", "signed", "signed")),
    "moment_series": Script(moments, ("timestamp", "timestamp", "interval")),
    "json_items": Script(_items(documents.dump), ("json",)),
    "json_items_text": Script(_items(documents.plain), ("json",)),
    "json_keys": Script(lambda text: [key for key, _ in _members(text)], ("json",)),
    "json_pairs": Script(lambda text: [documents.dump([*m]) for m in _members(text)], ("json",)),
}
