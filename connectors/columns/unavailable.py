"""Debezium's placeholder for a large value that the database did not log (TOAST).

The placeholder takes the form of its column: a text, bytes (base64 in JSON; hexadecimal by
`binary.handling.mode`), a document, or an array with it as its one element, or with its bytes as
numbers.
"""

from base64 import b64encode
from hashlib import md5
from typing import Any
from uuid import UUID

import pyarrow as pa

from connectors.columns.faults import UNAVAILABLE_VALUE, ValueFault

UNAVAILABLE = "__debezium_unavailable_value"

_BYTES = UNAVAILABLE.encode()
_BASE64 = b64encode(_BYTES).decode()
_HEX = _BYTES.hex()
_TOKENS = (_BYTES, _BASE64.encode(), _HEX.encode())
_DOCUMENT = f'{{"{UNAVAILABLE}":"{UNAVAILABLE}"}}'
# As Java's UUID.nameUUIDFromBytes.
_UUID = str(UUID(bytes=md5(_BYTES, usedforsecurity=False).digest(), version=3))
_SCALARS = (UNAVAILABLE, _BASE64, _HEX, _DOCUMENT, _BYTES)
_OTHERS: tuple[Any, ...] = (
    [UNAVAILABLE],
    [_BASE64],
    [_BYTES],
    [_UUID],
    list(_BYTES),
    {UNAVAILABLE: UNAVAILABLE},
)


def is_unavailable(value: Any) -> bool:
    """Whether `value` stands for one that was not logged."""
    if type(value) is str or type(value) is bytes:
        return value in _SCALARS
    return type(value) in (list, dict) and value in _OTHERS


def expect_available(values: list[Any], column: pa.Array | None = None) -> None:
    """Raise ValueFault if a placeholder is among `values`.

    `column`, of texts or bytes, is what was made of them: a quick look into it mostly does.
    """
    if column is not None:
        content = column.buffers()[2]
        if content is None:
            return
        text = content.to_pybytes()
        if not any(token in text for token in _TOKENS):
            return
    if any(map(is_unavailable, values)):
        raise ValueFault(UNAVAILABLE_VALUE, "the database did not log this value (TOAST)")
