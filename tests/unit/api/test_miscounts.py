"""Keys whose rows do not add up are told: rows taken away that were not there, or added twice."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from api.runtime import Runtime
from connectors.ingest.miscounts import Miscounts
from connectors.ingest.tables import LocalTables
from connectors.tables.spec import TableSpec
from connectors.tables.table import Table
from ivm.pool import Pool
from tests.unit.api.direct import DirectPipeline
from tests.unit.api.filed import pipeline_of, runtime_on, take_checkpoint, write_rows

FIELDS: list[pa.Field] = [
    pa.field("id", pa.int64(), nullable=False),
    pa.field("customer", pa.string(), nullable=False),
    pa.field("amount", pa.int64()),
]
ORDERS = TableSpec("orders", "orders", pa.schema(FIELDS), ("id",), replica_identity="full")


def order(number: int, customer: str = "ada") -> dict[str, Any]:
    return {"id": number, "customer": customer, "amount": None, "day": None}


def errors(client: TestClient) -> tuple[int, int, int]:
    """The errors of the source, of its view, and of a look-up into that."""
    source = client.get("/v1/sources/orders").json()["errors"]
    view = client.get("/v1/views/totals").json()["errors"]
    return source, view, client.get("/v1/views/totals/rows?scan=true").json()["errors"]


@pytest.mark.usefixtures("engine")
def test_a_row_that_is_taken_away_and_was_not_there_is_told_by_its_key(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    pipeline.deliver("orders", (order(7), 1), (order(8), 1))
    assert errors(client) == (0, 0, 0)
    pipeline.deliver("orders", (order(8, "?"), -1))
    assert errors(client) == (1, 1, 1)
    (found,) = client.get("/v1/errors?view=totals").json()["errors"]
    assert (found["source"], found["count"]) == ("orders", 1)
    assert 'key {"id":8}: a change took away a row that was not there' in found["error"]
    assert 'ivm_table_errors{table="orders"} 1.0' in client.get("/metrics").text


@pytest.mark.usefixtures("engine")
def test_a_key_that_is_added_again_is_told(client: TestClient, pipeline: DirectPipeline) -> None:
    pipeline.deliver("orders", (order(1), 1), (order(2), 1))
    pipeline.deliver("orders", (order(1), 1), (order(2, "bob"), 1), (order(3), 1))
    found = client.get("/v1/errors").json()["errors"]
    assert [one["error"].split(",")[0] for one in found] == [
        'key {"id":1}: 2 rows',
        'key {"id":2}: 2 rows',
    ]
    assert "second snapshot" in found[0]["error"]


@pytest.mark.usefixtures("engine")
def test_what_later_changes_make_up_for_is_told_no_more(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    pipeline.deliver("orders", (order(1), 1), (order(2), -1))
    pipeline.deliver("orders", (order(1, "bob"), 1), (order(9), 1))
    assert errors(client)[0] == 2
    pipeline.deliver("orders", (order(1), -1), (order(2), 1))
    assert errors(client) == (0, 0, 0)
    assert client.get("/v1/errors").json()["errors"] == []


@pytest.mark.usefixtures("engine")
def test_a_truncation_makes_up_for_all(client: TestClient, pipeline: DirectPipeline) -> None:
    pipeline.deliver("orders", (order(1), 1), (order(1), 1), (order(2), -1))
    assert errors(client)[0] == 2
    pipeline.deliver("orders", (order(0), 0))
    assert errors(client) == (0, 0, 0)


@pytest.mark.usefixtures("engine")
def test_a_key_in_another_batch_is_found_by_its_own_arrangement(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    for number in range(3):
        pipeline.deliver("orders", *((order(number * 100 + n), 1) for n in range(100)))
    pipeline.deliver("orders", *((order(n), 1) for n in range(150)))
    assert errors(client)[0] == 150
    found = client.get("/v1/errors").json()["errors"]
    assert (len(found), sum(one["count"] for one in found)) == (101, 150)


def test_views_of_other_tables_have_no_part_in_it(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    other = {"columns": [{"name": "id", "type": "int64"}], "key": ["id"]}
    assert client.put("/v1/sources/others", json=other).status_code == 201
    query = {"query": "SELECT id FROM others"}
    assert client.put("/v1/views/those", json=query).status_code == 201
    pipeline.deliver("orders", (order(8), -1))
    assert client.get("/v1/views/those").json()["errors"] == 0
    assert client.get("/v1/errors?view=those").json()["errors"] == []


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("with_checkpoint", [True, False])
def test_a_restart_tells_it_too(tmp_path: Path, with_checkpoint: bool) -> None:
    runtime = runtime_on(tmp_path)
    runtime.sources.put(ORDERS)
    rows = [{k: v for k, v in order(n).items() if k != "day"} for n in range(3)]
    write_rows(tmp_path, "orders", (rows[0], 1), (rows[1], -1))
    pipeline_of(runtime).step()
    assert not with_checkpoint or take_checkpoint(runtime)
    again = runtime_on(tmp_path)
    assert _faulty(again) == _faulty(runtime) == [{"id": 1}]
    write_rows(tmp_path, "orders", (rows[1], 1))
    pipeline_of(again).step()
    assert _faulty(again) == []


def _faulty(runtime: Runtime) -> list[dict[str, Any]]:
    faults = runtime.applier.feeder.miscounts.faults
    return faults["orders"].keys.to_pylist() if "orders" in faults else []


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.sampled_from([1, -1])))
    )
)
def test_the_keys_at_fault_are_those_without_one_row_or_none(
    batches: list[list[tuple[int, str, int]]],
) -> None:
    pool, counts = Pool(1), Counter[tuple[int, str]]()
    schema = ORDERS.schema.remove(2)
    pool.create_input("orders", schema, ["id"])
    miscounts = Miscounts(LocalTables(pool))
    for time, batch in enumerate(batches, 1):
        columns = [pa.array([c[i] for c in batch], schema.field(i).type) for i in (0, 1)]
        rows = pa.RecordBatch.from_arrays(columns, schema=schema)
        pool.feed("orders", rows, np.array([c[2] for c in batch], np.int64), time)
        pool.advance(time + 1)
        miscounts.note(Table.of(ORDERS), rows)
        miscounts.check()
        for number, customer, diff in batch:
            counts[number, customer] += diff
        expected = [
            n for n in range(4)
            if sum(abs(counts[n, c]) for c in "ab") > 1 or any(counts[n, c] < 0 for c in "ab")
        ]  # fmt: skip
        faults = miscounts.faults.get("orders")
        found = [] if faults is None else sorted(row["id"] for row in faults.keys.to_pylist())
        assert found == expected


def test_equal_rows_of_a_table_without_a_key_add_up_until_one_too_many_is_taken() -> None:
    pool, sales = Pool(1), replace(ORDERS, key=())
    pool.create_input("orders", sales.schema, sales.schema.names)
    miscounts = Miscounts(LocalTables(pool))
    row = {"id": 1, "customer": "a"}
    rows = pa.RecordBatch.from_pylist([row], schema=sales.schema)
    told = []
    for time, diff in enumerate((2, -1, -2, 1), 1):
        pool.feed("orders", rows, np.array([diff], np.int64), time)
        pool.advance(time + 1)
        miscounts.note(Table.of(sales), rows)
        miscounts.check()
        told.append(miscounts.count("orders"))
    assert told == [0, 0, 1, 0]
