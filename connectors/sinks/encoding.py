"""The encoding of a view's changes as bytes: one face over JSON and Avro."""

from typing import Protocol

import pyarrow as pa

from connectors.offsets import Offsets
from connectors.sinks import json
from connectors.sinks.net import Net
from connectors.sinks.origin import Origin
from connectors.sinks.sink import Changes


class Encoding(Protocol):
    """Encodes the changes of one view."""

    def keys(self, rows: pa.RecordBatch) -> list[bytes]:
        """The key of every row, of which `rows` has these columns only."""

    def rows(self, rows: pa.RecordBatch) -> list[bytes]:
        """Every row."""

    def deltas(self, changes: Changes) -> list[bytes]:
        """One delta per changed row, then those of rows that could not be computed."""

    def frontier(self, time: int, offsets: Offsets) -> bytes:
        """Every delta up to `time` was published, and reflects the records before `offsets`."""

    def events(self, rows: pa.RecordBatch, changed: Net, origin: Origin) -> list[bytes]:
        """Debezium's events."""


class JsonEncoding:
    """JSON, without any schema around it."""

    keys = staticmethod(json.object_lines)
    rows = staticmethod(json.object_lines)
    deltas = staticmethod(json.delta_lines)
    frontier = staticmethod(json.frontier_line)
    events = staticmethod(json.event_lines)
