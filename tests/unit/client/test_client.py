"""`Client`: declares, writes, looks up, asks."""

from decimal import Decimal

import pyarrow as pa
import pytest

from ivm_client import Client, Problem, Unreachable
from tests.unit.client.conftest import COLUMNS, TOTALS, Listening

ROWS = [{"id": 1, "customer": "ada", "amount": "7.50"}, {"id": 2, "customer": "ada", "amount": 1}]


def test_what_is_written_is_looked_up(client: Client, listening: Listening) -> None:
    written = client.write("orders", ROWS)
    listening.pipeline.step()
    found = client.lookup("totals", customer="ada", at_least=written.at_least)
    assert found == [{"customer": "ada", "orders": 2, "total": "8.50"}]


def test_tables_of_arrow_are_written(client: Client, listening: Listening) -> None:
    rows = pa.table({"id": [1, 2], "customer": ["ada", "bob"], "amount": [Decimal("1.5"), None]})
    client.write("orders", rows)
    listening.pipeline.step()
    assert {row["customer"] for row in client.rows("totals")} == {"ada", "bob"}


def test_changes_are_written(client: Client, listening: Listening) -> None:
    client.write("orders", ROWS)
    client.write("orders", [{"delete": {"id": 1}}], changes=True)
    listening.pipeline.step()
    assert [row["orders"] for row in client.rows("totals")] == [1]


def test_rows_are_written_once_for_a_key(client: Client) -> None:
    assert [client.write("orders", ROWS, key="a").again for _ in range(3)] == [False, True, True]


def test_a_query_answers_arrows_types(client: Client, listening: Listening) -> None:
    client.write("orders", ROWS)
    listening.pipeline.step()
    found = client.query("SELECT customer, total FROM totals ORDER BY customer")
    assert found.table.to_pylist() == [{"customer": "ada", "total": Decimal("8.50")}]
    assert (found.time, found.more) == (1, False)


def test_all_rows_come_in_pages(
    client: Client, listening: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.write("orders", [{"id": n, "customer": f"c{n}", "amount": n} for n in range(50)])
    listening.pipeline.step()
    monkeypatch.setattr(Client._rows, "__defaults__", (7,))
    assert len({row["customer"] for row in client.rows("totals")}) == 50


def test_definitions_are_listed_shown_and_dropped(client: Client) -> None:
    assert [view["name"] for view in client.views()] == ["totals"]
    assert [source["name"] for source in client.sources()] == ["orders"]
    assert client.view("totals")["status"] == "running"
    client.drop_view("totals")
    client.drop_source("orders")
    assert client.views() == client.sources() == []


def test_the_same_definition_again_is_nothing_new(client: Client) -> None:
    client.create_table("orders", COLUMNS, key=["id"])
    client.create_view("totals", TOTALS)
    assert len(client.views()) == 1


def test_a_refusal_says_its_code_and_place(client: Client) -> None:
    with pytest.raises(Problem, match=r"unknown-column: .* \(line 1, column 8\)") as refused:
        client.create_view("other", "SELECT custmer FROM orders")
    assert (refused.value.status, refused.value.code) == (422, "unknown-column")


def test_a_wait_ends_once_it_is_reflected(client: Client, listening: Listening) -> None:
    written = client.write("orders", ROWS)
    assert written.at_least is not None
    listening.pipeline.step()
    client.wait("totals", written.at_least)


def test_a_service_that_is_away_is_told() -> None:
    with Client("http://127.0.0.1:9") as client, pytest.raises(Unreachable, match="ivm serve"):
        client.views()
