"""The control file: the driver directs the planner of the source, which is another process.

A JSON file that is replaced whole. A table is keyed `name@epoch`: dropped and declared again, it
is another key, so no position of its former life can leak into the new one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import orjson

from connectors.files.durable import replace
from connectors.tables.spec import TableSpec


@dataclass(frozen=True, slots=True)
class Position:
    """The position of reading: the offset after the last record, by table key and partition.

    `time` is the last journaled time covered; it stays there once all of them are.
    """

    time: int
    ends: Mapping[str, Mapping[int, int]]

    def to_json(self) -> dict[str, Any]:
        """As Spark keeps offsets: JSON with string keys."""
        ends = {key: {str(p): end for p, end in parts.items()} for key, parts in self.ends.items()}
        return {"time": self.time, "ends": ends}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        """The position of `to_json`."""
        ends = value["ends"].items()
        return cls(
            value["time"], {key: {int(p): end for p, end in parts.items()} for key, parts in ends}
        )


@dataclass(frozen=True, slots=True)
class Cut:
    """A journaled time to replay: the ends that it reaches, by table key and partition."""

    time: int
    records: int
    ends: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class Control:
    """The tables to read, where to start, and the journaled cuts to stop at on the way."""

    topics: Path
    tables: Mapping[str, TableSpec]
    start: Position
    cuts: tuple[Cut, ...]

    def save(self, path: Path) -> None:
        """Let `path` hold this."""
        value = {
            "topics": str(self.topics),
            "tables": {key: spec.to_json() for key, spec in self.tables.items()},
            "start": self.start.to_json(),
            "cuts": [[c.time, c.records, c.ends] for c in self.cuts],
        }
        replace(path, orjson.dumps(value))

    @classmethod
    def load(cls, path: Path) -> Self:
        """The control that `save` wrote."""
        value = orjson.loads(path.read_bytes())
        return cls(
            Path(value["topics"]),
            {key: TableSpec.from_json(spec) for key, spec in value["tables"].items()},
            Position.from_json(value["start"]),
            tuple(Cut(t, n, tuple((k, p, e) for k, p, e in ends)) for t, n, ends in value["cuts"]),
        )
