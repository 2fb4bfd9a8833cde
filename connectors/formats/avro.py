"""Avro records to Python values, each by its writer's schema out of a registry.

A schema is named in one of these ways, recognised for each record:

| where | what |
| --- | --- |
| a byte 0, 4 bytes | an id of Confluent's registry |
| a byte 0, 8 bytes | an id of Apicurio's; its high half is 0, which no id of 4 bytes is |
| header `__value_schema_id` | a byte 0 and 4 bytes of an id, or a byte 1 and 16 of a GUID |
| header `apicurio.value.globalId`, `apicurio.value.contentId` | 8 bytes |

(`key` for `value` where a key is read.) A record must end where its value ends. Values come as
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
from typing import Any, Literal, NamedTuple, Protocol
from uuid import UUID

from fastavro import parse_schema, schemaless_reader

from connectors.formats.faults import INCOMPATIBLE_SCHEMA, NOT_AVRO, UNKNOWN_SCHEMA, Fault
from connectors.formats.logical import Logical, of_avro
from connectors.formats.parsed import Parsed

Part = Literal["key", "value"]
_SHORT, _LONG = 5, 9
# The one field of the record that stands for a whole value, which is written as its field is.
_WHOLE = "_whole"


class SchemaId(NamedTuple):
    """A schema as a record names it."""

    kind: Literal["id", "long", "global", "content", "guid"]
    value: str

    def __str__(self) -> str:
        return f"{_KINDS[self.kind]} {self.value}"


_KINDS = {
    "id": "id",
    "long": "id",
    "global": "global id",
    "content": "content id",
    "guid": "GUID",
}


class Schemas(Protocol):
    """Where the schemas of writers are."""

    def texts(self, name: SchemaId) -> tuple[str, ...] | None:
        """The schema so named after those that it refers to; None if there is none.

        Raises RegistryUnavailable.
        """


@dataclass(frozen=True, slots=True)
class _Writer:
    schema: Any
    logical: Logical


def parse(
    contents: Sequence[bytes | None],
    headers: Sequence[Sequence[tuple[str, bytes | None]] | None] | None,
    schemas: Schemas,
    part: Part = "value",
) -> Parsed:
    """The value of each record, or a Fault where it cannot be read.

    `headers`, as many, may name the schemas. Raises RegistryUnavailable.
    """
    values: list[Any] = []
    writers: list[Logical | None] = []
    known: dict[SchemaId, _Writer | Fault] = {}
    at = b""
    writer: _Writer | Fault = Fault(NOT_AVRO, "")
    for index, content in enumerate(contents):
        value, logical = None, None
        if content is not None:
            named = headers[index] if headers is not None else None
            if at and not named and content[:_SHORT] == at:
                start = _SHORT
            else:
                framed = _framed(content, named, part)
                if isinstance(framed, Fault):
                    values.append(framed)
                    writers.append(None)
                    continue
                name, start = framed
                if name not in known:
                    known[name] = _writer_of(name, schemas)
                writer = known[name]
                at = content[:_SHORT] if start == _SHORT else b""
            if isinstance(writer, Fault):
                value = writer
            else:
                value, logical = _read(content, start, writer.schema), writer.logical
        values.append(value)
        writers.append(logical)
    return Parsed(values, writers)


def _framed(
    content: bytes, headers: Sequence[tuple[str, bytes | None]] | None, part: Part
) -> tuple[SchemaId, int] | Fault:
    """The name of a record's schema, and where in `content` its value begins."""
    found = _in_headers(dict(headers), part) if headers else None
    if found is not None:
        return found if isinstance(found, Fault) else (found, 0)
    if not content or content[0] != 0:
        start = content[:_SHORT].hex(" ")
        return Fault(NOT_AVRO, f"no schema is named: the bytes {start!r} do not begin with 0")
    if len(content) < _SHORT:
        return Fault(NOT_AVRO, f"{len(content)} bytes are too few for a schema's id")
    if short := int.from_bytes(content[1:_SHORT], "big"):
        return SchemaId("id", str(short)), _SHORT
    if len(content) < _LONG:
        return Fault(NOT_AVRO, f"{len(content)} bytes are too few for a schema's id of 8 bytes")
    return SchemaId("long", str(int.from_bytes(content[1:_LONG], "big"))), _LONG


def _in_headers(headers: Mapping[str, bytes | None], part: Part) -> SchemaId | Fault | None:
    if headers.get(f"apicurio.{part}.encoding") == b"JSON":
        return Fault(NOT_AVRO, "it is in Avro's JSON encoding; only the binary one is read")
    kinds: tuple[Literal["global", "content"], ...] = ("global", "content")
    for kind in kinds:
        name = f"apicurio.{part}.{kind}Id"
        number = headers.get(name)
        if number is not None:
            if len(number) != 8:
                return Fault(NOT_AVRO, f"header {name!r} has {len(number)} bytes, not 8")
            return SchemaId(kind, str(int.from_bytes(number, "big")))
    name = f"__{part}_schema_id"
    match headers.get(name):
        case None:
            return None
        case bytes(number) if len(number) == 5 and number[0] == 0:
            return SchemaId("id", str(int.from_bytes(number[1:], "big")))
        case bytes(guid) if len(guid) == 17 and guid[0] == 1:
            return SchemaId("guid", str(UUID(bytes=guid[1:])))
    return Fault(NOT_AVRO, f"header {name!r} holds neither an id nor a GUID")


def _read(content: bytes, start: int, schema: Any) -> Any:
    file = BytesIO(content)
    file.read(start)
    try:
        record: Any = schemaless_reader(file, schema, None)
    except Exception as error:  # whatever fastavro meets in bytes that do not fit
        reason = str(error) or type(error).__name__
        if isinstance(error, KeyError):
            reason = f"{reason} is no index of its union or enum"
        return Fault(NOT_AVRO, f"truncated, or not of its writer's schema: {reason}"[:300])
    if rest := len(content) - file.tell():
        return Fault(NOT_AVRO, f"{rest} bytes after the value's end")
    return record[_WHOLE]


def _writer_of(name: SchemaId, schemas: Schemas) -> _Writer | Fault:
    texts = schemas.texts(name)
    if texts is None:
        return Fault(UNKNOWN_SCHEMA, f"the registry has no schema with {name}")
    return _parsed(texts)


@lru_cache(maxsize=1024)
def _parsed(texts: tuple[str, ...]) -> _Writer | Fault:
    """The last schema of `texts`, which may refer to those before it."""
    try:
        documents = [json.loads(text) for text in texts]
        named: dict[str, Any] = {}
        for document in documents:
            schema = parse_schema(document, named)
        _refuse_unbounded(schema, named, ())
        return _Writer(_whole(documents), of_avro(schema, named))
    except Exception as error:  # a schema is whatever somebody registered
        reason = str(error) or type(error).__name__
        return Fault(INCOMPATIBLE_SCHEMA, f"the writer's schema cannot be used: {reason}"[:500])


def _without_logical_types(node: Any) -> Any:
    if isinstance(node, list):
        return [_without_logical_types(branch) for branch in node]
    if not isinstance(node, dict):
        return node
    return {k: _without_logical_types(v) for k, v in node.items() if k != "logicalType"}


def _whole(documents: Sequence[Any]) -> Any:
    """What reads a value of the last of these types, which may refer to those before it."""
    *referred, last = map(_without_logical_types, documents)
    named: dict[str, Any] = {}
    for document in referred:
        parse_schema(document, named)
    field = {"name": _WHOLE, "type": last}
    schema = parse_schema({"type": "record", "name": _WHOLE, "fields": [field]}, named)
    for node in named.values():
        _by_index(node)
    return schema


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


def _refuse_unbounded(node: Any, named: dict[str, Any], path: tuple[str, ...]) -> bool:
    """Whether values of type `node` take no bytes; raises ValueError for what has no bound."""
    if isinstance(node, str):
        if node in path:
            raise ValueError(f"{node!r} holds itself")
        return node == "null" or (node in named and _refuse_unbounded(named[node], named, path))
    if isinstance(node, list):
        for branch in node:
            _refuse_unbounded(branch, named, path)
        return False
    kind = node["type"]
    if kind in ("record", "error"):
        if node["name"] in path:
            raise ValueError(f"{node['name']!r} holds itself")
        inner = (*path, node["name"])
        empty = [_refuse_unbounded(f["type"], named, inner) for f in node["fields"]]
        return all(empty)
    if kind == "array":
        if _refuse_unbounded(node["items"], named, path):
            raise ValueError("an array of what takes no bytes")
        return False
    if kind == "map":
        _refuse_unbounded(node["values"], named, path)
        return False
    if kind == "fixed":
        return bool(node["size"] == 0)
    return _refuse_unbounded(kind, named, path)
