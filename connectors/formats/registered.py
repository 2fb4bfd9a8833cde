"""Values whose writers' schemas are in a registry: the schema is found, and reads the value.

A schema is named in one of these ways, recognised for each record:

| where | what |
| --- | --- |
| a byte 0, 4 bytes | an id of Confluent's registry |
| a byte 0, 8 bytes | an id of Apicurio's; its high half is 0, which no id of 4 bytes is |
| header `__value_schema_id` | a byte 0 and 4 bytes of an id, or a byte 1 and 16 of a GUID |
| header `apicurio.value.globalId`, `apicurio.value.contentId` | 8 bytes |

(`key` for `value` where a key is read.) A format whose schemas hold several types writes after the
id, wherever it stands, which of them it is: `within` are those bytes for the first type, which is
meant where a header says no more.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, TypeVar
from uuid import UUID

from connectors.columns.faults import UNKNOWN_SCHEMA, Fault
from connectors.columns.writer_schema import Logical
from connectors.errors import RegistryUnavailable
from connectors.formats.parsed import Parsed, Reader
from connectors.formats.schemas import SchemaId, Schemas, SchemaText
from connectors.records import Headers, Part, Records

_SHORT, _LONG = 5, 9


class Writer(Protocol):
    """Reads the values that were written by one schema."""

    def read(self, content: bytes, start: int) -> tuple[Any, Logical | None]:
        """The value that begins at `start`, or a Fault, and its type."""


W = TypeVar("W")

# What a schema, the last of these texts after those that it refers to, comes to.
Compile = Callable[[tuple[SchemaText, ...]], Writer | Fault]


def parse(
    records: Records, reader: Reader, reason: str, compiled: Compile, within: bytes = b""
) -> Parsed:
    """The value of each record, or a Fault, for `reason` where the record names no schema.

    What a header says after the id, or else `within`, is put before the value. Raises
    RegistryUnavailable.
    """
    table, schemas, part = reader.table, reader.schemas, reader.part
    if schemas is None:
        raise RegistryUnavailable(
            f"connection {table.connection!r}: schema_registry_url is not set, and table "
            f"{table.name!r} has format {table.format!r}"
        )
    values: list[Any] = []
    writers: list[Logical | None] = []
    known: dict[SchemaId, Writer | Fault] = {}
    at = b""
    writer: Writer | Fault = Fault(reason, "")
    for index, content in enumerate(records.contents(part)):
        value, logical = None, None
        if content is not None:
            named = records.headers[index] if records.headers is not None else None
            if at and not named and content[:_SHORT] == at:
                start = _SHORT
            else:
                framed = _framed(content, named, part, within)
                if isinstance(framed, str):
                    values.append(Fault(reason, framed))
                    writers.append(None)
                    continue
                name, content, start = framed
                if name not in known:
                    known[name] = _writer(name, schemas, compiled)
                writer = known[name]
                at = content[:_SHORT] if start == _SHORT else b""
            if isinstance(writer, Fault):
                value = writer
            else:
                value, logical = writer.read(content, start)
        values.append(value)
        writers.append(logical)
    return Parsed(values, writers)


def named_first(
    content: bytes, schemas: Schemas | None, compiled: Callable[[tuple[SchemaText, ...]], W | Fault]
) -> tuple[W, int] | None:
    """The writer whose id stands in the first bytes, and how many these are; None otherwise.

    Raises RegistryUnavailable.
    """
    number = int.from_bytes(content[1:_SHORT], "big")
    if schemas is None or len(content) < _SHORT or content[0] != 0 or not number:
        return None
    writer = _writer(SchemaId("id", str(number)), schemas, compiled)
    return None if isinstance(writer, Fault) else (writer, _SHORT)


def _writer(
    name: SchemaId, schemas: Schemas, compiled: Callable[[tuple[SchemaText, ...]], W | Fault]
) -> W | Fault:
    texts = schemas.texts(name)
    if texts is None:
        return Fault(UNKNOWN_SCHEMA, f"the registry has no schema with {name}")
    return compiled(texts)


def _framed(
    content: bytes, headers: Headers | None, part: Part, within: bytes
) -> tuple[SchemaId, bytes, int] | str:
    """The name of a record's schema, and where in which bytes its value begins; or the fault."""
    found = _in_headers(dict(headers), part, within) if headers else None
    if found is not None:
        return found if isinstance(found, str) else (found[0], found[1] + content, 0)
    if not content or content[0] != 0:
        start = content[:_SHORT].hex(" ")
        return f"no schema is named: the bytes {start!r} do not begin with 0"
    if len(content) < _SHORT:
        return f"{len(content)} bytes are too few for a schema's id"
    if short := int.from_bytes(content[1:_SHORT], "big"):
        return SchemaId("id", str(short)), content, _SHORT
    if len(content) < _LONG:
        return f"{len(content)} bytes are too few for a schema's id of 8 bytes"
    return SchemaId("long", str(int.from_bytes(content[1:_LONG], "big"))), content, _LONG


def _in_headers(
    headers: Mapping[str, bytes | None], part: Part, within: bytes
) -> tuple[SchemaId, bytes] | str | None:
    """The schema that a header names, and the bytes after its id; or the fault."""
    if headers.get(f"apicurio.{part}.encoding") == b"JSON":
        return "it is in a JSON encoding; only the binary one is read"
    kinds: tuple[Literal["global", "content"], ...] = ("global", "content")
    for kind in kinds:
        name = f"apicurio.{part}.{kind}Id"
        number = headers.get(name)
        if number is not None:
            if len(number) != 8:
                return f"header {name!r} has {len(number)} bytes, not 8"
            return SchemaId(kind, str(int.from_bytes(number, "big"))), within
    name = f"__{part}_schema_id"
    match headers.get(name):
        case None:
            return None
        case bytes(number) if number[:1] == b"\0" and _ends(number, 5, within):
            return SchemaId("id", str(int.from_bytes(number[1:5], "big"))), number[5:] or within
        case bytes(guid) if guid[:1] == b"\1" and _ends(guid, 17, within):
            return SchemaId("guid", str(UUID(bytes=guid[1:17]))), guid[17:] or within
    return f"header {name!r} holds neither an id nor a GUID"


def _ends(header: bytes, length: int, within: bytes) -> bool:
    """Whether a header of an id of `length` bytes holds all that it should, and no more."""
    return len(header) == length or (len(header) > length and within != b"")
