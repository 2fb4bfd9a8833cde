"""The Spark data source of file topics: tasks that decode the records that are planned."""

import gc
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows
from pyspark.sql.types import StructType

from connectors.attribution import reading
from connectors.files.reader import records
from connectors.spark.chunks import SPARK_SCHEMA, Deal, encode
from connectors.spark.control import Position
from connectors.spark.endpoint import Address, Part, Putter, parts_of
from connectors.spark.idling import Idling
from connectors.spark.planner import Planner, Work

NAME = "ivm_topics"


def file_topics(
    spark: SparkSession, path: Path, most: int, tasks: int, endpoint: Address
) -> DataFrame:
    """The topics of the control file `path`, about `most` records in a micro-batch.

    Up to `tasks` tasks decode them.
    """

    class Source(TopicsSource):
        """The source of one query; Spark takes its class along by value."""

        control, limit, parallelism, address = path, most, tasks, endpoint

    spark.dataSource.register(Source)
    return spark.readStream.format(NAME).load()


class TopicsSource(DataSource):
    """A source of one query; its rows, of which there are none, are chunks."""

    control: ClassVar[Path]
    limit: ClassVar[int]
    parallelism: ClassVar[int]
    address: ClassVar[Address]

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> str:
        return SPARK_SCHEMA

    def streamReader(  # noqa: N802
        self, schema: StructType
    ) -> DataSourceStreamReader:
        return TopicsReader(self.control, self.limit, self.parallelism, self.address)


class Task(InputPartition):
    """The spans that one Spark task decodes, and the part of a batch that they are."""

    def __init__(self, work: Sequence[Work], part: Part) -> None:
        super().__init__((work, part))


class TopicsReader(DataSourceStreamReader):
    """Plans in one process for the whole query; reads without state in those of the executors."""

    def __init__(self, control: Path, limit: int, parallelism: int, address: Address) -> None:
        self._control = control
        self._limit = limit
        self._parallelism = parallelism
        self._address = address
        self._planner: Planner | None = None
        self._idling = Idling()
        self._numbers = count()

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        return self._plan().start().to_json()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self._limit)

    def latestOffset(  # noqa: N802
        self, start: dict[str, Any], limit: ReadLimit
    ) -> dict[str, Any]:
        rows = limit.max_rows if isinstance(limit, ReadMaxRows) else self._limit
        self._idling.pause()
        end = self._plan().latest(Position.from_json(start), rows).to_json()
        self._idling.note(end != start)
        return end

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        begin, stop = Position.from_json(start), Position.from_json(end)
        tasks = self._plan().tasks(begin, stop, self._parallelism) or [[]]
        parts = parts_of(NAME, next(self._numbers), len(tasks))
        return [Task(work, part) for work, part in zip(tasks, parts, strict=True)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        tasks, part = partition.value
        with closing(Putter(self._address)) as putter:
            putter.put(_decoded(tasks, putter.deal), part)
        return iter(())  # what is read does not pass through Spark

    def _plan(self) -> Planner:
        if self._planner is None:
            self._planner = Planner(self._control)
        return self._planner


def _decoded(tasks: Sequence[Work], deal: Deal) -> Iterator[pa.RecordBatch]:
    # Decoding makes many objects and no cycles; looking for cycles takes a third of the time.
    gc.disable()
    try:
        for work in tasks:
            with reading(work.table.name):
                found = records(work.span, work.partition)
                chunk = encode(work.key, work.table, found, deal=deal)
            yield chunk
    finally:
        gc.enable()
