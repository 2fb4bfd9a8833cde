"""Records to typed columns natively: what is as records mostly are, without an object for any.

Whatever is at fault, or unusual, is refused: then `connectors.decode` reads the record exactly.
What is taken gives the same updates as there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import InvalidOperation
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from connectors.columns.faults import Fault, ValueFault
from connectors.columns.forms import CONTENTS, VERBATIM, Form, form_of
from connectors.columns.to_arrow import to_array
from connectors.columns.unavailable import Placeholder, placeholder
from connectors.envelopes.envelope import ENVELOPES
from connectors.envelopes.layout import Layout
from connectors.formats.format import FORMATS
from connectors.formats.json import exactly
from connectors.formats.parsed import Opening, Reader
from connectors.formats.schemas import Schemas
from connectors.formats.slots import Path, Slots
from connectors.metadata import coordinates
from connectors.native.changes import Changes
from connectors.native.tokens import Scanner
from connectors.reader_schema import Column, Plan, plan
from connectors.records import Decoded, Records
from connectors.tables.spec import TableSpec

# Records that are asked for headers at a time.
_WINDOW = 4096
# Kinds of writers' values that are texts or bytes by themselves; without a schema, texts are.
_CONTENTS = ("string", "bytes", "")
_WRAPPING: tuple[Path, ...] = (("schema",), ("payload",))


def columnwise(
    records: Records, start: int, table: TableSpec, schemas: Schemas | None = None
) -> tuple[Decoded, int] | None:
    """The updates of the records from index `start` on, and the index of the first not taken.

    None where the first is not, or where the table's records are read in no such way. Raises
    RegistryUnavailable.
    """
    layout = ENVELOPES[table.envelope].layout
    if layout is None or not _has_rules(table, layout):
        return None
    stop = len(records)
    if FORMATS[table.format].needs_registry and records.headers is not None:
        stop = min(stop, start + _WINDOW)
        if any(records.headers[start:stop]):
            return None  # these may name schemas
    keys = _keys(records, table)
    value = _opening(records.values, start, Reader(table, schemas, "value"))
    has_keys = keys is not None and (keys[start] is not None or layout.rule != "flat")
    key = _opening(keys, start, Reader(table, schemas, "key")) if keys and has_keys else None
    if value is None or (key is None and has_keys):
        return None
    columns = plan(table, value.writer, key.writer if key is not None else None, key is not None)
    if isinstance(columns, Fault):
        return None
    if layout.images == ((),) and any(column.source == "absent" for column in columns):
        return None  # whether an object is a row depends on their names, too
    slots, key_slots = Slots(listed=layout.listed), Slots()
    places = _placed(table, layout, _of_contents(columns), slots, key_slots, key is not None)
    scanner = value.scanner(slots)
    key_scanner = key.scanner(key_slots) if key is not None else None
    forms = _forms(table, _of_contents(columns))
    if forms is None or scanner is None or (key_scanner is None and key is not None):
        return None
    reading = _Reading(table, layout, columns, forms, (scanner, key_scanner), places)
    stop = reading.read(records, keys, range(start, stop), value, key)
    if stop == start or (found := reading.decoded(records, start, stop)) is None:
        return None
    return found, stop


def _keys(records: Records, table: TableSpec) -> Sequence[bytes | None] | None:
    """The records' keys, if columns come out of them, at least where there is one."""
    kind = ENVELOPES[table.envelope].keys
    if kind == "unread" or not any(name in table.contents for name in table.key):
        return None
    return records.contents("key")


def _opening(texts: Sequence[bytes | None], start: int, reader: Reader) -> Opening | None:
    """The beginning that contents have in common with the first; None where there is none."""
    following = (texts[index] for index in range(start, len(texts)))
    first = next((text for text in following if text is not None), None)
    return None if first is None else FORMATS[reader.table.format].opening(first, reader)


@dataclass(frozen=True, slots=True)
class _Places:
    """The slots of images with those of their columns, of keys' columns, and of marks."""

    images: list[tuple[int, list[int]]]
    in_key: list[int]
    marks: tuple[int, ...]
    wrapping: tuple[int, ...]
    key_wrapping: tuple[int, ...]


def _placed(
    table: TableSpec,
    layout: Layout,
    columns: Sequence[Column],
    slots: Slots,
    key_slots: Slots,
    has_keys: bool,
) -> _Places:
    names = [column.field.name for column in columns]
    return _Places(
        [(slots.of(path), [slots.of((*path, name)) for name in names]) for path in layout.images],
        [key_slots.of((n,)) if has_keys and n in table.key else 0 for n in names],
        slots.all_of(layout.marks),
        slots.all_of(_WRAPPING),
        key_slots.all_of(_WRAPPING),
    )


def _of_contents(columns: Plan) -> list[Column]:
    return [column for column in columns if column.source == "contents"]


def _has_rules(table: TableSpec, layout: Layout) -> bool:
    """Whether a table's key is as the rules have it."""
    # The topic is that of all records, so that it tells no two of them apart.
    kinds = {table.metadata.get(name) for name in table.key}
    is_in_contents = kinds <= {None, "topic"}
    return is_in_contents and (table.is_keyed or layout.rule not in ("upsert", "flat"))


def _forms(table: TableSpec, columns: Sequence[Column]) -> list[Form] | None:
    """The forms of columns; None where one cannot be told what it is made of."""
    forms = [form_of(column.field.type, column.convert) for column in columns]
    if FORMATS[table.format].holds == "documents":
        return forms
    for index, (column, form) in enumerate(zip(columns, forms, strict=True)):
        if form is VERBATIM:
            if column.written not in _CONTENTS:
                return None
            forms[index] = CONTENTS
    return forms


class _Reading:
    """Changes of one table that are read of records of one writer."""

    def __init__(
        self,
        table: TableSpec,
        layout: Layout,
        columns: Plan,
        forms: Sequence[Form],
        scanners: tuple[Scanner, Scanner | None],
        places: "_Places",
    ) -> None:
        self._table = table
        self._layout = layout
        self._plan = columns
        self._columns = _of_contents(columns)
        self._forms = forms
        self._unlogged: Placeholder | None = None
        if ENVELOPES[table.envelope].leaves_out:
            self._unlogged = placeholder(table.unavailable_value_placeholder)
        self._changes = Changes(
            layout.rule,
            table.is_keyed,
            *scanners,
            [
                (_shape(column, form), slot)
                for column, form, slot in zip(self._columns, forms, places.in_key, strict=True)
            ],
            places.images,
            list(places.marks),
            places.wrapping,
            places.key_wrapping,
            table.resolution == "transaction" and layout.rule == "debezium",
            sorted(self._unlogged.scalars, key=repr) if self._unlogged is not None else [],
        )

    def read(
        self,
        records: Records,
        keys: Sequence[bytes | None] | None,
        which: range,
        value: Opening,
        key: Opening | None,
    ) -> int:
        """Read these records; the index of the first that is refused, or else their end."""
        prefix = key.prefix if key is not None else b""
        return self._changes.read(
            records.values, keys, which.start, which.stop, value.prefix, prefix
        )

    def decoded(self, records: Records, start: int, stop: int) -> Decoded | None:
        """The contents of the records from `start` up to `stop`; None if any is at fault."""
        table, part = self._table, records.slice(start, stop)
        owners, diffs = self._changes.places()
        owners = owners - start
        arrays = self._arrays()
        if arrays is None or not self._add_metadata(arrays, part, owners, diffs):
            return None
        stamped, order, ids = self._changes.stamps()
        if not self._layout.has_times:
            stamped = part.times()[owners]
        return Decoded(
            pa.RecordBatch.from_arrays(
                [arrays[index] for index in range(len(table.schema))], schema=table.schema
            ),
            diffs,
            part.places()[owners],
            stamped,
            order if order.any() else None,
            self._missing(),
            ids if ids is not None and any(ids) else None,
            (),
            self._changes.tombstones,
            0,
        )

    def _missing(self) -> Sequence[tuple[int, ...]] | None:
        """The columns that each change leaves as they are, if any does."""
        left = self._changes.left_out().tolist()
        if not left:
            return None
        found: list[tuple[int, ...]] = [()] * self._changes.rows()
        for row, column in left:
            found[row] = (*found[row], self._columns[column].index)
        return found

    def _arrays(self) -> dict[int, pa.Array] | None:
        """The columns of contents by their index; None where one has to be made exactly."""
        unlogged = self._unlogged
        found = {}
        rows = self._changes.rows()
        for at, (column, form) in enumerate(zip(self._columns, self._forms, strict=True)):
            nulls, buffers = self._changes.column(at)
            whole = [None if buffer is None else pa.py_buffer(buffer) for buffer in buffers]
            is_made = form is not VERBATIM and form is not CONTENTS
            dtype = column.field.type if is_made else pa.binary()
            made: pa.Array = pa.Array.from_buffers(dtype, rows, whole, nulls)
            if is_made:
                array = None if unlogged is not None and unlogged.may_be_in(made) else made
            else:
                array = _converted(column, form, made, unlogged)
            if array is None:
                return None
            found[column.index] = array
        for column in self._plan:
            if column.source == "absent":
                found[column.index] = pa.nulls(rows, column.field.type)
        return found

    def _add_metadata(
        self,
        arrays: dict[int, pa.Array],
        records: Records,
        owners: NDArray[np.int64],
        diffs: NDArray[np.int64],
    ) -> bool:
        """Add the columns of metadata; False if any record is without a good one."""
        if not self._table.metadata:
            return True
        values, faults = coordinates(records, self._table)
        if faults:
            return False
        for column in self._plan:
            if column.source == "metadata":
                each = values[column.field.name]
                pairs = zip(owners.tolist(), diffs.tolist(), strict=True)
                chosen = [each[owner] if diff else None for owner, diff in pairs]
                field = column.field.with_nullable(True)
                arrays[column.index] = to_array(chosen, field, column.convert)
        return True


def _shape(column: Column, form: Form) -> dict[str, Any]:
    return {
        "form": form.form,
        "width": form.width,
        "is_key": column.is_key,
        "is_nullable": column.field.nullable,
        "is_optional": column.is_optional,
        "is_spelled": form.is_spelled,
        "bounds": form.bounds,
        "unit": form.unit,
        "is_guarded": form.is_guarded,
        "clock": form.clock,
        "digits": form.digits,
    }


def _converted(
    column: Column, form: Form, texts: Any, unlogged: Placeholder | None
) -> pa.Array | None:
    """The values of texts; None if one is no value of the column, or was not logged."""
    read = _value if form is VERBATIM else bytes if column.written == "bytes" else bytes.decode
    try:
        values = [None if text is None else read(text) for text in texts.to_pylist()]
        if unlogged is not None and any(map(unlogged.stands_for, values)):
            return None
        return to_array(values, column.field.with_nullable(True), column.convert)
    except (ValueFault, InvalidOperation, RecursionError):
        return None


def _value(text: bytes) -> Any:
    """The value of a JSON text, with every digit."""
    if text.startswith(b'"'):
        return orjson.loads(text)
    return exactly(text)
