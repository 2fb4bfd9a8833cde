"""A service without Spark, which publishes the records of topic `people` as view `echo`.

Run as a program on a directory, it goes on from whatever an earlier run left behind, until every
record is published. Tests kill it in between.
"""

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

from connectors.files.reader import TopicReader, records
from connectors.ingest.delivery import Delivery
from connectors.progress.batches import TimedBatch
from connectors.progress.journal import Journal
from connectors.quarantine.store import Quarantine
from connectors.sinks.deltas import DeltaSink
from connectors.sinks.sink import Output, Reached
from connectors.spark.chunks import SCHEMA, encode
from tests.unit.connectors.records import table
from tests.unit.connectors.test_deltas import Drained

BATCH = 5
KEY = "people@0"


class Echo:
    """A receiver whose view is its table."""

    def __init__(self, sink: DeltaSink) -> None:
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
        reached = Reached(batch.time, batch.moment, batch.offsets, batch.ranges)
        self._sink.write("echo", changes, reached)
        self._sink.prepare(reached)
        self._sink.commit(reached)


def opened(root: Path, journal: Journal) -> DeltaSink:
    """The sink, where the journal left it."""
    sink = DeltaSink(root / "topics", journal)
    echo = Output("echo", table().schema, table().key, True, "plan")
    if "echo" in sink.published:
        sink.restore(echo)
    else:
        sink.open(echo)
    return sink


def main(root: Path) -> None:
    """Publish everything."""
    journal = Journal(root / "journal")
    sink = opened(root, journal)
    delivery = Delivery(journal, Quarantine(root / "quarantine"), Echo(sink))
    delivery.add_table(KEY, table())
    delivery.open()
    reader = TopicReader(root / "topics", "people")
    total = reader.ends()[0]
    print("ready", flush=True)
    while (position := delivery.reached().get(("people", 0), 0)) < total:
        pending = delivery.pending
        end = pending[0].ranges[0].end if pending else min(position + BATCH, total)
        chunks = [encode(KEY, table(), records(span, 0)) for span in reader.spans(0, position, end)]
        delivery.deliver(pa.Table.from_batches(chunks, SCHEMA))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
