"""Refusals: records before which a table stalls, since nothing right could follow them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from connectors.decode import DIFF, OFFSET, TRANSACTION
from connectors.errors import Stalled
from connectors.quarantine.store import Place
from connectors.spark.chunks import Chunk
from connectors.streams import table_of
from connectors.tables.spec import TableSpec

Positions = Mapping[tuple[str, int], int]


@dataclass(frozen=True, slots=True)
class Refusal:
    """The record of a partition before which its table stalls, and why."""

    offset: int
    error: Stalled


def refusals(
    batch: Sequence[Chunk],
    tables: Mapping[str, TableSpec],
    recorded: Positions,
    reached: Collection[tuple[str, int]],
    skipped: Collection[Place],
) -> dict[tuple[str, int], Refusal]:
    """The first new record of each partition before which its table stalls.

    `tables` are by the keys of chunks; `recorded` has the position from which records are new;
    `reached` the partitions that were read; records to be `skipped` stall nothing.
    """
    found: dict[tuple[str, int], Refusal] = {}
    for chunk in batch:
        spec = tables[chunk.key]
        where = spec.name, chunk.partition
        position = recorded.get(where, 0)
        faults = [*_rejected(chunk, spec, position, skipped)]
        if _has_truncations(chunk):
            read = {*reached, *((tables[c.key].name, c.partition) for c in batch)} - {where}
            others = [at for at in read if table_of(at[0]) == table_of(spec.name)]
            faults += _truncations(chunk, spec, position, len(others))
        if faults and where not in found:
            found[where] = min(faults, key=lambda fault: fault.offset)
    return found


def _rejected(
    chunk: Chunk, spec: TableSpec, position: int, skipped: Collection[Place]
) -> Iterator[Refusal]:
    """The new rejected records of a table that stalls; what is to be skipped is not among them."""
    if spec.on_error != "stall":
        return
    for record in chunk.rejected:
        place = (spec.name, chunk.partition, record.offset)
        if record.offset >= position and place not in skipped:
            error = Stalled(
                f"table {spec.name!r}, topic {spec.topic!r}, partition {chunk.partition}, "
                f"offset {record.offset}: {record.reason}: {record.message}; `ivm "
                f"quarantine skip {spec.name} {chunk.partition} {record.offset}` puts this "
                "record into the quarantine and goes on, and a PUT of the source with "
                '"on_error": "quarantine" every one from now on',
                place,
            )
            yield Refusal(record.offset, error)


def _has_truncations(chunk: Chunk) -> bool:
    return bool((chunk.updates[DIFF].to_numpy() == 0).any())


def _truncations(chunk: Chunk, spec: TableSpec, position: int, others: int) -> Iterator[Refusal]:
    """New truncations whose place among the records of the other partitions is unknown."""
    if not others:
        return
    truncated = chunk.updates[DIFF].to_numpy() == 0
    if spec.resolution == "transaction" and TRANSACTION in chunk.updates.column_names:
        truncated &= ~chunk.updates[TRANSACTION].is_valid().to_numpy()
    for i in np.flatnonzero(truncated).tolist():
        offset = chunk.updates[OFFSET][i].as_py()
        if offset >= position:
            error = Stalled(
                f"table {spec.name!r}, topic {spec.topic!r}, partition {chunk.partition}, "
                f"offset {offset}: the table was truncated, and nothing says which records of "
                f"the other {others} partitions came before that. Read the table again "
                "(delete the source and declare it once a new snapshot is in the topic), and "
                'give the topic one partition, or the source "resolution": "transaction"',
                table=spec.name,
            )
            yield Refusal(offset, error)
