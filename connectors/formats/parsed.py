"""Parsed records: the values that a format reads, with the types that their writers declare."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from connectors.columns.writer_schema import Logical
from connectors.declaration import Declaration
from connectors.formats.schemas import Schemas
from connectors.formats.slots import Slots
from connectors.native.tokens import Scanner
from connectors.records import Part

# The values of a format: documents that describe themselves; structs of a writer's schema; or the
# columns of a table by name, without any structure.
Holding = Literal["documents", "structs", "columns"]

Contents = Sequence[bytes | None]


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the keys or the values of a table's records; `schemas` are the writers', if any."""

    table: Declaration
    schemas: Schemas | None
    part: Part


@dataclass(frozen=True, slots=True)
class Opening:
    """The bytes before each value of one writer, and the type that this gives them.

    `scanner` makes one for such values, or None where they cannot be scanned.
    """

    scanner: Callable[[Slots], Scanner | None]
    prefix: bytes = b""
    writer: Logical | None = None


@dataclass(frozen=True, slots=True)
class Parsed:
    """The values of records: None for a record that holds nothing, a Fault for one that is bad.

    `writers[i]` is the type that its writer's schema gives it, `UNDESCRIBED` for a value without
    one, None where there is no value; records of one writer share one object. `writers` is None
    where no record has a schema.
    """

    values: list[Any]
    writers: list[Logical | None] | None = None
