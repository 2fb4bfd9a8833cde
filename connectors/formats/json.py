"""JSON texts to Python values, with the schema that Kafka Connect may write beside each.

A text of the form `{"schema": ..., "payload": ...}` is opened: its value is the payload, its
writer's type what the schema describes. Such a schema is the same in most records of a topic and
larger than its payload, so it is recognised by its bytes and read once.
"""

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Final, cast

import orjson
import pyarrow as pa

from connectors.columns.encodings import by_declaration, by_schema
from connectors.columns.faults import INCOMPATIBLE_SCHEMA, Fault
from connectors.columns.to_arrow import Converter
from connectors.columns.writer_schema import UNDESCRIBED, Logical, of_connect
from connectors.declaration import Declaration
from connectors.formats.parsed import Contents, Holding, Opening, Parsed, Reader
from connectors.formats.schemas import SchemaText
from connectors.formats.slots import Slots
from connectors.native.json_text import Tree
from connectors.records import Records

NOT_JSON: Final = "not-json"

_WRAPPED = frozenset(("schema", "payload"))
_OPENING, _PAYLOAD = b'{"schema":', b',"payload":'
# So many places of a text are tried as the payload's beginning.
_TRIES = 8


class Json:
    """Format `json`."""

    name = "json"
    reason = NOT_JSON
    holds: Holding = "documents"
    is_line = True
    needs_registry = False
    has_encodings = True

    def check(self, table: Declaration) -> None:
        """Every declaration fits."""

    def parse(self, records: Records, reader: Reader) -> Parsed:
        """The values of the texts."""
        return _parsed(records.contents(reader.part))

    def opening(self, content: bytes, reader: Reader) -> Opening | None:
        """The schema before a payload, if the text is of that form, with the type that it gives."""
        if not content.startswith(_OPENING):
            return Opening(_tree)
        value, writer = _opened(_parse(content), {})
        prefix = _prefix(content)
        if isinstance(value, Fault) or writer is None or not prefix:
            return None
        return Opening(_tree, prefix, None if writer is UNDESCRIBED else writer)

    def described(self, schema: Sequence[SchemaText]) -> Logical:
        """Nothing: values are not read by a registered schema."""
        return UNDESCRIBED

    def exact(self, contents: Contents, values: Sequence[Any]) -> list[Any]:
        """`values` with numbers as they are written, since a decimal must not be a float."""
        return [
            value if text is None or isinstance(value, Fault) else _exactly(text, value)
            for text, value in zip(contents, values, strict=True)
        ]

    def converter(self, table: Declaration, field: pa.Field, written: Logical | None) -> Converter:
        """The meaning that the writer's schema, or else the declaration, gives."""
        encoding = table.encodings.get(field.name)
        if written is None:
            return by_declaration(encoding, field.type)
        return by_schema(written, field.type, encoding, is_text=True)


def _tree(slots: Slots) -> Tree:
    return Tree(_fields(slots.members, slots.listed), slots.count)


def _fields(members: Mapping[str, Any], listed: frozenset[str]) -> list[Any]:
    return [
        (name, slot, _fields(inner, frozenset()) if inner else None, name in listed)
        for name, (slot, inner) in members.items()
    ]


def _parsed(texts: Contents) -> Parsed:
    """The value of each text, or a Fault where it is not JSON in UTF-8."""
    if any(text is not None and text.startswith(_OPENING) for text in texts[:1]):
        return _with_schemas(texts)
    try:
        values = list(map(orjson.loads, cast("Sequence[bytes]", texts)))
    except orjson.JSONDecodeError:
        values = [None if text is None else _parse(text) for text in texts]
    if any(type(value) is dict and value.keys() == _WRAPPED for value in values):
        return _with_schemas(texts)
    return Parsed(values)


def exactly(text: bytes) -> Any:
    """The value of a text, with a Decimal for every float (raises what json.loads raises)."""
    return json.loads(text, parse_float=Decimal, parse_int=_integer)


def _exactly(text: bytes, value: Any) -> Any:
    """`value`, which `_parsed` made of `text`, with a Decimal for every float; slow.

    A text too deep for the exact parser, or with an exponent that no Decimal has, keeps `value`.
    """
    try:
        exact = exactly(text)
    except (RecursionError, InvalidOperation):
        return value
    return exact["payload"] if _is_wrapped(exact) else exact


def _integer(digits: str) -> int | Decimal:
    """An int exactly where `_parsed` gives one; it has floats beyond 64 bits."""
    number = int(digits)
    return number if -(2**63) <= number < 2**64 else Decimal(digits)


def _parse(text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return Fault(NOT_JSON, f"not JSON: {error}")


def _is_wrapped(value: Any) -> bool:
    return type(value) is dict and value.keys() == _WRAPPED


def _with_schemas(texts: Contents) -> Parsed:
    values: list[Any] = []
    writers: list[Logical | None] = []
    known: dict[bytes, Logical] = {}
    prefix, prefix_writer = b"", Logical("other")
    for text in texts:
        if text is None:
            value, writer = None, None
        elif prefix and text.startswith(prefix) and text.endswith(b"}"):
            value, writer = _parse(text[len(prefix) : -1]), prefix_writer
            if isinstance(value, Fault):
                value, writer = _opened(_parse(text), known)
        else:
            value, writer = _opened(_parse(text), known)
            if writer is not None and writer is not UNDESCRIBED:
                prefix, prefix_writer = _prefix(text), writer
        values.append(value)
        writers.append(writer)
    return Parsed(values, writers)


def _opened(value: Any, known: dict[bytes, Logical]) -> tuple[Any, Logical | None]:
    """A parsed text's value and its writer's type, of which `known` holds those met."""
    if not _is_wrapped(value):
        return value, None if value is None or isinstance(value, Fault) else UNDESCRIBED
    schema = value["schema"]
    if schema is None:
        return value["payload"], None if value["payload"] is None else UNDESCRIBED
    try:
        text = orjson.dumps(schema)
    except orjson.JSONEncodeError as error:
        return Fault(INCOMPATIBLE_SCHEMA, f"the writer's schema cannot be used: {error}"), None
    if text not in known:
        known[text] = of_connect(schema)
    return value["payload"], known[text]


def _prefix(text: bytes) -> bytes:
    """All of `text` before its payload, if the schema comes first and nothing follows; else empty.

    Whatever stands between such a prefix and a last brace is the payload, if it is a JSON text.
    """
    at = len(_OPENING)
    for _ in range(_TRIES if text.startswith(_OPENING) and text.endswith(b"}") else 0):
        at = text.find(_PAYLOAD, at)
        if at < 0:
            break
        payload = at + len(_PAYLOAD)
        parts = (text[len(_OPENING) : at], text[payload:-1])
        if not any(isinstance(_parse(part), Fault) for part in parts):
            return text[:payload]
        at = payload
    return b""
