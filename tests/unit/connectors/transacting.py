"""File topics of tables with transactions, and a delivery over them that reads what it is told."""

from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa

from connectors.declaration import OnError
from connectors.files.reader import TopicReader, records
from connectors.files.writer import TopicWriter
from connectors.ingest.delivery import Delivery
from connectors.progress.batches import RowOwners, TimedBatch
from connectors.progress.journal import Journal
from connectors.progress.resolution import with_markers
from connectors.quarantine.store import Quarantine
from connectors.spark.chunks import SCHEMA, Deal, as_they_are, encode
from connectors.tables.spec import TableSpec

FIELDS: list[pa.Field] = [pa.field("id", pa.int64(), nullable=False), pa.field("n", pa.int64())]
ROWS = pa.schema(FIELDS)
TRANSACTIONS = "shop.transactions"


def table(
    name: str, resolution: Any = "transaction", on_error: OnError = "quarantine"
) -> TableSpec:
    topic = TRANSACTIONS if resolution == "transaction" else None
    return TableSpec(
        name,
        f"shop.public.{name}",
        ROWS,
        ("id",),
        resolution=resolution,
        transaction_topic=topic,
        on_error=on_error,
    )


class Service:
    """File topics, and a delivery over them that reads what it is told to.

    Rows of tables travel as what `deal` makes of them; then they have `owners`.
    """

    def __init__(
        self,
        root: Path,
        *specs: TableSpec,
        deal: Deal = as_they_are,
        owners: RowOwners | None = None,
    ) -> None:
        self.deal = deal
        self.root = root
        self.specs = with_markers(specs)
        self.journal = Journal(root / "journal")
        self.batches: list[TimedBatch] = []
        quarantine = Quarantine(root / "quarantine")
        self.delivery = Delivery(self.journal, quarantine, self, owners=owners)
        for spec in self.specs:
            self.delivery.add_table(spec.name, spec)
        self.delivery.open()
        self.read_to = self.delivery.reached()

    def receive(self, batch: TimedBatch) -> None:
        self.batches.append(batch)
        if not batch.committed:
            self.journal.commit(batch.time, {})

    def write(self, name: str, *changes: tuple[str | None, int, int], partition: int = 0) -> None:
        """Records of a table: transaction, id, n."""
        lines = [
            {
                "op": "c",
                "before": None,
                "after": {"id": key, "n": n},
                "transaction": None if transaction is None else {"id": transaction},
            }
            for transaction, key, n in changes
        ]
        self.append(f"shop.public.{name}", partition, lines)

    def truncate(self, name: str, transaction: str, partition: int = 0) -> None:
        """A truncation of a table."""
        line = {"op": "t", "before": None, "after": None, "transaction": {"id": transaction}}
        self.append(f"shop.public.{name}", partition, [line])

    def end(self, transaction: str, **counts: int) -> None:
        """BEGIN and END of a transaction with so many records of each table."""
        collections = [
            {"data_collection": f"public.{name}", "event_count": n} for name, n in counts.items()
        ]
        lines = [
            {"status": "BEGIN", "id": transaction, "ts_ms": 1, "data_collections": None},
            {"status": "END", "id": transaction, "ts_ms": 1, "data_collections": collections},
        ]
        self.append(TRANSACTIONS, 0, lines)

    def append(self, topic: str, partition: int, lines: list[Any]) -> None:
        writer = TopicWriter(self.root / "topics", topic, partition)
        writer.append([orjson.dumps(line) for line in lines])
        writer.sync()
        writer.close()

    def retry(self, name: str) -> None:
        """Let a table go on that stands still, with those of its transactions."""
        self.delivery.end_stalls([name])
        self.read_to = dict(self.delivery.positions())

    def read(self, limit: int = 1_000) -> list[tuple[int, str, int, Any]]:
        """Deliver all there is, or the next `limit` records of each partition.

        Returns the changes that came, as time, table, id and n.
        """
        before = len(self.batches)
        self.deliver(limit)
        return [change for batch in self.batches[before:] for change in changes(batch)]

    def deliver(self, limit: int = 1_000) -> None:
        """Deliver all there is, or the next `limit` records of each partition."""
        chunks = []
        for spec in self.specs:
            reader = TopicReader(self.root / "topics", spec.topic)
            for partition, end in reader.ends().items():
                position = self.read_to.get((spec.name, partition), 0)
                end = min(end, position + limit)
                self.read_to[spec.name, partition] = end
                chunks += [
                    encode(spec.name, spec, records(span, partition), deal=self.deal)
                    for span in reader.spans(partition, position, end)
                ]
        self.delivery.deliver(pa.Table.from_batches(chunks, SCHEMA))


def changes(batch: TimedBatch) -> list[tuple[int, str, int, Any]]:
    found = []
    for name, updates in batch.tables.items():
        times = [batch.time] * len(updates.diffs)
        if updates.times is not None:
            times = updates.times.tolist()
        for time, row in zip(times, updates.rows.to_pylist(), strict=True):
            found.append((time, name, row["id"], row["n"]))
    return sorted(found)


def again(service: Service) -> Service:
    """The same service after a restart."""
    service.journal.close()
    specs = [spec for spec in service.specs if spec.name in ("orders", "items")]
    return Service(service.root, *specs)
