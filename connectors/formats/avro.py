"""Avro records to Python values, each by its writer's schema out of a registry.

A record must end where its value ends. Values come as
they are written, without Avro's logical types, which `Logical` keeps: nothing passes through a
float or a date of Python's. Types that hold themselves are refused, since reading them recurses
as deeply as a record says; so are arrays of what takes no bytes, whose length nothing bounds.

fastavro takes the branch of a union, and the symbol of an enum, out of a list by the index that
is written, and a negative one would count from the list's end: hence `_by_index`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from typing import Any, Final

import pyarrow as pa
from fastavro import parse_schema, schemaless_reader

from connectors.columns.encodings import by_declaration, by_schema
from connectors.columns.faults import INCOMPATIBLE_SCHEMA, Fault
from connectors.columns.to_arrow import Converter
from connectors.columns.writer_schema import Logical, of_avro
from connectors.declaration import Declaration
from connectors.formats import registered
from connectors.formats.avro_program import program
from connectors.formats.parsed import Contents, Holding, Opening, Parsed, Reader
from connectors.formats.schemas import SchemaText
from connectors.formats.slots import Slots
from connectors.native.avro import Program
from connectors.records import Records

NOT_AVRO: Final = "not-avro"

# The one field of the record that stands for a whole value, which is written as its field is.
_WHOLE = "_whole"


class Avro:
    """Format `avro`."""

    name = "avro"
    reason = NOT_AVRO
    holds: Holding = "structs"
    is_line = False
    needs_registry = True
    has_encodings = True

    def check(self, table: Declaration) -> None:
        """Every declaration fits."""

    def parse(self, records: Records, reader: Reader) -> Parsed:
        """The values as their writers' schemas read them."""
        return registered.parse(records, reader, NOT_AVRO, _parsed)

    def opening(self, content: bytes, reader: Reader) -> Opening | None:
        """An id of Confluent's registry, with the type that its schema gives."""
        found = registered.named_first(content, reader.schemas, _parsed)
        if found is None:
            return None
        writer, start = found
        return Opening(writer.program, content[:start], writer.logical)

    def described(self, schema: Sequence[SchemaText]) -> Logical | Fault:
        """The type of the schema's values."""
        writer = _parsed(tuple(schema))
        return writer if isinstance(writer, Fault) else writer.logical

    def exact(self, contents: Contents, values: Sequence[Any]) -> None:
        """Every number is read as it is written."""

    def converter(self, table: Declaration, field: pa.Field, written: Logical | None) -> Converter:
        """The meaning that the writer's schema, or else the declaration, gives."""
        encoding = table.encodings.get(field.name)
        if written is None:
            return by_declaration(encoding, field.type)
        return by_schema(written, field.type, encoding, is_text=False)


@dataclass(frozen=True, slots=True)
class _Writer:
    schema: Any
    named: Mapping[str, Any]
    logical: Logical

    def program(self, slots: Slots) -> Program | None:
        """The native reader of its values."""
        (field,) = self.schema["fields"]
        return program(field["type"], self.named, slots)

    def read(self, content: bytes, start: int) -> tuple[Any, Logical]:
        """The value that begins at `start`, or a Fault, and its type."""
        return _read(content, start, self.schema), self.logical


def _read(content: bytes, start: int, schema: Any) -> Any:
    file = BytesIO(content)
    file.read(start)
    try:
        record: Any = schemaless_reader(file, schema, None)
    except Exception as error:  # whatever fastavro meets in bytes that do not fit
        reason = (str(error) or type(error).__name__).replace(f" from {file}", "")
        if isinstance(error, KeyError):
            reason = f"{reason} is no index of its union or enum"
        return Fault(NOT_AVRO, f"truncated, or not of its writer's schema: {reason}"[:300])
    if rest := len(content) - file.tell():
        return Fault(NOT_AVRO, f"{rest} bytes after the value's end")
    return record[_WHOLE]


@lru_cache(maxsize=1024)
def _parsed(texts: tuple[SchemaText, ...]) -> _Writer | Fault:
    """The last schema of `texts`, which may refer to those before it."""
    try:
        documents = [json.loads(schema.text) for schema in texts]
        named: dict[str, Any] = {}
        for document in documents:
            schema = parse_schema(document, named)
        _refuse_unbounded(schema, named, (), {})
        return _Writer(*_whole(documents), of_avro(schema, named))
    except Exception as error:  # a schema is whatever somebody registered
        reason = str(error) or type(error).__name__
        return Fault(INCOMPATIBLE_SCHEMA, f"the writer's schema cannot be used: {reason}"[:500])


def _without_logical_types(node: Any) -> Any:
    if isinstance(node, list):
        return [_without_logical_types(branch) for branch in node]
    if not isinstance(node, dict):
        return node
    return {k: _without_logical_types(v) for k, v in node.items() if k != "logicalType"}


def _whole(documents: Sequence[Any]) -> tuple[Any, dict[str, Any]]:
    """The schema of the last of these types, which may refer to those before; and all by name."""
    *referred, last = map(_without_logical_types, documents)
    named: dict[str, Any] = {}
    for document in referred:
        parse_schema(document, named)
    field = {"name": _WHOLE, "type": last}
    schema = parse_schema({"type": "record", "name": _WHOLE, "fields": [field]}, named)
    for node in named.values():
        _by_index(node)
    return schema, named


def _by_index(node: Any) -> Any:
    """The parsed type `node` with dicts of branches and symbols, in which no index is below zero.

    It is changed in place where that can be; what it names is not followed.
    """
    if isinstance(node, list):
        return {"type": "union", **dict(enumerate(map(_by_index, node)))}
    if isinstance(node, dict):
        for member in ("type", "items", "values"):
            if member in node:
                node[member] = _by_index(node[member])
        for field in node.get("fields", ()):
            _by_index(field)
        if isinstance(node.get("symbols"), list):
            node["symbols"] = dict(enumerate(node["symbols"]))
    return node


def _refuse_unbounded(
    node: Any, named: dict[str, Any], path: tuple[str, ...], known: dict[str, bool]
) -> bool:
    """Whether values of type `node` take no bytes; raises ValueError for a type without bound.

    `known` holds the answers for records, by name.
    """
    if isinstance(node, str):
        if node in path:
            raise ValueError(f"{node!r} holds itself")
        if node in known:
            return known[node]
        return node == "null" or (
            node in named and _refuse_unbounded(named[node], named, path, known)
        )
    if isinstance(node, list):
        for branch in node:
            _refuse_unbounded(branch, named, path, known)
        return False
    kind = node["type"]
    if kind in ("record", "error"):
        if node["name"] in path:
            raise ValueError(f"{node['name']!r} holds itself")
        inner = (*path, node["name"])
        empty = [_refuse_unbounded(f["type"], named, inner, known) for f in node["fields"]]
        known[node["name"]] = all(empty)
        return known[node["name"]]
    if kind == "array":
        if _refuse_unbounded(node["items"], named, path, known):
            raise ValueError("an array whose elements take no bytes")
        return False
    if kind == "map":
        _refuse_unbounded(node["values"], named, path, known)
        return False
    if kind == "fixed":
        return bool(node["size"] == 0)
    return _refuse_unbounded(kind, named, path, known)
