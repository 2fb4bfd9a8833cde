"""Columns of a source are widened in place: values stay, views go on, and so after a restart."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest

from api.errors import DifferentDefinition
from api.runtime import Runtime
from api.services.definition import Definition
from connectors.sinks.target import KafkaTarget
from connectors.tables.spec import TableSpec
from connectors.tables.widen import is_wider
from tests.unit.api.filed import runtime_on, take_checkpoint
from tests.unit.api.test_widening import deltas, rows, write

BIG = 5_000_000_000
VIEWS = {
    "everything": "SELECT * FROM orders",
    "totals": "SELECT customer, sum(amount) AS total, max(price) AS price FROM orders GROUP BY 1",
    "dear": "SELECT customer FROM totals WHERE total > 5",
    "count": "SELECT count(*) AS n FROM orders",
    "next": "SELECT id, amount + 1 AS amount FROM orders",
}


NARROW: dict[str, pa.DataType] = {
    "id": pa.int32(),
    "customer": pa.string(),
    "amount": pa.int32(),
    "price": pa.decimal128(4, 2),
    "rate": pa.float32(),
}
WIDE: dict[str, pa.DataType] = {
    "id": pa.int64(),
    "amount": pa.int64(),
    "price": pa.decimal128(12, 4),
    "rate": pa.float64(),
}


def table(**wider: pa.DataType) -> TableSpec:
    types = NARROW | wider
    fields = [pa.field(n, t, n not in ("id", "customer")) for n, t in types.items()]
    return TableSpec("orders", "orders", pa.schema(fields), ("id",))


def wide() -> TableSpec:
    return table(**WIDE)


def order(number: int, amount: int | None = None, price: str = "1.50") -> dict[str, Any]:
    given = 2 * number if amount is None else amount
    return {"id": number, "customer": "ada", "amount": given, "price": price, "rate": 0.1}


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    """A service with two orders and views over them."""
    runtime = runtime_on(tmp_path)
    runtime.sources.put(table())
    for name, query in VIEWS.items():
        runtime.views.put(Definition(name, query))
    write(tmp_path, runtime, order(1), order(2))
    return runtime


def state(runtime: Runtime) -> dict[str, Any]:
    return {name: rows(runtime, name) for name in VIEWS}


def folded(data: Path, view: str) -> dict[str, int]:
    """The rows to which the lines of a view's topic add up, as their texts."""
    sums: dict[str, int] = {}
    for entry in deltas(data, view):
        text = orjson.dumps(entry["row"]).decode()
        sums[text] = sums.get(text, 0) + entry["diff"]
    return {text: n for text, n in sums.items() if n}


def test_values_that_were_too_large_are_taken_and_views_go_on(
    runtime: Runtime, tmp_path: Path
) -> None:
    assert runtime.sources.put(wide()) is False
    write(tmp_path, runtime, order(3, BIG, "12345.6789"))
    assert rows(runtime, "totals") == [
        {"customer": "ada", "total": Decimal(BIG + 6), "price": Decimal("12345.6789")}
    ]
    assert rows(runtime, "everything")[-1]["amount"] == BIG
    assert rows(runtime, "count") == [{"n": 3}]
    assert rows(runtime, "dear") == [{"customer": "ada"}]
    assert runtime.views.get("next").schema.field("amount").type == pa.int64()
    runtime.views.put(Definition("later", "SELECT amount FROM next WHERE amount > 100"))
    assert rows(runtime, "later") == [{"amount": BIG + 1}]


@pytest.mark.parametrize("checkpoints", ["none", "before", "after", "both"])
def test_a_restart_comes_to_the_same(runtime: Runtime, tmp_path: Path, checkpoints: str) -> None:
    if checkpoints in ("before", "both"):
        assert take_checkpoint(runtime)
    write(tmp_path, runtime, order(4))
    runtime.sources.put(wide())
    write(tmp_path, runtime, order(3, BIG))
    if checkpoints in ("after", "both"):
        assert take_checkpoint(runtime)
    write(tmp_path, runtime, order(5, -BIG))
    again = runtime_on(tmp_path)
    assert state(again) == state(runtime)
    assert again.pool.scan("everything").rows.schema == runtime.pool.scan("everything").rows.schema
    write(tmp_path, again, order(1), op="d")
    assert state(runtime_on(tmp_path)) == state(again)


def test_a_topic_adds_up_to_the_rows_as_they_are_told_now(runtime: Runtime, tmp_path: Path) -> None:
    before = deltas(tmp_path, "count")
    runtime.sources.put(wide())
    assert deltas(tmp_path, "count") == before
    write(tmp_path, runtime, order(3))
    write(tmp_path, runtime, order(1), op="d")
    prices = [orjson.loads(text)["price"] for text in folded(tmp_path, "everything")]
    assert prices == ["1.5000", "1.5000"]
    assert set(folded(tmp_path, "everything").values()) == {1}


def test_an_error_that_the_wider_type_has_not_is_no_more(tmp_path: Path) -> None:
    runtime = runtime_on(tmp_path)
    runtime.sources.put(table())
    runtime.views.put(Definition("next", VIEWS["next"]))
    write(tmp_path, runtime, order(1, 2**31 - 1))
    assert sum(runtime.applier.errors["next"].values()) == 1
    runtime.sources.put(wide())
    assert not runtime.applier.errors["next"]
    assert rows(runtime, "next") == [{"id": 1, "amount": 2**31}]
    assert list(folded(tmp_path, "next")) == ['{"id":1,"amount":2147483648}']
    assert not runtime_on(tmp_path).applier.errors["next"]


def test_a_key_may_be_widened(runtime: Runtime, tmp_path: Path) -> None:
    runtime.sources.put(table(id=pa.int64()))
    write(tmp_path, runtime, order(BIG, 7))
    write(tmp_path, runtime, order(1), op="d")
    for one in (runtime, runtime_on(tmp_path)):
        assert [row["id"] for row in rows(one, "everything")] == [2, BIG]


@pytest.mark.parametrize("lookups", [True, False])
def test_a_view_that_cannot_be_told_otherwise_is_named(runtime: Runtime, lookups: bool) -> None:
    if lookups:
        sent = replace(runtime.views.get("next"), name="sent")
        runtime.registry.add_view(sent, KafkaTarget("main", "sent"))
    else:
        runtime.views.put(Definition("sent", VIEWS["next"], lookups=False))
    with pytest.raises(DifferentDefinition, match="'sent'"):
        runtime.sources.put(wide())
    assert runtime.sources.get("orders") == table()


WIDER = [
    (pa.int16(), pa.int32()),
    (pa.uint32(), pa.int64()),
    (pa.int64(), pa.decimal128(19, 0)),
    (pa.int32(), pa.decimal128(12, 2)),
    (pa.decimal128(10, 2), pa.decimal128(12, 4)),
    (pa.float32(), pa.float64()),
]
NARROWER = [
    (pa.int64(), pa.int32()),
    (pa.uint64(), pa.int64()),
    (pa.int32(), pa.uint64()),
    (pa.int64(), pa.decimal128(18, 0)),
    (pa.int64(), pa.float64()),
    (pa.decimal128(10, 2), pa.decimal128(11, 4)),
    (pa.decimal128(10, 2), pa.decimal128(12, 1)),
    (pa.float64(), pa.float32()),
    (pa.date32(), pa.timestamp("us")),
    (pa.int64(), pa.string()),
]


@pytest.mark.parametrize(("old", "new"), WIDER)
def test_a_type_is_wider_that_holds_every_value(old: pa.DataType, new: pa.DataType) -> None:
    assert is_wider(pa.field("x", old), pa.field("x", new))
    assert is_wider(pa.field("x", old, False), pa.field("x", new))


@pytest.mark.parametrize(("old", "new"), NARROWER)
def test_other_types_are_not_wider(old: pa.DataType, new: pa.DataType) -> None:
    assert not is_wider(pa.field("x", old), pa.field("x", new))


def test_a_nullable_column_does_not_lose_its_nulls() -> None:
    assert not is_wider(pa.field("x", pa.int32()), pa.field("x", pa.int64(), False))
