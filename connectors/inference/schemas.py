"""Columns by the schema of a writer: for each type that it describes the one that holds its values.

This is the inverse of `connectors.columns.encodings`, which says what each column takes.

| described as | column |
| --- | --- |
| numbers | of the same width; floats as they are |
| `Decimal`, `decimal` | decimal128 of their digits, 38 where these are not told |
| `VariableScaleDecimal` | decimal128(38, 18), in doubt |
| dates, times, times with a zone | date32, time64, timestamp without and with a zone |
| Avro's `timestamp-*`, which are instants | timestamp with a zone |
| durations and intervals; UUIDs; `Json` | interval; uuid; json |
| arrays of plain values, `EnumSet` | lists |
| maps, structs, arrays of such | json |
| texts, enums and all with a text form | utf8 |
"""

from collections.abc import Mapping

import pyarrow as pa

from connectors.columns.writer_schema import Logical
from connectors.inference.guess import Guess
from connectors.tables.spec import type_of
from ivm.values.types import INTERVAL, JSON, UUID

_DIGITS = 38
_NAIVE, _INSTANT, _CLOCK = pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.time64("us")
_TEXTS = pa.list_(pa.string())

_MEANT: Mapping[str, pa.DataType] = {
    **dict.fromkeys(("Date", "date", "IsoDate"), pa.date32()),
    **dict.fromkeys(("Time", "MicroTime", "NanoTime", "ZonedTime", "IsoTime"), _CLOCK),
    **dict.fromkeys(("time-millis", "time-micros"), _CLOCK),
    **dict.fromkeys(("Timestamp", "MicroTimestamp", "NanoTimestamp", "IsoTimestamp"), _NAIVE),
    **{f"local-timestamp-{unit}": _NAIVE for unit in ("millis", "micros", "nanos")},
    **{f"timestamp-{unit}": _INSTANT for unit in ("millis", "micros", "nanos")},
    "ZonedTimestamp": _INSTANT,
    **dict.fromkeys(("MicroDuration", "NanoDuration", "Interval", "duration"), INTERVAL),
    **dict.fromkeys(("Uuid", "uuid"), UUID),
    "Json": JSON,
    "Bits": pa.string(),
    "EnumSet": _TEXTS,
    "VariableScaleDecimal": pa.decimal128(_DIGITS, 18),
}
_DOUBTS = {
    "VariableScaleDecimal": "its values have any number of digits; 18 behind the point are taken",
    **dict.fromkeys(
        ("Time", "MicroTime"), "a TIME of MySQL may be beyond a day: then it is an interval"
    ),
}
_NESTED = ("array", "map", "struct")
_PLAIN: Mapping[str, pa.DataType] = {
    "bool": pa.bool_(),
    "string": pa.string(),
    "bytes": pa.binary(),
    "map": JSON,
    "struct": JSON,
}


def guesses(struct: Logical) -> dict[str, Guess]:
    """The columns of the fields of a struct."""
    return {name: guess(field) for name, field in struct.fields.items()}


def guess(written: Logical) -> Guess:
    """The column of values of this type."""
    name = written.name.rpartition(".")[2]
    if name in ("Decimal", "decimal"):
        return _decimal(written)
    if name in _MEANT:
        return Guess(_MEANT[name], written.is_optional, _DOUBTS.get(name, ""))
    if written.number:
        return Guess(type_of(written.number), written.is_optional)
    if written.kind == "array" and written.element is not None:
        return Guess(_listed(written.element), written.is_optional)
    dtype = _PLAIN.get(written.kind)
    return Guess(dtype, written.is_optional, "" if dtype else "its schema gives several types")


def _decimal(written: Logical) -> Guess:
    precision, scale = written.precision or _DIGITS, max(written.scale, 0)
    if scale > _DIGITS:
        return Guess(None, written.is_optional, f"a decimal has at most {_DIGITS} digits")
    doubt = f"it has more than {_DIGITS} digits, which is all that a decimal here has"
    digits = min(max(precision, scale), _DIGITS)
    return Guess(
        pa.decimal128(digits, scale), written.is_optional, doubt if precision > _DIGITS else ""
    )


def _listed(element: Logical) -> pa.DataType:
    found = guess(element).dtype if element.kind not in _NESTED else None
    return JSON if found is None or found in (JSON, _TEXTS) else pa.list_(found)
