"""The formats of records' values and keys, and the contract that each keeps.

A format is a module of this package and a place in `FORMATS`: all that depends on it is asked here.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import pyarrow as pa

from connectors.columns.faults import COMMON, Fault
from connectors.columns.to_arrow import Converter
from connectors.columns.writer_schema import Logical
from connectors.declaration import Declaration
from connectors.formats.avro import Avro
from connectors.formats.csv import Lines
from connectors.formats.json import Json
from connectors.formats.parsed import Contents, Holding, Opening, Parsed, Reader
from connectors.formats.protobuf import Protobuf
from connectors.formats.raw import Bytes
from connectors.formats.schemas import SchemaText
from connectors.named import by_name
from connectors.records import Records


class Format(Protocol):
    """Reads the bytes of records; stateless, and safe on any thread and executor.

    >>> table = Declaration("orders", "orders", pa.schema([("id", pa.int64())]), ("id",))
    >>> records = Records(values=[b'{"id": 1}', None, b"{"], offsets=[0, 1, 2])
    >>> one, nothing, bad = FORMATS["json"].parse(records, Reader(table, None, "value")).values
    >>> one, nothing, bad.reason
    ({'id': 1}, None, 'not-json')

    `reason`: why bytes that are not of the format are rejected. `holds`: the kind of its values.
    `is_line`: a line of a file topic can hold a value. `needs_registry`: the schemas of writers
    are in a registry. `has_encodings`: a table's `encodings` say how values are written.
    """

    name: str
    reason: str
    holds: Holding
    is_line: bool
    needs_registry: bool
    has_encodings: bool

    def check(self, table: Declaration) -> None:
        """Raise InvalidTable, naming the field, where a declaration does not fit the format."""

    def parse(self, records: Records, reader: Reader) -> Parsed:
        """The value or key of each record, or a Fault (raises RegistryUnavailable)."""

    def opening(self, content: bytes, reader: Reader) -> Opening | None:
        """The beginning that a value has in common with others of its writer.

        None where native decoding is not to be tried. Raises RegistryUnavailable.
        """

    def described(self, schema: Sequence[SchemaText]) -> Logical | Fault:
        """The type of values that are written by a registered schema, the last of these texts.

        A Fault where the schema cannot be used; `UNDESCRIBED` where the format has none.
        """

    def exact(self, contents: Contents, values: Sequence[Any]) -> list[Any] | None:
        """`values`, parsed from `contents`, without any loss of digits; None if there was none.

        Slow: asked only where a decimal met a float.
        """

    def converter(self, table: Declaration, field: pa.Field, written: Logical | None) -> Converter:
        """The maker of a column out of values of type `written`, where a schema gives one.

        Raises Incompatible where the column cannot take such values.
        """


FORMATS: Final[Mapping[str, Format]] = by_name(Json(), Avro(), Protobuf(), Lines(), Bytes())

# Why a record is rejected.
REASONS: Final = tuple(dict.fromkeys((*(form.reason for form in FORMATS.values()), *COMMON)))
