"""Lines of separated values, which have neither schemas nor names, cut into columns."""

import csv
from collections.abc import Mapping, Sequence

import pyarrow as pa

from connectors.declaration import Csv
from connectors.inference.guess import Guess
from connectors.inference.values import guess_spelled

_DELIMITERS = (",", ";", "\t", "|")
_HEADER = "the first record looks like a header, which is no row: it will be at fault"


def cut(lines: Sequence[str]) -> tuple[Csv, list[list[str]]] | None:
    """The form of lines that all have as many fields, at least two, and the fields."""
    for delimiter in _DELIMITERS:
        try:
            fields = list(csv.reader(lines, delimiter=delimiter))
        except csv.Error:  # a NUL, or a field of unusual length
            continue
        counts = {len(line) for line in fields}
        if len(counts) == 1 and len(fields) == len(lines) and counts.pop() > 1:
            return Csv(delimiter), fields
    return None


def guesses(fields: Sequence[Sequence[str]]) -> tuple[Mapping[str, Guess], list[str]]:
    """The columns of lines of as many fields each, and what is in doubt about all of them.

    They have the names of a header, if the first line looks like one.
    """
    whole, rest = _columns(fields), _columns(fields[1:])
    names = [text.strip() for text in fields[0]]
    is_named = len(set(names)) == len(names) and all(
        name and guess_spelled([name]).dtype == pa.string() for name in names
    )
    if len(fields) > 1 and is_named and [one.dtype for one in whole] != [one.dtype for one in rest]:
        return dict(zip(names, rest, strict=True)), [_HEADER]
    return {f"column{n}": one for n, one in enumerate(whole, 1)}, ["the columns have no names yet"]


def _columns(fields: Sequence[Sequence[str]]) -> list[Guess]:
    columns = zip(*fields, strict=True)
    return [guess_spelled([text or None for text in column]) for column in columns]
