"""Lines of separated values to one text for each column, or None for NULL.

Fields are cut at the delimiter unless they are quoted; within quotes, a doubled one stands for
itself. There is no header: a line has as many fields as there are columns.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa

from connectors.columns.encodings import by_text
from connectors.columns.faults import NOT_TEXT, Fault
from connectors.columns.to_arrow import Converter
from connectors.columns.writer_schema import UNDESCRIBED, Logical
from connectors.declaration import Csv, Declaration, refused
from connectors.formats.parsed import Contents, Holding, Opening, Parsed, Reader
from connectors.formats.schemas import SchemaText
from connectors.formats.slots import Slots
from connectors.native.csv import Line
from connectors.records import Records

NOT_CSV: Final = "not-csv"


class Lines:
    """Format `csv`."""

    name = "csv"
    reason = NOT_CSV
    holds: Holding = "columns"
    is_line = True
    needs_registry = False
    has_encodings = False

    def check(self, table: Declaration) -> None:
        """Raise InvalidTable unless lines can be cut into fields as the table says."""
        for name, sign in (("delimiter", table.csv.delimiter), ("quote", table.csv.quote)):
            if len(sign) != 1 or sign in "\r\n\0":
                raise refused(table, f"csv.{name}", f"{sign!r} is not one character")
        if table.csv.delimiter == table.csv.quote:
            raise refused(table, "csv.quote", "it is the delimiter too")

    def parse(self, records: Records, reader: Reader) -> Parsed:
        """A dict of texts for each record, or a Fault where it is no line of the columns."""
        names, form = reader.table.contents, reader.table.csv
        contents = records.contents(reader.part)
        return Parsed([None if line is None else _row(line, names, form) for line in contents])

    def opening(self, content: bytes, reader: Reader) -> Opening | None:
        """Nothing that lines have in common but their form."""
        form, names = reader.table.csv, reader.table.contents
        if not (form.delimiter + form.quote).isascii():
            return None

        def line(slots: Slots) -> Line:
            places = [slots.of((name,)) for name in names]
            return Line(
                form.delimiter.encode(),
                form.quote.encode(),
                form.null.encode(errors="surrogatepass"),
                places,
                slots.count,
            )

        return Opening(line)

    def described(self, schema: Sequence[SchemaText]) -> Logical:
        """Nothing: values are not read by a registered schema."""
        return UNDESCRIBED

    def exact(self, contents: Contents, values: Sequence[Any]) -> None:
        """Texts have every digit."""

    def converter(self, table: Declaration, field: pa.Field, written: Logical | None) -> Converter:
        """A value out of its text."""
        return by_text(field.type)


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
