"""Checks that columns, keys and expressions fit a schema, which nodes make of themselves.

A node names columns of its inputs by number, and inputs that belong together have the same types.
`what` is asked for the columns, in the message of the error.

>>> columns_exist("an order", pa.schema([("id", pa.int64())]), [0, 1])
Traceback (most recent call last):
ivm.errors.SchemaMismatch: an order of column 1, where there are 1
"""

from collections.abc import Iterable, Sequence

import pyarrow as pa

from ivm.dataflow.expressions import Call, Column, Expression, Literal
from ivm.errors import SchemaMismatch, Unsupported


def columns_exist(what: str, schema: pa.Schema, columns: Iterable[int | None]) -> None:
    """Check that each of `columns` that is not None is one of `schema`."""
    for column in columns:
        if column is not None and not 0 <= column < len(schema):
            raise SchemaMismatch(f"{what} of column {column}, where there are {len(schema)}")


def key_exists(what: str, schema: pa.Schema, key: Sequence[int]) -> None:
    """Check that the columns `key` are of `schema`, and each there once."""
    columns_exist(what, schema, key)
    if len(set(key)) < len(key):
        raise SchemaMismatch(f"{what} of columns {key}: one is there twice")


def types_agree(what: str, one: Iterable[pa.DataType], other: Iterable[pa.DataType]) -> None:
    """Check that both have the same types in the same order."""
    ours, theirs = list(one), list(other)
    if ours != theirs:
        names = (", ".join(map(str, types)) for types in (ours, theirs))
        raise SchemaMismatch(f"{what} of ({') and ('.join(names)})")


def expressions_fit(schema: pa.Schema, expressions: Iterable[Expression]) -> None:
    """Check that the columns of expressions are columns of `schema`, of these types."""
    met: set[Expression] = set()
    waiting = list(expressions)
    while waiting:
        each = waiting.pop()
        if each in met:
            continue
        met.add(each)
        match each:
            case Call():
                waiting += each.arguments
            case Column():
                columns_exist("an expression", schema, [each.index])
                types_agree(f"column {each.index}", [schema.field(each.index).type], [each.type])
            case Literal():
                pass
            case _:
                raise Unsupported(f"no expression: {each!r}")
