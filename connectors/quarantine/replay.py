"""Quarantined records on their way back: decoded as any record is, at a logical time of their own.

A correction takes effect once: the journal names it, with a digest of the bytes used, before it is
applied, and a record that the journal names is closed in the quarantine. It is older than what is
reflected by then. That does not matter where rows are added and taken away one by one; for tables
whose rows are set by their keys there is `connectors.quarantine.superseded`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import pyarrow as pa

from connectors.columns.faults import UNAVAILABLE_VALUE
from connectors.decode import DIFF, MISSING, decode
from connectors.errors import RecordClosed, StillRejected, UnknownTable
from connectors.formats.schemas import Schemas
from connectors.progress.assign import Piece
from connectors.progress.batches import Correction, Range
from connectors.quarantine.store import Quarantined, closed
from connectors.records import Records
from connectors.spark.chunks import update_batches
from connectors.tables.spec import TableSpec
from ivm.errors import IvmError

# Where the schemas of the writers of a table's records are, if they are in a registry.
SchemasOf = Callable[[TableSpec], Schemas | None]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A record that stays in the quarantine, and why."""

    found: Quarantined
    error: IvmError


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a replay: `time` is that of the corrections (None: there are none)."""

    time: int | None
    corrections: tuple[Correction, ...]
    refused: tuple[Refusal, ...]


def no_schemas(_: TableSpec) -> None:
    """No table has a schema registry."""


def refusals(
    found: Iterable[Quarantined], tables: Mapping[str, TableSpec], schemas: SchemasOf
) -> list[Refusal]:
    """Those that are closed, whose table is not read, or that cannot be decoded even now.

    Raises RegistryUnavailable.
    """
    faults = ((one, _fault(one, tables, schemas)) for one in found)
    return [Refusal(one, fault) for one, fault in faults if fault is not None]


def pieces(
    found: Sequence[Quarantined], tables: Mapping[str, TableSpec], schemas: SchemasOf
) -> Iterator[Piece]:
    """The decoded records, one piece for each partition of a table, offsets ascending.

    Raises RegistryUnavailable.
    """
    ordered = sorted(found, key=lambda one: one.record.place)
    for (table, partition), group in groupby(ordered, lambda one: one.record.place[:2]):
        spec, records = tables[table], records_of(partition, list(group))
        decoded = decode(records, spec, schemas(spec))
        where = Range(table, spec.topic, partition, records.offsets[0], records.offsets[-1] + 1)
        # Without the order of the database: by it, a correction is a duplicate that came late.
        updates = pa.Table.from_batches(update_batches([replace(decoded, order=None)]))
        yield Piece(where, updates, decoded.rejected)


def decoded(one: Quarantined, tables: Mapping[str, TableSpec], schemas: SchemasOf) -> pa.Table:
    """The updates that a replay makes of a record: the columns of its table, and `DIFF`.

    Raises the error of its refusal, if it is refused, and RegistryUnavailable.
    """
    for refusal in refusals([one], tables, schemas):
        raise refusal.error
    (piece,) = pieces([one], tables, schemas)
    return piece.updates.select([*tables[one.record.table].schema.names, DIFF])


def records_of(partition: int, found: Sequence[Quarantined]) -> Records:
    """The records as a replay decodes them; those of file topics have a value only."""
    records = [one.record for one in found]
    has_more = any(one.content.key is not None or one.record.timestamp for one in found)
    return Records(
        [one.content.value for one in found],
        [record.offset for record in records],
        partition,
        [one.content.key for one in found] if has_more else None,
        [record.timestamp or 0 for record in records] if has_more else None,
        [record.headers for record in records] if has_more else None,
    )


def _fault(
    one: Quarantined, tables: Mapping[str, TableSpec], schemas: SchemasOf
) -> IvmError | None:
    table, partition, offset = one.record.place
    if one.status != "open":
        return RecordClosed(closed(one))
    if table not in tables:
        return UnknownTable(f"table {table!r} is not read")
    where = f"table {table!r}, partition {partition}, offset {offset}"
    if one.record.reason == UNAVAILABLE_VALUE and one.content.value is None:
        return StillRejected(f"{where}: its bytes were not kept; give it a value")
    (piece,) = pieces([one], tables, schemas)
    for rejected in piece.rejected:
        return StillRejected(f"{where}: {rejected.reason}: {rejected.message}")
    if MISSING in piece.updates.column_names and any(piece.updates[MISSING].to_pylist()):
        missing = {column for row in piece.updates[MISSING].to_pylist() for column in row or ()}
        names = ", ".join(tables[table].schema.names[column] for column in sorted(missing))
        return StillRejected(f"{where}: it leaves out {names}; a correction must say every value")
    return None
