"""The data source `ivm` of PySpark: reads views, follows them, and writes tables.

    from ivm_client.spark import register

    register(spark)
    spark.read.format("ivm").option("view", "totals").load()
    spark.readStream.format("ivm_changes").option("view", "totals").load()
    rows.writeStream.format("ivm").option("table", "orders")

`ivm` is a view as of one time. `ivm_changes` is a stream of the view's changes since its beginning,
in their order, with `ivm_time` and `ivm_diff`; what Spark's checkpoint says was read is not read
again. Of tables that are written, the rows of each task of a streaming query come once, however
often it runs.

| option | says |
| --- | --- |
| `url` | the service; `http://localhost:8080` unless given |
| `key` | the API key; that of `IVM_API_KEY` unless given |
| `view` | the view that is read |
| `table` | the source that is written, with connector `http` |
| `at_least` | a batch waits until this position is reflected: `source:partition:offset` |
| `partitions` | as many tasks read a batch, each a part of the keys; 1 unless given |
| `snapshot` | `false`: a stream begins with the changes from now on |
"""

from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, cast
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceReader,
    DataSourceStreamArrowWriter,
    DataSourceStreamReader,
    InputPartition,
    WriterCommitMessage,
)
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import LongType, StructType

from ivm_client.client import Client
from ivm_client.errors import ClientError
from ivm_client.feed import DIFF, TIME, Batch

URL = "http://localhost:8080"
# Rows of one request.
ROWS = 20_000


def register(spark: SparkSession) -> None:
    """Let a session read and write by the formats `ivm` and `ivm_changes`."""
    for source in (ViewSource, ChangesSource):
        spark.dataSource.register(source)


@dataclass(frozen=True, slots=True)
class Service:
    """Where the service is, and the key to it; it goes to the tasks, which have no options."""

    url: str
    key: str | None

    def client(self) -> Client:
        """A client of it."""
        return Client(self.url, key=self.key)


class ViewSource(DataSource):
    """The data source `ivm`."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        """Options are Spark's, and case does not matter in them."""
        super().__init__(options)
        self._service = Service(options.get("url", URL), options.get("key"))

    @classmethod
    def name(cls) -> str:
        """The name that `format` takes."""
        return "ivm"

    def schema(self) -> StructType:
        """The view's columns by Spark's types; of a table, those that are written matter alone."""
        view = self._option("view")
        with self._service.client() as client:
            rows = client.query(f'SELECT * FROM "{view}"', limit=1).table.schema
        return from_arrow_schema(readable(rows))

    def reader(self, schema: StructType) -> DataSourceReader:
        """Reads the view."""
        partitions = int(self.options.get("partitions", "1"))
        at_least = self.options.get("at_least")
        return ViewReader(self._service, self._option("view"), at_least, partitions)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:
        """Writes the table; rows with the keys of others take their places."""
        if overwrite:
            raise ClientError("a table is written by mode append; its keys say what is replaced")
        return TableWriter(self._service, self._option("table"))

    def streamWriter(  # noqa: N802
        self, schema: StructType, overwrite: bool
    ) -> DataSourceStreamArrowWriter:
        """Writes the table, by the batches of a streaming query."""
        return StreamWriter(self._service, self._option("table"))

    def _option(self, name: str) -> str:
        if name not in self.options:
            raise ClientError(f"option {name!r} is missing")
        return str(self.options[name])


class ChangesSource(ViewSource):
    """The data source `ivm_changes`: a view's changes, for `readStream`."""

    @classmethod
    def name(cls) -> str:
        """The name that `format` takes."""
        return "ivm_changes"

    def schema(self) -> StructType:
        """The view's columns, with the time and the diff of each row."""
        return super().schema().add(TIME, LongType()).add(DIFF, LongType())

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        """Follows the view."""
        snapshot = self.options.get("snapshot", "true").lower() != "false"
        return ViewFollower(self._service, self._option("view"), snapshot)


@dataclass(frozen=True, slots=True)
class Share(InputPartition):
    """A part of a view by its keys, the `number`th of `parts`, as of `time`."""

    number: int
    parts: int
    time: int


class ViewReader(DataSourceReader):
    """A view as of one time, in parts by its keys.

    The service keeps no past for it. A task takes the rows of its part as they are by then, and
    takes the changes since the common time T back: R(T) = R(now) - (changes after T).
    """

    def __init__(self, service: Service, view: str, at_least: str | None, partitions: int) -> None:
        """Raises ClientError for less than one partition."""
        if partitions < 1:
            raise ClientError(f"option 'partitions' is {partitions}: at least one is needed")
        self._service = service
        self._view = view
        self._at_least = at_least
        self._partitions = partitions

    def partitions(self) -> Sequence[InputPartition]:
        """The parts, once what is waited for is reflected."""
        with self._service.client() as client:
            if self._at_least is not None:
                client.wait(self._view, self._at_least)
            time = _time(client, self._view)
        return [Share(number, self._partitions, time) for number in range(self._partitions)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a part, each as often as it is there."""
        assert isinstance(partition, Share)
        with self._service.client() as client:
            yield from _spark_rows(as_of(client, self._view, partition)).to_batches()


def as_of(client: Client, view: str, share: Share) -> pa.Table:
    """The rows of a part of a view as of its time, which is past; each as often as it is there."""
    part = share.number, share.parts
    now = next(client.follow(view, part=part))
    taken_back = []
    if now.time > share.time:
        for batch in client.follow(view, since=share.time, part=part):
            taken_back.append(batch)
            if batch.time >= now.time:
                break
    return _copied(now, [batch for batch in taken_back if len(batch)])


class ViewFollower(DataSourceStreamReader):
    """The changes of a view; an offset is the last time that was read."""

    def __init__(self, service: Service, view: str, snapshot: bool) -> None:
        self._service = service
        self._view = view
        self._snapshot = snapshot

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """Before all changes, which begin with the rows that the view was made with; or now."""
        return {"time": 0} if self._snapshot else self.latestOffset()

    def latestOffset(self, start: Any = None, limit: Any = None) -> dict[str, Any]:  # noqa: N802
        """The time of now."""
        with self._service.client() as client:
            return {"time": _time(client, self._view)}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """One, since changes have an order."""
        return [InputPartition((start["time"], end["time"]))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The changes beyond one time up to another."""
        since, until = partition.value
        if since >= until:
            return
        with self._service.client() as client:
            for batch in client.follow(self._view, since=since):
                if batch.time <= until:
                    yield from _changes(batch).to_batches()
                if batch.time >= until:
                    return

    def commit(self, end: dict[str, Any]) -> None:
        """The service keeps no position of its readers."""


class TableWriter(DataSourceArrowWriter):
    """Writes rows once for each attempt of this write that succeeds."""

    def __init__(self, service: Service, table: str) -> None:
        self._service = service
        self._table = table
        self._key = str(uuid4())

    def write(  # type: ignore[override]  # of rows in the base, of batches here
        self, iterator: Iterator[pa.RecordBatch]
    ) -> WriterCommitMessage:
        """Write the rows of one task."""
        return _write(self._service, self._table, self._key, iterator)


class StreamWriter(DataSourceStreamArrowWriter):
    """Writes the rows of each batch of a streaming query once."""

    def __init__(self, service: Service, table: str) -> None:
        self._service = service
        self._table = table

    def write(  # type: ignore[override]  # of rows in the base, of batches here
        self, iterator: Iterator[pa.RecordBatch]
    ) -> WriterCommitMessage:
        """Write the rows of one task, under the number of its batch."""
        context = TaskContext.get()
        assert context is not None
        query = context.getLocalProperty("sql.streaming.queryId")
        batch = context.getLocalProperty("streaming.sql.batchId")
        return _write(self._service, self._table, f"{query}-{batch}", iterator)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        """All rows are durable already."""

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        """Nothing to undo: the rows come again under the same keys."""


def readable(schema: pa.Schema) -> pa.Schema:
    """The columns by types that Spark has: others as texts, unsigned numbers by wider ones."""
    return pa.schema([pa.field(field.name, _readable(field.type)) for field in schema])


_WIDER: dict[pa.DataType, pa.DataType] = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}


def _readable(dtype: pa.DataType) -> pa.DataType:
    if isinstance(dtype, pa.ListType):
        return pa.list_(_readable(dtype.value_type))
    if isinstance(dtype, pa.BaseExtensionType) or pa.types.is_interval(dtype):
        return pa.string()
    if pa.types.is_time(dtype):
        return pa.string()
    return _WIDER.get(dtype, dtype)


def _spark_rows(rows: pa.Table) -> pa.Table:
    """The rows in types that Spark has."""
    wanted = readable(rows.schema)
    columns = [
        column if column.type == field.type else _cast(column, field.type)
        for column, field in zip(rows.columns, wanted, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=wanted)


def _cast(column: pa.ChunkedArray, dtype: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_string(dtype):
        texts = [None if value is None else str(value) for value in column.to_pylist()]
        return pa.chunked_array([pa.array(texts, dtype)])
    return column.cast(dtype)


def _time(client: Client, view: str) -> int:
    """The time as of which a view can be read now."""
    return client.query(f'SELECT 1 FROM "{view}" LIMIT 1').time


def _copied(now: Batch, taken_back: Sequence[Batch]) -> pa.Table:
    """The rows of a snapshot less those of changes, each as often as it is there."""
    rows = pa.concat_tables([now.rows, *(batch.rows for batch in taken_back)])
    gone = [pc.negate(chunk) for batch in taken_back for chunk in batch.diffs.chunks]
    counts = pa.chunked_array([*now.diffs.chunks, *gone], pa.int64())
    if taken_back:
        rows, counts = _summed(rows, counts)
    copies = cast(list[int], counts.to_pylist())
    if all(count == 1 for count in copies):
        return rows
    return rows.take([place for place, count in enumerate(copies) for _ in range(count)])


def _summed(rows: pa.Table, counts: pa.ChunkedArray) -> tuple[pa.Table, pa.ChunkedArray]:
    """Each row once with the sum of its counts; without those that are not there any more."""
    columns = {f"column{i}": _groupable(column) for i, column in enumerate(rows.columns)}
    names = list(columns)
    table = pa.table(columns | {"place": list(range(rows.num_rows)), "count": counts})
    found = table.group_by(names).aggregate([("place", "min"), ("count", "sum")])
    found = found.filter(pc.field("count_sum") > 0)
    return rows.take(found["place_min"]), found["count_sum"]


def _groupable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column whose values Arrow can group; nested ones as texts."""
    is_plain = not pa.types.is_nested(column.type) and column.type == _readable(column.type)
    return column if is_plain else _cast(column, pa.string())


def _changes(batch: Batch) -> pa.Table:
    rows = _spark_rows(batch.rows)
    times = pa.array([batch.time] * rows.num_rows, pa.int64())
    return rows.append_column(TIME, times).append_column(DIFF, batch.diffs)


def _write(
    service: Service, table: str, key: str, batches: Iterator[pa.RecordBatch]
) -> WriterCommitMessage:
    """Write the rows of one task under keys that it has again when it runs again."""
    context = TaskContext.get()
    task = context.partitionId() if context is not None else 0
    number = 0
    with service.client() as client:
        for batch in batches:
            for start in range(0, batch.num_rows, ROWS):
                rows = pa.Table.from_batches([batch.slice(start, ROWS)])
                client.write(table, rows, key=f"{key}-{task}-{number}")
                number += 1
    return WriterCommitMessage()
