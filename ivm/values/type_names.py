"""SQL names of column types, as views and messages give them.

>>> sql_name(pa.list_(pa.date32())), shown(pa.decimal128(4, 2))
('date[]', 'numeric(4, 2)')
"""

import pyarrow as pa

from ivm.values.types import INTERVAL, JSON, NUMERIC, UUID

NAMES: dict[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "integer": pa.int32(),
    "bigint": pa.int64(),
    "utinyint": pa.uint8(),
    "usmallint": pa.uint16(),
    "uinteger": pa.uint32(),
    "ubigint": pa.uint64(),
    "real": pa.float32(),
    "double precision": pa.float64(),
    "text": pa.string(),
    "bytea": pa.binary(),
    "date": pa.date32(),
    "time": pa.time64("us"),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", "UTC"),
    "interval": INTERVAL,
    "uuid": UUID,
    "jsonb": JSON,
    "numeric": NUMERIC,
}
_BY_TYPE = {kind: name for name, kind in NAMES.items()}


def sql_name(kind: pa.DataType) -> str | None:
    """Name a type in SQL; None for a type that has no name there.

    >>> sql_name(pa.int64()), sql_name(pa.uint8())
    ('bigint', 'utinyint')
    """
    if isinstance(kind, pa.ListType):
        element = sql_name(kind.value_type)
        return None if element is None else f"{element}[]"
    if pa.types.is_decimal128(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    if pa.types.is_timestamp(kind) and kind.tz is not None and kind.unit == "us":
        return "timestamptz"
    return _BY_TYPE.get(kind)


def shown(kind: pa.DataType) -> str:
    """Name a type for a message.

    >>> shown(pa.string())
    'text'
    """
    return sql_name(kind) or str(kind)
