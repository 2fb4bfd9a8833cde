"""What somebody declares first: types named as in a database, plain rows, tables without a key."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from fastapi.testclient import TestClient

from api.column_types import column_type
from api.services.definition import Definition
from connectors.errors import InvalidTable
from connectors.tables.spec import TYPES, TableSpec, type_of
from ivm.values.types import JSON
from tests.unit.api.filed import pipeline_of, runtime_on, write_rows


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("bigint", pa.int64()),
        ("INTEGER", pa.int32()),
        ("smallint", pa.int16()),
        ("bigserial", pa.int64()),
        ("text", pa.string()),
        ("varchar(20)", pa.string()),
        ("character varying(255)", pa.string()),
        ("char", pa.string()),
        ("boolean", pa.bool_()),
        ("numeric(12,2)", pa.decimal128(12, 2)),
        ("decimal(5)", pa.decimal128(5, 0)),
        ("double  precision", pa.float64()),
        ("timestamptz", pa.timestamp("us", "UTC")),
        ("timestamp(3) with time zone", pa.timestamp("us", "UTC")),
        ("timestamp without time zone", pa.timestamp("us")),
        ("timestamp(6)", pa.timestamp("us")),
        ("date", pa.date32()),
        ("bytea", pa.binary()),
        ("jsonb", JSON),
        ("text[]", pa.list_(pa.string())),
        ("varchar(3)[][]", pa.list_(pa.list_(pa.string()))),
        ("int8", pa.int8()),
    ],
)
def test_a_type_is_named_as_in_a_database(name: str, expected: pa.DataType) -> None:
    assert column_type(name) == expected


@pytest.mark.parametrize("name", TYPES)
def test_a_name_of_arrow_is_arrows(name: str) -> None:
    assert column_type(name) == type_of(name)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("bigit", "'bigint'"),
        ("timestampz", "'timestamptz'"),
        ("int46", "'int64'"),
        ("strin", "'string'"),
    ],
)
def test_a_type_that_is_misspelt_is_told_with_what_is_near(name: str, near: str) -> None:
    with pytest.raises(
        InvalidTable, match=f"type '{name}' is not supported; did you mean .*{near}"
    ):
        column_type(name)


@pytest.mark.parametrize("name", ["point", "", "[]", "numeric(99,2)", "text[", "list<>", "hstore"])
def test_a_type_that_there_is_not_is_told_with_examples(name: str) -> None:
    with pytest.raises(InvalidTable, match=r"named as in SQL \(bigint, text"):
        column_type(name)


def test_a_source_tells_its_types_by_arrows_names(client: TestClient) -> None:
    columns = [{"name": "id", "type": "bigint"}, {"name": "at", "type": "timestamptz"}]
    body: dict[str, Any] = {"columns": columns, "key": ["id"]}
    told = client.put("/v1/sources/orders", json=body).json()["columns"]
    assert [column["type"] for column in told] == ["int64", "timestamp[us, tz=UTC]"]
    body["columns"][0]["type"] = "int64"
    assert client.put("/v1/sources/orders", json=body).status_code == 200


def test_examples_of_bodies_can_be_declared(client: TestClient, document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    (source,), (view,) = (schemas[name]["examples"] for name in ("SourceBody", "ViewBody"))
    assert client.put("/v1/sources/orders", json=source).status_code == 201
    assert client.put("/v1/views/revenue", json=view).status_code == 201


def test_a_table_without_a_key_is_a_multiset_of_rows(tmp_path: Path) -> None:
    fields: list[pa.Field] = [pa.field("item", pa.string()), pa.field("price", pa.int64())]
    schema = pa.schema(fields)
    runtime = runtime_on(tmp_path)
    runtime.sources.put(TableSpec("sales", "sales", schema, (), replica_identity="full"))
    runtime.views.put(
        Definition("sums", "SELECT item, count(*) n, sum(price) s FROM sales GROUP BY 1")
    )
    sale: dict[str, Any] = {"item": "tea", "price": 3}
    unpriced: dict[str, Any] = {"item": "tea", "price": None}
    write_rows(tmp_path, "sales", (sale, 1), (sale, 1), (unpriced, 1), (sale, 1), (sale, -1))
    pipeline_of(runtime).step()
    assert runtime.pool.scan("sums").rows.to_pylist() == [{"item": "tea", "n": 3, "s": 6}]
    assert runtime.checkpoints.take()
    runtime.stop()
    again = runtime_on(tmp_path)
    write_rows(tmp_path, "sales", (sale, -1), (unpriced, -1))
    pipeline_of(again).step()
    assert again.pool.scan("sums").rows.to_pylist() == [{"item": "tea", "n": 1, "s": 3}]
    again.stop()


@pytest.mark.parametrize("key", [{}, {"key": []}])
def test_a_table_without_a_key_is_refused_by_key_with_advice(
    client: TestClient, key: dict[str, Any]
) -> None:
    body = {"columns": [{"name": "item", "type": "text"}], **key}
    answer = client.put("/v1/sources/sales", json=body)
    assert answer.status_code == 422
    assert "replica_identity 'full'" in answer.json()["detail"]
    assert "'append'" in answer.json()["detail"]
