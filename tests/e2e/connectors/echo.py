"""A service without Spark, which publishes the records of topic `people` as view `echo`.

Run as a program on a directory, it goes on from whatever an earlier run left behind, until every
record is published. Tests kill it in between.
"""

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

from connectors.batches import TimedBatch
from connectors.delivery import Delivery
from connectors.files.reader import TopicReader
from connectors.progress.journal import Journal
from connectors.quarantine import Quarantine
from connectors.sinks.deltas import DeltaSink
from connectors.spark.chunks import SCHEMA, encode
from tests.unit.connectors.records import table
from tests.unit.connectors.test_deltas import Drained

BATCH = 5
KEY = "people@0"


class Echo:
    """A receiver whose view is its table."""

    def __init__(self, journal: Journal, sink: DeltaSink) -> None:
        self._journal = journal
        self._sink = sink

    def receive(self, batch: TimedBatch) -> None:
        """Publish the batch's updates, durably, unless that was done before."""
        if batch.committed:
            return
        none = np.empty(0, np.int64)
        if (updates := batch.tables.get("people")) is None:
            rows, diffs = pa.RecordBatch.from_pylist([], table().schema), none
        else:
            rows, diffs = updates.rows, updates.diffs
        errors = pa.RecordBatch.from_pydict({"error": pa.array([], pa.string())})
        times = np.full(len(diffs), batch.time, np.uint64)
        changes = Drained(rows, times, diffs, errors, none.astype(np.uint64), none)
        self._sink.write("echo", changes, batch.time, batch.offsets)
        self._journal.commit(batch.time, self._sink.flush())


def main(root: Path) -> None:
    """Publish everything."""
    journal = Journal(root / "journal")
    sink = DeltaSink(root / "topics")
    sink.open("echo", journal.published.get("echo", 0))
    delivery = Delivery(journal, Quarantine(root / "quarantine"), Echo(journal, sink))
    delivery.add_table(KEY, table())
    delivery.open()
    reader = TopicReader(root / "topics", "people")
    total = reader.ends()[0]
    print("ready", flush=True)
    while (position := delivery.reached().get(("people", 0), 0)) < total:
        pending = delivery.pending
        end = pending[0].ranges[0].end if pending else min(position + BATCH, total)
        chunks = [encode(KEY, 0, table(), span) for span in reader.spans(0, position, end)]
        delivery.deliver(pa.Table.from_batches(chunks, SCHEMA))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
