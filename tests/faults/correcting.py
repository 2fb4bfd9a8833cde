"""A service without Spark that repairs what it has put aside, and may kill itself at one point.

Run as a program on a directory and a point, it publishes topic `people` as view `echo`, then
replays every quarantined record, repaired as the row of its offset, one after another. At the
first correction it dies by SIGKILL at the point, which may be `none`.
"""

import os
import signal
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow as pa

from connectors.files.reader import TopicReader, records
from connectors.ingest.delivery import Delivery
from connectors.progress.batches import Correction, TimedBatch
from connectors.progress.journal import Journal
from connectors.quarantine.store import Quarantine, Repair
from connectors.sinks.deltas import DeltaSink
from connectors.spark.chunks import SCHEMA, encode
from tests.e2e.connectors.echo import KEY, Echo, opened
from tests.unit.connectors.records import insert, table

POINTS = ("journaled", "closed", "published", "committed")


def die() -> None:
    """End as if the power went, as far as this process is concerned."""
    os.kill(os.getpid(), signal.SIGKILL)


class MortalQuarantine(Quarantine):
    """Dies before or after a record is closed as replayed, if that is its point."""

    def __init__(self, path: Path, point: str) -> None:
        super().__init__(path)
        self._point = point

    def close_as_replayed(self, corrections: Iterable[Correction], time: int) -> None:
        """Close, and die."""
        if self._point == "journaled":
            die()
        super().close_as_replayed(corrections, time)
        if self._point == "closed":
            die()


class MortalJournal(Journal):
    """Dies before or after the commit of a correction, if that is its point."""

    point = "none"
    correcting = False

    def commit(self, time: int, published: Mapping[str, int], *, sync: bool = False) -> None:
        """Commit, and die."""
        if self.correcting and self.point == "published":
            die()
        super().commit(time, published, sync=sync)
        if self.correcting and self.point == "committed":
            die()


class Told(Echo):
    """Echoes, and tells the journal which commits are those of corrections."""

    def __init__(self, journal: MortalJournal, sink: DeltaSink) -> None:
        super().__init__(sink)
        self._mortal = journal

    def receive(self, batch: TimedBatch) -> None:
        """Publish."""
        self._mortal.correcting = bool(batch.corrections)
        super().receive(batch)


def main(root: Path, point: str) -> None:
    """Publish everything, and correct it."""
    journal = MortalJournal(root / "journal")
    journal.point = point
    sink = opened(root, journal)
    quarantine = MortalQuarantine(root / "quarantine", point)
    delivery = Delivery(journal, quarantine, Told(journal, sink))
    delivery.add_table(KEY, table())
    delivery.open()
    reader = TopicReader(root / "topics", "people")
    chunks = [
        encode(KEY, table(), records(span, 0)) for span in reader.spans(0, 0, reader.ends()[0])
    ]
    delivery.deliver(pa.Table.from_batches(chunks, SCHEMA))
    print("ready", flush=True)
    while found := quarantine.page(1, status="open"):
        place = found[0].record.place
        quarantine.fix(place, Repair(None, insert(place[2])))
        delivery.correct([place], None)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
