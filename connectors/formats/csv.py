"""Lines of separated values to one text for each column, or None for NULL.

Fields are cut at the delimiter unless they are quoted; within quotes, a doubled one stands for
itself. There is no header: a line has as many fields as there are columns.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from connectors.formats.faults import NOT_CSV, NOT_TEXT, Fault
from connectors.formats.parsed import Parsed
from connectors.tables import Csv


def parse(contents: Sequence[bytes | None], names: Sequence[str], form: Csv) -> Parsed:
    """A dict of texts for each record, or a Fault where it is no line of `names`."""
    return Parsed([None if content is None else _row(content, names, form) for content in contents])


def _row(content: bytes, names: Sequence[str], form: Csv) -> Any:
    try:
        line = content.decode()
    except UnicodeDecodeError as error:
        return Fault(NOT_TEXT, f"not UTF-8: {error}")
    line = line.removesuffix("\n").removesuffix("\r")
    try:
        fields = list(_fields(line, form))
    except ValueError as error:
        return Fault(NOT_CSV, str(error))
    if len(fields) != len(names):
        return Fault(NOT_CSV, f"{len(fields)} fields for {len(names)} columns")
    return dict(zip(names, fields, strict=True))


def _fields(line: str, form: Csv) -> Iterator[str | None]:
    """The fields of a line (raises ValueError)."""
    if form.quote not in line:
        for field in line.split(form.delimiter):
            yield None if field == form.null else field
        return
    at, end = 0, len(line)
    while True:
        if line.startswith(form.quote, at):
            field, at = _quoted(line, at + 1, form.quote)
            yield field
            if at < end and line[at] != form.delimiter:
                raise ValueError(f"a character after the closing quote, at {at}")
        else:
            stop = line.find(form.delimiter, at)
            stop = end if stop < 0 else stop
            field = line[at:stop]
            if form.quote in field:
                raise ValueError(f"a quote within an unquoted field, at {at}")
            yield None if field == form.null else field
            at = stop
        if at >= end:
            return
        at += 1


def _quoted(line: str, at: int, quote: str) -> tuple[str, int]:
    """The field after an opening quote, and where it ends."""
    parts: list[str] = []
    while True:
        stop = line.find(quote, at)
        if stop < 0:
            raise ValueError("a quote is not closed")
        parts.append(line[at:stop])
        if not line.startswith(quote, stop + 1):
            return "".join(parts), stop + 1
        parts.append(quote)
        at = stop + 2
