"""Which records get a logical time of their own, and which wait for their transaction."""

from pathlib import Path

import pytest

from connectors.errors import TransactionIncomplete
from connectors.progress import resolution
from tests.unit.connectors.transacting import Service, again, table


@pytest.fixture
def service(tmp_path: Path) -> Service:
    return Service(tmp_path, table("orders"), table("items"))


def test_each_record_has_a_time_of_its_own(tmp_path: Path) -> None:
    service = Service(tmp_path, table("items", "record"), table("orders", "batch"))
    service.write("orders", (None, 1, 0), (None, 2, 0))
    service.write("items", (None, 1, 5), (None, 1, 6))
    service.write("items", (None, 2, 7), partition=1)
    assert service.read() == [
        (1, "items", 1, 5),
        (2, "items", 1, 6),
        (3, "items", 2, 7),
        (3, "orders", 1, 0),
        (3, "orders", 2, 0),
    ]
    service.write("items", (None, 3, 8))
    assert service.read() == [(4, "items", 3, 8)]


def test_a_transaction_becomes_visible_at_once_over_all_tables(service: Service) -> None:
    service.write("orders", ("a", 1, 0), ("b", 2, 0))
    service.write("items", ("a", 10, 0), ("a", 11, 0), ("b", 12, 0))
    service.end("a", orders=1, items=2)
    service.end("b", orders=1, items=1)
    assert service.read() == [
        (1, "items", 10, 0),
        (1, "items", 11, 0),
        (1, "orders", 1, 0),
        (2, "items", 12, 0),
        (2, "orders", 2, 0),
    ]


def test_what_is_not_complete_waits_with_all_behind_it(service: Service) -> None:
    service.write("orders", ("a", 1, 0), ("b", 2, 0), (None, 3, 0))
    service.end("a", orders=1, items=0)
    service.end("b", orders=1, items=1)
    assert service.read() == [(1, "orders", 1, 0)]
    assert service.delivery.reached()["orders", 0] == 1
    service.write("items", ("b", 12, 0))
    assert service.read() == [(2, "items", 12, 0), (2, "orders", 2, 0), (2, "orders", 3, 0)]


def test_transactions_go_in_the_order_of_their_ends(service: Service) -> None:
    service.write("orders", ("b", 2, 0))
    service.end("a", items=1)
    service.end("b", orders=1)
    assert service.read() == []
    service.write("items", ("a", 10, 0))
    assert service.read() == [(1, "items", 10, 0), (2, "orders", 2, 0)]


def test_records_wait_for_the_end_of_their_transaction(service: Service) -> None:
    service.write("orders", (None, 1, 0), ("a", 2, 0))
    assert service.read() == [(1, "orders", 1, 0)]
    service.end("a", orders=1)
    assert service.read() == [(2, "orders", 2, 0)]


def test_a_replay_gives_the_same_times(service: Service) -> None:
    service.write("orders", ("a", 1, 0), ("b", 2, 0))
    service.end("a", orders=1)
    first = service.read()
    service.end("b", orders=1)
    service.write("orders", ("c", 3, 0), ("d", 4, 0))
    service.end("c", orders=1)
    first += service.read()
    restarted = again(service)
    assert restarted.read() == first
    assert all(batch.committed for batch in restarted.batches)
    restarted.end("d", orders=1)
    assert restarted.read() == [(4, "orders", 4, 0)]


def test_a_rejected_record_keeps_nobody_waiting(service: Service) -> None:
    service.write("orders", ("a", 1, 0))
    service.append("shop.public.orders", 0, [{"op": "?"}])
    service.end("a", orders=2)
    assert service.read() == [(1, "orders", 1, 0)]


def test_what_a_connector_sends_again_in_part_keeps_nobody_waiting(service: Service) -> None:
    service.write("orders", ("a", 1, 0), ("a", 2, 0))
    service.end("a", orders=2)
    service.read()
    service.write("orders", ("a", 2, 0))
    service.end("a", orders=2)
    assert service.read() == [(2, "orders", 2, 0)]


def test_records_of_transactions_that_ended_before_do_not_wait(service: Service) -> None:
    service.write("orders", ("old", 1, 0), ("a", 2, 0))
    service.end("a", orders=1)
    assert service.read() == [(1, "orders", 1, 0), (1, "orders", 2, 0)]


def test_too_much_that_waits_is_an_error_that_names_the_transaction(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolution, "HELD_RECORDS", 1)
    service.write("orders", ("a", 1, 0), ("a", 2, 0))
    with pytest.raises(
        TransactionIncomplete, match=r"'a' has records in topic 'shop.public.orders'"
    ):
        service.read()
    monkeypatch.undo()
    service.end("a", orders=2)
    service.retry("orders")
    assert service.read() == [(1, "orders", 1, 0), (1, "orders", 2, 0)]


def test_an_end_that_counts_other_names_is_told(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolution, "HELD_SECONDS", -1.0)
    service.write("orders", ("a", 1, 0))
    service.end("a", other=1)
    with pytest.raises(TransactionIncomplete, match="a topic must end with its table's name"):
        service.read()


def test_a_truncation_has_its_place_among_the_partitions_by_its_transaction(
    service: Service,
) -> None:
    service.write("orders", ("a", 1, 0), ("c", 3, 0))
    service.write("orders", ("a", 2, 0), partition=1)
    service.truncate("orders", "b", partition=1)
    service.end("a", orders=2)
    service.end("b", orders=1)
    service.end("c", orders=1)
    assert service.read() == [
        (1, "orders", 1, 0),
        (1, "orders", 2, 0),
        (2, "orders", None, None),
        (3, "orders", 3, 0),
    ]


def test_a_truncation_amid_its_transaction_is_an_error(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolution, "HELD_SECONDS", -1.0)
    service.write("orders", ("a", 1, 0))
    service.truncate("orders", "a", partition=1)
    service.end("a", orders=2)
    with pytest.raises(TransactionIncomplete, match="nothing says which came first"):
        service.read()
