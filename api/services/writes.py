"""Writes: rows that are posted to tables whose topics the service keeps itself."""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import structlog

from api.errors import BadRows, NotWritten
from connectors.decode import decode
from connectors.errors import InvalidTable, UnknownTable
from connectors.files import requests
from connectors.files.layout import partitions
from connectors.files.requests import Written, WrittenTopic
from connectors.files.retention import Retention
from connectors.records import Records
from connectors.tables.spec import TableSpec

log = structlog.get_logger()

# Rows at fault that a problem tells of.
TOLD = 5


class Writes:
    """The topics of posted rows in the directory `topics`, each opened by the first write."""

    def __init__(self, topics: Path) -> None:
        self._topics = topics
        self._lock = threading.Lock()
        self._open: dict[str, WrittenTopic] = {}

    def write(self, spec: TableSpec, records: Sequence[bytes], key: str | None = None) -> Written:
        """Append rows to the topic of a source, all or none, and those of an idempotency key once.

        Raises BadRows, UnknownTable, KeyReused, OSError.
        """
        _check_rows(records, spec)
        with self._lock:
            topic = self._open.get(spec.name)
            if topic is None:
                if not requests.is_written(self._topics, spec.topic):
                    raise UnknownTable(f"source {spec.name!r} was dropped")
                topic = self._open[spec.name] = WrittenTopic(self._topics, spec.topic)
            return topic.write(records, key)

    def create(self, spec: TableSpec) -> None:
        """Make the empty topic of a new source (raises InvalidTable if others wrote one)."""
        with self._lock:
            self._delete(spec)  # one of a former source, which a crash has left
            if partitions(self._topics, spec.topic):
                raise InvalidTable(
                    f"table {spec.name!r}: there is a file topic {spec.topic!r} already, which "
                    "others write: read it with connector 'files', or choose another name"
                )
            self._open[spec.name] = WrittenTopic(self._topics, spec.topic)

    def drop(self, spec: TableSpec) -> None:
        """Delete the topic of a source that is no more."""
        with self._lock:
            self._delete(spec)

    def clean(self, retention: Retention, settled: Mapping[str, int]) -> None:
        """Delete records beyond retention that are before those `settled`, by topic.

        Raises OSError.
        """
        with self._lock:
            topics = {topic.name: topic for topic in self._open.values()}
        for name, topic in topics.items():
            if gone := topic.clean(retention, settled.get(name, 0)):
                log.info("retention", topic=name, bytes=gone)

    def close(self) -> None:
        """Release all topics."""
        with self._lock:
            for topic in self._open.values():
                topic.close()
            self._open.clear()

    def _delete(self, spec: TableSpec) -> None:
        topic = self._open.pop(spec.name, None)
        if topic is not None:
            topic.close()
        requests.delete(self._topics, spec.topic)


def check_written(spec: TableSpec) -> None:
    """See that rows may be posted to a source (raises NotWritten)."""
    if not spec.is_written:
        raise NotWritten(
            f"source {spec.name!r} reads topic {spec.topic!r}, which others write; write there, or "
            "declare a source with connector 'http'"
        )


def _check_rows(records: Sequence[bytes], spec: TableSpec) -> None:
    """See that the pipeline will take every record (raises BadRows, counting rows from 1)."""
    rejected = decode(Records(records, range(len(records))), spec).rejected
    if rejected:
        told = "; ".join(f"row {one.offset + 1}: {one.message}" for one in rejected[:TOLD])
        more = f"; and {len(rejected) - TOLD} more" if len(rejected) > TOLD else ""
        raise BadRows(f"{told}{more}. No row was written")
