"""How the tables of batches reach the pool: repetitions, replays, what is unavailable."""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from connectors.ingest.feed import Feeder
from connectors.ingest.meter import Meter
from connectors.offsets import Offsets
from connectors.progress.batches import Origin, Run, TableUpdates, TimedBatch
from connectors.progress.journal import Journal
from connectors.quarantine.store import Quarantine
from connectors.tables.spec import TableSpec
from ivm.cluster.pool import AnyPool
from ivm.pool import Pool
from tests.property.members import Threads

FIELDS: list[pa.Field] = [
    pa.field("id", pa.int64(), nullable=False),
    pa.field("name", pa.string()),
    pa.field("note", pa.string()),
]
SCHEMA = pa.schema(FIELDS)
KEYED = TableSpec("t", "topic", SCHEMA, ("id",))
EXACT = TableSpec("t", "topic", SCHEMA, ("id",), replica_identity="full")
Row = tuple[Any, ...]


class Service:
    """A table in a pool with its feeder."""

    def __init__(self, directory: Path, spec: TableSpec, pool: AnyPool) -> None:
        self.spec = spec
        self.pool = pool
        self.pool.create_input("t", SCHEMA, ["id"])
        self.meter = Meter()
        self.quarantine = Quarantine(directory / "quarantine")
        journal = Journal(directory / "journal")
        self.feeder = Feeder(self.pool, journal, self.quarantine, self.meter, self.complete)
        self.offset = 0

    def complete(self, time: int) -> None:
        self.feeder.settle()
        self.pool.advance(time + 1)
        self.feeder.check()

    def take(
        self,
        time: int,
        *changes: tuple[int, Row],
        order: list[tuple[int, int]] | None = None,
        missing: list[Any] | None = None,
        committed: bool = False,
    ) -> None:
        """One batch of these (kind, row)."""
        updates = self.updates(self.spec, changes, order, missing)
        self.take_all(time, updates, committed=committed)

    def take_all(self, time: int, *tables: TableUpdates, committed: bool = False) -> None:
        """One batch of these updates of tables."""
        count = sum(len(updates.diffs) for updates in tables)
        named = {updates.origin.spec.name: updates for updates in tables}
        self.feeder.take(TimedBatch(time, named, (), Offsets(), count, 0, committed, 0))

    def updates(
        self,
        spec: TableSpec,
        changes: Sequence[tuple[int, Row]],
        order: list[tuple[int, int]] | None = None,
        missing: list[Any] | None = None,
    ) -> TableUpdates:
        """The updates of a table by these (kind, row)."""
        columns = zip(*(row for _, row in changes), strict=True)
        arrays = [pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)]
        count, first = len(changes), self.offset
        self.offset += count
        origin = Origin(
            spec,
            (Run(spec.name, spec.name, 0, count),),
            np.arange(first, first + count),
            None if order is None else np.array(order, np.uint64),
            None if missing is None else pa.array(missing, pa.list_(pa.int16())),
        )
        return TableUpdates(
            pa.RecordBatch.from_arrays(arrays, schema=SCHEMA),
            np.array([kind for kind, _ in changes], np.int64),
            np.zeros(count, np.int64),
            origin,
        )

    def rows(self) -> list[Row]:
        found = self.pool.scan("t")
        assert found.counts.tolist() == [1] * found.rows.num_rows
        return sorted(tuple(row.values()) for row in found.rows.to_pylist())


@pytest.fixture(params=["alone", "cluster"])
def pool(request: pytest.FixtureRequest) -> Iterator[AnyPool]:
    with Threads(2) if request.param == "cluster" else nullcontext(Pool()) as pool:
        yield pool


@pytest.fixture
def service(tmp_path: Path, pool: AnyPool) -> Service:
    return Service(tmp_path, KEYED, pool)


@pytest.fixture
def exact(tmp_path: Path, pool: AnyPool) -> Service:
    return Service(tmp_path, EXACT, pool)


def test_times_that_are_held_back_are_resolved_together(service: Service) -> None:
    service.take(1, (1, (1, "ada", None)), committed=True)
    service.take(2, (1, (1, "bob", None)), (1, (2, "eve", None)), committed=True)
    service.take(3, (-1, (2, None, None)), committed=True)
    hold = service.pool.hold("t", 0)
    service.complete(3)
    assert service.rows() == [(1, "bob", None)]
    second = service.pool.scan("t", as_of=2).rows.to_pylist()
    assert sorted(row["name"] for row in second) == ["bob", "eve"]
    hold.release()


def test_what_a_connector_sends_again_is_dropped_and_counted(service: Service) -> None:
    service.take(1, (1, (1, "ada", None)), (1, (1, "bob", None)), order=[(1, 5), (1, 9)])
    service.take(2, (1, (1, "ada", None)), (1, (1, "bob", None)), order=[(1, 5), (1, 9)])
    service.take(3, (1, (2, "eve", None)), order=[(2, 3)])
    service.complete(3)
    assert service.rows() == [(1, "bob", None), (2, "eve", None)]
    assert service.meter.duplicates["t"] == 2


def test_repetitions_are_dropped_from_tables_of_whole_images_too(exact: Service) -> None:
    exact.take(1, (1, (1, "ada", None)), (1, (2, "bob", None)), order=[(1, 5), (1, 9)])
    exact.take(2, (1, (1, "ada", None)), (1, (2, "bob", None)), order=[(1, 5), (1, 9)])
    exact.complete(2)
    assert exact.rows() == [(1, "ada", None), (2, "bob", None)]
    assert exact.meter.duplicates["t"] == 2


def test_rows_of_a_snapshot_are_never_repetitions(service: Service) -> None:
    service.take(1, (1, (1, "ada", None)), order=[(7, 7)])
    service.take(2, (1, (1, "bob", None)), (1, (1, "eve", None)), order=[(0, 0), (0, 0)])
    service.complete(2)
    assert service.rows() == [(1, "eve", None)]
    assert service.meter.duplicates["t"] == 0


def test_an_unavailable_value_is_quarantined_by_its_place(service: Service) -> None:
    service.take(1, (1, (1, "ada", "a note")))
    service.complete(1)
    service.take(2, (1, (1, "bob", None)), (1, (2, "eve", None)), missing=[[2], [1, 2]])
    service.complete(2)
    assert service.rows() == [(1, "bob", "a note")]
    found = service.quarantine.get(("t", 0, 2)).record
    assert found.reason == "unavailable-value"
    assert "name, note" in found.message


def test_changes_are_counted_unless_they_are_replayed(service: Service) -> None:
    service.take(1, (1, (1, "ada", None)), committed=True)
    service.complete(1)
    service.take(2, (1, (2, "bob", None)), (-1, (1, None, None)), (-1, (9, None, None)))
    service.complete(2)
    assert service.meter.keyed_changes == {("t", "set"): 1, ("t", "delete"): 2}
    assert service.meter.absent_deletes == {"t": 1}


def test_a_truncation_of_whole_images_sees_the_times_before_it(exact: Service) -> None:
    exact.take(1, (1, (1, "ada", None)), committed=True)
    exact.take(2, (1, (2, "bob", None)), (0, (None, None, None)), (1, (3, "eve", None)))
    exact.complete(2)
    assert exact.rows() == [(3, "eve", None)]


def test_a_truncation_completes_the_times_before_it_amid_a_batch(exact: Service) -> None:
    other = replace(exact.spec, name="u")
    exact.pool.create_input("u", SCHEMA, ["id"])
    exact.take(1, (1, (1, "ada", None)), committed=True)
    rows = exact.updates(exact.spec, [(1, (2, "bob", None)), (1, (1, "eve", None))])
    exact.take_all(2, rows, exact.updates(other, [(0, (None, None, None))]))
    exact.complete(2)
    assert exact.feeder.miscounts.count("t") == 1
    assert exact.pool.scan("t").rows.num_rows == 3
