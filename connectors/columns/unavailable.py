"""Debezium's placeholder for a large value that the database did not log (TOAST).

The placeholder takes the form of its column: a text, bytes (base64 in JSON; hexadecimal by
`binary.handling.mode`), a document, or an array with it as its one element, or with its bytes as
numbers. The connector's `unavailable.value.placeholder` says its text, or after `hex:` its bytes.
"""

from base64 import b64encode
from dataclasses import dataclass
from functools import lru_cache
from hashlib import md5
from typing import Any
from uuid import UUID

import pyarrow as pa

_HEX = "hex:"


@dataclass(frozen=True, slots=True)
class Placeholder:
    """The forms of one placeholder: single values, and arrays and documents.

    `tokens`: every text or byte string that is one has one of these bytes in it.
    """

    scalars: frozenset[str | bytes]
    others: tuple[Any, ...]
    tokens: tuple[bytes, ...]

    def stands_for(self, value: Any) -> bool:
        """Whether `value` stands for one that was not logged.

        >>> form = placeholder("not there")
        >>> form.stands_for(["not there"]), form.stands_for(["a", "not there"])
        (True, False)
        """
        if type(value) is str or type(value) is bytes:
            return value in self.scalars
        return type(value) in (list, dict) and value in self.others

    def may_be_in(self, column: pa.Array) -> bool:
        """Whether `column` may have been made of a placeholder, by the bytes of all its values."""
        if isinstance(column, pa.ExtensionArray):
            return self.may_be_in(column.storage)
        if pa.types.is_list(column.type):
            return True
        if not (pa.types.is_string(column.type) or pa.types.is_binary(column.type)):
            return False
        content = column.buffers()[2]
        text = content.to_pybytes() if content is not None else b""
        return any(token in text for token in self.tokens)


@lru_cache
def placeholder(text: str) -> Placeholder:
    """The forms of the placeholder that `text` declares (raises ValueError)."""
    content = bytes.fromhex(text[len(_HEX) :]) if text.startswith(_HEX) else text.encode()
    if not content:
        raise ValueError(text)
    plain = content.decode(errors="replace")
    base64, digits = b64encode(content).decode(), content.hex()
    # As Java's UUID.nameUUIDFromBytes.
    uuid = str(UUID(bytes=md5(content, usedforsecurity=False).digest(), version=3))
    return Placeholder(
        frozenset((plain, base64, digits, f'{{"{plain}":"{plain}"}}', content)),
        ([plain], [base64], [content], [uuid], list(content), {plain: plain}),
        (content, plain.encode(), base64.encode(), digits.encode()),
    )
