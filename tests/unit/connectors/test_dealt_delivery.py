"""Rows that tasks brought to their owners stay there for as long as something can refer to them."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Event, Timer
from typing import Any

import pyarrow as pa
import pytest

from connectors.errors import ShardUnavailable, Stalled
from connectors.ingest.dealt_tables import DealtTables
from connectors.spark.bringing import Bringing
from ivm.cluster.dealing import PLACE, Owners
from ivm.cluster.lending import LendingPool
from ivm.cluster.pool import ClusterPool
from tests.property.members import Threads
from tests.unit.connectors.transacting import Service, table

MEMBERS = 2
SLOWNESS = Event()  # is over once it is set: members are threads of this process


class Tables(DealtTables):
    """The tables of a cluster, which nobody changes: what is released is not in use."""

    def __init__(self, pool: ClusterPool) -> None:
        super().__init__(pool)
        self.pool = pool

    @property
    def owners(self) -> Owners | None:
        return self.pool.owners

    def release(self, parcels: Any) -> None:
        super().release(parcels)
        self.finish()

    def kept(self) -> int:
        """The rows that members have."""
        return sum(self.pool.carry_out(_rows, [()] * MEMBERS))


def _await_slowness(pool: LendingPool) -> None:
    SLOWNESS.wait()


def _rows(pool: LendingPool) -> int:
    return sum(rows.num_rows for rows in pool.parcels._rows.values())


@pytest.fixture
def tables() -> Iterator[Tables]:
    with Threads(MEMBERS) as pool:
        yield Tables(pool)


@pytest.fixture
def bringing(tables: Tables) -> Iterator[Bringing]:
    with closing(Bringing(tables.owners)) as bringing:
        yield bringing


@pytest.fixture
def service(tmp_path: Path, tables: Tables, bringing: Bringing) -> Service:
    def deal(spec: Any, rows: pa.RecordBatch) -> pa.RecordBatch:
        references = bringing.deal(spec, rows)
        bringing.flush()
        return references

    specs = table("orders", on_error="stall"), table("items")
    return Service(tmp_path, *specs, deal=deal, owners=tables)


def referred(service: Service) -> int:
    """The updates of the last batch, all of which refer to rows elsewhere."""
    updates = service.batches[-1].tables.values()
    assert all(PLACE in one.rows.schema.names for one in updates)
    return sum(one.rows.num_rows for one in updates)


def test_rows_of_a_whole_transaction_are_released(service: Service, tables: Tables) -> None:
    service.write("orders", ("a", 1, 0), ("a", 2, 0))
    service.end("a", orders=2)
    service.deliver()
    assert referred(service) == 2
    assert tables.kept() == 0


def test_rows_that_wait_for_others_of_their_transaction_stay(
    service: Service, tables: Tables
) -> None:
    service.write("orders", ("a", 1, 0), ("b", 2, 0))
    service.end("a", orders=1)
    service.end("b", orders=1, items=1)
    service.deliver()
    assert referred(service) == 1
    assert tables.kept() == 2  # one parcel has both
    service.delivery.begin_query()
    assert tables.kept() == 2
    service.write("items", ("b", 12, 0))
    service.deliver()
    assert referred(service) == 2
    assert tables.kept() == 0


def test_rows_of_which_the_service_was_never_told_go_with_the_next_query(
    service: Service, tables: Tables, bringing: Bringing
) -> None:
    orders = table("orders")
    rows = [{"id": n, "n": 0} for n in range(10)]
    bringing.deal(orders, pa.RecordBatch.from_pylist(rows, orders.schema))
    bringing.flush()
    assert tables.kept() == 10
    service.delivery.begin_query()
    assert tables.kept() == 0


def test_rows_that_come_once_the_next_query_has_begun_stay(
    service: Service, tables: Tables, bringing: Bringing
) -> None:
    tables.pool.post(_await_slowness, [()] * MEMBERS)
    Timer(0.2, SLOWNESS.set).start()
    service.delivery.begin_query()
    orders = table("orders")
    bringing.deal(orders, pa.RecordBatch.from_pylist([{"id": 1, "n": 0}], orders.schema))
    bringing.flush()
    assert tables.kept() == 1


def test_rows_behind_a_record_that_stalls_their_table_are_released(
    service: Service, tables: Tables
) -> None:
    service.append("shop.public.orders", 0, [{"op": "c", "after": {"id": "none"}}])
    service.write("orders", (None, 2, 0))
    with pytest.raises(Stalled):
        service.deliver()
    assert tables.kept() == 0


def test_a_shard_that_takes_no_rows_is_told_to_who_runs_the_service(
    service: Service, tables: Tables
) -> None:
    service.write("orders", ("a", 1, 0))
    tables.pool.close()
    with pytest.raises(ShardUnavailable, match="cluster: a task that reads cannot bring rows"):
        service.deliver()
