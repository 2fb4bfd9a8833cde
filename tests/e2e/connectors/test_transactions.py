"""Through Spark: transactions over two tables are visible as wholes, and so after a restart."""

from collections.abc import Mapping, Sequence

import orjson

from connectors.files.writer import TopicWriter
from connectors.progress.batches import TimedBatch
from tests.e2e.connectors.conftest import Service
from tests.unit.connectors.transacting import TRANSACTIONS, changes, table

TABLES = [table("orders"), table("items")]


def write(service: Service, name: str, transaction: str, *keys: int) -> None:
    """Rows of a transaction in a table."""
    lines = [
        {
            "op": "c",
            "before": None,
            "after": {"id": key, "n": 0},
            "transaction": {"id": transaction, "total_order": 1, "data_collection_order": 1},
        }
        for key in keys
    ]
    append(service, f"shop.public.{name}", lines)


def end(service: Service, transaction: str, orders: int, items: int) -> None:
    counts = [
        {"data_collection": "public.orders", "event_count": orders},
        {"data_collection": "public.items", "event_count": items},
    ]
    append(
        service,
        TRANSACTIONS,
        [
            {"status": "BEGIN", "id": transaction, "event_count": None, "data_collections": None},
            {"status": "END", "id": transaction, "event_count": 0, "data_collections": counts},
        ],
    )


def append(service: Service, topic: str, lines: Sequence[Mapping[str, object]]) -> None:
    writer = TopicWriter(service.topics, topic)
    writer.append([orjson.dumps(line) for line in lines])
    writer.close()


def seen(batches: list[TimedBatch]) -> list[tuple[int, str, int]]:
    return [change[:3] for batch in batches for change in changes(batch)]


def test_transactions_are_visible_as_wholes_and_at_the_same_times_again(service: Service) -> None:
    write(service, "orders", "a", 1)
    write(service, "orders", "b", 2)
    end(service, "a", 1, 1)
    end(service, "b", 1, 2)
    service.pipeline.start(TABLES)
    write(service, "items", "a", 10)
    collector = service.collector
    collector.wait(lambda: collector.count("orders") == 1)
    assert seen(collector.batches) == [(1, "items", 10), (1, "orders", 1)]
    write(service, "items", "b", 11)
    write(service, "items", "b", 12)
    collector.wait(lambda: collector.count("items") == 3)
    first = seen(collector.batches)
    assert first[2:] == [(2, "items", 11), (2, "items", 12), (2, "orders", 2)]
    service.close()
    service.open()
    service.pipeline.start(TABLES)
    service.collector.wait(lambda: service.collector.count("items") == 3)
    assert seen(service.collector.batches) == first
    assert all(batch.committed for batch in service.collector.batches)


def test_the_topic_of_transactions_is_read_as_long_as_a_table_needs_it(service: Service) -> None:
    service.pipeline.start(TABLES[:1])
    service.pipeline.add_table(TABLES[1])
    service.pipeline.remove_table("orders")
    write(service, "items", "a", 10)
    end(service, "a", 1, 1)
    service.collector.wait(lambda: service.collector.count("items") == 1)
    service.pipeline.remove_table("items")
    assert service.journal.tables == {}
