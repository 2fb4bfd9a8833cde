"""Real-time mode: records go to the pool as they come, instead of a micro-batch at a time.

One task for each partition reads on and on, and puts what it has decoded to the pool's endpoint
(`connectors.spark.relay`); a time is given, and journaled, when what waits there is handed over. So
journal, replay and results are those of micro-batches, and only the cuts are finer.

Spark 4.2 gives a Python function its rows in Arrow batches, and fills a batch before it sends it.
So a batch here is one row. And since a batch is sent when the row after it is asked for, each
record is followed by a row of NULLs, which pushes it on when no other record comes.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from connectors.errors import TooFewSlots
from connectors.kafka.clusters import Feed
from connectors.spark.endpoint import Address, Endpoint
from connectors.spark.kafka import Decoder, decoder, records_of
from connectors.spark.query import Failure, Query
from connectors.spark.relay import Relay

# How long Spark's tasks run before it starts them anew, which takes some tenths of a second; a
# partition that was added to a topic is read from then on.
BATCH = "5 minutes"
# How many puts may wait to be handed over, before the tasks wait.
ROOM = 1_000

_SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1",
    "spark.sql.execution.pandas.udf.buffer.size": "64",
    # The operator that runs Python functions is not on Spark's list of those that it vouches for;
    # nothing that it does depends on the end of a batch.
    "spark.sql.streaming.realTimeMode.allowlistCheck": "false",
}
_COLUMNS = ("key", "value", "topic", "partition", "offset", "timestamp", "headers")
_PUSHED = (
    f"explode(array(named_struct({', '.join(f'{name!r}, {name}' for name in _COLUMNS)}), NULL))"
)


class RealTime(Query):
    """A query over Kafka topics alone."""

    def __init__(
        self,
        spark: SparkSession,
        work: Path,
        deliver: Callable[[pa.Table], None],
        feeds: Sequence[Feed],
    ) -> None:
        """Start reading what `feeds` say (raises TooFewSlots)."""
        _check_slots(spark, feeds)
        super().__init__(work, deliver, ROOM)
        self._endpoint = Endpoint(self._handover.put)
        session = spark.newSession()
        for name, value in _SETTINGS.items():
            session.conf.set(name, value)
        relayed = [_relayed(session, feed, self._endpoint.address) for feed in feeds]
        writer = reduce(DataFrame.union, relayed).writeStream.format("noop")
        writer = writer.outputMode("update")
        self._begin(writer.trigger(realTime=BATCH))  # type: ignore[call-overload]

    def wait(self) -> Failure | None:
        """As `Query.wait`; afterwards no task can put anything."""
        try:
            return super().wait()
        finally:
            self._endpoint.close()


def _check_slots(spark: SparkSession, feeds: Sequence[Feed]) -> None:
    """Raise TooFewSlots unless all tasks can run at once."""
    needed = sum(len(partitions) for feed in feeds for partitions in feed.starts.values())
    slots = spark.sparkContext.defaultParallelism
    if needed > slots:
        raise TooFewSlots(
            f"spark_master: real-time mode keeps a task running for each of {needed} partitions, "
            f"{spark.sparkContext.master} runs {slots}; set it to local[{needed}] or more"
        )


def _relayed(spark: SparkSession, feed: Feed, address: Address) -> DataFrame:
    """No rows: its tasks put the chunks of `feed` to `address`."""
    pushed = records_of(spark, feed).selectExpr(f"{_PUSHED} AS record").selectExpr("record.*")
    return pushed.mapInArrow(partial(relay, decoder(feed), address), "nothing int")


def relay(
    decode: Decoder, address: Address, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """On an executor: put what `decode` makes of the records, and give no rows."""
    with Relay(decode, address) as to_pool:
        for batch in batches:
            if batch["offset"].null_count == 0:  # else it only pushes the record before
                to_pool.add(batch)
    return iter(())
