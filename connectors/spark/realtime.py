"""Real-time mode: records go to the pool as they come, instead of a micro-batch at a time.

One task for each partition reads on and on, and puts what it has decoded to the pool's endpoint
(`connectors.spark.relay`); a time is given, and journaled, when what waits there is handed over. So
journal, replay and results are those of micro-batches, and only the cuts are finer.

Spark 4.2 gives a Python function its rows in batches, and fills a batch before it sends it. So a
batch here is one row, which is pickled, as a batch in Arrow's format costs ten times as much; and
no column is a struct, since a batch of these carries its schema.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import expr, udf

from connectors.errors import TooFewSlots, Unavailable
from connectors.kafka.clusters import Feed
from connectors.spark.endpoint import Address, Endpoint
from connectors.spark.kafka import decoder, records_of
from connectors.spark.query import Failure, Query
from connectors.spark.relay import Decode, Relay, Row
from connectors.spark.session import LOOPBACK, free_slots

# How long Spark's tasks run before it starts them anew: longer than any service. A function is not
# told of the end of a batch, so what it has yet to put could overtake what the next batch puts.
_BATCH = "3650 days"
# How many puts may wait to be handed over, before the tasks wait.
ROOM = 1_000

_SETTINGS = {
    "spark.sql.execution.python.udf.maxRecordsPerBatch": "1",
    # A row is written once this many bytes wait, which every row has.
    "spark.sql.execution.python.udf.buffer.size": "16",
    "spark.sql.execution.pyspark.binaryAsBytes": "true",
    # The operator that runs Python functions is not on Spark's list of those that it vouches for;
    # nothing that it does depends on the end of a batch.
    "spark.sql.streaming.realTimeMode.allowlistCheck": "false",
}
_COLUMNS = (
    "key",
    "value",
    "topic",
    "partition",
    "offset",
    "unix_millis(timestamp)",
    "headers.key",
    "headers.value",
)


class RealTime(Query):
    """A query over Kafka topics alone."""

    def __init__(
        self,
        spark: SparkSession,
        work: Path,
        deliver: Callable[[pa.Table], None],
        hear: Callable[[Unavailable], None],
        feeds: Sequence[Feed],
        host: str = LOOPBACK,
        taken: int = 0,
    ) -> None:
        """Start reading the topics of `feeds` (raises TooFewSlots).

        `hear` is called with each fault that tasks wait for. They reach this process at `host`.
        Of Spark's slots so many are `taken`.
        """
        _check_slots(spark, feeds, taken)
        super().__init__(work, deliver, ROOM)
        self._endpoint = Endpoint(self._handover.put, hear, host)
        session = spark.newSession()
        for name, value in _SETTINGS.items():
            session.conf.set(name, value)
        relayed = [_relayed(session, feed, self._endpoint.address) for feed in feeds]
        writer = reduce(DataFrame.union, relayed).writeStream.format("noop")
        writer = writer.outputMode("update")
        self._begin(writer.trigger(realTime=_BATCH))  # type: ignore[call-overload]

    def wait(self) -> Failure | None:
        """As `Query.wait`; afterwards no task can put anything."""
        try:
            return super().wait()
        finally:
            self._endpoint.close()


def _check_slots(spark: SparkSession, feeds: Sequence[Feed], taken: int) -> None:
    """Raise TooFewSlots unless all tasks can run at once."""
    needed = sum(len(partitions) for feed in feeds for partitions in feed.starts.values())
    slots = free_slots(spark, taken)
    if needed > slots:
        beside = f" beside {taken} shards" if taken else ""
        raise TooFewSlots(
            f"spark_master: real-time mode keeps a task running for each of {needed} partitions, "
            f"{spark.sparkContext.master} runs {slots}{beside}; set it to local[{needed + taken}] "
            "or more"
        )


def _relayed(spark: SparkSession, feed: Feed, address: Address) -> DataFrame:
    """A row of nothing for each record of `feed`; its tasks put the chunks to `address`."""
    give = udf(relaying(decoder(feed).chunks, address), "int", useArrow=False)
    return records_of(spark, feed).select(give.asNondeterministic()(*map(expr, _COLUMNS)))


def relaying(decode: Decode, address: Address) -> Callable[..., None]:
    """A function for an executor, which puts the chunks of the records that it is called with."""
    relay: Relay | None = None

    def give(*record: Any) -> None:
        nonlocal relay
        if relay is None:
            relay = Relay(decode, address)
        relay.add(Row(*record))

    return give
