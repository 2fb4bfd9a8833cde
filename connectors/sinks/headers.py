"""Columns of a view as headers of its messages: a pair of the column's name and bytes for each.

A text is its UTF-8, binary its bytes; any other value is its JSON text without quotes, as `12`,
`true`, `1.50` and `2024-01-31`, and lists are JSON. NULL is a header without a value.
"""

from collections.abc import Sequence

import pyarrow as pa

from connectors.sinks.json_texts import value_cells
from connectors.sinks.native.lines import lines
from ivm.values.types import JSON

# The headers of one message, by name.
Headers = tuple[tuple[str, bytes | None], ...]


def row_headers(rows: pa.RecordBatch) -> list[Headers]:
    """The headers of every row, of which `rows` has these columns only.

    >>> row_headers(pa.record_batch({"tenant": ["a", None], "n": [1, 2]}))
    [(('tenant', b'a'), ('n', b'1')), (('tenant', None), ('n', b'2'))]
    """
    names = rows.schema.names
    columns = [_contents(column) for column in rows.columns]
    return [tuple(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def _contents(column: pa.Array) -> Sequence[bytes | None]:
    if column.type == JSON and isinstance(column, pa.ExtensionArray):
        column = column.storage
    if pa.types.is_binary(column.type) or pa.types.is_string(column.type):
        found: list[bytes | None] = column.cast(pa.binary()).to_pylist()
        return found
    texts = lines([value_cells(column)], len(column))
    present = column.is_valid().to_pylist()
    return [text.strip(b'"') if there else None for text, there in zip(texts, present, strict=True)]
