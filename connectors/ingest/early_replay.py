"""The early replay: reads the records of journaled times in this process, before Spark's query.

Spark takes seconds to start, and its first query some more until the first batch has come. What the
journal holds beyond a checkpoint is read sooner than that, unless it is much. Only journaled times
are read so; what is left of them the query brings, and so what cannot be read here.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from connectors.attribution import reading
from connectors.files.reader import TopicReader, records
from connectors.ingest.timed_batch import merged
from connectors.kafka.clusters import Feed
from connectors.kafka.fetch import Fetcher, OffsetRange
from connectors.progress.batches import Range
from connectors.progress.journal import Entry
from connectors.spark.bringing import Bringing
from connectors.spark.chunks import SCHEMA, encode
from connectors.spark.kafka import Decoder, decoder
from connectors.tables.spec import TableSpec
from ivm.cluster.dealing import Owners
from ivm.errors import IvmError

# So many records take three seconds here, in which Spark's first query has brought none.
LITTLE = 500_000
# About how many are read at once.
AT_ONCE = 50_000


class EarlyReplay:
    """Reads the first of some journaled times; for one thread.

    All records of a time come in one batch, unless its last ones are gone from a compacted topic:
    then a later record has to show that there are none, which is left to a query.
    """

    def __init__(
        self,
        topics: Path,
        tables: Mapping[str, TableSpec],
        feeds: Callable[[], Sequence[Feed]],
        owners: Owners | None,
    ) -> None:
        """`tables`, by their keys, are read from the file topics in `topics`, and from `feeds`.

        No broker is asked before the first records are. Rows are brought to their `owners`.
        """
        self._bringing = Bringing(owners)
        self._topics = topics
        self._files = {s.name: (key, s) for key, s in tables.items() if not s.is_remote}
        self._ask = feeds
        self._feeds: list[tuple[Feed, Decoder, Fetcher]] | None = None

    def chunks(self, pending: Iterable[Entry]) -> pa.Table | None:
        """The chunks of the first times of `pending`, of about `AT_ONCE` records.

        None where they cannot be read, for whatever reason; then it can only be closed.
        """
        ranges = first_ranges(pending)
        try:
            found = [*self._of_files(ranges), *self._of_kafka(ranges)]
            self._bringing.flush()
        except (IvmError, OSError):
            return None
        return pa.Table.from_batches(found, SCHEMA)

    def close(self) -> None:
        """Leave the brokers and the owners."""
        self._bringing.close()
        for _, _, fetcher in self._feeds or ():
            fetcher.close()

    def _of_files(self, ranges: Iterable[Range]) -> Iterator[pa.RecordBatch]:
        for r in ranges:
            if r.table in self._files:
                key, spec = self._files[r.table]
                with reading(spec.name):
                    topic = TopicReader(self._topics, r.topic)
                    topic.ends()
                    for span in topic.spans(r.partition, r.first, r.end):
                        found = records(span, r.partition)
                        yield encode(key, spec, found, deal=self._bringing.deal)

    def _of_kafka(self, ranges: Sequence[Range]) -> Iterator[pa.RecordBatch]:
        if self._feeds is None:
            self._feeds = [(f, decoder(f), Fetcher(f.connection)) for f in self._ask()]
        for feed, decode, fetcher in self._feeds:
            streams = {spec.name for specs in feed.tables.values() for spec in specs.values()}
            wanted = _offsets(r for r in ranges if r.table in streams)
            for topic, found in fetcher.read(wanted) if wanted else ():
                yield from decode.chunks(topic, found, self._bringing.deal)


def is_little(pending: Iterable[Entry]) -> bool:
    """Whether these times are sooner read here than by Spark.

    >>> is_little([Entry(1, (Range("t", "t", 0, 0, LITTLE),), 0)])
    True
    """
    return sum(r.end - r.first for entry in pending for r in entry.ranges) <= LITTLE


def first_ranges(pending: Iterable[Entry]) -> tuple[Range, ...]:
    """The ranges of the first of these times, until they have `AT_ONCE` records.

    >>> times = [Entry(n, (Range("t", "t", 0, 30_000 * n, 30_000 * (n + 1)),), 0) for n in range(9)]
    >>> first_ranges(times)
    (Range(table='t', topic='t', partition=0, first=0, end=60000),)
    """
    found: list[Range] = []
    for entry in pending:
        if sum(r.end - r.first for r in found) >= AT_ONCE:
            break
        found += entry.ranges
    return merged(found)


def _offsets(ranges: Iterable[Range]) -> list[OffsetRange]:
    """The offsets to fetch, each partition once: several streams may be of one topic."""
    found: dict[tuple[str, int], OffsetRange] = {}
    for r in ranges:
        at = r.topic, r.partition
        known = found.get(at, OffsetRange(*at, r.first, r.end))
        found[at] = OffsetRange(*at, min(known.first, r.first), max(known.end, r.end))
    return list(found.values())
