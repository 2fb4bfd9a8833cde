"""Real-time mode: records go to the pool as they come, instead of a micro-batch at a time.

For each connection a task that lasts as long as the query reads all partitions with librdkafka,
decodes, and puts what has come to the pool's endpoint (`connectors.spark.relay`), faster than the
pool takes it; a time is given, and journaled, when what waits there is handed over. So journal,
replay and results are those of micro-batches, and only the cuts are finer.

To Spark that is one micro-batch, from "begun" to "ended", whose tasks give no rows.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial, reduce
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit
from pyspark.sql.types import StructType

from connectors.errors import TooFewSlots, Unavailable
from connectors.kafka.clusters import Feed, starts_of
from connectors.kafka.follow import Follower
from connectors.spark.chunks import SPARK_SCHEMA
from connectors.spark.endpoint import Address, Putter
from connectors.spark.kafka import decoder
from connectors.spark.query import ALONE, Beside, Query
from connectors.spark.relay import patient, relay
from connectors.spark.session import free_slots

# How many puts, and bytes, may wait to be handed over, before the tasks wait. What waits is one
# time, and one transaction: a million small changes at most, as they travel.
ROOM, ROOM_BYTES = 1_000, 16 << 20
_BEGUN: dict[str, Any] = {"at": "begun"}
_ENDED: dict[str, Any] = {"at": "ended"}


class RealTime(Query):
    """A query over Kafka topics alone."""

    def __init__(
        self,
        spark: SparkSession,
        work: Path,
        deliver: Callable[[pa.Table], None],
        hear: Callable[[Unavailable], None],
        feeds: Sequence[Feed],
        beside: Beside = ALONE,
    ) -> None:
        """Start reading the topics of `feeds` (raises TooFewSlots).

        `hear` is called with each fault that tasks wait for; for `beside` see `Query`.
        """
        _check_slots(spark, feeds, beside.taken)
        super().__init__(work, deliver, hear, ROOM, ROOM_BYTES, beside)
        followed = [_followed(spark, feed, self._endpoint.address) for feed in feeds]
        self._begin(reduce(DataFrame.union, followed))


def _check_slots(spark: SparkSession, feeds: Sequence[Feed], taken: int) -> None:
    """Raise TooFewSlots unless all tasks can run at once."""
    slots = free_slots(spark, taken)
    if len(feeds) > slots:
        beside = f" beside {taken} shards" if taken else ""
        raise TooFewSlots(
            f"spark_master: real-time mode keeps a task running for each of {len(feeds)} "
            f"connections, {spark.sparkContext.master} runs {slots}{beside}; set it to "
            f"local[{len(feeds) + taken}] or more"
        )


def _followed(spark: SparkSession, given: Feed, endpoint: Address) -> DataFrame:
    class Source(FollowedTopics):
        """The source of one connection; Spark takes its class along by value."""

        feed, address = given, endpoint

        @classmethod
        def name(cls) -> str:
            return f"ivm_following_{given.connection.name}"

    spark.dataSource.register(Source)
    return spark.readStream.format(Source.name()).load()


class FollowedTopics(DataSource):
    """The topics of `feed`, followed by one task."""

    feed: ClassVar[Feed]
    address: ClassVar[Address]

    def schema(self) -> str:
        return SPARK_SCHEMA

    def streamReader(  # noqa: N802
        self, schema: StructType
    ) -> DataSourceStreamReader:
        return FollowingReader(self.feed, self.address)


class FollowingReader(DataSourceStreamReader):
    """Gives a task that ends with the query; its error ends that."""

    def __init__(self, feed: Feed, address: Address) -> None:
        self._feed = feed
        self._address = address

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        return _BEGUN

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadAllAvailable()

    def latestOffset(  # noqa: N802
        self, start: dict[str, Any], limit: ReadLimit
    ) -> dict[str, Any]:
        return _ENDED

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        return [InputPartition(starts_of(self._feed))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        with (
            closing(Putter(self._address)) as putter,
            closing(Follower(self._feed.connection)) as follower,
        ):
            follower.begin(partition.value)
            decode = partial(decoder(self._feed).chunks, deal=putter.deal)
            relay(follower.read, patient(decode, putter), putter)
        return iter(())  # what is read does not pass through Spark
