"""The Spark data source `ivm_topics`: file topics in, decoded chunks out."""

import gc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows
from pyspark.sql.types import StructType

from connectors.attribution import reading
from connectors.files.reader import records
from connectors.spark.chunks import SPARK_SCHEMA, encode
from connectors.spark.control import Position
from connectors.spark.idling import Idling
from connectors.spark.planner import Planner, Work

NAME = "ivm_topics"


class TopicsSource(DataSource):
    """Options: `control` (the control file), `limit` (records per micro-batch), `parallelism`."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> str:
        return SPARK_SCHEMA

    def streamReader(  # noqa: N802
        self, schema: StructType
    ) -> DataSourceStreamReader:
        return TopicsReader(
            Path(self.options["control"]),
            int(self.options["limit"]),
            int(self.options["parallelism"]),
        )


class Task(InputPartition):
    """The spans that one Spark task decodes."""

    def __init__(self, work: Sequence[Work]) -> None:
        super().__init__(work)


class TopicsReader(DataSourceStreamReader):
    """Plans in one process for the whole query; reads without state in those of the executors."""

    def __init__(self, control: Path, limit: int, parallelism: int) -> None:
        self._control = control
        self._limit = limit
        self._parallelism = parallelism
        self._planner: Planner | None = None
        self._idling = Idling()

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
        return [Task(work) for work in self._plan().tasks(begin, stop, self._parallelism)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        # Decoding makes many objects and no cycles; looking for cycles takes a third of the time.
        gc.disable()
        try:
            for work in partition.value:
                with reading(work.table.name):
                    chunk = encode(work.key, work.table, records(work.span, work.partition))
                yield chunk
        finally:
            gc.enable()

    def _plan(self) -> Planner:
        if self._planner is None:
            self._planner = Planner(self._control)
        return self._planner
