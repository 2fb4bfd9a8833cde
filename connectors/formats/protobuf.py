"""Protobuf records to Python values, each by its writer's schema out of a registry.

After the schema's id stands which of its message types is meant, as Confluent has it: a count, and
so many places, each within the type before, all as zigzag varints; one byte 0 for the first type.
Schemas are texts, and `protoc` compiles them, in a process of its own.

| field | value |
| --- | --- |
| message, map, repeated | dict by field names, dict by texts, list |
| enum | the symbol, or the digits of a number that has none |
| `Timestamp`, `Duration` | text: `2024-01-31T10:00:00.5Z`, `1.5s` |
| `Int64Value` and other wrappers | the value in them |
| `Struct`, `Value`, `ListValue`, `Any` | as their JSON has it |
| `google.type.Date`, `TimeOfDay`; `confluent.type.Decimal` | ISO text; unscaled bytes and a scale |

A field that can be absent (`optional`, in a `oneof`, a message, all of proto2) is None where it is,
whatever its default; any other has its type's zero. Fields beyond the schema are passed over.
"""

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, Final

import pyarrow as pa
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from connectors.columns.encodings import by_declaration, by_schema, described
from connectors.columns.faults import INCOMPATIBLE_SCHEMA, Fault
from connectors.columns.to_arrow import Converter, lists
from connectors.columns.writer_schema import Logical
from connectors.declaration import Declaration
from connectors.formats import registered
from connectors.formats.parsed import Contents, Holding, Parsed, Reader
from connectors.formats.schemas import SchemaText
from connectors.records import Records
from ivm.values.types import JSON

NOT_PROTOBUF: Final = "not-protobuf"

_FIRST = b"\0"
_MOST_NESTED = 100  # as deep as a message may be
_SECONDS = 60.0  # for a compilation, which takes 0.1 on an idle machine
_MAIN = "ivm-writer-schema.proto"
# Errors of imported files whose names are at odds, as one within another that is no directory.
_NO_PATHS = (FileExistsError, IsADirectoryError, NotADirectoryError)
# Files that Confluent's serializers take as known, beside all of `google/protobuf`.
_KNOWN = (
    SchemaText(
        """syntax = "proto3"; package confluent; import "google/protobuf/descriptor.proto";
        message Meta { string doc = 1; map<string, string> params = 2; repeated string tags = 3; }
        extend google.protobuf.FileOptions { Meta file_meta = 1088; }
        extend google.protobuf.MessageOptions { Meta message_meta = 1088; }
        extend google.protobuf.FieldOptions { Meta field_meta = 1088; }
        extend google.protobuf.EnumOptions { Meta enum_meta = 1088; }
        extend google.protobuf.EnumValueOptions { Meta enum_value_meta = 1088; }""",
        "confluent/meta.proto",
    ),
    SchemaText(
        """syntax = "proto3"; package confluent.type;
        message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }""",
        "confluent/type/decimal.proto",
    ),
    SchemaText(
        """syntax = "proto3"; package google.type;
        message Date { int32 year = 1; int32 month = 2; int32 day = 3; }""",
        "google/type/date.proto",
    ),
    SchemaText(
        """syntax = "proto3"; package google.type;
        message TimeOfDay {
            int32 hours = 1; int32 minutes = 2; int32 seconds = 3; int32 nanos = 4;
        }""",
        "google/type/timeofday.proto",
    ),
)


class Protobuf:
    """Format `protobuf`."""

    name = "protobuf"
    reason = NOT_PROTOBUF
    holds: Holding = "structs"
    is_line = False
    needs_registry = True
    has_encodings = True

    def check(self, table: Declaration) -> None:
        """Every declaration fits."""

    def parse(self, records: Records, reader: Reader) -> Parsed:
        """The values as their writers' schemas read them."""
        return registered.parse(records, reader, NOT_PROTOBUF, _compiled, _FIRST)

    def opening(self, content: bytes, reader: Reader) -> None:
        """Nothing that is decoded natively."""

    def described(self, schema: Sequence[SchemaText]) -> Logical | Fault:
        """The type of the schema's first message."""
        writer = _compiled(tuple(schema))
        return writer if isinstance(writer, Fault) else writer.first()

    def exact(self, contents: Contents, values: Sequence[Any]) -> None:
        """Every number is read as it is written."""

    def converter(self, table: Declaration, field: pa.Field, written: Logical | None) -> Converter:
        """The meaning that the writer's schema, or else the declaration, gives."""
        encoding = table.encodings.get(field.name)
        if written is None:
            return by_declaration(encoding, field.type)
        return _converter(written, field.type, encoding)


def _converter(written: Logical, dtype: pa.DataType, encoding: str | None) -> Converter:
    if dtype == JSON and written.kind == "other":
        return described
    if isinstance(dtype, pa.ListType) and written.kind == "array" and written.element is not None:
        return lists(_converter(written.element, dtype.value_type, None))
    return by_schema(written, dtype, encoding, is_text=False)


# --- schemas ---


@lru_cache(maxsize=1024)
def _compiled(texts: tuple[SchemaText, ...]) -> "_Writer | Fault":
    """The last schema of `texts`, which may import those before it by their names."""
    *imported, main = texts
    try:
        with TemporaryDirectory(prefix="ivm-protobuf-") as directory:
            for text, name in (*_KNOWN, *imported, SchemaText(main.text, _MAIN)):
                _write(Path(directory), name, text)
            return _Writer(_protoc(Path(directory)))
    except (ValueError, TypeError, DecodeError, *_NO_PATHS) as error:
        return Fault(INCOMPATIBLE_SCHEMA, f"the writer's schema cannot be used: {error}"[:500])


def _write(directory: Path, name: str, text: str) -> None:
    """Put a file where `protoc` finds it (raises ValueError for a name that leads elsewhere)."""
    parts = PurePosixPath(name).parts
    if not parts or "\0" in name or parts[0] == "/" or ".." in parts or len(name.encode()) > 255:
        raise ValueError(f"{name[:80]!r} is no name of a file to import")
    path = directory.joinpath(*parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, errors="replace")


def _protoc(directory: Path) -> FileDescriptorSet:
    """The compiled files (raises ValueError with the compiler's message)."""
    result = directory / "compiled"
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{directory}"]
    command += [f"-I{files('grpc_tools') / '_proto'}", f"--descriptor_set_out={result}"]
    command += ["--include_imports", str(directory / _MAIN)]
    run = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
    if run.returncode:
        told = run.stderr.decode(errors="replace").replace(str(directory / _MAIN), "schema")
        faults = [line for line in told.splitlines() if not line.startswith(("WARNING: ", "W0"))]
        raise ValueError("; ".join(faults))
    return FileDescriptorSet.FromString(result.read_bytes())


class _Writer:
    """Reads the messages of a compiled schema, whose file is the last one."""

    def __init__(self, compiled: FileDescriptorSet) -> None:
        """Raises TypeError for files that contradict each other."""
        pool = DescriptorPool()
        for file in compiled.file:
            pool.AddSerializedFile(file.SerializeToString())
        main = compiled.file[-1]
        prefix = f"{main.package}." if main.package else ""
        self._top = [pool.FindMessageTypeByName(f"{prefix}{m.name}") for m in main.message_type]
        self._known: dict[tuple[int, ...], tuple[type[Message], _Type] | Fault] = {}

    def read(self, content: bytes, start: int) -> tuple[Any, Logical | None]:
        """The message that begins at `start`, or a Fault, and its type."""
        try:
            places, start = _places(content, start)
            if places not in self._known:
                self._known[places] = _made(self._found(places))
            known = self._known[places]
        except (ValueError, IndexError) as error:
            return Fault(NOT_PROTOBUF, f"no type of its writer's schema is named: {error}"), None
        if isinstance(known, Fault):
            return known, None
        kind, made = known
        try:
            message = kind.FromString(content[start:])
            if not message.IsInitialized():
                raise DecodeError("a required field is absent")
            return made.read(message), made.logical
        except (DecodeError, UnicodeDecodeError) as error:
            fault = f"truncated, or not of its writer's schema: {error}"[:300]
            return Fault(NOT_PROTOBUF, fault), made.logical

    def first(self) -> Logical | Fault:
        """The type of the messages that are meant where nothing says which."""
        if not self._top:
            return Fault(INCOMPATIBLE_SCHEMA, "the writer's schema has no message")
        made = _made(self._top[0])
        return made if isinstance(made, Fault) else made[1].logical

    def _found(self, places: tuple[int, ...]) -> Descriptor:
        """The message type at `places` (raises IndexError)."""
        types: Sequence[Descriptor] = self._top
        for place in places[:-1]:
            types = types[place].nested_types
        return types[places[-1]]


def _made(found: Descriptor) -> "tuple[type[Message], _Type] | Fault":
    """A message type, and its reader."""
    try:
        return GetMessageClass(found), _Types().message(found)
    except RecursionError:
        name = found.full_name
        return Fault(INCOMPATIBLE_SCHEMA, f"the writer's schema: {name!r} is nested too deeply")


def _places(content: bytes, start: int) -> tuple[tuple[int, ...], int]:
    """The place of a message's type in its schema, and the index at which the message begins.

    Raises ValueError and IndexError.
    """
    count, start = _varint(content, start)
    if not 0 <= count <= _MOST_NESTED:
        raise ValueError(f"{count} types within each other")
    places = []
    for _ in range(count):
        place, start = _varint(content, start)
        if place < 0:
            raise ValueError(f"it has the place {place}")
        places.append(place)
    return tuple(places) or (0,), start


def _varint(content: bytes, start: int) -> tuple[int, int]:
    """A number in zigzag form, and where it ends (raises ValueError, IndexError)."""
    number = shift = 0
    while True:
        byte = content[start]
        start += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return (number >> 1) ^ -(number & 1), start
        if shift > 35:
            raise ValueError("its place is no number of 32 bits")


# --- values ---

Read = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class _Type:
    """A type, and the function that makes its value of the library's."""

    logical: Logical
    read: Read


class _Types:
    """Message types by name, each made once; one that holds itself has no fields within."""

    def __init__(self) -> None:
        self._made: dict[str, _Type] = {}
        self._making: set[str] = set()

    def message(self, descriptor: Descriptor) -> _Type:
        """The type of messages."""
        name = descriptor.full_name
        if name in _WELL_KNOWN:
            return _WELL_KNOWN[name]
        if name in self._made:
            return self._made[name]
        if name in self._making:
            return _Type(Logical("struct"), lambda message: self._made[name].read(message))
        self._making.add(name)
        fields = {field.name: self._field(field) for field in descriptor.fields}
        logical = Logical("struct", fields={n: one.logical for n, one in fields.items()})
        reads = [(field_name, one.read) for field_name, one in fields.items()]
        made = _Type(logical, lambda message: {n: value(message) for n, value in reads})
        self._making.remove(name)
        self._made[name] = made
        return made

    def _field(self, field: FieldDescriptor) -> _Type:
        """The type of a field; it is read out of the message that has it."""
        name, entry = field.name, field.message_type
        if field.is_repeated and entry is not None and entry.GetOptions().map_entry:
            value = self._one(entry.fields_by_name["value"])
            logical = Logical("map", element=value.logical)
            return _Type(logical, lambda m: {_text(k): value.read(v) for k, v in _map(m, name)})
        one = self._one(field)
        if field.is_repeated:
            logical = Logical("array", element=one.logical)
            return _Type(logical, lambda m: [one.read(value) for value in getattr(m, name)])
        if field.has_presence:
            return _Type(
                replace(one.logical, is_optional=True),
                lambda m: one.read(getattr(m, name)) if m.HasField(name) else None,
            )
        return _Type(one.logical, lambda m: one.read(getattr(m, name)))

    def _one(self, field: FieldDescriptor) -> _Type:
        """The type of one value of a field."""
        if field.message_type is not None:
            return self.message(field.message_type)
        if field.enum_type is not None:
            symbols = {value.number: value.name for value in field.enum_type.values}
            return _Type(Logical("string"), lambda n: symbols.get(n) or str(n))
        is_bytes = field.type == FieldDescriptor.TYPE_BYTES
        return _Type(Logical("bytes") if is_bytes else _SCALARS[field.cpp_type], _same)


def _same(value: Any) -> Any:
    return value


_SCALARS: dict[int, Logical] = {
    FieldDescriptor.CPPTYPE_INT32: Logical("int", number="int32"),
    FieldDescriptor.CPPTYPE_INT64: Logical("int", number="int64"),
    FieldDescriptor.CPPTYPE_UINT32: Logical("int", number="uint32"),
    FieldDescriptor.CPPTYPE_UINT64: Logical("int", number="uint64"),
    FieldDescriptor.CPPTYPE_FLOAT: Logical("float", number="float32"),
    FieldDescriptor.CPPTYPE_DOUBLE: Logical("float", number="float64"),
    FieldDescriptor.CPPTYPE_BOOL: Logical("bool"),
    FieldDescriptor.CPPTYPE_STRING: Logical("string"),
}


def _map(message: Any, name: str) -> Any:
    return getattr(message, name).items()


def _text(key: Any) -> str:
    """A key of a map as a document has it."""
    return str(key).lower() if isinstance(key, bool) else str(key)


def _fraction(nanos: int) -> str:
    """The fraction of a second, without zeros behind it."""
    return f".{nanos:09d}".rstrip("0").rstrip(".")


def _instant(message: Any) -> str:
    """The text of an instant; beyond the years 1 to 9999, one that no column takes for a time."""
    days, seconds = divmod(message.seconds, 86_400)
    if not -719_162 <= days <= 2_932_896 or not 0 <= message.nanos < 10**9:
        return f"{message.seconds} seconds and {message.nanos} nanoseconds"
    day = pa.scalar(days, pa.date32()).as_py()
    hours, rest = divmod(seconds, 3600)
    return f"{day}T{hours:02d}:{rest // 60:02d}:{rest % 60:02d}{_fraction(message.nanos)}Z"


def _duration(message: Any) -> str:
    nanos = message.seconds * 10**9 + message.nanos
    seconds, rest = divmod(abs(nanos), 10**9)
    return f"{'-' if nanos < 0 else ''}{seconds}{_fraction(rest)}s"


def _json(message: Any) -> Any:
    """The value in a `Value`, as JSON has it."""
    kind = message.WhichOneof("kind")
    if kind == "struct_value":
        return _struct(message.struct_value)
    if kind == "list_value":
        return _list(message.list_value)
    if kind in (None, "null_value"):
        return None
    value = getattr(message, kind)
    is_whole = kind == "number_value" and value.is_integer() and abs(value) < 2**53
    return int(value) if is_whole else value


def _struct(message: Any) -> dict[str, Any]:
    return {name: _json(value) for name, value in message.fields.items()}


def _list(message: Any) -> list[Any]:
    return [_json(value) for value in message.values]


_WELL_KNOWN: dict[str, _Type] = {
    "google.protobuf.Timestamp": _Type(
        Logical("string", "io.debezium.time.IsoTimestamp"), _instant
    ),
    "google.protobuf.Duration": _Type(Logical("string"), _duration),
    "google.protobuf.Struct": _Type(Logical("struct"), _struct),
    "google.protobuf.Value": _Type(Logical("other"), _json),
    "google.protobuf.ListValue": _Type(Logical("array"), _list),
    "google.protobuf.Any": _Type(
        Logical("struct"), lambda packed: {"@type": packed.type_url, "value": packed.value}
    ),
    "google.type.Date": _Type(
        Logical("string"), lambda date: f"{date.year:04d}-{date.month:02d}-{date.day:02d}"
    ),
    "google.type.TimeOfDay": _Type(
        Logical("string"),
        lambda t: f"{t.hours:02d}:{t.minutes:02d}:{t.seconds:02d}{_fraction(t.nanos)}",
    ),
    "confluent.type.Decimal": _Type(
        Logical("struct", "io.debezium.data.VariableScaleDecimal"),
        lambda decimal: {"scale": decimal.scale, "value": decimal.value},
    ),
}
_WRAPPED: dict[str, int] = {
    "Int32": FieldDescriptor.CPPTYPE_INT32,
    "Int64": FieldDescriptor.CPPTYPE_INT64,
    "UInt32": FieldDescriptor.CPPTYPE_UINT32,
    "UInt64": FieldDescriptor.CPPTYPE_UINT64,
    "Float": FieldDescriptor.CPPTYPE_FLOAT,
    "Double": FieldDescriptor.CPPTYPE_DOUBLE,
    "Bool": FieldDescriptor.CPPTYPE_BOOL,
    "String": FieldDescriptor.CPPTYPE_STRING,
}
_WELL_KNOWN |= {
    f"google.protobuf.{name}Value": _Type(_SCALARS[kind], lambda wrapper: wrapper.value)
    for name, kind in _WRAPPED.items()
} | {"google.protobuf.BytesValue": _Type(Logical("bytes"), lambda wrapper: wrapper.value)}
